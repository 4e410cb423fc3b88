/**
 * A scheduling cycle as a scene: what every node and every extension point shows, a given time after the cycle reached
 * its point. Pure, so that each moment of the animation can be tested; it computes no scheduling, it shows a trace.
 */

/** @import { Cycle, Point, RefusalDetail, TraceResult } from "../lib/types.d.ts" */
/** @import { PluginLook } from "../lib/hues.js" */
/** @import { Eviction, EvictionNode } from "./eviction.js" */
/** @import { Profile } from "./told.js" */
import { pluginLook } from "../lib/hues.js";
import { POINTS, SCORE_MAX, aloneAs, bestOf, eraOf, isBroken, placeOf, reasonOf, weightOf } from "../lib/trace.js";
import { evictionOf } from "./eviction.js";

export const DIM_MS = 160;
export const STAGGER_MS = 12;
export const DIM_TOTAL_MS = 400;
export const SEGMENT_MS = 220;
export const GLOW_MS = 300;
/** How far what refused nodes is seen once the cycle is over. */
export const OVER_DIM = 0.6;

/** @typedef {{plugin: string, value: number, look: PluginLook}} Segment what one plugin gave, as far as it has risen */

/**
 * @typedef {object} NodeScene
 * @property {boolean | null} feasible null while no filter has spoken
 * @property {number} dim 0 to 1
 * @property {string} reason exact text of the first failing filter
 * @property {string} plugin that rejected
 * @property {readonly RefusalDetail[]} details the amounts behind it
 * @property {number} total points so far
 * @property {number | null} delta what the last plugin added; null before the first
 * @property {readonly Segment[]} segments grown so far
 * @property {boolean} tied
 * @property {number} glow 0 to 1
 * @property {boolean} winner
 * @property {boolean} settled whether the score is complete
 * @property {"" | EvictionNode["role"]} role in a preemption
 * @property {number} victims
 * @property {number} violations
 * @property {number} criterion
 * @property {boolean} lot
 */

/**
 * @typedef {object} Scene
 * @property {string} pod
 * @property {Point} point
 * @property {ReadonlyMap<string, NodeScene>} nodes
 * @property {number} pointsMax highest possible total, the width of a score bar
 * @property {{from: number, to: number} | null} range the lowest and the highest total; null while nothing is scored
 * @property {readonly string[]} plugins that score, in order: their hues
 * @property {{nodes: readonly string[], total: number, drawn: boolean} | null} tie
 * @property {string} chosen "" until the lot is drawn
 * @property {"nominated" | "turn" | "only"} alone why it has no points, where there are none
 * @property {readonly {plugin: string, count: number}[]} outs how many nodes each filter has ruled out so far, in the order
 *   of the filters
 * @property {Eviction | null} eviction the preemption, as far as it has come
 * @property {boolean} moving whether a later moment would look different
 * @property {boolean} over the cycle has ended and is only remembered: drawn dimmed
 * @property {boolean} recalled an attempt of the past, chosen to be looked at: drawn as it was
 */

/**
 * @param {Cycle} cycle
 * @param {number} elapsedMs real milliseconds since the cycle was first seen at its point
 * @param {{budgetMs: number, motion: boolean, order: readonly string[], weights: Readonly<Record<string, number>>,
 *   hues?: Readonly<Record<string, number>>, filters?: readonly string[], frame?: number | null,
 *   over?: boolean, recalled?: boolean}} options `budgetMs`: real time until the next point, to which long
 *   animations are squeezed; `order`: all node names; `hues`: numbers of plugins;
 *   `filters`: in running order; `frame` of a preemption that somebody has asked for
 * @returns {Scene}
 */
