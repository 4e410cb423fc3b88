/** How names stand in sentences. */

/** @import { Lang } from "./types.d.ts" */
import { text } from "./text.js";

/**
 * Names of nodes as a sentence has them: "n2 and n6", "n1, n2 and 4 more".
 * @param {readonly string[]} names
 * @param {Lang} lang
 */
export function listOf(names, lang) {
  if (names.length <= 2) return names.join(text(lang, "list.and"));
  if (names.length === 3) return `${names[0]}, ${names[1]}${text(lang, "list.and")}${names[2]}`;
  return text(lang, "list.more", { names: names.slice(0, 2).join(", "), n: names.length - 2 });
}
