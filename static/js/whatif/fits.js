/** Make it fit: the smallest single changes with which a pending pod finds a node, checked by the engine. */

/** @import { Fit, Trace } from "../lib/types.d.ts" */
/** @import { Asks, WhatIfInput } from "./panel.js" */
import { element, icon, keepFocus } from "../dom/dom.js";
import { lookOf, namespaceOf } from "../lib/changes.js";
import { text } from "../lib/text.js";
import { refusedWrite } from "../state/roles.js";

/** Milliseconds between two questions for one pod: it may be tried many times a second. */
const ASK_EVERY_MS = 5_000;
/** Milliseconds between two questions while only the cluster around the pod has changed. */
const ASK_AGAIN_MS = 15_000;

/**
 * How far a row has come.
 * @typedef {object} Progress
 * @property {"" | "working" | "applied" | "copied" | "refused"} state
 * @property {string} message
 * @property {string} url
 * @property {(() => Promise<void>) | null} undo
 */

/** @type {Progress} */
const UNTOUCHED = { state: "", message: "", url: "", undo: null };

/** @param {Asks} asks */
export function mountFits(asks) {
  const list = element("ol", { class: "wi-fits", "data-testid": "fits" });
  const title = element("h3");
  const note = element("p", { class: "wi-note" });
  const root = element("section", { class: "wi-section" }, [title, note, list]);

  /** Whose changes stand there, and of which attempt. */
  let pod = "";
  let asked = "";
  /** Of which nodes and pods it was asked; both are others as soon as anything of them changes. */
  let around = /** @type {readonly unknown[]} */ ([]);
  let askedAtMs = -ASK_EVERY_MS;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Fit[] | null} */
  let found = null;
  let problem = "";
  /** @type {Map<string, Progress>} */
  const progress = new Map();
  let drawn = "";
  /** @type {WhatIfInput | null} */
  let input = null;

  /** @param {Trace} trace */
  async function ask(trace) {
    askedAtMs = performance.now();
    // A page that is held asks what the attempt saw; else the cluster is asked as it stands.
    const answer = await asks.fits(trace.id, Boolean(input?.me?.past));
    if (asked !== trace.id) return;
    // What somebody has begun stays in sight, whatever another attempt would need.
    const begun = (found ?? []).filter(({ text: { en } }) => progress.has(en) && !answer.fits?.some((fit) => fit.text.en === en));
    found = answer.fits ? [...begun, ...answer.fits] : found;
    problem = answer.refusal?.message ?? "";
    draw();
  }

  /**
   * @param {Trace} trace
   * @param {WhatIfInput} next
   */
  function render(trace, next) {
    input = next;
    const stuck = ["unschedulable", "no_nodes"].includes(trace.result.result ?? "") && !trace.coming;
    root.hidden = !stuck;
    if (!stuck) return;
    if (trace.uid !== pod) {
      pod = trace.uid;
      found = null;
      problem = "";
      progress.clear();
      askedAtMs = -ASK_EVERY_MS;
    }
    const now = [next.view.objects.get("nodes"), next.view.objects.get("pods")];
    const moved = !next.pod.spec.nodeName && now.some((one, index) => one !== around[index]);
    if (trace.id !== asked || moved) {
      const pause = trace.id === asked ? ASK_AGAIN_MS : ASK_EVERY_MS;
      asked = trace.id;
      around = now;
      clearTimeout(timer);
      timer = setTimeout(() => void ask(trace), Math.max(0, askedAtMs + pause - performance.now()));
    }
    draw();
  }

  function draw() {
    if (!input) return;
    const { lang, me } = input;
    const pending = !input.pod.spec.nodeName;
    const key = JSON.stringify([lang, me?.role, me?.namespace, me?.past, pending, found, problem,
      [...progress].map(([name, { state, message }]) => [name, state, message])]);
    if (key === drawn) return;
    drawn = key;
    title.textContent = text(lang, "whatif.fit");
    note.textContent = problem || text(lang, found === null ? "whatif.fit_loading" : found.length ? "whatif.fit_note" : "whatif.fit_none");
    note.classList.toggle("bad", Boolean(problem));
    keepFocus(list, () => list.replaceChildren(...(found ?? []).map((fit) =>
      rowOf(fit, { input: /** @type {WhatIfInput} */ (input), pending, asks, at: progress.get(fit.text.en) ?? UNTOUCHED, turn }))));
  }

  /**
   * @param {string} name of the change
   * @param {Partial<Progress>} change
   */
  function turn(name, change) {
    progress.set(name, { ...(progress.get(name) ?? UNTOUCHED), ...change });
    draw();
  }

  return { element: root, render };
}

