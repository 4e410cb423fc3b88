/** Where words in the Gantt have room: none ends beyond the chart, none stands across another. Pure. */

/** @import { Label } from "./charts.js" */

/**
 * How many narrow letters a text is as wide as.
 * @param {string} said
 */
const lettersOf = (said) => [...said].reduce((sum, letter) => sum + (letter > "\u2e80" ? 1.8 : 1), 0);

/**
 * A text's width in the size of its letters; bold ones are wider.
 * @param {string} said
 * @param {boolean} [bold]
 */
export const widthOf = (said, bold = false) => lettersOf(said) * (bold ? 0.64 : 0.56);

/**
 * The labels with room, the first of them first served: one that would end beyond an edge turns to the other side of its moment, and
 * so does one that would stand across another; where that does not help it is left out.
 * @param {readonly Label[]} labels
 * @param {{fromMs: number, toMs: number, perMs: number, size: number}} chart `perMs`: pixels; `size`: of letters, in pixels
 * @returns {Label[]}
 */
export function withRoom(labels, { fromMs, toMs, perMs, size }) {
  /** @type {{y: number, from: number, to: number}[]} */
  const taken = [];
  const end = (toMs - fromMs) * perMs;
  const spanOf = (/** @type {Label} */ { t, said, bold, at = "right" }) => {
    const width = (widthOf(said, bold) + 0.4) * size;
    const from = (t - fromMs) * perMs - (at === "left" ? width : at === "center" ? width / 2 : 0);
    return { from, to: from + width };
  };
  const fits = (/** @type {Label} */ one) => {
    const { from, to } = spanOf(one);
    return from >= -size && to <= end + 2 * size && taken.every((other) => Math.abs(other.y - one.y) > 0.01 || to <= other.from || from >= other.to);
  };
  return labels.flatMap((label) => {
    const meant = label.at ?? "right";
    const turns = /** @type {const} */ ([meant, "left", "right"]).map((at) => ({ ...label, at, colour: at === meant ? label.colour : label.turned ?? label.colour }));
    const found = turns.find(fits);
    if (!found) return [];
    taken.push({ y: found.y, ...spanOf(found) });
    return [found];
  });
}
