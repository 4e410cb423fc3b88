/** Keeps the address in step with what the page shows, and the page with the address that somebody opened or went back to. */

/** @import { Address } from "../lib/address.js" */
import { readAddress, writeAddress } from "../lib/address.js";

export class AddressBar {
  /** @param {(address: Address) => void} open shows what an address says */
  constructor(open) {
    this.open = open;
    this.search = location.search;
    /** What the page came with. */
    this.first = readAddress(location.search);
    /** Nothing is written before the page shows what its address says. */
    this.ready = false;
    window.addEventListener("popstate", () => {
      this.search = location.search;
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
    if (!this.ready || search === this.search) return;
    const before = readAddress(this.search);
    const scrubs = Boolean(before.rv && address.rv && before.rv !== address.rv);
    this.search = search;
    history[scrubs ? "replaceState" : "pushState"](null, "", location.pathname + search);
  }
}
