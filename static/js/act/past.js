/** The moment that the page is held at: fetched as what differs from the moment before it, so that a neighbour is near. */

/** @import { PastState, View } from "../lib/types.d.ts" */
/** @import { SessionApi } from "../net/rest.js" */
import { viewAt } from "../state/past.js";

/** Milliseconds between two moments while the past is played. */
const PLAY_EVERY_MS = 400;
/** Revisions whose marks are asked for at once while the past is played. */
const PLAY_WINDOW = 400;

export class PastLoader {
  /**
   * @param {SessionApi} api
   * @param {() => View} live
   * @param {() => void} onChange
   * @param {(problem: unknown) => void} onLost the moment cannot be had
   */
  constructor(api, live, onChange, onLost) {
    this.api = api;
    this.live = live;
    this.onChange = onChange;
    this.onLost = onLost;
    /** @type {View | null} null: now */
    this.view = null;
    this.wanted = 0;
    this.asking = false;
    /** @type {-1 | 0 | 1} */
    this.playing = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {number[]} moments that are played next */
    this.ahead = [];
  }

  /** @returns {PastState} */
  get state() {
    return { revision: this.wanted, shown: this.view?.revision ?? 0, playing: this.playing };
  }

  /**
   * Hold the page at a revision. While one is on its way only the newest wish counts.
   * @param {number} revision
   */
  hold(revision) {
    this.wanted = Math.max(1, Math.min(revision, this.live().revision));
    this.onChange();
    if (!this.asking) return this.ask();
    return undefined;
  }

  /** Back to now. */
  release() {
    this.stop();
    this.wanted = 0;
    this.view = null;
    this.onChange();
  }

  async ask() {
    this.asking = true;
    try {
      while (this.wanted && this.wanted !== this.view?.revision) {
        const target = this.wanted;
        const base = this.view ?? this.live();
        const changes = await this.api.changes(base.revision, target);
        // Meanwhile somebody may have gone back to now, or on to another moment: what came is the way there.
        if (!this.wanted) return;
        this.view = viewAt(base, changes, this.live());
        this.onChange();
      }
    } catch (problem) {
      this.release();
      this.onLost(problem);
    } finally {
      this.asking = false;
    }
  }

  /**
   * Play from the moment that is held, mark by mark; the same direction again stops.
   * @param {-1 | 1} direction
   */
  play(direction) {
    const again = this.playing === direction;
    this.stop();
    if (again) return this.onChange();
    this.playing = direction;
    if (!this.wanted) void this.hold(this.live().revision);
    this.onChange();
    void this.tick();
  }

  stop() {
    clearTimeout(this.timer);
    this.playing = 0;
    this.ahead = [];
  }

  async tick() {
    const direction = this.playing;
    if (!direction) return;
    try {
      if (this.ahead.length === 0) this.ahead = await this.following(direction);
    } catch (problem) {
      this.stop();
      this.onLost(problem);
    }
    if (this.playing !== direction) return;
    const next = this.ahead.shift();
    if (next === undefined) {
      this.stop();
      return this.onChange();
    }
    await this.hold(next);
    if (this.playing === direction) this.timer = setTimeout(() => void this.tick(), PLAY_EVERY_MS);
  }

  /**
   * @param {-1 | 1} direction
   * @returns {Promise<number[]>} moments in the order in which they are played
   */
  async following(direction) {
    const [first, last] = direction > 0
      ? [this.wanted + 1, Math.min(this.wanted + PLAY_WINDOW, this.live().revision)]
      : [Math.max(1, this.wanted - PLAY_WINDOW), this.wanted - 1];
    if (last < first) return [];
    const { compacted } = await this.api.timelineCounts(1);
    if (last <= compacted) return [];
    const marks = await this.api.timeline({ from: Math.max(first, compacted + 1), to: last, limit: PLAY_WINDOW });
    const moments = marks.map(({ rv }) => rv);
    if (moments.length === 0) return [direction > 0 ? last : Math.max(first, compacted + 1)];
    return direction > 0 ? moments : moments.reverse();
  }
}
