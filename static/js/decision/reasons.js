/** Refused nodes by reason: how many each filter turned away, in which words, and those nodes lit on the stage. */

/** @import { Dispatch, Lang, Lit, Trace, TraceResult } from "../lib/types.d.ts" */
/** @import { SentencePart } from "./model.js" */
import { h } from "../dom/h.js";
import { counted, number, text } from "../lib/text.js";
import { compareNames } from "../state/selectors.js";

/** Reasons listed; a filter that names each node's amounts has one for each of them. */
const REASONS_MAX = 12;

/**
 * Reasons of the filters with their nodes, the most frequent first. A node that lacks two resources stands under both, as in
 * kube-scheduler's own sentence.
 * @param {Pick<TraceResult, "firstFail">} result
 * @returns {SentencePart[]}
 */
export function reasonsOf(result) {
  /** @type {Map<string, {reason: string, plugin: string, nodes: string[]}>} */
  const found = new Map();
  for (const [node, { plugin = "", reasons = [] }] of Object.entries(result.firstFail ?? {}))
    for (const reason of reasons.length ? reasons : [plugin]) {
      const key = `${plugin} ${reason}`;
      const known = found.get(key);
      if (known) known.nodes.push(node);
      else found.set(key, { reason, plugin, nodes: [node] });
    }
  return [...found.values()].map((one) => ({ ...one, nodes: one.nodes.sort(compareNames), count: one.nodes.length }))
    .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

/**
 * A reason that lights its nodes on the stage, and puts them out again.
 * @param {SentencePart} part
 * @param {Trace} trace
 * @param {Lit | null} lit
 * @param {Lang} lang
 * @param {Dispatch} dispatch
 */
export function lightButton({ reason, nodes }, trace, lit, lang, dispatch) {
  const on = lit?.attempt === trace.id && lit.reason === reason;
  return h("button", {
    type: "button", class: "dc-light", "data-light": reason, "aria-pressed": String(on), title: text(lang, on ? "reasons.out" : "reasons.light"), text: reason,
    onclick: () => dispatch({ type: "light", lit: on ? null : { pod: trace.pod, attempt: trace.id, reason, nodes: new Set(nodes) } }),
  });
}

/** @param {number} share of the most frequent reason's nodes */
function bar(share) {
  const made = h("i", { "aria-hidden": "true" });
  made.style.setProperty("--share", String(share));
  return made;
}

/**
 * Of an attempt that found a node; where none was found, the sentence taken apart says it.
 * @param {Trace} trace
 * @param {Lit | null} lit
 * @param {Lang} lang
 * @param {Dispatch} dispatch
 */
export function reasonsSection(trace, lit, lang, dispatch) {
  const { result } = trace;
  const refused = Object.keys(result.firstFail ?? {}).length;
  if (result.fitError || refused === 0) return null;
  const parts = reasonsOf(result);
  const most = parts[0]?.count ?? 1;
  const more = parts.length - REASONS_MAX;
  return h("section", { class: "dc-section dc-reasons", "data-testid": "decision-reasons" },
    h("header", { class: "dc-head" }, h("h3", { text: counted(lang, "reasons.title", { n: refused }) }),
      h("span", { class: "dc-hint dc-push", text: text(lang, "reasons.unit") })),
    h("ul", {}, ...parts.slice(0, REASONS_MAX).map((part) => h("li", {},
      lightButton(part, trace, lit, lang, dispatch), h("b", { text: number(lang, part.count) }),
      bar(part.count / most), h("span", { class: "dc-hint", text: part.plugin })))),
    more > 0 ? h("p", { class: "dc-hint", text: counted(lang, "reasons.more", { n: more }) }) : null);
}
