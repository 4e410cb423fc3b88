/** Renewals from before the page was opened, or that it missed: fetched once, when they are first looked at. */

/** @import { Mark, View } from "../lib/types.d.ts" */
/** @import { SessionApi } from "../net/rest.js" */

const MARKS_MAX = 2_000;
/** Milliseconds until what failed is tried again. */
const AGAIN_MS = 5_000;

export class ElectionLoader {
  /**
   * @param {SessionApi} api
   * @param {() => void} onChange
   */
  constructor(api, onChange) {
    this.api = api;
    this.onChange = onChange;
    /** @type {readonly Mark[]} */
    this.marks = [];
    /** Every row up to this revision was seen to come, or fetched; -1: nothing was fetched yet. */
    this.covered = -1;
    this.asking = false;
  }

  /**
   * Follow the session; ask where rows are missing while somebody looks.
   * @param {View} live
   * @param {boolean} open
   */
  follow(live, open) {
    if (!live.ready || this.asking) return;
    const first = live.rows[0]?.revision ?? live.revision + 1;
    if (this.covered >= first - 1) this.covered = live.revision;
    else if (open) void this.ask(live.revision);
  }

  /** @param {number} revision */
  async ask(revision) {
    this.asking = true;
    try {
      this.marks = await this.api.timeline({ lane: "leases", limit: MARKS_MAX });
      this.covered = revision;
      this.asking = false;
      this.onChange();
    } catch {
      // What came over the socket is there; what was before is asked for again.
      setTimeout(() => {
        this.asking = false;
        this.onChange();
      }, AGAIN_MS);
    }
  }
}
