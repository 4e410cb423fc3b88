/** One controller: its flags, queue, workers and caches, what it compared last, and the calls that it made. */

/** @import { ControllerPanel, Dispatch, Lang, Reconciled, View } from "../lib/types.d.ts" */
import { element } from "../dom/dom.js";
import { clockTime, number, text } from "../lib/text.js";
import { objectAt } from "../state/selectors.js";
import { differenceOf, linesOf, resourceOf } from "./controllers-model.js";
import { objectLink, table } from "./parts.js";
import { partWord, reasonWord } from "./reasons.js";
import { codeChip } from "./way.js";

/** Keys of a queue that are named. */
const KEYS_MAX = 8;

/**
 * @param {ControllerPanel} panel
 * @param {string} moment of the reconciliation to show; "" is the newest
 * @param {View} view
 * @param {Lang} lang
 * @param {Dispatch} dispatch
 * @param {(moment: string) => void} choose
 */
export function controllerPanel(panel, moment, view, lang, dispatch, choose) {
  const shown = panel.recent.find((one) => momentOf(one) === moment) ?? panel.last;
  return [
    element("header", { class: "ct-head" }, element("h3", {}, panel.name), ...Object.entries(panel.flags).map(([flag, value]) =>
      element("code", { class: "ct-flag" }, `--${flag}=${value}`))),
    shown ? reconciled(shown, panel, view, lang, dispatch) : element("p", { class: "hint" }, text(lang, "control.neverWorked")),
    element("div", { class: "ct-pair" }, queueCard(panel, view, lang), cachesCard(panel, lang)),
    newest(panel, shown, view, lang, choose),
  ];
}

/** @param {Reconciled} one */
function momentOf(one) {
  return JSON.stringify([one.beganMs, one.object, one.callCount, one.reason]);
}

/**
 * @param {Reconciled} one
 * @param {ControllerPanel} panel
 * @param {View} view
 * @param {Lang} lang
 * @param {Dispatch} dispatch
 */
function reconciled(one, panel, view, lang, dispatch) {
  const resource = resourceOf(one.object, panel, (candidate, key) => objectAt(view, candidate, key));
  const difference = differenceOf(one);
  const [wanted, found] = [linesOf(one.desired), linesOf(one.actual)];
  const side = (/** @type {string} */ title, /** @type {typeof wanted} */ lines) => element("div", {}, element("h4", {}, title),
    lines.length === 0 ? element("p", { class: "hint" }, "–") : element("dl", { class: "ct-facts" },
      lines.flatMap(({ name, value }) => [element("dt", {}, partWord(name, lang)), element("dd", {}, value)])));
  return element("section", { class: one.error ? "ct-card is-bad" : "ct-card", "data-testid": "controller-last" },
    element("header", { class: "ct-head" }, element("h4", {}, objectLink(one.object, resource, one.object, view, dispatch)),
      element("b", {}, reasonWord(one.reason, lang)), element("span", { class: "ct-push" }),
      element("time", {}, clockTime(view.epochMs + one.beganMs, true))),
    wanted.length + found.length > 0 ? element("div", { class: "ct-pair" }, side(text(lang, "control.desired"), wanted), side(text(lang, "control.actual"), found)) : null,
    difference ? element("p", { class: "ct-difference" }, text(lang, "control.difference"), " ", element("b", {}, difference)) : null,
    one.calls.length === 0 ? element("p", { class: "hint" }, text(lang, "control.noCalls")) : callsTable(one, lang),
    one.error ? element("q", { class: "ct-quote", lang: "en" }, one.error) : null);
}

/**
 * @param {Reconciled} one
 * @param {Lang} lang
 */
function callsTable(one, lang) {
  const caption = text(lang, "control.calls", { n: number(lang, one.callCount) });
  return element("div", {}, element("h4", {}, caption), table(
    [text(lang, "control.call"), text(lang, "control.object"), text(lang, "control.answer")],
    one.calls.map((call) => [
      element("code", {}, call.verb), `${call.resource}${call.subresource ? `/${call.subresource}` : ""} ${call.name}`,
      codeChip(call.code),
    ]), caption));
}

/**
 * @param {ControllerPanel} panel
 * @param {View} view
 * @param {Lang} lang
 */
function queueCard({ queue, workers }, view, lang) {
  const lane = (/** @type {string} */ title, /** @type {readonly string[]} */ keys) => [
    element("dt", {}, title, " ", element("b", {}, number(lang, keys.length))),
    element("dd", {}, keys.length === 0 ? "–" : [...keys.slice(0, KEYS_MAX), ...(keys.length > KEYS_MAX ? ["…"] : [])].join(", ")),
  ];
  const boxes = Array.from({ length: Math.min(workers.limit, 20) }, (_, index) => element("i", { class: index < workers.busy ? "busy" : "" }));
  return element("section", { class: "ct-card" }, element("h4", {}, text(lang, "control.queue")),
    element("p", {}, text(lang, "control.workers", { busy: workers.busy, limit: workers.limit }), " ",
      element("span", { class: "ct-workers", "aria-hidden": "true" }, boxes)),
    element("dl", { class: "ct-facts" }, lane(text(lang, "control.ready"), queue.ready), lane(text(lang, "control.working"), queue.working),
      lane(text(lang, "control.waiting"), queue.waiting.map(({ key, inMs, failures }) => text(lang, failures > 0 ? "control.waitsFailed" : "control.waits", {
        key, s: number(lang, inMs / 1000, 1), n: failures,
      })))),
    element("p", { class: "hint" }, text(lang, "control.queueSums", { adds: number(lang, queue.adds), retries: number(lang, queue.retries) })));
}

/**
 * @param {ControllerPanel} panel
 * @param {Lang} lang
 */
function cachesCard({ caches }, lang) {
  const rows = Object.entries(caches).sort(([, a], [, b]) => b.objects - a.objects);
  return element("section", { class: "ct-card" }, element("h4", {}, text(lang, "control.caches")),
    table([text(lang, "control.resource"), text(lang, "control.objects"), text(lang, "control.revision"), text(lang, "control.lag")],
      rows.map(([resource, { objects, revision, lag }]) => [
        resource, number(lang, objects), String(revision), lag === null ? "?" : number(lang, lag),
      ]), text(lang, "control.caches")));
}

/**
 * @param {ControllerPanel} panel
 * @param {Reconciled | null} shown
 * @param {View} view
 * @param {Lang} lang
 * @param {(moment: string) => void} choose
 */
function newest(panel, shown, view, lang, choose) {
  return element("section", { class: "ct-card" }, element("h4", {}, text(lang, "control.newest", { n: panel.recent.length })),
    element("ol", { class: "ct-recent", "data-testid": "controller-recent" }, panel.recent.map((one) => element("li", {}, element("button", {
      type: "button", "aria-current": one === shown || (shown && momentOf(one) === momentOf(shown)) ? "true" : null,
      onclick: () => choose(momentOf(one)),
    }, element("time", {}, clockTime(view.epochMs + one.beganMs, true)), element("b", {}, one.object),
    element("span", {}, reasonWord(one.reason, lang)), element("small", { class: one.error ? "bad" : "" },
      one.error ? text(lang, "control.failed") : text(lang, "control.callCount", { n: one.callCount })))))));
}
