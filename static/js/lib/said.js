/** Sentences that a lesson's author wrote, in the language of the page. Pure. */

/** @import { Said } from "./class.d.ts" */
/** @import { Lang } from "./types.d.ts" */

/**
 * A sentence in this language; the other one where its author wrote only that.
 * @param {Lang} lang
 * @param {Said | undefined} said
 */
export function said(lang, said) {
  if (said === undefined || typeof said === "string") return said ?? "";
  return (lang === "zh-hans" ? said.zh : said.en) ?? said.en ?? "";
}

/**
 * The order of a list for one seat: the same whenever that seat asks, another for another one.
 * @template {{id: string}} T
 * @param {readonly T[]} list
 * @param {string} seat
 * @param {string} [last] what stays at the end
 * @returns {T[]}
 */
export function shuffled(list, seat, last = "other") {
  const key = (/** @type {T} */ one) => (one.id === last ? Infinity : hash(`${seat}/${one.id}`));
  return [...list].sort((a, b) => key(a) - key(b) || (a.id < b.id ? -1 : 1));
}

/**
 * 32 bits of FNV-1a over UTF-16 units: no secret hangs on it.
 * @param {string} word
 */
function hash(word) {
  let sum = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) sum = Math.imul(sum ^ word.charCodeAt(at), 0x01000193) >>> 0;
  return sum;
}
