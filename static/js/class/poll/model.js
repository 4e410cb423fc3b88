/** A poll as one person sees it: what stands open, what is marked, what the button says. Pure. */

/** @import { Poll, PollKept, PollOption } from "../../lib/class.d.ts" */
/** @import { Lang } from "../../lib/types.d.ts" */
import { said, shuffled } from "../../lib/said.js";
import { listed, text } from "../../lib/text.js";
import { cameTrue, idsOf } from "../../state/votes.js";

/** Options that a digit chooses. */
const KEYS_MAX = 9;
/** Seconds at which the time that is left is read out. */
export const SAID_SECONDS = [30, 10, 5];

/**
 * A sentence: the key of a text and its blanks.
 * @typedef {{key: string, values?: Record<string, string | number>}} Line
 *
 * One option of the ballot. `votes`: the rounds in which this person chose it.
 * @typedef {{id: string, label: string, key: string, picked: boolean, right: boolean, chosen: boolean, came: boolean, votes: number[],
 *   facts: PollOption["facts"]}} Choice
 *
 * @typedef {object} Ballot
 * @property {"open" | "closed" | "revealed"} state
 * @property {boolean} several
 * @property {boolean} locked nothing can be picked now
 * @property {Line} chip which vote it is
 * @property {string} question
 * @property {number | null} seconds left; null: no limit, or over
 * @property {number} share of the time that is left, 0 to 1
 * @property {Choice[]} options
 * @property {{id: string, label: string, picked: boolean}[]} reasons empty until one has voted
 * @property {Line | null} button what voting does; null when it is done, or cannot be done
 * @property {boolean} ready whether the button does it
 * @property {Line[]} status first what is, then what can be done
 * @property {"" | "good" | "bad" | "wait"} tone
 * @property {{voted: number, present: number} | null} count null for somebody alone, and once the answer is told
 */

/**
 * @param {object} input
 * @param {Poll} input.poll
 * @param {PollKept | null} input.kept
 * @param {number} input.unixMs by the server's clock
 * @param {string} input.seat
 * @param {Lang} input.lang
 * @param {boolean} input.votes whether this person may vote
 * @param {boolean} input.alone
 * @param {boolean} [input.deciding] the votes are over, and what they are about is under way
 * @returns {Ballot}
 */
export function ballotOf({ poll, kept, unixMs, seat, lang, votes, alone, deciding = false }) {
  const name = nameIn(poll, lang);
  const left = poll.state === "open" && poll.limit && poll.endsUnixMs ? Math.max(0, poll.endsUnixMs - unixMs) : null;
  const over = left === 0;
  const state = poll.state === "opening" || (poll.state === "open" && over) ? "closed" : poll.state;
  const locked = state !== "open" || !votes;
  const voted = kept !== null && kept.state !== "";
  return {
    state, locked,
    several: poll.kind === "victims",
    chip: deciding && state !== "revealed" ? { key: "vote.deciding" } : chipOf(poll, state, alone),
    question: questionOf(poll, lang),
    seconds: left === null ? null : Math.ceil(left / 1000),
    share: left === null ? 0 : left / (poll.limit * 1000),
    options: poll.options.map((option, index) => choiceOf(poll, kept, option, index, lang)),
    reasons: voted && poll.because?.length && state !== "revealed"
      ? shuffled(poll.because, seat).map(({ id, label }) => ({ id, label: said(lang, label), picked: kept.because === id })) : [],
    ...wordsOf({ poll, kept, state, votes, name, alone: alone || deciding, seconds: left === null ? null : Math.ceil(left / 1000) }),
    // Once the answer is told, its bars count both votes.
    count: alone || state === "revealed" ? null : { voted: poll.voted, present: Math.max(poll.present, poll.voted) },
  };
}

/**
 * @param {Poll} poll
 * @param {Ballot["state"]} state
 * @param {boolean} alone
 * @returns {Line}
 */
function chipOf(poll, state, alone) {
  if (state === "revealed") return { key: poll.answer ? "vote.revealed" : "vote.deciding" };
  if (alone) return { key: "vote.alone" };
  return { key: state === "closed" ? `vote.closed_${poll.round}` : `vote.round_${poll.round}` };
}

/**
 * @param {Poll} poll
 * @param {PollKept | null} kept
 * @param {PollOption} option
 * @param {number} index
 * @param {Lang} lang
 * @returns {Choice}
 */
