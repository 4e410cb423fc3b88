/**
 * Which cycle the stage is telling, since when, and which pods should fly: what changes between two views. No DOM.
 */

/**
 * @typedef {{schedulerName: string, plugins: {name: string, weight?: number, points?: string[]}[],
 *   order?: {point: string, plugins: string[]}[]}} ProfileStatus a profile in the status of the configuration
 */

/** @import { Cycle, Point, View } from "../lib/types.d.ts" */
import { cycleInHand, cycleUnderWay, objectAt } from "../state/selectors.js";
import { POINTS, aloneAs, bestOf, eraOf, placeOf } from "../lib/trace.js";
import { BACKOFF_INITIAL_MS, BACKOFF_MAX_MS, PRIORITY_SORT } from "./lanes-model.js";

/**
 * Real milliseconds after which a finished cycle fades. One that was seen to its end stays, dimmed, until the next. One
 * that was not leaves the stage then, and at once in held time: it would stand where it was last seen for as long as
 * nobody plays.
 */
export const LINGER_MS = 1_200;

/**
 * @typedef {object} Told
 * @property {Cycle} cycle
 * @property {string} replica
 * @property {number} sinceMs real milliseconds at which its point was first seen
 * @property {number | null} endedMs real milliseconds since which it is over; null while under way
 * @property {number} revision of the view in which it was last under way
 * @property {boolean} past whether that view is one of the past
 * @property {boolean} [recalled] an attempt that somebody reads in the inspector, told as it was
 * @property {boolean} [explained] it is the selected pod's, nobody has chosen it
 */

/**
 * @typedef {{kind: "taken", pod: string} | {kind: "reserved", pod: string, node: string}
 *   | {kind: "refused", pod: string, message: string}} Turn something worth showing as motion or saying aloud
 */

/**
 * The told cycle after a new view, and what turned between the two.
 * @param {Told | null} before
 * @param {View} view
 * @param {number} nowMs real
 * @returns {{told: Told | null, turns: Turn[]}}
 */
export function tell(before, view, nowMs) {
  const under = cycleUnderWay(view);
  if (!under) return { told: before && afterEnd(before, view, nowMs), turns: [] };
  const { cycle } = under;
  const replica = under.replica.metadata.name;
  const same = before?.endedMs === null && before.cycle.uid === cycle.uid && before.cycle.attempt === cycle.attempt
    && before.replica === replica;
  const told = {
    cycle, replica, endedMs: null, revision: view.revision, past: isPast(view),
    sinceMs: same && before.cycle.point === cycle.point ? before.sinceMs : nowMs,
  };
  return { told, turns: turnsOf(same ? before.cycle : null, cycle) };
}

/** @param {View} view */
function isPast(view) {
  return Boolean(view.me?.past);
}

/**
 * Whether a cycle was seen to what came of it: a node, or why there is none.
 * @param {Cycle} cycle
 */
export function isComplete({ trace, ...cycle }) {
  return Boolean(trace?.fitError || trace?.preemption?.nominatedNode || (trace?.chosen && POINTS.indexOf(placeOf(cycle)) >= POINTS.indexOf("Reserve")));
}

/**
 * What a cycle came to: the key of a sentence ("small-2 → n2 with 479, by 7") and what fills it.
 * @param {Cycle} cycle that is complete
 * @param {string} pod its name as it is said
 * @returns {[key: string, values: Record<string, string | number>]}
 */
export function lastOf({ trace = {}, era }, pod) {
  const room = trace.preemption?.nominatedNode;
  if (!trace.chosen) return room ? ["last.preempts", { pod, node: room }] : ["last.refused", { pod }];
  const values = { pod, node: trace.chosen };
  const [best, second] = [...trace.scores?.total ?? []].sort((a, b) => b - a);
  if (best === undefined || second === undefined) return [`last.${aloneAs(trace, eraOf({ era }))}`, values];
  const points = { ...values, points: best };
  return best === second ? ["last.lot", { ...points, n: bestOf(trace).length }] : ["last.by", { ...points, lead: best - second }];
}

/**
 * What stays of a cycle when the newest view tells none: all of it while its trace is on the way (large clusters) and
 * once it is complete, until another decision is made; otherwise its end, for a moment while time runs.
 * @param {Told} before
 * @param {View} view
 * @param {number} nowMs real
 * @returns {Told | null}
 */
