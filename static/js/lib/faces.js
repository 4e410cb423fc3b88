/** A person's initials, hue and ring, the same on every screen: the server numbers the seats. Pure. */

/** @import { Person } from "./types.d.ts" */
import { OWNER_HUES } from "./hues.js";

/**
 * At most two letters: of two words their first ones, else the first of the name. One character where it is Chinese.
 * @param {string} name
 */
export function initials(name) {
  const words = name.trim().split(/\s+/);
  const first = [...(words[0] ?? "")][0] ?? "?";
  if (/[\u2e80-\u9fff]/.test(first)) return first;
  const second = words.length > 1 ? ([...(words[words.length - 1] ?? "")][0] ?? "") : ([...(words[0] ?? "")][1] ?? "");
  return (first + second).toUpperCase();
}

/**
 * The look of a seat: hues 1 to 7 in the order in which people came, then again with a ring.
 * @param {Pick<Person, "color">} person
 */
export function faceOf({ color }) {
  const at = Math.max(1, Number(color) || 1) - 1;
  return { hue: (at % OWNER_HUES) + 1, ring: at >= OWNER_HUES };
}