function choiceOf(poll, kept, option, index, lang) {
  const { id, label, facts } = option;
  const revealed = poll.state === "revealed";
  return {
    id, facts,
    label: said(lang, label),
    key: index < KEYS_MAX ? String(index + 1) : "",
    picked: revealed ? idsOf(poll.mine?.[String(poll.round)]).includes(id) : Boolean(kept?.picked.includes(id)),
    right: poll.answer?.right.includes(id) ?? false,
    chosen: poll.answer?.chosen === id, came: cameTrue(poll, id),
    votes: [1, 2].filter((round) => idsOf(poll.mine?.[String(round)]).includes(id)),
  };
}

/**
 * What the button and the line beside it say.
 * @param {{poll: Poll, kept: PollKept | null, state: Ballot["state"], votes: boolean, name: (ids: string[]) => string,
 *   alone: boolean, seconds: number | null}} input
 * @returns {Pick<Ballot, "button" | "ready" | "status" | "tone">}
 */
function wordsOf({ poll, kept, state, votes, name, alone, seconds }) {
  /** @param {Ballot["tone"]} tone @param {...Line} status */
  const say = (tone, ...status) => ({ button: null, ready: false, status, tone });
  if (!votes) return say("", { key: "vote.watching" });
  if (state === "revealed") return poll.answer ? verdict(poll, name) : say("", { key: "vote.deciding" });
  const picked = kept?.picked ?? [];
  if (state === "closed") {
    const mine = kept?.state === "sent" || kept?.state === "sending";
    if (kept?.problem === "late" || kept?.state === "waiting") return say("bad", { key: "vote.late" });
    return say(mine ? "good" : "", mine ? { key: "vote.kept", values: { name: name(picked) } } : { key: "vote.missed" },
      { key: alone ? "vote.next_2" : `vote.next_${poll.round}` });
  }
  if (kept?.state === "waiting") return say("wait", { key: "vote.waiting", values: { name: name(picked) } }, { key: "vote.waiting_hint" });
  if (kept?.state === "sent" || kept?.state === "sending") {
    const change = seconds === null ? { key: "vote.change" } : { key: "vote.change_for", values: { seconds } };
    return say("good", { key: kept.state === "sent" ? "vote.in" : "vote.sending", values: { name: name(picked) } }, change);
  }
  /** @type {Line[]} */
  const status = kept?.problem ? [{ key: kept.problem === "late" ? "vote.late" : "vote.refused", values: { why: kept.problem } }] : [];
  return {
    button: picked.length ? { key: "vote.for", values: { name: name(picked) } } : { key: "vote.choose" },
    ready: picked.length > 0, status, tone: kept?.problem ? "bad" : "",
  };
}

/**
 * How one's own votes stand to the answer.
 * @param {Poll} poll
 * @param {(ids: string[]) => string} name
 * @returns {Pick<Ballot, "button" | "ready" | "status" | "tone">}
 */
function verdict(poll, name) {
  const rounds = [1, 2].map((round) => idsOf(poll.mine?.[String(round)]));
  const last = rounds.findLast((ids) => ids.length) ?? [];
  /** @type {Line[]} */
  const status = last.length
    ? [{ key: isRight(poll, last) ? "vote.right" : "vote.other", values: { name: name(last) } }] : [{ key: "vote.none" }];
  const [first = [], second = []] = rounds;
  if (first.length && second.length && name(first) !== name(second))
    status.push({ key: "vote.you_changed", values: { from: name(first) } });
  return { button: null, ready: false, status, tone: last.length && isRight(poll, last) ? "good" : "" };
}

/**
 * Every set of options that is right: told at the reveal, to the teacher before.
 * @param {Poll} poll
 * @returns {readonly (readonly string[])[]}
 */
export function rightOf({ kind, answer, expected }) {
  if (!answer) return expected ?? [];
  return answer.alternatives ?? (kind === "victims" ? [answer.right] : answer.right.map((id) => [id]));
}

/**
 * Whether a vote is one of the right answers; of several options all must agree.
 * @param {Poll} poll
 * @param {readonly string[]} ids
 */
export function isRight(poll, ids) {
  return rightOf(poll).some((right) => right.length === ids.length && right.every((id) => ids.includes(id)));
}

/**
 * What is asked; whoever asks about a pod need not write it.
 * @param {Poll} poll
 * @param {Lang} lang
 */
export function questionOf({ kind, pod, question }, lang) {
  return said(lang, question) || text(lang, `vote.ask_${kind}`, { name: pod.split("/").pop() ?? "" });
}

/**
 * @param {Poll} poll
 * @param {Lang} lang
 * @returns {(ids: string[]) => string}
 */
export function nameIn(poll, lang) {
  const labels = new Map(poll.options.map(({ id, label }) => [id, said(lang, label)]));
  return (ids) => listed(lang, ids.map((id) => labels.get(id) ?? id));
}
