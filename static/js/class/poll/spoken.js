/** What a screen reader is told of a poll, once each: which vote begins or ends, that one's own is in, how little time is left, the answer. Pure. */

/** @import { Lang } from "../../lib/types.d.ts" */
/** @import { Ballot, Line } from "./model.js" */
import { listed, text } from "../../lib/text.js";
import { SAID_SECONDS } from "./model.js";

/** Of one page: what it has said already. */
export class Speaker {
  told = "";
  left = Infinity;

  /**
   * @param {string} poll
   * @param {Ballot} ballot
   * @param {Lang} lang
   * @returns {string} "": nothing new
   */
  next(poll, ballot, lang) {
    const say = (/** @type {Line} */ { key, values }) => text(lang, key, values);
    const right = ballot.state === "revealed" ? ballot.options.filter(({ right, chosen }) => right || chosen).map(({ label }) => label) : [];
    const words = [...new Set([
      say(ballot.chip), ballot.state === "open" && !ballot.status.length ? ballot.question : "",
      right.length ? text(lang, "vote.came", { name: listed(lang, right) }) : "", ...ballot.status.slice(0, 1).map(say),
    ])].filter(Boolean).map((one) => one.replace(/[.。]$/, "")).join(". ");
    const next = `${poll} ${words}`;
    const due = SAID_SECONDS.some((mark) => ballot.seconds !== null && ballot.seconds <= mark && this.left > mark);
    const fresh = next !== this.told;
    this.left = ballot.seconds ?? Infinity;
    this.told = next;
    if (fresh) return words;
    return due && ballot.seconds ? text(lang, "vote.left", { seconds: ballot.seconds }) : "";
  }
}