/**
 * @param {Fit} fit
 * @param {object} scope
 * @param {WhatIfInput} scope.input
 * @param {boolean} scope.pending
 * @param {Asks} scope.asks
 * @param {Progress} scope.at
 * @param {(name: string, change: Partial<Progress>) => void} scope.turn
 */
function rowOf(fit, { input, pending, asks, at, turn }) {
  const { lang, me, pod, traces, selectedTraceId } = input;
  const t = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) => text(lang, key, values);
  const name = fit.text.en;
  const look = lookOf(fit.changes[0]);
  const own = pod.metadata.namespace ?? "default";
  const key = `${own}/${pod.metadata.name}`;
  // The past is looked at, never changed: a copy of it may be.
  const refused = me?.past ? "reason_past" : fit.changes.map((change) => refusedWrite(me, namespaceOf(change, own))).find(Boolean);
  const busy = at.state === "working";
  const copy = button(`copy ${name}`, t("whatif.copy"), me?.role === "viewer" ? t("reason_viewer") : "", async () => {
    turn(name, { state: "working", message: "" });
    const trace = traces.find((one) => one.id === selectedTraceId) ?? traces[0];
    // A pod that has found its node since is tried on the session as the attempt saw it.
    const answer = await asks.copy(fit.changes, key, pending || !trace ? null : trace.seenRevision);
    if (answer.copy) turn(name, { state: "copied", url: answer.copy.url, message: answer.copy.code });
    else turn(name, { state: "refused", message: answer.refusal?.message ?? "" });
  });
  const apply = button(`apply ${name}`, t("whatif.apply"),
    refused ? t(refused, { namespace: me?.namespace ?? "" }) : "", async () => {
      turn(name, { state: "working", message: "" });
      const answer = await asks.apply(fit.changes, key);
      if (answer.refusal) turn(name, { state: "refused", message: answer.refusal.message });
      else turn(name, { state: "applied", undo: answer.undo ?? null });
    });
  const { undo: taken } = at;
  const undo = at.state === "applied" && taken ? button(`undo ${name}`, t("whatif.undo"), "", async () => {
    turn(name, { state: "working" });
    const answer = await asks.undo(taken);
    turn(name, answer.refusal ? { state: "refused", message: answer.refusal.message } : UNTOUCHED);
  }) : null;
  for (const one of [copy, apply]) one.disabled = busy;
  return element("li", { class: look.harms ? "harms" : "", "data-testid": "fit", "aria-busy": busy ? "true" : undefined }, [
    element("span", { class: "wi-sign", "aria-hidden": "true" }, icon(look.icon)),
    element("div", { class: "wi-what" }, [
      element("b", {}, fit.text[lang === "en" ? "en" : "zh"]),
      element("span", {}, `${t("whatif.lands", { node: fit.node })} · ${t("whatif.checked")}`),
      told(at, t),
    ]),
    // A pod that fits as it is needs nothing done.
    fit.changes.length ? element("div", { class: "wi-buttons" }, [copy, undo ?? (pending && at.state !== "applied" ? apply : null)]) : null,
  ]);
}

/**
 * @param {Progress} at
 * @param {(key: string, values?: Record<string, string | number>) => string} t
 */
function told(at, t) {
  if (at.state === "applied") return element("span", { class: "wi-done", role: "status" }, t("whatif.applied"));
  if (at.state === "refused") return element("span", { class: "wi-bad", role: "alert" }, at.message);
  if (at.state !== "copied") return null;
  return element("a", { class: "link", href: at.url, target: "_blank", rel: "noopener", "data-testid": "fit-copy" },
    t("whatif.copied", { code: at.message }));
}

/**
 * @param {string} held names it over a redraw
 * @param {string} label
 * @param {string} reason why it is refused; "" where it is not
 * @param {() => void} click
 */
function button(held, label, reason, click) {
  return element("button", {
    class: "button", type: "button", "data-held": held, title: reason || undefined,
    "aria-disabled": reason ? "true" : undefined, onclick: click,
  }, label);
}
