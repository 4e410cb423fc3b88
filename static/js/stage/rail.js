/** The rail of extension points: done, current, skipped, ahead, and what each of them did. */

/** @import { Cycle, Lang, Point } from "../lib/types.d.ts" */
/** @import { RailStep } from "./cycle.js" */
/** @import { Profile } from "./told.js" */
import { setText } from "../dom/dom.js";
import { counted, text } from "../lib/text.js";
import { POINTS, pointName } from "../lib/trace.js";
import { railSteps } from "./cycle.js";
import { h, icon } from "../dom/h.js";

/** The first point that a vote is about. */
const SEALED_FROM = POINTS.indexOf("Filter");
const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {HTMLElement} element
 */
export function mountRail(element) {
  element.setAttribute("role", "list");
  element.className = "st-rail";
  const steps = POINTS.map((point, index) => {
    const name = h("span", { class: "st-point-name", text: point });
    const line = h("span", { class: "st-point-line" });
    const step = h("div", { class: "st-point", role: "listitem", "data-point": point }, name, line);
    step.prepend(chevron(index === 0));
    element.append(step);
    return { step, name, line };
  });

  const seal = h("div", { class: "st-point st-sealed", role: "listitem", "data-testid": "rail-sealed" }, icon("lock", 13), h("span"));
  seal.prepend(chevron(false));
  element.append(seal);

  /**
   * @param {Cycle | null} cycle
   * @param {Profile} profile
   * @param {number} nodeCount
   * @param {Lang} lang
   * @param {{over: boolean, sealed: boolean}} how `over`: the cycle is only remembered; `sealed`: what Filter and the points
   *   after it found is not told before the reveal
   */
  function render(cycle, profile, nodeCount, lang, { over, sealed }) {
    seal.hidden = !sealed;
    setText(/** @type {Element} */ (seal.lastElementChild), text(lang, "rail.sealed"));
    element.dataset["over"] = String(over);
    element.setAttribute("aria-label", text(lang, "rail.label"));
    const told = cycle ? railSteps(cycle, profile, nodeCount) : null;
    steps.forEach(({ step, name, line }, index) => {
      const one = told?.[index];
      const point = /** @type {Point} */ (POINTS[index]);
      step.hidden = !profile.points.includes(point) || (sealed && index >= SEALED_FROM);
      const state = one?.state ?? "ahead";
      step.dataset["state"] = state;
      setText(name, pointName(point, cycle?.era));
      if (state === "current" && !over) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
      setText(line, one ? lineText(one, lang) : "");
      step.title = text(lang, `point.${point}`);
    });
  }
  return { render };
}

/**
 * @param {RailStep} step
 * @param {Lang} lang
 */
function lineText({ line, values }, lang) {
  if (line === "none") return "";
  return counted(lang, `rail.${line}`, values);
}

/** @param {boolean} first whether its left side is straight */
function chevron(first) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 100 36");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", first ? "M3 .5H90L99.5 18 90 35.5H3Q1 35.5 1 33V3Q1 .5 3 .5Z" : "M.5 .5H90L99.5 18 90 35.5H.5L9.5 18Z");
  path.setAttribute("vector-effect", "non-scaling-stroke");
  svg.append(path);
  return svg;
}
