/** Requests of the class: polls and lessons. Fetched when there is one. */

/** @import { Lesson, Poll, PollVote } from "../lib/class.d.ts" */
/** @import { Lang } from "../lib/types.d.ts" */
import { request } from "./rest.js";

const KEPT_KEY = "clustersim.vote";

/** What a class asks of one session. */
export class ClassApi {
  /** @param {string} code */
  constructor(code) {
    this.code = code;
    this.session = `/api/sessions/${encodeURIComponent(code)}`;
  }

  /**
   * @param {string} id
   * @returns {Promise<Poll>}
   */
  poll(id) {
    return request("GET", `${this.session}/polls/${encodeURIComponent(id)}`);
  }

  /**
   * @param {object} body
   * @returns {Promise<Poll>}
   */
  open(body) {
    return request("POST", `${this.session}/polls`, body);
  }

  /**
   * @param {string} id
   * @param {PollVote} vote
   * @param {number} round in which it was chosen: it counts in no other
   */
  vote(id, vote, round) {
    return request("POST", `${this.session}/polls/${encodeURIComponent(id)}/votes`, { ...vote, round });
  }

  /**
   * @param {string} id
   * @param {"close" | "reopen" | "reveal"} what
   */
  turn(id, what) {
    return request("POST", `${this.session}/polls/${encodeURIComponent(id)}/${what}`, {});
  }

  /**
   * @param {string} id
   * @param {Record<string, number>} counts
   */
  hands(id, counts) {
    return request("PUT", `${this.session}/polls/${encodeURIComponent(id)}/hands`, { counts });
  }

  /**
   * The world under a rule, on walls: the next one, the one before, or none.
   * @param {string} id
   * @param {"next" | "back" | "close"} what
   */
  showRule(id, what) {
    return request("POST", `${this.session}/polls/${encodeURIComponent(id)}/rule`, { do: what });
  }

  /**
   * A copy in which the rule decides, for the whole class to look at.
   * @param {string} id
   * @param {string} rule
   */
  hangWorld(id, rule) {
    return request("POST", `${this.session}/polls/${encodeURIComponent(id)}/world`, { rule, wall: true });
  }

  /** @param {string} copy what hangs on the wall */
  takeDown(copy) {
    return request("DELETE", `${this.session}/copies/${encodeURIComponent(copy)}/wall`);
  }

  /** @param {string} id */
  cancel(id) {
    return request("DELETE", `${this.session}/polls/${encodeURIComponent(id)}`);
  }

  /**
   * @param {Lang} lang
   * @param {string} [step] one that is done, to be told too
   * @returns {Promise<Lesson>}
   */
  lesson(lang, step = "") {
    return request("GET", `${this.session}/lesson?lang=${lang === "zh-hans" ? "zh" : "en"}${step ? `&step=${encodeURIComponent(step)}` : ""}`);
  }

  /** @param {Lang} lang */
  handout(lang) {
    return `${this.session}/handout?lang=${lang === "zh-hans" ? "zh" : "en"}`;
  }

  /** @param {object} body `{do, …}` */
  lead(body) {
    return request("POST", `${this.session}/lesson`, body);
  }

  /** @param {boolean} frozen whether students' writes are refused */
  freeze(frozen) {
    return request("PUT", `${this.session}/frozen`, { frozen });
  }

  /** The vote that this browser keeps until it can be sent; null where there is none. */
  kept() {
    try {
      return JSON.parse(localStorage.getItem(`${KEPT_KEY}.${this.code}`) ?? "null");
    } catch {
      return null;
    }
  }

  /** @param {import("../lib/class.d.ts").PollKept | null} kept */
  keep(kept) {
    try {
      if (kept) localStorage.setItem(`${KEPT_KEY}.${this.code}`, JSON.stringify(kept));
      else localStorage.removeItem(`${KEPT_KEY}.${this.code}`);
    } catch {
      // Private windows refuse storage: the vote lives as long as the page.
    }
  }
}
