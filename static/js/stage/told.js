/**
 * Which cycle the stage is telling, since when, and which pods should fly: what changes between two views. No DOM.
 */

/**
 * @typedef {{schedulerName: string, plugins: {name: string, weight?: number, points?: string[]}[],
 *   order?: {point: string, plugins: string[]}[]}} ProfileStatus a profile in the status of the configuration
 */

/** @import { Cycle, Point, View } from "../lib/types.d.ts" */
import { cycleInHand, cycleUnderWay, objectAt } from "../state/selectors.js";
import { POINTS, placeOf } from "../lib/trace.js";
import { BACKOFF_INITIAL_MS, BACKOFF_MAX_MS, PRIORITY_SORT } from "./lanes-model.js";

/**
 * Real milliseconds for which a finished cycle stays on the stage while time runs. Held time shows what it holds and
 * nothing else: a cycle that ended inside a step would otherwise stand where it was last seen, for as long as nobody plays.
 */
export const LINGER_MS = 1_200;

/**
 * @typedef {object} Told
 * @property {Cycle} cycle
 * @property {string} replica
 * @property {number} sinceMs real milliseconds at which its point was first seen
 * @property {number | null} endedMs real milliseconds since which it is over; null while under way
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
    cycle, replica, endedMs: null,
    sinceMs: same && before.cycle.point === cycle.point ? before.sinceMs : nowMs,
  };
  return { told, turns: turnsOf(same ? before.cycle : null, cycle) };
}

/**
 * What stays of a cycle when the newest view tells none: all of it while its trace is on the way (large clusters), the
 * end of it for a moment while time runs.
 * @param {Told} before
 * @param {View} view
 * @param {number} nowMs real
 * @returns {Told | null}
 */
function afterEnd(before, view, nowMs) {
  if (cycleInHand(view)?.cycle.traceId === before.cycle.traceId) return before;
  const endedMs = before.endedMs ?? nowMs;
  return !view.clock?.paused && nowMs - endedMs < LINGER_MS ? { ...before, endedMs } : null;
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
