/** How names stand in sentences. */

/** @import { Lang } from "./types.d.ts" */
import { listed, number, text } from "./text.js";

/**
 * Names of nodes as a sentence has them: "n2 and n6", "n1, n2 and 4 more".
 * @param {readonly string[]} names
 * @param {Lang} lang
 */
export function listOf(names, lang) {
  if (names.length <= 2) return names.join(text(lang, "list.and"));
  const first = listed(lang, names.slice(0, 2));
  if (names.length === 3) return `${first}${text(lang, "list.and")}${names[2]}`;
  return text(lang, "list.more", { names: first, n: number(lang, names.length - 2) });
}
