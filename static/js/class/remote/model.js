/** What the teacher's remote shows of a poll and a lesson, and the one action that comes next. Pure. */

/** @import { Lesson, Poll } from "../../lib/class.d.ts" */
/** @import { Lang } from "../../lib/types.d.ts" */
/** @import { Counts } from "../poll/counts.js" */
/** @import { Line } from "../poll/model.js" */
import { otherDeeds } from "../lesson/model.js";
import { countsOf, percent, PICTURE_MIN } from "../poll/counts.js";

/** Shares of right votes below which a hint helps, and above which talking would bore. */
export const TALK_FROM = 0.3;
export const TALK_TO = 0.7;

/**
 * What a button does: its words and what it brings about.
 * @typedef {{id: string, label: Line, hint: Line | null}} Deed
 *
 * @typedef {object} Advice
 * @property {"few" | "hint" | "talk" | "reveal"} kind never `hint` where the share is not known
 * @property {number} share of right votes, 0 to 1; NaN where it is not known
 * @property {number} right
 * @property {number} votes
 *
 * @typedef {object} Lead
 * @property {Counts | null} counts null while there is no poll
 * @property {boolean} picture whether there are votes enough to draw
 * @property {Advice | null} advice null once the second vote runs
 * @property {Deed | null} main the one primary action
 * @property {Deed[]} others one tap away, beside the main one
 * @property {Deed[]} tools of the lesson
 */

/** @param {string} id @param {string} [key] @param {Record<string, string | number>} [values] @returns {Deed} */
const deed = (id, key = id, values) => ({
  id, label: { key: `lead.${key}`, ...(values ? { values } : {}) }, hint: { key: `lead.${key}_hint`, ...(values ? { values } : {}) },
});

/**
 * @param {object} input
 * @param {Poll | null} input.poll
 * @param {Lesson | null} input.lesson
 * @param {Lang} input.lang
 * @param {string} [input.onWall] the copy that hangs there; "" none
 * @returns {Lead}
 */
export function leadOf({ poll, lesson, lang, onWall = "" }) {
  const counts = poll ? countsOf(poll, lang) : null;
  const votes = counts?.total[(poll?.round ?? 1) - 1] ?? 0;
  const advice = adviceOf(poll, counts);
  const { main, others } = deedsOf(poll, lesson, advice?.kind ?? "few");
  const own = lesson ? otherDeeds(lesson).filter(({ id }) => id !== main?.id && others.every((one) => one.id !== id)) : [];
  // Further from the thumb than what helps: it takes the step's votes away.
  const again = own.filter(({ id }) => id === "restart");
  const tools = [...own.filter(({ id }) => id !== "restart"), ...classDeeds(poll, onWall), ...(lesson && !lesson.step ? [deed("homework")] : []), ...again];
  return { counts, picture: poll?.state === "revealed" || votes >= PICTURE_MIN, advice, main, others, tools };
}

/**
 * What else a class needs: copies and the rules that votes believed once the answer is told, its people always.
 * @param {Poll | null} poll
 * @param {string} onWall
 * @returns {Deed[]}
 */
function classDeeds(poll, onWall) {
  const told = !poll || poll.state === "revealed";
  return [...(onWall ? [deed("wallDown")] : []), ...(poll ? ruleDeeds(poll) : []), ...(told ? [deed("copies")] : []), deed("class")];
}

/**
 * The worlds under the rules that differ from the engine, one after the other on the wall.
 * @param {Poll} poll
 * @returns {Deed[]}
 */
function ruleDeeds({ state, answer, rule, rules = [] }) {
  if (state !== "revealed" || !answer?.explain?.decision) return [];
  if (!rule) return [deed("world")];
  const place = { n: rules.indexOf(rule) + 1, of: rules.length };
  return [...(rules.length > 1 ? [deed("worldNext", "worldNext", place)] : []), deed("worldPlay"), deed("worldClose")];
}

/**
 * @param {Poll | null} poll
 * @param {Counts | null} counts
 * @returns {Advice | null}
 */
function adviceOf(poll, counts) {
  if (!poll || !counts || poll.state === "revealed" || poll.round > 1) return null;
  const share = counts.rightShare[0] ?? NaN;
  const votes = counts.total[0] ?? 0;
  const right = counts.right[0] ?? 0;
  const known = votes >= PICTURE_MIN && !Number.isNaN(share);
  const kind = poll.advice ?? (!known ? "few" : share < TALK_FROM ? "hint" : share <= TALK_TO ? "talk" : "reveal");
  return { kind, share, right, votes };
}

/**
 * What comes next, and what else could.
 * @param {Poll | null} poll
 * @param {Lesson | null} lesson
 * @param {Advice["kind"]} advice
 * @returns {{main: Deed | null, others: Deed[]}}
 */
function deedsOf(poll, lesson, advice) {
  const past = lesson?.poll === poll?.id && lesson?.step?.phase !== "ask";
  if (poll && poll.state !== "revealed" && !past) return pollDeeds(poll, lesson, advice);
  if (lesson?.next && lesson.script?.state !== "playing") {
    const label = { key: "lead.named", values: { label: lesson.next.label } };
    return { main: { id: lesson.next.do, label, hint: { key: "lead.step_of", values: { n: (lesson.step?.index ?? lesson.of - 1) + 1, of: lesson.of } } }, others: [] };
  }
  return poll ? { main: deed("done"), others: [] } : { main: null, others: [] };
}

/**
 * @param {Poll} poll
 * @param {Lesson | null} lesson
 * @param {Advice["kind"]} advice
 * @returns {{main: Deed, others: Deed[]}}
 */
function pollDeeds({ state, round }, lesson, advice) {
  const close = deed("close", "close", { round });
  const talk = deed("close", "talk", { round });
  const second = deed("reopen", "second");
  const reveal = deed("reveal");
  const hint = lesson?.step?.hasHint && !lesson.step.hint?.length ? deed("hint") : null;
  if (round > 1) return { main: reveal, others: state === "open" ? [close] : [] };
  if (state === "closed") return { main: second, others: [reveal] };
  switch (advice) {
    case "hint": return hint ? { main: hint, others: [talk, reveal] } : { main: talk, others: [reveal] };
    case "talk": return { main: talk, others: [reveal, ...(hint ? [hint] : [])] };
    case "reveal": return { main: reveal, others: [talk] };
    default: return { main: close, others: [reveal] };
  }
}

/**
 * The sentence over the scale.
 * @param {Advice} advice
 * @returns {{title: Line, hint: Line}}
 */
export function adviceWords({ kind, share, right, votes }) {
  if (kind === "few") return { title: { key: "lead.few" }, hint: { key: "lead.few_hint", values: { votes } } };
  // Nobody can tell yet what is right: it goes by how far the class agrees.
  if (Number.isNaN(share)) return { title: { key: `lead.agree_${kind}` }, hint: { key: `lead.agree_${kind}_hint`, values: { votes } } };
  const values = { share: percent(share), right, votes };
  return { title: { key: `lead.advice_${kind}`, values }, hint: { key: `lead.advice_${kind}_hint`, values } };
}
