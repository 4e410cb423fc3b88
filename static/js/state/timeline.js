/** The timeline as it is drawn: marks gathered where they would lie on one another, and what time stands where. Pure. */

/** @import { Mark, Objects, TimelineState } from "../lib/types.d.ts" */

/** @type {readonly Mark["lane"][]} */
export const LANES = ["pods", "scheduler", "controllers", "nodes", "leases", "people"];

/** Marks of one part of the time that are drawn one by one; more are a number. */
const SINGLE_MAX = 2;

/**
 * @typedef {object} Item
 * @property {number} at 0 to 1
 * @property {number} count how many marks it stands for
 * @property {number} rv the newest of them that is known; 0: none is
 * @property {Mark | null} mark where it stands for one alone
 * @property {boolean} renewal it tells only that leases are renewed
 */

/**
 * Where a moment stands, 0 at the left end of the window and 1 at the right.
 * @param {{fromMs: number, toMs: number}} window
 * @param {number} ms
 */
export function placeOf({ fromMs, toMs }, ms) {
  return (ms - fromMs) / Math.max(1, toMs - fromMs);
}

/**
 * What is drawn in one lane.
 * @param {TimelineState} state
 * @param {Mark["lane"]} lane
 * @returns {Item[]}
 */
export function itemsOf(state, lane) {
  const counts = state.counts[lane] ?? [];
  const renewed = lane === "leases" ? renewals(state.marks) : new Set();
  const slotMs = Math.max(1, state.countedToMs - state.countedFromMs + 1) / Math.max(1, counts.length);
  /** @type {Map<number, Mark[]>} */
  const bySlot = new Map();
  for (const mark of state.marks) {
    if (mark.lane !== lane) continue;
    const slot = Math.min(counts.length - 1, Math.floor((mark.simTime * 1000 - state.countedFromMs) / slotMs));
    const there = bySlot.get(slot);
    if (there) there.push(mark);
    else bySlot.set(slot, [mark]);
  }
  /** @param {number} count @param {number} slot @returns {Item[]} */
  const drawn = (count, slot) => {
    const there = bySlot.get(slot) ?? [];
    if (count === 0) return [];
    // A lease in other hands is not hidden among renewals.
    const told = renewed.size ? there.find(({ rv }) => !renewed.has(rv)) : undefined;
    if (told) return [{ at: placeOf(state, told.simTime * 1000), count, rv: told.rv, mark: told, renewal: false }];
    const renewal = lane === "leases";
    const last = there[there.length - 1];
    const middle = placeOf(state, state.countedFromMs + (slot + 0.5) * slotMs);
    // A face is as wide as its part of the time: what one person did in it is one face.
    const alone = lane === "people" && last && there.length === count && there.every(({ actor }) => actor === last.actor);
    if (alone) return [{ at: middle, count, rv: last.rv, mark: last, renewal: false }];
    if (lane !== "people" && count <= SINGLE_MAX && there.length === count)
      return there.map((mark) => ({ at: placeOf(state, mark.simTime * 1000), count: 1, rv: mark.rv, mark, renewal }));
    return [{ at: middle, count, rv: last?.rv ?? 0, mark: null, renewal }];
  };
  return counts.flatMap(drawn).filter(({ at }) => at >= 0 && at <= 1);
}

/**
 * Marks of leases that are held by whom they were held before.
 * @param {readonly Mark[]} marks
 * @returns {Set<number>} their revisions
 */
function renewals(marks) {
  /** @type {Map<string, string>} */
  const holders = new Map();
  /** @type {Set<number>} */
  const found = new Set();
  for (const { lane, object, actor, rv, verb } of marks) {
    if (lane !== "leases") continue;
    if (verb === "MODIFIED" && (holders.get(object) ?? actor) === actor) found.add(rv);
    holders.set(object, actor);
  }
  return found;
}

