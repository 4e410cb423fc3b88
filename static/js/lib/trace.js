/**
 * How a trace is read: its points in order under the names of every era, its best nodes, weights and refusals. Pure: the
 * stage and the Decision panel tell the same cycle because both read it here.
 */

/** @import { Point, TraceResult } from "./types.d.ts" */

/** Extension points in the order of a cycle, as the rail shows them. @type {readonly Point[]} */
export const POINTS = [
  "PreEnqueue", "QueueSort", "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit", "PreBind",
  "Bind", "PostBind",
];

/**
 * Points that an era calls otherwise: today's name → its own.
 * @type {Readonly<Record<string, Readonly<Partial<Record<Point, string>>>>>}
 */
const ERA_NAMES = { "framework-1.18": { PreScore: "PostFilter", PostFilter: "Preemption" } };

/**
 * What an era calls a point.
 * @param {Point} point
 * @param {string | undefined} era
 */
export function pointName(point, era) {
  return ERA_NAMES[era ?? ""]?.[point] ?? point;
}

/**
 * Today's name of the point where a cycle stands, whatever its era calls it.
 * @param {{point: string, era?: string | undefined}} cycle
 * @returns {Point}
 */
export function placeOf({ point, era }) {
  return POINTS.find((one) => pointName(one, era) === point) ?? /** @type {Point} */ (point);
}

/** The era of today's scheduler. */
export const TODAY = "v1.34";

/**
 * The era of a cycle or a trace; one that says none is of today.
 * @param {{era?: string | undefined}} told
 */
export function eraOf({ era }) {
  return era || TODAY;
}

/**
 * Why a chosen node has no points: the pod is nominated to it, so that it was tried first and alone; it was its turn, and
 * the search ended at the first that fits; or no other one fits.
 * @param {Pick<TraceResult, "usedNominatedNode">} trace
 * @param {string} era
 * @returns {"nominated" | "turn" | "only"}
 */
export function aloneAs({ usedNominatedNode }, era) {
  if (usedNominatedNode) return "nominated";
  return era === "round-robin" ? "turn" : "only";
}

/** Criteria of a preemption in the order in which they are asked; the smallest cost stays. */
export const CRITERIA = /** @type {const} */ ([
  "pdbViolations", "highestPriority", "prioritySum", "victimCount", "earliestStart",
]);

/** What the best node gets from one plugin today; a trace of another era says its own. */
export const SCORE_MAX = 100;

/**
 * Whether a plugin failed: the attempt ended there and then, and nothing came after.
 * @param {Pick<import("./types.d.ts").TraceResult, "result">} trace
 */
export function isBroken(trace) {
  return trace.result === "error";
}

/**
 * The nodes of highest total: as the trace names them, or, while it stands at Score, as its totals show.
 * @param {TraceResult} trace
 * @returns {readonly string[]}
 */
export function bestOf(trace) {
  if (trace.best) return trace.best;
  const { nodes = [], total = [] } = trace.scores ?? {};
  const highest = Math.max(...total);
  return nodes.filter((_, index) => total[index] === highest);
}

/**
 * A plugin's weight: as configured, else as the trace itself shows it.
 * @param {NonNullable<TraceResult["scores"]>} scores
 * @param {string} plugin
 * @param {Readonly<Record<string, number>>} weights
 */
export function weightOf(scores, plugin, weights) {
  const configured = weights[plugin];
  if (configured) return configured;
  const column = scores.plugins[plugin];
  const row = column ? column.normalized.findIndex((value) => value > 0) : -1;
  return column && row >= 0 ? (column.weighted[row] ?? 0) / (column.normalized[row] ?? 1) : 1;
}

/**
 * Why a node was refused: its own first failing filter, or PreFilter's answer for all of them.
 * @param {TraceResult} trace
 * @returns {(node: string) => {plugin: string, reason: string}}
 */
export function reasonOf(trace) {
  const before = trace.preFilter;
  const rejected = before && before.code !== "Success" && before.code !== undefined;
  return (node) => {
    const own = trace.firstFail?.[node];
    if (own) return { plugin: own.plugin ?? "", reason: (own.reasons ?? []).join(", ") };
    if (rejected) return { plugin: before.plugin ?? "", reason: (before.reasons ?? []).join(", ") };
    return { plugin: "", reason: "" };
  };
}
