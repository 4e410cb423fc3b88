/** The CSS tokens as the canvas and the charts need them, read again whenever the theme changes. */

import { OWNER_HUES, PLUGIN_HUES } from "../lib/hues.js";

const NAMES = /** @type {const} */ ([
  "bg", "surf", "sunk", "stage", "line", "line2", "t1", "t2", "t3", "acc", "accbg", "onacc", "amb", "ambbg", "ambt",
  "ver", "verbg", "vert", "grn", "grnbg", "grnt", "pur", "purbg", "purt", "hatch", "heat-low-text", "heat-high-text",
  "on-plugin-1", "on-plugin",
]);

export const HEAT_STEPS = 6;

/**
 * @typedef {Record<typeof NAMES[number], string> & {owner: string[], plugin: string[], heat: string[], font: string,
 *   key: string}} Colours `key` differs between themes, so that caches of drawings know when they are stale.
 */

/**
 * @param {Element} element whose computed tokens count
 * @returns {Colours}
 */
export function readColours(element) {
  const style = getComputedStyle(element);
  const read = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  const hues = (/** @type {string} */ name, /** @type {number} */ first, /** @type {number} */ count) =>
    Array.from({ length: count }, (_, index) => read(`${name}-${first + index}`));
  const named = Object.fromEntries(NAMES.map((name) => [name, read(name)]));
  const owner = hues("owner", 1, OWNER_HUES);
  return /** @type {Colours} */ ({
    ...named,
    owner,
    plugin: hues("plugin", 1, PLUGIN_HUES),
    heat: hues("heat", 0, HEAT_STEPS),
    font: style.fontFamily,
    key: `${named["surf"]} ${named["t1"]} ${named["line"]} ${owner[0]}`,
  });
}

/**
 * The step of the heat scale for a score.
 * @param {number} score 0 to 100
 */
export function heatStep(score) {
  return Math.max(0, Math.min(HEAT_STEPS - 1, Math.floor((score / 100) * HEAT_STEPS)));
}
