/** Two writers of one object, side by side: the second wrote on what it had read before the first. */

/** @import { Lang, View } from "../lib/types.d.ts" */
/** @import { Conflict } from "./requests-model.js" */
import { element, icon } from "../dom/dom.js";
import { svg } from "../dom/svg.js";
import { text } from "../lib/text.js";
import { objectOf } from "./requests-model.js";
import { actorName } from "./parts.js";

const WIDTH = 460;
const LEFT = 80;
const MIDDLE = 230;
const RIGHT = 380;
const STEP = 52;

/**
 * One line of the picture, from a writer to the store or back.
 * @typedef {object} Line
 * @property {"left" | "right"} who
 * @property {"read" | "write" | "refused"} kind
 * @property {string} word
 * @property {string} under
 * @property {string} rv what the store has then
 */

/**
 * @param {Conflict} conflict
 * @param {(key: string, values?: Record<string, string>) => string} words
 * @returns {Line[]}
 */
function linesOf({ loser, winner, again }, words) {
  /** @type {Line[]} */
  const lines = [{ who: "right", kind: "read", word: words("control.reads", { rv: loser.rvAsked }), under: "", rv: loser.rvAsked }];
  if (winner.asked) lines.push({ who: "left", kind: "read", word: words("control.reads", { rv: winner.asked }), under: "", rv: winner.asked });
  lines.push({
    who: "left", kind: "write", under: words("control.stored", { rv: winner.stored }), rv: winner.stored,
    word: winner.asked ? words("control.writesOn", { rv: winner.asked }) : words("control.writes"),
  });
  lines.push({
    who: "right", kind: "refused", word: words("control.writesOn", { rv: loser.rvAsked }), rv: winner.stored,
    under: `409, ${loser.rvAsked} ≠ ${loser.rvBefore}`,
  });
  if (again) {
    lines.push({ who: "right", kind: "read", word: words("control.readsAgain", { rv: again.rvAsked }), under: "", rv: again.rvAsked });
    lines.push({
      who: "right", kind: "write", word: words("control.writesOn", { rv: again.rvAsked }),
      under: words("control.stored", { rv: again.rvAfter }), rv: again.rvAfter,
    });
  }
  return lines;
}

/**
 * @param {Conflict} conflict
 * @param {View} view
 * @param {Lang} lang
 */
export function conflictCard(conflict, view, lang) {
  const { loser, winner, again } = conflict;
  const lines = linesOf(conflict, (key, values) => text(lang, key, values));
  const [first, second] = [actorName(winner.actor, view, lang), actorName(`user:${loser.user}`, view, lang)];
  const object = objectOf(loser).name;
  const told = lines.map(({ who, word, under }) => `${who === "left" ? first : second}: ${[word, under].filter(Boolean).join(", ")}`);
  return element("section", { class: "ct-card", "data-testid": "request-conflict" },
    element("header", { class: "ct-head" }, element("h4", {}, text(lang, "control.conflict")), element("span", { class: "hint" }, object),
      element("span", { class: "ct-push" }), element("span", { class: "chip bad" }, icon("close", 12), "409 Conflict")),
    picture(lines, first, second, text(lang, "control.inStore", { name: object })),
    element("ol", { class: "sr-only" }, told.map((one) => element("li", {}, one))),
    element("p", {}, text(lang, again ? "control.conflictAgain" : "control.conflictLost", { name: first })));
}

/**
 * @param {readonly Line[]} lines
 * @param {string} first
 * @param {string} second
 * @param {string} middle
 */
function picture(lines, first, second, middle) {
  const height = 40 + lines.length * STEP;
  const made = svg("svg", { class: "ct-conflict", viewBox: `0 0 ${WIDTH} ${height}`, "aria-hidden": "true" });
  for (const [x, name] of /** @type {const} */ ([[LEFT, first], [MIDDLE, middle], [RIGHT, second]])) {
    made.append(svg("text", { x, y: 14, class: "name", text: name }),
      svg("line", { x1: x, y1: 24, x2: x, y2: height - 4, class: x === MIDDLE ? "store" : "life" }));
  }
  lines.forEach((line, index) => drawLine(made, line, 52 + index * STEP));
  return made;
}

/**
 * @param {SVGElement} made
 * @param {Line} line
 * @param {number} y
 */
function drawLine(made, { who, kind, word, under, rv }, y) {
  const outer = who === "left" ? LEFT : RIGHT;
  const side = who === "left" ? -1 : 1;
  const inner = MIDDLE + side * 36;
  const [from, to] = kind === "read" ? [inner, outer - side * 4] : [outer - side * 4, kind === "refused" ? inner + side * 10 : inner];
  const way = Math.sign(to - from);
  const group = svg("g", { class: kind },
    svg("line", { x1: from, y1: y, x2: to - way * 6, y2: y }),
    kind === "refused" ? svg("path", { class: "cross", d: `M${to - 5} ${y - 5}l10 10m0 -10l-10 10` })
      : svg("path", { class: "head", d: `M${to} ${y}l${-way * 8} -4v8z` }),
    svg("text", { x: (outer + inner) / 2, y: y - 7, text: word }),
    under ? svg("text", { x: (outer + inner) / 2, y: y + 15, class: "under", text: under }) : null);
  made.append(group);
  if (kind !== "refused") made.append(svg("g", { class: kind === "write" ? "rv new" : "rv" },
    svg("rect", { x: MIDDLE - 36, y: y - 11, width: 72, height: 22, rx: 5 }), svg("text", { x: MIDDLE, y: y + 4, text: `rv ${rv}` })));
}
