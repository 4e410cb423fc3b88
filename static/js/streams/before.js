/** What the charts of Streams show of the time that a page did not hear of: asked for once, and gone through backwards. */

/** @import { Changes, DecisionLine, Ui, View } from "../lib/types.d.ts" */
/** @import { Recorder, Told } from "./recorder.js" */
import { viewAt } from "../state/past.js";
import { nodes } from "../state/selectors.js";
import { columnOf, markOf, sampleOf } from "./recorder.js";

/** Moments that are asked for; of those with nodes every second one. */
const MOMENTS = 120;
/** As far as the server goes at once. */
const SECONDS_MAX = 1_000_000;
/** A stretch that is shorter is not asked for, simulated milliseconds. */
const SHORT_MS = 1_500;
/** Moments after which the page draws in between. */
const AT_ONCE = 4;
/** Milliseconds until what failed is tried again. */
const AGAIN_MS = 5_000;

/** @typedef {{fromMs: number, toMs: number, moments: Changes[], decisions: DecisionLine[]}} WayBack what `GET …/before/<rv>` answers */

/**
 * What the charts keep of a way back.
 * @param {View} view from which the way goes
 * @param {WayBack} way
 * @param {number} toMs simulated time of the view: at least that of its newest row
 * @param {() => Promise<void>} pause lets the page draw in between
 * @returns {Promise<Told>}
 */
export async function goneThrough(view, way, toMs, pause) {
  /** @type {Told} */
  const told = { fromMs: way.fromMs, toMs, samples: [], columns: [], marks: way.decisions.map((line) => markOf(view, line)) };
  let now = view;
  /** @type {readonly string[]} */
  let names = [];
  for (const [index, changes] of way.moments.entries()) {
    now = viewAt(now, changes, view);
    told.samples.push(sampleOf(now, changes.simTimeMs));
    if (index % 2 === 0) {
      const there = nodes(now);
      if (there.length !== names.length || there.some((node, at) => node.name !== names[at])) names = there.map((node) => node.name);
      told.columns.push(columnOf(there, names, changes.simTimeMs, changes.to));
    }
    if (index % AT_ONCE === AT_ONCE - 1) await pause();
  }
  told.samples.reverse();
  told.columns.reverse();
  return told;
}

export class Before {
  /**
   * @param {Recorder} recorder
   * @param {(path: string) => Promise<WayBack>} look
   */
  constructor(recorder, look) {
    this.recorder = recorder;
    this.look = look;
    /** Stretches that were answered for, as far as the log goes. @type {{fromMs: number, toMs: number}[]} */
    this.asked = [];
    this.asking = false;
    this.notBeforeMs = 0;
  }

  /**
   * Ask for what is missing of a stretch of time.
   * @param {View} view
   * @param {Pick<Ui, "connection" | "nowMs">} ui
   * @param {number} fromMs simulated; −Infinity: as long ago as the log goes
   * @returns {Promise<void> | undefined} until it is there
   */
  follow(view, ui, fromMs) {
    if (this.asking || !view.ready || ui.connection !== "live" || performance.now() < this.notBeforeMs) return undefined;
    const missing = this.missing(Math.max(fromMs, 0), ui.nowMs);
    return missing === null ? undefined : this.ask(view, missing, ui.nowMs);
  }

  /**
   * From when on something is missing.
   * @param {number} fromMs
   * @param {number} toMs
   * @returns {number | null}
   */
  missing(fromMs, toMs) {
    let first = Infinity;
    for (const hole of this.recorder.holes()) {
      let [from, to] = [Math.max(hole.fromMs, fromMs), Math.min(hole.toMs, toMs)];
      for (const known of this.asked) {
        if (known.fromMs <= from && known.toMs > from) from = known.toMs;
        if (known.toMs >= to && known.fromMs < to) to = known.fromMs;
      }
      if (to - from > SHORT_MS) first = Math.min(first, from);
    }
    return first === Infinity ? null : first;
  }

  /**
   * @param {View} view
   * @param {number} fromMs
   * @param {number} toMs
   */
  async ask(view, fromMs, toMs) {
    this.asking = true;
    try {
      const seconds = Math.min(SECONDS_MAX, Math.ceil((toMs - fromMs) / 1000));
      const way = await this.look(`before/${view.revision}?seconds=${seconds}&moments=${MOMENTS}`);
      const told = await goneThrough(view, way, toMs, () => new Promise((go) => setTimeout(go)));
      this.asked.push({ fromMs, toMs });
      this.recorder.learn(told);
    } catch {
      // What the socket tells is there; what was before is asked for again.
      this.notBeforeMs = performance.now() + AGAIN_MS;
    } finally {
      this.asking = false;
    }
  }
}
