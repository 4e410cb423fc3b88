/** What the components watch, fetched while somebody looks and something has changed. */

/** @import { View, WatchesTold } from "../lib/types.d.ts" */
/** @import { SessionApi } from "../net/rest.js" */
import { isUnderWay } from "../state/watches.js";

/** Milliseconds between two questions. */
export const FETCH_EVERY_MS = 1_500;
/** Rows that no component of a cluster watches, or that tell only that the machinery breathes. */
const QUIET = /^(leases|clocks|queues)\.|^events$/;

export class WatchesLoader {
  /**
   * @param {SessionApi} api
   * @param {() => void} onChange
   */
  constructor(api, onChange) {
    this.api = api;
    this.onChange = onChange;
    /** @type {WatchesTold} */
    this.told = { atMs: 0, revision: -1, watches: [] };
    this.asking = false;
    this.askedAtMs = -FETCH_EVERY_MS;
    /** Requests that the server had told of when it was asked. */
    this.hints = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /**
   * Follow the session while the tab is open.
   * @param {View} live
   * @param {number} nowMs simulated
   * @param {boolean} open
   * @param {number} hints how often the server told of requests
   */
  follow(live, nowMs, open, hints = 0) {
    if (!open) {
      clearTimeout(this.timer);
      this.timer = undefined;
      return;
    }
    if (!live.ready || this.asking || this.timer !== undefined || (hints === this.hints && !this.wants(live, nowMs))) return;
    const wait = Math.max(0, this.askedAtMs + FETCH_EVERY_MS - performance.now());
    this.timer = setTimeout(() => void this.ask(live.revision, nowMs), wait);
    this.hints = hints;
  }

  /**
   * @param {View} live
   * @param {number} nowMs
   */
  wants(live, nowMs) {
    const { revision } = this.told;
    if (revision < 0) return true;
    if (isUnderWay(this.told.watches) && nowMs > this.told.atMs) return true;
    const first = live.rows[0]?.revision ?? live.revision + 1;
    return live.revision > revision && (first > revision + 1 || live.rows.some((row) => row.revision > revision && !QUIET.test(row.resource)));
  }

  /**
   * @param {number} revision
   * @param {number} atMs
   */
  async ask(revision, atMs) {
    this.timer = undefined;
    this.asking = true;
    this.askedAtMs = performance.now();
    try {
      this.told = { revision, atMs: Math.max(atMs, this.told.atMs), watches: await this.api.watches() };
      this.onChange();
    } catch {
      // The owner is away: what is on the page stays; asked again with the next change, or when it goes on.
    } finally {
      this.asking = false;
    }
  }
}
