/** What the stage and the Decision panel draw in DOM: icons, countdown rings. */

/** The stage and the Decision panel call it by a letter: their trees are deep. */
export { element as h, icon } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * A ring that shows a share of a whole, for countdowns on simulated time.
 * @param {number} share 0 to 1
 * @param {number} [size]
 */
export function ring(share, size = 14) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 14 14");
  svg.setAttribute("width", String(size));
  svg.setAttribute("height", String(size));
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "st-ring");
  for (const part of ["track", "value"]) {
    const circle = document.createElementNS(SVG, "circle");
    circle.setAttribute("cx", "7");
    circle.setAttribute("cy", "7");
    circle.setAttribute("r", "5");
    circle.setAttribute("pathLength", "1");
    circle.setAttribute("class", `st-ring-${part}`);
    svg.append(circle);
  }
  setRing(svg, share);
  return svg;
}

/**
 * @param {Element} svg made by `ring`
 * @param {number} share 0 to 1
 */
export function setRing(svg, share) {
  const value = /** @type {SVGElement} */ (svg.lastElementChild);
  value.setAttribute("stroke-dasharray", `${Math.max(0, Math.min(1, share)).toFixed(3)} 1`);
}
