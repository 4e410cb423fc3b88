/** A decision in one or two sentences, for people who do not read tables. Pure. */

/** @import { Lang, Trace } from "../lib/types.d.ts" */
/** @import { Decision } from "./model.js" */
import { listOf } from "../lib/names.js";
import { number, text } from "../lib/text.js";
import { fateOf } from "./model.js";

/**
 * Where the pod went, or that it went nowhere, and why.
 * @param {Decision} decision
 * @param {Trace} trace
 * @param {Lang} lang
 */
export function decisionWords(decision, trace, lang) {
  return `${fateWords(decision, trace, lang)} ${outcomeWords(decision, trace, lang)}`.trim();
}

/**
 * Where the pod went, as far as it has got; "" while nothing is chosen.
 * @param {Decision} decision
 * @param {Trace} trace
 * @param {Lang} lang
 */
function fateWords(decision, trace, lang) {
  const fate = fateOf(trace);
  if (fate === "none") return "";
  const key = fate === "givenUp" && trace.undoneBy ? "plain.givenUpBy" : `plain.${fate}`;
  return text(lang, key, { node: decision.chosen, plugin: trace.undoneBy ?? "" });
}

/**
 * Why that node, or why none.
 * @param {Decision} decision
 * @param {Trace} trace
 * @param {Lang} lang
 */
function outcomeWords(decision, trace, lang) {
  const { result } = trace;
  const values = {
    nodes: number(lang, decision.nodes), f: number(lang, decision.feasible),
    total: number(lang, decision.bestTotal ?? 0), node: decision.chosen, names: listOf(decision.best, lang), n: decision.best.length,
    victims: result.preemption?.victims?.length ?? 0, nominated: result.preemption?.nominatedNode ?? "",
  };
  if (trace.detail === "compacted") return "";
  if (trace.coming) return text(lang, "plain.coming");
  const gates = (result.preEnqueue?.reasons ?? []).join(", ");
  if (result.result === "gated") return text(lang, "plain.gated", { why: gates });
  if (result.result === "no_nodes") return text(lang, "plain.noNodes");
  if (result.result === "error" && !decision.chosen) return text(lang, "plain.error");
  if (decision.nodes === 0) return text(lang, "plain.notYet");
  if (decision.feasible === 0) {
    if (result.preemption?.nominatedNode) return text(lang, "plain.preempts", values);
    return text(lang, result.preemption ? "plain.nothing" : "plain.nothingYet", values);
  }
  if (decision.bestTotal === null) return text(lang, decision.chosen ? `plain.${decision.alone}` : "plain.filtered", values);
  if (!decision.chosen) return text(lang, decision.best.length > 1 ? "plain.leadTie" : "plain.lead", values);
  return text(lang, decision.best.length > 1 ? "plain.lot" : "plain.won", values);
}