export function cycleScene(cycle, elapsedMs, { budgetMs, motion, order, weights, hues = {}, filters = [], frame = null, over = false, recalled = false }) {
  const trace = cycle.trace ?? {};
  const place = placeOf(cycle);
  const at = POINTS.indexOf(place);
  const filtered = at >= POINTS.indexOf("Filter") || trace.preFilter?.code === "Unschedulable"
    || trace.preFilter?.code === "UnschedulableAndUnresolvable";
  const scored = at >= POINTS.indexOf("Score") && Boolean(trace.scores);
  const clock = { elapsedMs: motion && !over && !recalled ? elapsedMs : Infinity, budgetMs };
  const dims = filtered ? dimming(trace, order, filters, place === "Filter" ? clock : DONE) : null;
  const scores = scored ? scoring(trace, weights, place === "Score" ? clock : DONE, hues, cycle.scoreMax) : null;
  const chosen = at >= POINTS.indexOf("Reserve") ? trace.chosen ?? "" : "";
  const best = scores?.settled ? bestOf(trace) : [];
  const tied = new Set(best.length > 1 ? best : []);
  const feasible = new Set(trace.feasible ?? []);
  const reason = reasonOf(trace);
  const eviction = place === "PostFilter" ? evictionOf(cycle, { ...clock, frame }) : null;
  const nodes = new Map();
  for (const name of order) {
    const dim = dims?.get(name) ?? 0;
    const fail = filtered && !feasible.has(name) ? reason(name) : null;
    // A node that the cycle never looked at (added since, or beyond the share it samples) is neither.
    const candidate = eviction?.byNode.get(name);
    const verdict = !filtered ? null : feasible.has(name) ? true : fail?.reason || fail?.plugin ? false : null;
    const score = scores?.byNode.get(name);
    nodes.set(name, {
      feasible: verdict,
      dim: verdict === false && !candidate ? dim * (over ? OVER_DIM : 1) : 0,
      reason: fail?.reason ?? "",
      plugin: fail?.plugin ?? "",
      details: verdict === false ? trace.explanation?.refusals?.[name] ?? NO_DETAILS : NO_DETAILS,
      total: score?.total ?? 0,
      delta: score?.delta ?? null,
      segments: score?.segments ?? [],
      tied: tied.has(name),
      glow: tied.has(name) ? scores?.glow ?? 0 : 0,
      winner: chosen === name,
      settled: scores?.settled ?? false,
      role: candidate?.role ?? "",
      victims: candidate?.victims ?? 0,
      violations: candidate?.violations ?? 0,
      criterion: candidate?.criterion ?? 0,
      lot: candidate?.lot ?? false,
    });
  }
  const total = scores ? Math.max(...trace.scores?.total ?? [0]) : 0;
  return {
    pod: cycle.pod,
    point: place,
    nodes,
    pointsMax: scores?.pointsMax ?? 0,
    range: scores ? rangeOf(trace.scores?.total ?? [0]) : null,
    plugins: scores?.plugins ?? [],
    tie: tied.size > 1 ? { nodes: order.filter((name) => tied.has(name)), total, drawn: chosen !== "" } : null,
    chosen,
    alone: aloneAs(trace, eraOf(cycle)),
    outs: dims?.outs ?? [],
    eviction,
    moving: [dims?.moving, scores?.moving, eviction?.moving].some(Boolean),
    over,
    recalled,
  };
}

/** @type {WeakMap<readonly number[], {from: number, to: number}>} */
const ranges = new WeakMap();

/** @param {readonly number[]} totals the same list while a cycle is shown */
function rangeOf(totals) {
  const range = ranges.get(totals) ?? { from: Math.min(...totals), to: Math.max(...totals) };
  ranges.set(totals, range);
  return range;
}

/** @type {readonly RefusalDetail[]} */
const NO_DETAILS = [];

const DONE = { elapsedMs: Infinity, budgetMs: Infinity };

/**
 * How far each infeasible node has dimmed: filter by filter, of each its nodes in order of name, 160 ms each and all within
 * 400 ms, or in what the pace leaves.
 * @param {TraceResult} trace
 * @param {readonly string[]} order
 * @param {readonly string[]} filters in running order
 * @param {{elapsedMs: number, budgetMs: number}} clock
 */
