/** Tells the others what is selected here: the newest selection, not too often, and nothing where its person wants none. */

/** @import { Selection, View } from "../lib/types.d.ts" */
import { answers } from "../state/classroom.js";

/** Milliseconds between two tellings. */
export const TELL_EVERY_MS = 300;

export class LookTeller {
  /**
   * @param {(frame: {type: "look", resource: string, key: string}) => void} send
   * @param {{now: () => number, after: (ms: number, act: () => void) => void}} clock
   */
  constructor(send, clock) {
    this.send = send;
    this.clock = clock;
    /** `resource key`; a blank for nothing, "" while the server may believe anything. */
    this.told = "";
    this.wanted = " ";
    this.toldAtMs = -TELL_EVERY_MS;
    this.waiting = false;
  }

  /** A new connection may know what a former page of this person looked at. */
  forget() {
    this.told = "";
    this.tell();
  }

  /**
   * A node that is voted for is selected, too: until the reveal that is nobody's business.
   * @param {View} view
   * @param {Selection | null} selected
   * @param {boolean} shares whether this person lets others see it
   */
  follow(view, selected, shares) {
    const tells = shares && view.looks.on && selected && !answers(view) && (view.me?.role === "teacher" || view.me?.role === "student");
    this.wanted = tells ? `${selected.resource} ${selected.key}` : " ";
    this.tell();
  }

  tell() {
    if (this.wanted === this.told || this.waiting) return;
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
    this.told = this.wanted;
    const at = this.told.indexOf(" ");
    this.send({ type: "look", resource: this.told.slice(0, at), key: this.told.slice(at + 1) });
  }
}
