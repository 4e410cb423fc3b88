/** A page that presents tells what it shows; one that follows shows what it is told, once each time it is told something new. */

/** @import { Presented, View } from "../lib/types.d.ts" */
/** @import { Shown, Step } from "../state/presenting.js" */
import { standingOf, stepsTo, toldOf } from "../state/presenting.js";

/** Milliseconds between two tellings: a hand on the timeline moves on in steps. */
export const TELL_EVERY_MS = 100;

export class Teller {
  /**
   * @param {(view: Presented) => void} send
   * @param {{now: () => number, after: (ms: number, act: () => void) => void}} clock
   */
  constructor(send, clock) {
    this.send = send;
    this.clock = clock;
    /** What was shown when somebody last looked; null: not presenting. */
    this.seen = /** @type {string | null} */ (null);
    this.wanted = /** @type {Presented | null} */ (null);
    this.toldAtMs = -TELL_EVERY_MS;
    this.waiting = false;
  }

  /**
   * @param {Shown} shown
   * @param {boolean} presents whether this page's person does
   */
  follow(shown, presents) {
    if (!presents) {
      this.seen = null;
      this.wanted = null;
      return;
    }
    const told = toldOf(shown);
    const seen = JSON.stringify(told);
    // Another page of the same person may be the one that shows: this one tells when it is touched.
    if (this.seen !== null && seen !== this.seen) {
      this.wanted = told;
      this.tell();
    }
    this.seen = seen;
  }

  tell() {
    if (!this.wanted || this.waiting) return;
    const wait = this.toldAtMs + TELL_EVERY_MS - this.clock.now();
    if (wait > 0) {
      this.waiting = true;
      this.clock.after(wait, () => {
        this.waiting = false;
        this.tell();
      });
      return;
    }
    this.toldAtMs = this.clock.now();
    this.send(this.wanted);
    this.wanted = null;
  }
}

export class Follower {
  /** @param {{shown: () => Shown, take: (step: Step) => void}} page */
  constructor(page) {
    this.page = page;
    this.left = false;
    /** What was last shown after the presenter. @type {View["presenting"] | null} */
    this.done = null;
    /** The dock's tab as its person had it before following began; null: nobody is followed. @type {string | null} */
    this.own = null;
    /** The tab that was last opened, or folded, after the presenter. */
    this.opened = "";
  }

  /** @param {View} view */
  follow(view) {
    const { presenting } = view;
    if (!presenting.view) {
      this.giveBack();
      // Whoever begins anew is followed by all.
      this.left = false;
    }
    if (standingOf(view, this.left) !== "follows" || !presenting.view) {
      this.done = null;
      return;
    }
    if (presenting === this.done || !view.ready) return;
    this.done = presenting;
    this.own ??= this.page.shown().dockTab;
    this.opened = presenting.view.dockTab ?? "";
    for (const step of stepsTo(this.page.shown(), presenting.view)) this.page.take(step);
  }

  /** When it ends the dock is as its person had it, unless they have turned to something of their own meanwhile. */
  giveBack() {
    const { own, opened } = this;
    this.own = null;
    if (own !== null && own !== opened && this.page.shown().dockTab === opened) this.page.take({ do: "dock", tab: own });
  }

  /** Look at something else. */
  leave() {
    this.left = true;
    this.own = null;
  }

  /** Look at what is presented again. */
  back() {
    this.left = false;
    this.done = null;
  }
}