function dimming(trace, order, filters, { elapsedMs, budgetMs }) {
  const waves = wavesOf(trace, order, filters);
  const most = Math.min(DIM_TOTAL_MS, budgetMs / Math.max(1, waves.length));
  const each = Math.min(DIM_MS, most / 2);
  /** @type {Scene["outs"]} */
  const outs = waves.flatMap(({ plugin, nodes }, wave) => (elapsedMs >= wave * most
    ? [{ plugin, count: nodes.length }] : []));
  const last = waves.at(-1)?.nodes.length ?? 0;
  const step = (/** @type {number} */ count) => Math.min(STAGGER_MS, (most - each) / Math.max(1, count - 1));
  const moving = last > 0 && elapsedMs < (waves.length - 1) * most + each + step(last) * last;
  const dims = Object.assign(new Map(), { moving, outs });
  waves.forEach(({ nodes }, wave) => nodes.forEach((name, index) =>
    dims.set(name, easeOut(clamp((elapsedMs - wave * most - index * step(nodes.length)) / each)))));
  return /** @type {Map<string, number> & {moving: boolean, outs: Scene["outs"]}} */ (dims);
}

/**
 * The nodes that are out, by the filter that ruled them out first, in running order.
 * @param {TraceResult} trace
 * @param {readonly string[]} order
 * @param {readonly string[]} filters
 */
function wavesOf(trace, order, filters) {
  const feasible = new Set(trace.feasible ?? []);
  const reason = reasonOf(trace);
  /** @type {Map<string, string[]>} */
  const byPlugin = new Map();
  for (const name of order) {
    if (feasible.has(name)) continue;
    const { plugin, reason: why } = reason(name);
    if (!plugin && !why) continue;
    const nodes = byPlugin.get(plugin);
    if (nodes) nodes.push(name);
    else byPlugin.set(plugin, [name]);
  }
  const place = (/** @type {string} */ plugin) => (filters.indexOf(plugin) + 1 || filters.length + 1);
  return [...byPlugin].map(([plugin, nodes]) => ({ plugin, nodes })).sort((a, b) => place(a.plugin) - place(b.plugin));
}

/**
 * Scores as far as they have risen: one plugin after the other, 220 ms each or what the pace leaves.
 * @param {TraceResult} trace
 * @param {Readonly<Record<string, number>>} weights
 * @param {{elapsedMs: number, budgetMs: number}} clock
 * @param {Readonly<Record<string, number>>} hues
 * @param {number} [scoreMax] what the best node gets from one plugin, before its weight
 */
function scoring(trace, weights, { elapsedMs, budgetMs }, hues, scoreMax = SCORE_MAX) {
  const scores = /** @type {NonNullable<TraceResult["scores"]>} */ (trace.scores);
  const plugins = Object.keys(scores.plugins);
  const looks = plugins.map((plugin) => pluginLook(plugin, hues));
  const each = Math.min(SEGMENT_MS, (budgetMs * 0.8) / Math.max(1, plugins.length));
  const grown = plugins.map((_, index) => ease(clamp((elapsedMs - index * each) / each)));
  const settled = elapsedMs >= each * plugins.length;
  const current = settled ? plugins.length - 1 : Math.min(plugins.length - 1, Math.floor(elapsedMs / each));
  const byNode = new Map(scores.nodes.map((name, row) => {
    const segments = plugins.map((plugin, index) => ({
      plugin,
      look: looks[index] ?? pluginLook(plugin, hues),
      value: (scores.plugins[plugin]?.weighted[row] ?? 0) * (grown[index] ?? 0),
    }));
    const total = settled ? scores.total[row] ?? 0 : Math.round(segments.reduce((sum, s) => sum + s.value, 0));
    const last = plugins[current];
    return [name, { segments, total, delta: last ? scores.plugins[last]?.weighted[row] ?? 0 : null }];
  }));
  const glow = easeOut(clamp((elapsedMs - each * plugins.length) / GLOW_MS));
  return {
    plugins,
    byNode,
    settled,
    glow,
    pointsMax: plugins.reduce((sum, plugin) => sum + scoreMax * weightOf(scores, plugin, weights), 0),
    moving: elapsedMs < each * plugins.length + GLOW_MS,
  };
}

/**
 * What a point of the rail shows.
 * @typedef {object} RailStep
 * @property {Point} point
 * @property {"done" | "current" | "skipped" | "ahead"} state
 * @property {"ratio" | "arrow" | "sort" | "skipped" | "next" | "tie" | "node" | "none" | "preempt" | "refused"
 *   | "error" | "ok"} line which sentence the second line is
 * @property {Record<string, string | number>} values for that sentence
 */

