/** The marks of the timeline's window, fetched while it is open and something has changed. */

/** @import { Lang, Mark, TimelineState, View } from "../lib/types.d.ts" */
/** @import { SessionApi } from "../net/rest.js" */
import { summed } from "../state/timeline.js";

/** Milliseconds between two questions while the session goes on. */
const FETCH_EVERY_MS = 1_500;
const MARKS_MAX = 600;
/** Parts of the window in which marks are counted. */
export const SLOTS = 40;

/** @returns {TimelineState} */
export const emptyTimeline = () => ({
  spanMs: 0, from: 1, to: 1, fromMs: 0, toMs: 1, countedFromMs: 0, countedToMs: 1, newest: 1, newestMs: 0,
  compacted: 0, whole: { fromMs: 0, toMs: 1, counts: [], marks: [] }, marks: [], counts: {},
});

export class TimelineLoader {
  /**
   * @param {SessionApi} api
   * @param {() => void} onChange
   */
  constructor(api, onChange) {
    this.api = api;
    this.onChange = onChange;
    this.state = emptyTimeline();
    this.spanMs = 0;
    this.key = "";
    this.asking = false;
    this.askedAtMs = -FETCH_EVERY_MS;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** Marks of all that is kept: they tell which revisions a window has. @type {Mark[]} */
    this.overview = [];
  }

  /** @param {number} spanMs of simulated time; 0: all that is kept */
  zoom(spanMs) {
    this.spanMs = spanMs;
    this.askedAtMs = -FETCH_EVERY_MS;
  }

  /**
   * Follow the session while the timeline is open.
   * @param {View} live
   * @param {View} shown
   * @param {boolean} open
   * @param {Lang} lang
   */
  follow(live, shown, open, lang) {
    const key = [live.revision, this.spanMs, this.spanMs ? shown.revision : 0, lang].join(" ");
    if (!open || !live.ready || this.asking || key === this.key) return;
    clearTimeout(this.timer);
    const wait = Math.max(0, this.askedAtMs + FETCH_EVERY_MS - performance.now());
    this.timer = setTimeout(() => void this.ask(key, live, shown, lang), wait);
  }

  /**
   * @param {string} key
   * @param {View} live
   * @param {View} shown
   * @param {Lang} language
   */
  async ask(key, live, shown, language) {
    this.asking = true;
    this.key = key;
    this.askedAtMs = performance.now();
    try {
      const all = await this.api.timelineCounts(SLOTS);
      const range = { from: Math.min(all.compacted + 1, all.to), to: all.to };
      const query = { limit: MARKS_MAX, language };
      this.overview = await this.api.timeline({ ...range, ...query });
      const whole = this.told(live, all, all, this.overview);
      this.state = this.spanMs ? await this.window(whole, shown.newestMs, query) : whole;
    } catch {
      // What is on the page stays there; the next change of the session asks again.
    } finally {
      this.asking = false;
    }
    this.onChange();
  }

  /**
   * @param {View} live
   * @param {{from: number, to: number, fromTime: number, toTime: number}} range
   * @param {{compacted: number, fromTime: number, toTime: number, lanes: Record<string, number[]>}} counts
   * @param {Mark[]} marks
   * @returns {TimelineState}
   */
  told(live, range, counts, marks) {
    const [countedFromMs, countedToMs] = [counts.fromTime * 1000, counts.toTime * 1000];
    return {
      spanMs: this.spanMs, from: range.from, to: range.to, fromMs: range.fromTime * 1000, toMs: Math.max(range.toTime * 1000, range.fromTime * 1000 + 1),
      countedFromMs, countedToMs, newest: Math.max(live.revision, range.to), newestMs: Math.max(live.newestMs, countedToMs),
      compacted: counts.compacted, whole: { fromMs: countedFromMs, toMs: Math.max(countedToMs, countedFromMs + 1), counts: summed(counts.lanes), marks }, marks, counts: counts.lanes,
    };
  }

  /**
   * The window around a moment; it lies within what is kept.
   * @param {TimelineState} whole
   * @param {number} aroundMs
   * @param {{limit: number, language: string}} query
   * @returns {Promise<TimelineState>}
   */
  async window(whole, aroundMs, query) {
    const toMs = Math.min(whole.toMs, Math.max(aroundMs + this.spanMs / 2, whole.fromMs + this.spanMs));
    const fromMs = toMs - this.spanMs;
    const before = this.overview.filter(({ simTime }) => simTime * 1000 <= fromMs);
    const after = this.overview.find(({ simTime }) => simTime * 1000 > toMs);
    const range = { from: before[before.length - 1]?.rv ?? whole.from, to: after?.rv ?? whole.to };
    const [counts, marks] = await Promise.all([this.api.timelineCounts(SLOTS, range), this.api.timeline({ ...range, ...query })]);
    return {
      ...whole, ...range, fromMs, toMs, countedFromMs: counts.fromTime * 1000, countedToMs: counts.toTime * 1000,
      marks, counts: counts.lanes,
    };
  }
}
