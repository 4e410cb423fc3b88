/** What a phone tells: the cycle in hand with its best nodes, and one pod's way from queue to node, and why. Pure. */

/** @import { DecisionLine, Lang, Point, PodSlim, Slim, View } from "../lib/types.d.ts" */
import { fitReasons } from "../lib/sentences.js";
import { counted } from "../lib/text.js";
import { placeOf, POINTS } from "../lib/trace.js";
import { saidKey } from "./people.js";
import { compareNames, conditionOf, cycleUnderWay, objectsOf, podState } from "./selectors.js";
import { whyUndecided } from "./undecided.js";
import { waitIn, waitWords } from "./waits.js";

/** Points of the mini rail: those at which something is decided. @type {readonly Point[]} */
export const RAIL = ["PreFilter", "Filter", "Score", "Reserve", "Permit", "Bind"];
/** Nodes shown of those that were scored. */
const BEST_MAX = 3;
/** Refusals of one pod that are told; earlier ones are a number. */
const REFUSALS_MAX = 2;

/**
 * @typedef {object} Hand the cycle in hand
 * @property {string} pod namespace/name
 * @property {string} said its name as it is said
 * @property {number} attempt
 * @property {string} point as its era calls it
 * @property {readonly {point: Point, state: "done" | "current" | "ahead"}[]} rail
 * @property {readonly {node: string, total: number, share: number, best: boolean}[]} best highest first; share of the highest
 * @property {{refused: number, of: number, reason: string} | null} refused nodes that a filter refused, and why most of them
 */

/**
 * @param {View} view
 * @returns {Hand | null}
 */
export function handOf(view) {
  const cycle = cycleUnderWay(view)?.cycle;
  if (!cycle) return null;
  const at = POINTS.indexOf(placeOf(cycle));
  const current = RAIL.findLast((point) => POINTS.indexOf(point) <= at) ?? RAIL[0];
  const { scores, firstFail = {}, feasible = [] } = cycle.trace ?? {};
  const totals = (scores?.nodes ?? []).map((node, index) => ({ node, total: scores?.total[index] ?? 0 }));
  totals.sort((a, b) => b.total - a.total || a.node.localeCompare(b.node, "en", { numeric: true }));
  const highest = Math.max(1, totals[0]?.total ?? 1);
  const refused = Object.values(firstFail);
  return {
    pod: cycle.pod, said: saidKey(view, cycle.pod), attempt: cycle.attempt, point: cycle.point,
    rail: RAIL.map((point) => ({
      point, state: point === current ? "current" : POINTS.indexOf(point) < at ? "done" : "ahead",
    })),
    best: totals.slice(0, BEST_MAX).map(({ node, total }) => ({
      node, total, share: total / highest, best: total === highest && totals.length > 0,
    })),
    refused: refused.length ? {
      refused: refused.length, of: refused.length + feasible.length, reason: commonest(refused.flatMap(({ reasons = [] }) => reasons)),
    } : null,
  };
}

/**
 * @param {readonly string[]} words
 * @returns {string} "" of none
 */
function commonest(words) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "";
}

/**
 * A sentence of a pod's story: `story_<key>` with its blanks.
 * @typedef {{key: string, values: Record<string, string | number>, atMs: number | null}} Line
 */

/**
 * The pods of a namespace, the newest first: whoever has just made one looks for it.
 * @param {View} view
 * @param {string} namespace
 * @returns {PodSlim[]}
 */
export function newestPods(view, namespace) {
  const all = /** @type {PodSlim[]} */ ([...objectsOf(view, "pods").values()]);
  const madeAt = (/** @type {PodSlim} */ { metadata }) => metadata.creationTimestamp ?? "";
  return all.filter(({ metadata }) => metadata.namespace === namespace)
    .sort((a, b) => madeAt(b).localeCompare(madeAt(a), "en") || compareNames(b.metadata.name, a.metadata.name));
}

