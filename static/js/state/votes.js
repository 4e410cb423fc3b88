/** One person's votes in a poll: what is picked, what the server has, what is kept until it can be sent. Pure. */

/** @import { Poll, PollKept, PollVote } from "../lib/class.d.ts" */

/**
 * @param {PollVote | undefined} vote
 * @returns {string[]}
 */
export function idsOf(vote) {
  const choice = vote?.choice ?? [];
  return Array.isArray(choice) ? choice : [choice];
}

/**
 * What is kept of a poll's round, once the server has told the poll: its own word counts, but for what it has not got yet.
 * A second round starts on the vote of the first.
 * @param {Poll} poll
 * @param {PollKept | null} kept as it was
 * @returns {PollKept}
 */
export function keptFor(poll, kept) {
  const mine = poll.mine?.[String(poll.round)];
  const same = kept?.poll === poll.id && kept.round === poll.round ? kept : null;
  const unsent = same?.state === "waiting" || same?.state === "sending";
  if (same && unsent && poll.state === "open") return same;
  if (mine) {
    return { poll: poll.id, round: poll.round, picked: idsOf(mine), because: mine.because ?? "", state: "sent", problem: "" };
  }
  // The round ended before what was kept could be sent.
  if (unsent) return { ...same, state: "", problem: "late" };
  if (same) return same;
  const before = idsOf(poll.mine?.[String(poll.round - 1)]);
  const known = new Set(poll.options.map(({ id }) => id));
  // What was chosen in the round before, and did not get there, counts in neither; who chose it is told.
  const missed = kept?.poll === poll.id && (kept.problem || kept.state === "waiting" || kept.state === "sending");
  return { poll: poll.id, round: poll.round, picked: before.filter((id) => known.has(id)), because: "", state: "", problem: missed ? "late" : "" };
}

/**
 * A tap on an option: of several that may be picked it is turned, else it is the one. A vote that is in is changed at once,
 * so what follows is to be sent.
 * @param {Poll} poll
 * @param {PollKept} kept
 * @param {string} id
 * @returns {{kept: PollKept, send: boolean}}
 */
export function pick(poll, kept, id) {
  if (poll.state !== "open") return { kept, send: false };
  const several = poll.kind === "victims";
  const picked = !several || id === "none" ? [id]
    : kept.picked.includes(id) ? kept.picked.filter((one) => one !== id)
      : [...kept.picked.filter((one) => one !== "none"), id];
  const same = picked.length === kept.picked.length && picked.every((one) => kept.picked.includes(one));
  if (same && kept.state) return { kept, send: false };
  // Among several one goes on picking; the button sends.
  const send = Boolean(kept.state) && !several;
  return { kept: { ...kept, picked, state: send ? "sending" : "", problem: "" }, send };
}

/**
 * The vote as it is sent.
 * @param {Poll} poll
 * @param {PollKept} kept
 * @returns {PollVote}
 */
export function voteOf(poll, kept) {
  const choice = poll.kind === "victims" ? kept.picked : (kept.picked[0] ?? "");
  return kept.because ? { choice, because: kept.because } : { choice };
}

/**
 * Whether an answer came true that nobody chose: of statements the engine chooses none.
 * @param {Poll} poll
 * @param {string} id
 */
export function cameTrue({ kind, answer }, id) {
  return kind === "choice" && Boolean(answer?.right.includes(id));
}