function afterEnd(before, view, nowMs) {
  const held = cycleInHand(view)?.cycle;
  if (held && held.traceId === before.cycle.traceId) return before;
  if (before.past !== isPast(view) || view.revision < before.revision) return null;
  const newest = view.decisions.at(-1);
  if (newest && newest.revision > before.revision && newest.id !== before.cycle.traceId) return null;
  if (before.endedMs !== null && isComplete(before.cycle)) return before;
  const endedMs = before.endedMs ?? nowMs;
  return isComplete(before.cycle) || (!view.clock?.paused && nowMs - endedMs < LINGER_MS) ? { ...before, endedMs } : null;
}

/**
 * @param {Cycle | null} before
 * @param {Cycle} cycle
 * @returns {Turn[]}
 */
function turnsOf(before, cycle) {
  /** @type {Turn[]} */
  const turns = before ? [] : [{ kind: "taken", pod: cycle.pod }];
  const reserve = POINTS.indexOf("Reserve");
  const at = POINTS.indexOf(placeOf(cycle));
  const was = before ? POINTS.indexOf(placeOf(before)) : -1;
  const chosen = cycle.trace?.chosen;
  if (chosen && at >= reserve && was < reserve) turns.push({ kind: "reserved", pod: cycle.pod, node: chosen });
  const message = cycle.trace?.fitError;
  if (message && !before?.trace?.fitError) turns.push({ kind: "refused", pod: cycle.pod, message });
  return turns;
}

/**
 * A pod's first and longest backoff, as the scheduler is configured.
 * @param {View} view
 */
export function backoffOf(view) {
  const status = objectAt(view, "schedulerconfigs.clustersim.io", "default")?.status;
  return {
    initialMs: Number(status?.["podInitialBackoffSeconds"] ?? BACKOFF_INITIAL_MS / 1000) * 1000,
    maxMs: Number(status?.["podMaxBackoffSeconds"] ?? BACKOFF_MAX_MS / 1000) * 1000,
  };
}

/**
 * What the profile of a cycle is made of.
 * @typedef {object} Profile
 * @property {Record<string, number>} weights of scores by plugin
 * @property {Record<string, number>} counts how many plugins a point has
 * @property {readonly Point[]} points that its era has, under today's names
 * @property {string} sort the plugin that orders the active queue
 * @property {readonly string[]} filters in running order
 */

/**
 * @param {View} view
 * @param {string} profile
 * @returns {Profile}
 */
export function profileOf(view, profile) {
  const config = objectAt(view, "schedulerconfigs.clustersim.io", "default");
  const era = String(config?.spec?.["era"] ?? "");
  /**
   * The configuration names points as its fields (preFilter), a cycle as upstream's documents do (PreFilter).
   * @type {(point: string) => Point}
   */
  const today = (point) => placeOf({ point: point.charAt(0).toUpperCase() + point.slice(1), era });
  const profiles = /** @type {ProfileStatus[]} */ (config?.status?.["profiles"] ?? []);
  const found = profiles.find((one) => one.schedulerName === profile) ?? profiles[0];
  /** @type {Record<string, number>} */
  const weights = {};
  /** @type {Record<string, number>} */
  const counts = {};
  for (const plugin of found?.plugins ?? []) {
    if (plugin.weight) weights[plugin.name] = plugin.weight;
    for (const point of plugin.points ?? []) {
      const name = today(point);
      counts[name] = (counts[name] ?? 0) + 1;
    }
  }
  const order = found?.order ?? [];
  const has = new Set(order.map(({ point }) => today(point)));
  return {
    weights, counts, points: order.length > 0 ? POINTS.filter((point) => has.has(point)) : POINTS,
    filters: order.find(({ point }) => today(point) === "Filter")?.plugins ?? [],
    sort: order.find(({ point }) => point === "queueSort")?.plugins[0] ?? PRIORITY_SORT,
  };
}

/**
 * Real milliseconds that a told cycle spends at a point: what the animation may take.
 * @param {View} view
 */
export function pointBudgetMs(view) {
  const clock = view.clock;
  if (!clock || clock.paused || clock.held || clock.pace <= 0) return Infinity;
  return clock.pace / Math.max(0.01, Math.min(clock.rate, clock.effectiveRate || clock.rate));
}
