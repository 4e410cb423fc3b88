/** What tabs of charts that stream have in common: they stand still when asked, show a stretch of time, open their files. */

/** @import { Ui, View } from "../lib/types.d.ts" */
import { setAttribute } from "../dom/dom.js";
import { controls } from "./head.js";

/** A tab with controls over it; whoever extends it gives it files, and draws. */
export class LiveTab {
  /**
   * @param {HTMLElement} root
   * @param {string} name of the tab
   * @param {number} minutes shown at first
   */
  constructor(root, name, minutes) {
    this.root = root;
    this.minutes = minutes;
    /** @type {number | null} simulated time at which the charts stand */
    this.held = null;
    this.seen = false;
    /** @type {View | null} */
    this.view = null;
    this.ui = /** @type {Ui} */ ({ lang: "en" });
    this.controls = controls({
      toggle: () => this.toggle(),
      choose: (length) => {
        this.minutes = length;
        this.draw();
      },
      open: () => this.open(Boolean(this.files?.root.hidden)),
    }, name);
    /** @type {{root: HTMLElement, render: () => void} | null} */
    this.files = null;
    root.addEventListener("keydown", (event) => this.key(event));
  }

  /** Simulated time at the right edge. */
  get toMs() {
    return this.held ?? this.ui.nowMs;
  }

  /**
   * @param {View} view
   * @param {Ui} ui
   * @param {boolean} seen
   */
  take(view, ui, seen) {
    this.view = view;
    this.ui = ui;
    this.seen = seen;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /** @type {Element} */ (event.target).matches("select, input")) return;
    const key = event.key.toLowerCase();
    if (key === "p") this.toggle();
    else if (key === "e") this.open(Boolean(this.files?.root.hidden));
    else if (key === "escape" && this.files && !this.files.root.hidden) this.open(false);
    else return;
    event.stopPropagation();
  }

  /** Hold the charts where they are, or go on; the cluster goes on in any case. */
  toggle() {
    this.held = this.held === null ? this.ui.nowMs : null;
    this.draw();
  }

  /** @param {boolean} wanted */
  open(wanted) {
    if (!this.files) return;
    this.files.root.hidden = !wanted;
    setAttribute(this.controls.opener, "aria-expanded", String(wanted));
    if (wanted) this.files.render();
    else this.controls.opener.focus();
  }

  /** Draw what there is. */
  draw() {}
}
