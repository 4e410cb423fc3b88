/** The card of rolling updates: how many pods of a workload are of its newest template, and what it waits for. */

/** @import { Dispatch, Lang } from "../lib/types.d.ts" */
/** @import { Rollout } from "../state/rollouts.js" */
import { setText, syncList } from "../dom/dom.js";
import { h, icon } from "../dom/h.js";
import { counted, number, text } from "../lib/text.js";

/** Workloads that are told at once; more of them are a number. */
const SHOWN_MAX = 3;

/**
 * @param {HTMLElement} element around the cards of the schedulers
 * @param {Dispatch} dispatch
 */
export function mountRollouts(element, dispatch) {
  const title = h("h3");
  const list = h("ul");
  const card = h("section", { class: "st-card st-rollouts", "data-testid": "stage-rollouts" }, title, list);
  card.hidden = true;
  element.append(card);

  const createRow = () => {
    const name = h("button", { type: "button", class: "st-rollout-name", onclick: () => dispatch({
      type: "select", resource: name.dataset["resource"] ?? "", key: name.dataset["key"] ?? "", tab: "summary",
    }) });
    return h("li", {}, h("p", { class: "st-rollout" }, icon("layers", 12), name, h("span", { class: "st-rollout-revision" })),
      h("p", { class: "st-rollout-bar", "aria-hidden": "true" }, h("i", { "data-part": "ready" }), h("i", { "data-part": "fresh" }),
        h("i", { "data-part": "old" })),
      h("p", { class: "st-rollout-line" }));
  };

  /**
   * @param {readonly Rollout[]} rollouts
   * @param {Lang} lang
   */
  function render(rollouts, lang) {
    card.hidden = rollouts.length === 0;
    if (card.hidden) return;
    const more = rollouts.length - SHOWN_MAX;
    setText(title, more > 0 ? text(lang, "rollout.more", { n: number(lang, rollouts.length), shown: number(lang, SHOWN_MAX) })
      : text(lang, "rollout.title"));
    syncList(list, rollouts.slice(0, SHOWN_MAX), ({ resource, key }) => `${resource} ${key}`, createRow, (item, rollout) => updateRow(item, rollout, lang));
  }
  return { render };
}

/**
 * @param {HTMLElement} item
 * @param {Rollout} rollout
 * @param {Lang} lang
 */
function updateRow(item, rollout, lang) {
  const part = (/** @type {string} */ of) => /** @type {HTMLElement} */ (item.querySelector(of));
  const name = part(".st-rollout-name");
  Object.assign(name.dataset, { resource: rollout.resource, key: rollout.key });
  name.title = `${rollout.kind} ${rollout.key}`;
  setText(name, rollout.name);
  setText(part(".st-rollout-revision"), rollout.revision ? text(lang, "rollout.revision", { n: rollout.revision }) : "");
  const { ready, fresh, old, ending } = rollout;
  const all = Math.max(1, rollout.wanted, fresh + old + ending);
  /** @type {Record<string, number>} */
  const shares = { ready, fresh: fresh - ready, old };
  for (const bar of /** @type {NodeListOf<HTMLElement>} */ (item.querySelectorAll(".st-rollout-bar i")))
    bar.style.width = `${(100 * (shares[bar.dataset["part"] ?? ""] ?? 0)) / all}%`;
  setText(part(".st-rollout-line"), rolloutLine(rollout, lang));
  item.dataset["state"] = rollout.state;
}

/**
 * How far it is, and what it waits for.
 * @param {Rollout} rollout
 * @param {Lang} lang
 */
export function rolloutLine({ wanted, fresh, ready, old, ending, state }, lang) {
  const parts = [counted(lang, "rollout.counts", { fresh, wanted, old })];
  if (state === "paused") parts.push(text(lang, "rollout.paused"));
  else if (state === "stuck") parts.push(text(lang, "rollout.stuck"));
  else if (fresh > ready) parts.push(counted(lang, "rollout.waits", { n: fresh - ready }));
  else if (ending > 0) parts.push(counted(lang, "rollout.ending", { n: ending }));
  return parts.join(text(lang, "list.then"));
}
