/** Decisions as the charts of Streams read them: which have points, which are ties, what a preemption came to. Pure. */

/** @import { Mark } from "./recorder.js" */

/** What decides between candidates of a preemption, in the order asked, and the two cases in which no criterion does. */
export const DECIDED_BY = /** @type {const} */ ([
  "pdbViolations", "highestPriority", "prioritySum", "victimCount", "earliestStart", "lot", "only",
]);

/** @param {Mark} mark */
export const isBound = (mark) => mark.result === "scheduled" && Boolean(mark.node);
/** @param {Mark} mark */
export const isScored = (mark) => isBound(mark) && mark.points !== undefined;
/** @param {Mark} mark */
export const isTie = (mark) => isScored(mark) && (mark.best ?? 1) > 1;

/**
 * The preemptions among decisions. A pod that is nominated already looks for no other victims: what comes again for the
 * same pod and node is the same preemption.
 * @param {readonly Mark[]} marks
 * @returns {Mark[]}
 */
export function preemptionsOf(marks) {
  return marks.filter((mark) => mark.preemption);
}

/**
 * Owners by how many of their pods were bound, most first.
 * @param {readonly Mark[]} marks
 * @returns {{label: string, hue: number, ring: boolean, count: number}[]}
 */
export function ownersOf(marks) {
  /** @type {Map<string, {label: string, hue: number, ring: boolean, count: number}>} */
  const owners = new Map();
  for (const mark of marks) {
    if (!isBound(mark)) continue;
    const known = owners.get(mark.label);
    if (known) known.count += 1;
    else owners.set(mark.label, { label: mark.label, hue: mark.hue, ring: mark.ring, count: 1 });
  }
  return [...owners.values()].sort((a, b) => b.count - a.count);
}

/**
 * What of a list ordered by time lies in a window.
 * @template T
 * @param {readonly T[]} list
 * @param {(item: T) => number} timeOf
 * @param {number} from
 * @param {number} to
 */
export function within(list, timeOf, from, to) {
  return list.filter((item) => timeOf(item) >= from && timeOf(item) <= to);
}