/**
 * The revision of a moment in the window, as near as the marks tell: that of the last mark until then.
 * @param {Pick<TimelineState, "marks" | "from" | "newest" | "newestMs">} state
 * @param {number} ms
 */
export function revisionAt(state, ms) {
  let found = state.from;
  for (const mark of state.marks) {
    if (mark.simTime * 1000 > ms) break;
    found = mark.rv;
  }
  return ms >= state.newestMs ? state.newest : found;
}

/**
 * Full steps of time that fit the window, as their milliseconds: five to ten of them.
 * @param {{fromMs: number, toMs: number}} window
 */
export function ticksOf({ fromMs, toMs }) {
  const rough = Math.max(1, toMs - fromMs) / 6;
  const step = [100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5].find((one) => one >= rough) ?? 864e5;
  const ticks = [];
  for (let ms = Math.ceil(fromMs / step) * step; ms <= toMs; ms += step) ticks.push(ms);
  return ticks;
}

/**
 * Moments with names, by revision.
 * @param {Objects} objects
 * @returns {{name: string, revision: number, atMs: number}[]}
 */
export function bookmarksOf(objects) {
  const found = [...(objects.get("bookmarks.clustersim.io")?.values() ?? [])].map(({ spec }) => ({
    name: String(spec?.["name"] ?? ""), revision: Number(spec?.["revision"] ?? 0), atMs: Number(spec?.["atMs"] ?? 0),
  }));
  return found.sort((one, other) => one.revision - other.revision || one.name.localeCompare(other.name));
}

/** From here on a flag's name stands before its moment, shares of the width. */
const LATE_FROM = 0.8;

/**
 * How flags stand beside each other: which have their names before their moments, and how much room each name has until the
 * next flag, so that none is covered.
 * @param {readonly number[]} places in order, shares of the width
 * @returns {{late: boolean, room: number}[]} `room`: a share of the width
 */
export function flagsBeside(places) {
  const isLate = (/** @type {number} */ place) => place > LATE_FROM;
  return places.map((place, index) => {
    const late = isLate(place);
    const other = places[late ? index - 1 : index + 1] ?? (late ? 0 : 1);
    const gap = Math.abs(other - place);
    // Two names that stand towards each other share what is between them.
    return { late, room: index + (late ? -1 : 1) in places && isLate(other) !== late ? gap / 2 : gap };
  });
}

/**
 * How many marks of all lanes fall into each part of the time.
 * @param {Readonly<Record<string, readonly number[]>>} lanes
 * @returns {number[]}
 */
export function summed(lanes) {
  /** @type {number[]} */
  const sums = [];
  for (const counts of Object.values(lanes)) counts.forEach((count, slot) => (sums[slot] = (sums[slot] ?? 0) + count));
  return sums;
}

/**
 * The strip over the timeline: a bar for each part of all that is kept, and the window in it; shares of width and height.
 * @param {Pick<TimelineState, "whole" | "fromMs" | "toMs">} state
 * @returns {{bars: number[], from: number, to: number}}
 */
export function stripOf({ whole, fromMs, toMs }) {
  const most = Math.max(1, ...whole.counts);
  const share = (/** @type {number} */ ms) => Math.max(0, Math.min(1, (ms - whole.fromMs) / Math.max(1, whole.toMs - whole.fromMs)));
  // A few marks are still seen beside very many.
  return { bars: whole.counts.map((count) => Math.sqrt(count / most)), from: share(fromMs), to: share(toMs) };
}

/**
 * The revision of a place on the strip, as near as the marks of all that is kept tell.
 * @param {Pick<TimelineState, "whole" | "compacted" | "newest" | "newestMs">} state
 * @param {number} share of its width
 */
export function revisionOnStrip({ whole, compacted, newest, newestMs }, share) {
  const ms = whole.fromMs + share * (whole.toMs - whole.fromMs);
  return revisionAt({ marks: whole.marks, from: Math.min(compacted + 1, newest), newest, newestMs }, ms);
}
