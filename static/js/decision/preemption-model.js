/** A preemption as its trace tells it: candidates by cost, what turned each away, each pod's fate, the steps. Pure. */

/** @import { Account, Trace, TraceResult } from "../lib/types.d.ts" */
import { CRITERIA } from "../lib/trace.js";
import { compareNames } from "../state/selectors.js";

/** @typedef {typeof CRITERIA[number]} Criterion */

/** What is added to each priority before summing. */
const SHIFT = 2 ** 31;

/**
 * @typedef {object} Cost
 * @property {Criterion} criterion
 * @property {number | null} value null where a pod has not started
 * @property {"decided" | "out" | "after" | "kept"} state out: it turned the node away; after: nobody asked any more
 */

/**
 * @typedef {object} CandidateRow
 * @property {string} node
 * @property {boolean} chosen
 * @property {string} out the criterion, or `lot`, or an extender; "" for one that stays
 * @property {readonly Cost[]} costs empty where the trace does not tell them
 * @property {readonly string[]} victims namespace/name
 * @property {number} violations
 * @property {Account["candidates"][number]["fates"]} fates
 */

/**
 * The preemption's account beside the result, wherever the trace keeps it.
 * @param {Pick<Trace, "result" | "explanation">} trace
 * @returns {Account | null}
 */
export function accountOf(trace) {
  return trace.explanation?.preemption ?? trace.result.explanation?.preemption ?? null;
}

/**
 * Verdicts on nodes that other pods are nominated to.
 * @param {Pick<Trace, "result" | "explanation">} trace
 */
export function nominatedOf(trace) {
  return trace.explanation?.nominated ?? trace.result.explanation?.nominated ?? [];
}

/**
 * Every candidate, the nominated one first, then those that stayed longest.
 * @param {TraceResult} result
 * @param {Account | null} account
 * @returns {CandidateRow[]}
 */
export function candidateRows(result, account) {
  const preemption = result.preemption;
  const told = new Map((account?.candidates ?? []).map((one) => [one.node, one]));
  const asked = account?.asked ?? [];
  const rows = Object.entries(preemption?.candidates ?? {}).map(([node, candidate]) => {
    const own = told.get(node);
    const chosen = preemption?.nominatedNode === node;
    const out = own?.eliminatedBy ?? "";
    return {
      node, chosen, out, costs: own ? costsOf(own, asked, chosen) : [], victims: candidate.victims,
      violations: candidate.numPDBViolations ?? 0, fates: own?.fates ?? [],
    };
  });
  return rows.sort((a, b) => Number(b.chosen) - Number(a.chosen) || rank(b) - rank(a) || compareNames(a.node, b.node));
}

/** @param {CandidateRow} row how long it stayed */
function rank(row) {
  const at = CRITERIA.indexOf(/** @type {Criterion} */ (row.out));
  return at < 0 ? CRITERIA.length : at;
}

/**
 * @param {Account["candidates"][number]} candidate
 * @param {readonly string[]} asked
 * @param {boolean} chosen
 * @returns {Cost[]}
 */
function costsOf(candidate, asked, chosen) {
  const end = CRITERIA.indexOf(/** @type {Criterion} */ (candidate.eliminatedBy));
  return CRITERIA.map((criterion, index) => ({
    criterion, value: candidate.costs[criterion] ?? null,
    state: end >= 0 && index === end ? "out" : end >= 0 && index > end ? "after"
      : !asked.includes(criterion) ? "kept" : chosen && asked.at(-1) === criterion ? "decided" : "kept",
  }));
}

/**
 * A cost as a person reads it: sums as how many times 2³¹ and the rest, starts as Unix milliseconds.
 * @param {Cost} cost
 * @param {number} victims
 * @returns {{kind: "number", value: number} | {kind: "sum", times: number, rest: number} | {kind: "time", unixMs: number}
 *   | {kind: "none"}}
 */
export function readCost(cost, victims) {
  if (cost.value === null) return { kind: "none" };
  if (cost.criterion === "prioritySum") return { kind: "sum", times: victims, rest: cost.value - victims * SHIFT };
  if (cost.criterion === "earliestStart") return { kind: "time", unixMs: -cost.value * 1000 };
  return { kind: "number", value: cost.value };
}

/**
 * What decided: the criterion that left one node, and the node that it turned away last.
 * @param {readonly CandidateRow[]} rows chosen first
 * @returns {{winner: CandidateRow, loser: CandidateRow | null, by: string} | null}
 */
export function decidedBy(rows) {
  const winner = rows.find((row) => row.chosen);
  if (!winner) return null;
  const loser = rows.find((row) => !row.chosen && row.out !== "") ?? null;
  return { winner, loser, by: loser?.out ?? "" };
}
