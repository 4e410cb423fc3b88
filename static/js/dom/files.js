/** Files that a person takes along. */

import { element } from "./dom.js";

/** Milliseconds after which the browser has begun to save. */
const SAVED_MS = 10_000;

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MS);
}