/**
 * @param {Cycle} cycle
 * @param {Pick<Profile, "counts" | "sort">} profile
 * @param {number} nodeCount
 * @returns {RailStep[]}
 */
export function railSteps(cycle, profile, nodeCount) {
  const trace = cycle.trace ?? {};
  const at = POINTS.indexOf(placeOf(cycle));
  const skipped = skippedPoints(trace, at);
  let nextTaken = false;
  return POINTS.map((point, index) => {
    if (skipped.has(point)) return { point, state: "skipped", line: "skipped", values: {} };
    if (index > at) {
      const line = nextTaken ? "none" : "next";
      nextTaken = true;
      return { point, state: "ahead", line, values: {} };
    }
    if (index === at && isBroken(trace)) return { point, state: "current", line: "error", values: {} };
    return { point, state: index === at ? "current" : "done", ...lineOf(point, trace, profile, nodeCount) };
  });
}

/**
 * @param {TraceResult} trace
 * @param {number} at index of the last point that ran
 * @returns {Set<Point>}
 */
function skippedPoints(trace, at) {
  /** @type {Set<Point>} */
  const skipped = new Set();
  const feasible = trace.feasible?.length ?? 0;
  if (at < POINTS.indexOf("Filter")) return skipped;
  if (feasible > 0 || isBroken(trace)) skipped.add("PostFilter");
  if (feasible === 1) skipped.add("PreScore").add("Score");
  if (feasible === 0) for (const point of POINTS.slice(POINTS.indexOf("PreScore"))) skipped.add(point);
  return skipped;
}

/**
 * Nodes that the filters were asked about: round robin asks one after the other, and of many nodes only a share is looked at.
 * @param {TraceResult} trace
 * @param {number} nodeCount
 */
function lookedAt(trace, nodeCount) {
  const looked = new Set([...(trace.feasible ?? []), ...Object.keys(trace.firstFail ?? {})]).size;
  return looked || nodeCount;
}

/**
 * @param {Point} point
 * @param {TraceResult} trace
 * @param {Pick<Profile, "counts" | "sort">} profile
 * @param {number} nodeCount
 * @returns {Pick<RailStep, "line" | "values">}
 */
function lineOf(point, trace, { counts, sort }, nodeCount) {
  const count = counts[point] ?? 0;
  /** @type {(n: number, of: number) => Pick<RailStep, "line" | "values">} */
  const ratio = (n, of) => (of > 0 ? { line: "ratio", values: { n, of } } : { line: "none", values: {} });
  switch (point) {
    case "PreEnqueue":
      return ratio(count, count);
    case "QueueSort":
      return { line: "sort", values: { plugin: sort.replace(/Sort$/, "") } };
    case "PreFilter":
      return ratio(Math.max(0, count - (trace.preFilter?.skip?.length ?? 0)), count);
    case "Filter":
      return { line: "arrow", values: { from: lookedAt(trace, nodeCount), to: trace.feasible?.length ?? 0 } };
    case "PostFilter":
      return trace.preemption?.nominatedNode ? { line: "preempt", values: { node: trace.preemption.nominatedNode } }
        : { line: "refused", values: {} };
    case "PreScore":
      return ratio(Math.max(0, count - (trace.scores?.skip?.length ?? 0)), count);
    case "Score": {
      const ran = Object.keys(trace.scores?.plugins ?? {}).length;
      const tie = bestOf(trace).length;
      return tie > 1 ? { line: "tie", values: { n: ran, of: ran, tie } } : ratio(ran, ran);
    }
    case "Reserve":
    case "Bind":
      return trace.chosen ? { line: "node", values: { node: trace.chosen } } : { line: "ok", values: {} };
    default:
      return count > 0 ? ratio(count, count) : { line: "ok", values: {} };
  }
}

/** @param {number} value */
export function clamp(value) {
  return Math.max(0, Math.min(1, value));
}

/** @param {number} t 0 to 1 */
export function easeOut(t) {
  return 1 - (1 - t) ** 3;
}

/**
 * cubic-bezier(.2, 0, 0, 1), close enough for the eye: a fast start that settles long.
 * @param {number} t 0 to 1
 */
export function ease(t) {
  return 1 - (1 - t) ** 4;
}
