/** A poll's votes in numbers: shares of both rounds, who changed, which rule was believed. Pure. */

/** @import { Poll } from "../../lib/class.d.ts" */
/** @import { Lang } from "../../lib/types.d.ts" */
import { said } from "../../lib/said.js";
import { cameTrue } from "../../state/votes.js";
import { rightOf } from "./model.js";

/** Votes that make a picture; fewer say who voted what. */
export const PICTURE_MIN = 5;

/**
 * One bar of a histogram; shares of the votes of that round, 0 to 1.
 * @typedef {{id: string, label: string, first: number, second: number, firstShare: number, secondShare: number, right: boolean,
 *   chosen: boolean, came: boolean, beside: boolean}} Bar `came`: nobody chose it, it came true; `beside`: right, while the lot
 *   chose another one
 *
 * @typedef {object} Counts
 * @property {Bar[]} bars in the order of the options
 * @property {number[]} total votes in round 1 and in round 2
 * @property {number[]} rightShare of round 1 and round 2; NaN where there is no vote or the answer is not known
 * @property {number[]} right votes that are right
 */

/**
 * @param {Poll} poll
 * @param {Lang} lang
 * @returns {Counts}
 */
export function countsOf(poll, lang) {
  const alternatives = rightOf(poll);
  const right = new Set(alternatives.flat());
  const rounds = ["1", "2"].map((round) => poll.counts?.[round] ?? {});
  // Of several pods each is counted, so that the votes for them are more than the voters.
  const total = rounds.map((counts, at) => poll.votes?.[at + 1] ?? Object.values(counts).reduce((sum, one) => sum + one, 0));
  const share = (/** @type {number} */ round, /** @type {string} */ id) =>
    (total[round] ? (rounds[round]?.[id] ?? 0) / (total[round] ?? 1) : 0);
  const hits = rounds.map((counts, at) => poll.rightCounts?.[at + 1]
    ?? (poll.kind === "victims" ? NaN : [...right].reduce((sum, id) => sum + (counts[id] ?? 0), 0)));
  return {
    total, right: hits,
    rightShare: total.map((all, round) => (all && right.size ? (hits[round] ?? NaN) / all : NaN)),
    bars: poll.options.map(({ id, label }) => ({
      id, label: said(lang, label),
      first: rounds[0]?.[id] ?? 0, second: rounds[1]?.[id] ?? 0, firstShare: share(0, id), secondShare: share(1, id),
      right: right.has(id), chosen: poll.answer?.chosen === id, came: cameTrue(poll, id),
      beside: right.has(id) && Boolean(poll.answer?.tie?.includes(id)) && poll.answer?.chosen !== id,
    })),
  };
}

/** @param {number} share 0 to 1; @returns {string} whole percent */
export function percent(share) {
  return `${Math.round(100 * share)} %`;
}
