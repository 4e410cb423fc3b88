/** An election as each replica's own clock tells it: a clock that runs slow counts fewer seconds, and its owner believes them. Pure. */

/** @import { Row, Story } from "./model.js" */
/** @import { Fault } from "./recorder.js" */

/**
 * What a replica's clock counts: true until its rate changed, and from there as fast as it runs.
 * @param {readonly Pick<Fault, "rate" | "fromMs" | "toMs">[]} faults
 * @returns {(t: number) => number} from a true time to what the clock counts then, both simulated milliseconds
 */
export function countedBy(faults) {
  const rates = faults.filter((one) => one.rate !== null && one.rate !== 1);
  return (t) => rates.reduce((counted, { rate, fromMs, toMs }) => {
    const from = fromMs ?? 0;
    return counted - Math.max(0, Math.min(t, toMs ?? Infinity) - from) * (1 - (rate ?? 1));
  }, t);
}

/**
 * Rows by their own clocks. Whether two led at once is a question of true time: no window and no gap is told.
 * @param {Story} story
 * @returns {Story}
 */
export function byOwnClocks(story) {
  return { ...story, rows: story.rows.map((row) => rowBy(row, countedBy(row.faults), story.toMs)), windows: [], gaps: [] };
}

/**
 * @param {Row} row
 * @param {(t: number) => number} at
 * @param {number} nowMs
 * @returns {Row}
 */
function rowBy(row, at, nowMs) {
  const tries = (/** @type {Row["lost"]} */ all) => all.map((one) => ({ ...one, atMs: at(one.atMs) }));
  return {
    ...row,
    beliefs: row.beliefs.map((one) => ({ ...one, fromMs: at(one.fromMs), toMs: at(one.toMs) })),
    renewals: row.renewals.map((one) => ({ ...one, t: at(one.t) })),
    lost: tries(row.lost), refused: tries(row.refused), gaveUp: tries(row.gaveUp),
    sights: row.sights.map((one) => ({ ...one, seenMs: at(one.seenMs), expiresMs: at(one.expiresMs), atMs: at(one.atMs) })),
    reads: row.reads.map((one) => ({ ...one, t: at(one.t) })),
    faults: row.faults.map((one) => ({
      ...one, fromMs: one.fromMs === null ? null : at(one.fromMs), toMs: one.toMs === null || one.toMs > nowMs ? null : at(one.toMs),
    })),
  };
}
