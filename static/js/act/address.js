/** Keeps the address in step with what the page shows, and the page with the address that somebody opened or went back to. */

/** @import { Address } from "../lib/address.js" */
import { readAddress, writeAddress } from "../lib/address.js";

/** How long a page may take to show what somebody went back to, real milliseconds. */
const SETTLES_MS = 2_000;

export class AddressBar {
  /** @param {(address: Address) => void} open shows what an address says */
  constructor(open) {
    this.open = open;
    this.search = location.search;
    /** What somebody went back to, or forward. */
    this.wanted = this.search;
    /** What the page came with. */
    this.first = readAddress(location.search);
    /** Nothing is written before the page shows what its address says. */
    this.ready = false;
    /** Whether what it said was written once in the page's own words, which is no step of anybody's. */
    this.said = this.search === "";
    /** Until when what the page shows is on its way to what the address says: no step of anybody's. */
    this.settlesMs = -Infinity;
    window.addEventListener("popstate", () => {
      this.search = this.wanted = location.search;
      this.settlesMs = performance.now() + SETTLES_MS;
      open(readAddress(location.search));
    });
  }

  /**
   * Write what is shown now. Another selection, tab or moment is a step that the browser's back button takes back; a
   * moment after a moment (scrubbing, playing) replaces the one before.
   * @param {Address} address
   */
  follow(address) {
    const search = writeAddress(address);
    const settles = performance.now() < this.settlesMs;
    if (search === this.wanted) this.settlesMs = -Infinity;
    if (!this.ready) return;
    const rewords = !this.said;
    this.said = true;
    if (search === this.search) return;
    const before = readAddress(this.search);
    const scrubs = Boolean(before.rv && address.rv && before.rv !== address.rv);
    this.search = search;
    // A step pushed on the way back would take away the way forward.
    history[settles || scrubs || rewords ? "replaceState" : "pushState"](null, "", location.pathname + search);
  }
}
