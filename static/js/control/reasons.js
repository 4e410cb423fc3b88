/** Why a controller did what it did: its own words, in the reader's language where the page has them. */

/** @import { Lang } from "../lib/types.d.ts" */
import { text } from "../lib/text.js";

/**
 * @param {string} reason as the controller says it; "" where it compared nothing
 * @param {Lang} lang
 */
export function reasonWord(reason, lang) {
  return wordOr(`control.because.${reason}`, reason, lang);
}

/**
 * What a controller compared, in the reader's language where it is a word of ours; fields and caches keep their names.
 * @param {string} part as the controller names it
 * @param {Lang} lang
 */
export function partWord(part, lang) {
  return wordOr(`control.part.${part}`, part, lang);
}

/**
 * @param {string} key
 * @param {string} said
 * @param {Lang} lang
 */
function wordOr(key, said, lang) {
  const word = said ? text(lang, key) : "";
  return word === key ? said : word;
}
