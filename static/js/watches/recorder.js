/**
 * What the components watch, moment by moment: counts as they were told become what happened in between. Its memory is
 * bounded. Pure: no DOM, clock or network.
 */

/** @import { Watch, WatchesTold } from "../lib/types.d.ts" */

import { stateOf } from "../state/watches.js";

/** Moments kept of one component: the newest. */
export const MOMENTS_MAX = 1_200;

/**
 * @typedef {object} Moment
 * @property {number} t simulated milliseconds
 * @property {number} revision what it has heard
 * @property {number | null} lag revisions of its own resources that it has not; null: more than the log tells
 * @property {number} lists made since the moment before
 * @property {number} events of its watches since then
 * @property {number} gones 410s since then
 * @property {ReturnType<typeof stateOf>} state
 */

/**
 * @typedef {object} Lane
 * @property {string} name
 * @property {number} count
 * @property {Watch} now
 * @property {Moment[]} moments
 * @property {Counts} before what happened before the moments that are kept
 */

/** @typedef {{lists: number, events: number, gones: number}} Counts */

export class WatchRecorder {
  constructor() {
    /** @type {Map<string, Lane>} */
    this.lanes = new Map();
    /** Goes up with everything that is learnt. */
    this.version = 0;
  }

  /** @param {WatchesTold} told one answer, and the simulated time at which it came */
  learn({ atMs, watches }) {
    for (const now of watches) {
      const known = this.lanes.get(now.name);
      const last = known?.moments.at(-1);
      if (last && last.t >= atMs) continue;
      const moments = [...(known?.moments ?? []), momentOf(now, known?.now ?? null, atMs)];
      const gone = moments.splice(0, moments.length - MOMENTS_MAX);
      const before = gone.reduce(added, known?.before ?? countsOf(now));
      this.lanes.set(now.name, { name: now.name, count: now.count, now, moments, before });
    }
    // A client's watch that has ended stands nowhere any more; a component that is down does.
    const told = new Set(watches.map(({ name }) => name));
    for (const [name, { now }] of this.lanes) if (now.client && !told.has(name)) this.lanes.delete(name);
    this.version += 1;
  }
}

/** The one recorder of a page. */
export const watchRecorder = new WatchRecorder();

/**
 * @param {Watch} watch
 * @param {"lists" | "watchEvents" | "listedObjects" | "rows"} key
 */
export const sumOf = (watch, key) => watch.resources.reduce((sum, one) => sum + one[key], 0);

/**
 * What its process has counted since it began.
 * @param {Watch} watch
 * @returns {Counts}
 */
const countsOf = (watch) => ({ lists: sumOf(watch, "lists"), events: sumOf(watch, "watchEvents"), gones: watch.gones });

/**
 * @param {Counts} sum
 * @param {Counts} one
 * @returns {Counts}
 */
export const added = (sum, one) => ({ lists: sum.lists + one.lists, events: sum.events + one.events, gones: sum.gones + one.gones });

/**
 * @param {Watch} now
 * @param {Watch | null} before null: it was not told of yet, so nothing is known to have happened
 * @param {number} t
 * @returns {Moment}
 */
function momentOf(now, before, t) {
  const since = (/** @type {number} */ count, /** @type {number} */ known) => (!before ? 0 : count < known ? count : count - known);
  return {
    t, revision: now.revision, lag: now.lag, state: stateOf(now),
    lists: since(sumOf(now, "lists"), before ? sumOf(before, "lists") : 0),
    events: since(sumOf(now, "watchEvents"), before ? sumOf(before, "watchEvents") : 0),
    gones: since(now.gones, before?.gones ?? 0),
  };
}
