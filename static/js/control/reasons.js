/** Why a controller did what it did: its own words, in the reader's language where the page has them. */

/** @import { Lang } from "../lib/types.d.ts" */
import { text } from "../lib/text.js";

/**
 * @param {string} reason as the controller says it; "" where it compared nothing
 * @param {Lang} lang
 */
export function reasonWord(reason, lang) {
  const key = `control.because.${reason}`;
  const word = reason ? text(lang, key) : "";
  return word === key ? reason : word;
}
