/** The engine's answer in sentences: what it chose, by what, why the favourite lost. Pure. */

/** @import { Block, Poll, PollAnswer, PollExplain } from "../../lib/class.d.ts" */
/** @import { Lang } from "../../lib/types.d.ts" */
/** @import { Line } from "./model.js" */
import { listed, number } from "../../lib/text.js";
import { countsOf, percent } from "./counts.js";
import { nameIn } from "./model.js";

/**
 * What the answer is, in a title.
 * @param {Poll} poll
 * @param {Lang} lang
 * @returns {Line}
 */
export function answerTitle(poll, lang) {
  const name = nameIn(poll, lang);
  const { answer } = poll;
  if (!answer) return { key: "vote.revealed" };
  if (poll.kind === "choice" || poll.kind === "leader") return { key: "vote.came", values: { name: name(answer.right) } };
  if (poll.kind === "victims") return answer.right.length && answer.right[0] !== "none"
    ? { key: "vote.victims", values: { pods: name(answer.right) } } : { key: "vote.victims_none" };
  return answer.chosen && answer.chosen !== "none" ? { key: "vote.chose", values: { name: name([answer.chosen]) } } : { key: "vote.chose_none" };
}

/**
 * Why, in at most three sentences; quotations of the engine are apart.
 * @param {Poll} poll
 * @param {Lang} lang
 * @returns {{lines: Line[], quote: string}}
 */
export function whyLines(poll, lang) {
  const { answer } = poll;
  const explain = answer?.explain;
  if (!answer || !explain) return { lines: [], quote: "" };
  const label = (/** @type {string} */ id) => nameIn(poll, lang)([id]);
  /** @type {Line[]} */
  const lines = [];
  const stays = !answer.chosen || answer.chosen === "none";
  const victims = answer.victims ?? [];
  if (victims.length && poll.kind === "node") lines.push({ key: "vote.victims", values: { pods: listed(lang, victims.map(shortName)) } });
  if (explain.criterion) lines.push({ key: "vote.decided_by", values: { criterion: explain.criterion } });
  else if (!stays && poll.kind === "node") lines.push(scoreLine(poll, answer, explain, lang));
  const favourite = favouriteOf(poll, lang);
  if (favourite) lines.push(...lossOf(favourite, answer.chosen ?? "", explain, label, lang));
  return { lines, quote: stays ? (explain.message ?? "") : "" };
}

/**
 * @param {Poll} poll
 * @param {PollAnswer} answer
 * @param {PollExplain} explain
 * @param {Lang} lang
 * @returns {Line}
 */
function scoreLine(poll, { chosen, tie = [] }, { total = {}, failed = {} }, lang) {
  const label = (/** @type {string} */ id) => nameIn(poll, lang)([id]);
  const points = total[chosen ?? ""];
  const name = label(chosen ?? "");
  if (tie.length > 1) {
    const nodes = listed(lang, tie.map(label));
    return points === undefined ? { key: "vote.tied_all", values: { nodes, name } }
      : { key: "vote.tied", values: { nodes, points: number(lang, points), name } };
  }
  // Who places in turn asks no other node: none of them said no.
  const others = poll.options.some(({ id }) => id !== "none" && id !== chosen);
  if (points === undefined && others && Object.keys(failed).length === 0) return { key: "vote.unscored", values: { name } };
  return points === undefined ? { key: "vote.only", values: { name } } : { key: "vote.points", values: { name, points: number(lang, points) } };
}

/**
 * The answer that most gave first, where it was not right; "" where there is none, or several.
 * @param {Poll} poll
 * @param {Lang} lang
 */
function favouriteOf(poll, lang) {
  const { bars } = countsOf(poll, lang);
  const most = Math.max(0, ...bars.map(({ first }) => first));
  const favourites = bars.filter(({ first }) => first === most);
  const one = favourites[0];
  return most > 0 && favourites.length === 1 && one && !one.right ? one.id : "";
}

/**
 * @param {string} id
 * @param {string} chosen
 * @param {PollExplain} explain
 * @param {(id: string) => string} label
 * @param {Lang} lang
 * @returns {Line[]}
 */
function lossOf(id, chosen, { total = {}, failed = {}, rows = {}, criterion }, label, lang) {
  const name = label(id);
  const own = total[id];
  const best = total[chosen];
  if (own !== undefined && best !== undefined) return [{ key: "vote.lost_by", values: { name, points: number(lang, best - own) } }];
  const struck = rows[id]?.eliminatedBy;
  if (struck) return [{ key: "vote.struck", values: { name, criterion: struck } }];
  const reason = failed[id]?.reasons[0];
  return reason && !criterion ? [{ key: "vote.never", values: { name, reason } }] : [];
}

/**
 * How the class did, in a title and what it is of.
 * @param {Poll} poll
 * @param {Lang} lang
 * @returns {{title: Line, of: Line, changed: Line | null} | null} null while there is nothing to tell
 */
export function classLine(poll, lang) {
  const { rightShare, right, total } = countsOf(poll, lang);
  const [one = NaN, two = NaN] = rightShare;
  if (Number.isNaN(one)) return Number.isNaN(two) ? null : onceLine(two, right[1] ?? 0, total[1] ?? 0);
  const changed = poll.changed;
  if (Number.isNaN(two)) return onceLine(one, right[0] ?? 0, total[0] ?? 0);
  return {
    title: { key: "vote.to_right", values: { from: percent(one), to: percent(two) } },
    of: { key: "vote.right_twice", values: { first: right[0] ?? 0, before: total[0] ?? 0, second: right[1] ?? 0, after: total[1] ?? 0 } },
    changed: changed
      ? { key: "vote.changed", values: { all: changed.toRight + changed.fromRight + changed.other, right: changed.toRight } } : null,
  };
}

/**
 * The same where the class has voted in one round only.
 * @param {number} share
 * @param {number} first
 * @param {number} all
 */
function onceLine(share, first, all) {
  return { title: { key: "vote.right_once", values: { share: percent(share) } }, of: { key: "vote.right_of", values: { first, all } }, changed: null };
}

/**
 * What a lesson says first of an answer: up to the end of its first paragraph, with what is listed before it.
 * @param {readonly Block[]} blocks
 */
export function leading(blocks) {
  const end = blocks.findIndex(({ kind }) => kind === "p");
  return blocks.slice(0, end + 1 || blocks.length);
}

/** @param {string} pod namespace/name */
function shortName(pod) {
  return pod.split("/").pop() ?? pod;
}