/**
 * How a pod came to where it is, oldest first: made, refused, made room for, placed and why, running or gone.
 * @param {View} view
 * @param {PodSlim} pod
 * @param {Lang} [lang] of why nobody has taken it yet
 * @returns {readonly Line[]}
 */
export function storyOf(view, pod, lang = "en") {
  const made = Date.parse(pod.metadata.creationTimestamp ?? "");
  const tries = view.decisions.filter(({ uid }) => uid === pod.metadata.uid);
  const placed = tries.findLast(({ result }) => result === "scheduled");
  const refusals = tries.filter(({ result }) => result !== "scheduled");
  /** @type {Line[]} */
  const lines = [{ key: "made", values: {}, atMs: Number.isNaN(made) ? null : made - view.epochMs }];
  if (refusals.length > REFUSALS_MAX)
    lines.push({ key: "tried", values: { count: refusals.length - REFUSALS_MAX }, atMs: null });
  for (const one of refusals.slice(-REFUSALS_MAX)) lines.push(refusalLine(one, one === tries.at(-1) ? pod : null));
  if (!tries.length) lines.push(...waitingLine(view, pod, lang));
  if (pod.spec?.nodeName) lines.push(placedLine(pod.spec.nodeName, placed));
  const state = podState(pod);
  const waits = waitIn(view, pod);
  if (waits?.init) lines.push({ key: "is_preparing", values: { name: waits.init, why: waits.reason }, atMs: null });
  else if (waits) lines.push({ key: "is_waiting", values: { why: waitWords(waits) }, atMs: null });
  else if (pod.spec?.nodeName && state !== "bound") lines.push({ key: `is_${state}`, values: {}, atMs: null });
  return lines;
}

/**
 * @param {DecisionLine} one
 * @param {Slim | null} pod while nothing was decided since, so that its condition tells of this refusal
 * @returns {Line}
 */
function refusalLine({ simTimeMs, preemption }, pod) {
  if (preemption?.node)
    return { key: "room", values: { node: preemption.node, count: preemption.count }, atMs: simTimeMs };
  const why = pod ? whyNot(pod) : "";
  return { key: why ? "refused_why" : "refused", values: { why }, atMs: simTimeMs };
}

/**
 * Why a pod of which no decision is known waits.
 * @param {View} view
 * @param {PodSlim} pod
 * @param {Lang} lang
 * @returns {Line[]}
 */
function waitingLine(view, pod, lang) {
  if (pod.spec?.nodeName) return [];
  const why = whyNot(pod);
  if (why) return [{ key: "refused_why", values: { why }, atMs: null }];
  const untaken = whyUndecided(view, pod, lang);
  return [untaken ? { key: "untaken", values: { why: counted(lang, untaken.key, untaken.values) }, atMs: null }
    : { key: "queued", values: {}, atMs: null }];
}

/**
 * The scheduler's own reasons, the commonest first: "Insufficient cpu (2 of 3 nodes)".
 * @param {Slim} pod
 */
function whyNot(pod) {
  const condition = conditionOf(pod.status?.["conditions"], "PodScheduled");
  if (condition?.status !== "False" || !condition.message) return "";
  const { nodes, reasons } = fitReasons(condition.message);
  const sorted = [...reasons].sort((a, b) => b.count - a.count);
  return sorted.length ? sorted.map(({ count, reason }) => `${reason} (${count}/${nodes})`).join(", ") : condition.message;
}

/**
 * @param {string} node
 * @param {DecisionLine | undefined} decision
 * @returns {Line}
 */
function placedLine(node, decision) {
  const atMs = decision?.simTimeMs ?? null;
  if (!decision || decision.points === undefined)
    return { key: decision?.feasible === 1 ? "placed_only" : "placed", values: { node }, atMs };
  const { points, best = 1, feasible = 1 } = decision;
  const values = { node, points, best, feasible };
  return { key: best > 1 ? "placed_lot" : "placed_most", values, atMs };
}
