/** The parts of the Decision panel that are words and tables; charts are in heatmap.js and scores.js. */

/** @import { Lang, Point, Trace } from "../lib/types.d.ts" */
/** @import { Decision, NodeRow, SentencePart } from "./model.js" */
/** @import { Mode } from "./heatmap.js" */
import { breakable } from "../dom/dom.js";
import { listed, number, text } from "../lib/text.js";
import { POINTS, TODAY, eraOf, isBroken, pointName } from "../lib/trace.js";
import { fateOf, runnerUp, sentenceParts } from "./model.js";
import { h, icon } from "../dom/h.js";
import { decisionWords } from "./words.js";

/** Nodes named in a row of the sentence's table. */
const NODES_SHOWN = 5;

/**
 * 12 nodes > 7 feasible > 2 tie at 691 > n2 by lot; null while no node has been looked at.
 * @param {Decision} decision
 * @param {Trace} trace
 * @param {Lang} lang
 */
export function pipeline(decision, trace, lang) {
  const { result } = trace;
  if (decision.nodes === 0) return null;
  const cell = (/** @type {string} */ value, /** @type {string} */ label, /** @type {string} */ kind) =>
    h("li", { class: `dc-step dc-step-${kind}` }, h("b", { text: value }), h("span", { text: label }));
  const steps = [
    cell(number(lang, decision.nodes), text(lang, "pipeline.nodes", { n: decision.nodes }), "plain"),
    cell(number(lang, decision.feasible), text(lang, "pipeline.feasible"), decision.feasible > 0 ? "good" : "none"),
  ];
  if (isBroken(result)) {
    steps.push(cell("✕", text(lang, "pipeline.failed"), "none"));
  } else if (decision.feasible === 0) {
    const nominated = result.preemption?.nominatedNode;
    steps.push(nominated
      ? cell(nominated, text(lang, "pipeline.nominated", { n: result.preemption?.victims?.length ?? 0 }), "plain")
      : cell("0", text(lang, "pipeline.candidates"), "plain"));
  } else {
    if (decision.best.length > 1) {
      steps.push(cell(number(lang, decision.best.length), text(lang, "pipeline.tie", {
        total: number(lang, decision.bestTotal ?? 0),
      }), "tie"));
    } else if (decision.bestTotal !== null) {
      steps.push(cell(number(lang, decision.bestTotal), text(lang, "pipeline.highest"), "tie"));
    }
    const givenUp = fateOf(trace) === "givenUp";
    steps.push(cell(decision.chosen || "?", text(lang, givenUp ? "pipeline.givenUp" : decision.best.length > 1
      ? "pipeline.lot" : "pipeline.chosen"), givenUp ? "none" : decision.chosen ? "chosen" : "plain"));
  }
  return h("ol", { class: "dc-pipeline" }, ...steps.flatMap((step, index) =>
    (index === 0 ? [step] : [h("li", { class: "dc-arrow", "aria-hidden": "true" }, icon("chevron", 12)), step])));
}

/**
 * The cycle, point by point; shown where the panel is wide.
 * @param {Trace} trace
 * @param {Decision} decision
 * @param {Lang} lang
 */
export function pointList(trace, decision, lang) {
  const { result, era } = trace;
  const fate = fateOf(trace);
  const scored = decision.plugins.length > 0;
  /** @type {Partial<Record<Point, string>>} */
  const said = {
    PreFilter: text(lang, "points.preFilter", { skipped: result.preFilter?.skip?.length ?? 0 }),
    Filter: isBroken(result) && !decision.chosen ? text(lang, "pipeline.failed") : decision.nodes === 0 ? text(lang, "points.skipped") : text(lang, "points.filter", { n: number(lang, decision.nodes), f: number(lang, decision.feasible) }),
    PostFilter: decision.nodes === 0 || isBroken(result) ? text(lang, "points.skipped") : decision.feasible > 0 ? text(lang, "points.skippedFits")
      : result.preemption?.nominatedNode ? text(lang, "points.preempt", { node: result.preemption.nominatedNode })
        : text(lang, "points.noHelp"),
    PreScore: scored ? text(lang, "points.preScore", { n: decision.plugins.length, skipped: decision.skipped.length })
      : text(lang, "points.skipped"),
    Score: scored ? text(lang, "points.score", { n: decision.plugins.length, f: number(lang, decision.feasible) })
      : text(lang, decision.feasible === 1 ? "points.oneNode" : "points.skipped"),
    Reserve: decision.chosen ? text(lang, "points.reserve", { node: decision.chosen }) : text(lang, "points.skipped"),
    ...(fate === "givenUp" ? { Permit: text(lang, trace.undoneBy ? "points.saidNo" : "points.givenUp", {
      plugin: trace.undoneBy ?? "", node: decision.chosen,
    }) } : {}),
    Bind: fate === "bound" ? text(lang, "points.bind", { node: decision.chosen }) : text(lang, "points.skipped"),
  };
  const skipped = (/** @type {Point} */ point) => said[point] === text(lang, "points.skipped")
    || (point === "PostFilter" && decision.feasible > 0) || (point === "Score" && !scored);
  return h("section", { class: "dc-section dc-points" }, h("h3", { text: text(lang, "points.title") }),
    h("ol", {}, ...POINTS.filter((point) => said[point] !== undefined).map((point) =>
      h("li", { "data-state": skipped(point) ? "skipped" : "done" },
        h("i", {}, skipped(point) ? null : icon("check", 10)), h("div", {}, h("b", { text: pointName(point, era) }), h("span", { text: said[point] ?? "" }))))));
}

/**
 * In plain words: where the pod went and why the runner-up lost, or why nothing fits.
 * @param {Decision} decision
 * @param {Trace} trace
 * @param {Lang} lang
 */
export function plainWords(decision, trace, lang) {
  const said = [h("p", { text: decisionWords(decision, trace, lang) })];
  const second = runnerUp(decision);
  if (second) {
    const sign = (/** @type {number} */ n) => (n > 0 ? `+${number(lang, n)}` : `−${number(lang, -n)}`);
    const because = second.differences.map((one) => `${one.plugin} ${sign(one.difference)}`).join(", ");
    said.push(h("p", { class: "dc-callout" }, h("b", { text: text(lang, "plain.lost", {
      loser: second.loser.node, winner: second.winner.node, n: number(lang, second.by),
    }) }), ` ${because}.`));
    said.push(h("table", { class: "dc-table dc-differences" },
      row("th", [text(lang, "plain.points"), second.winner.node, second.loser.node, text(lang, "plain.difference")]),
      ...second.differences.map((one) =>
        row("td", [one.plugin, String(one.winner), String(one.loser), sign(one.difference)])),
      row("td", [second.equal > 0 ? text(lang, "plain.totalEqual", { n: second.equal }) : text(lang, "decision.total"),
        number(lang, second.winner.total ?? 0), number(lang, second.loser.total ?? 0), sign(-second.by)], "dc-sum")));
  }
  return h("section", { class: "dc-section dc-plain" }, h("h3", { text: text(lang, "plain.title") }), ...said);
}

/**
 * @param {Decision} decision
 * @param {Trace} trace
 * @param {Lang} lang
 */
export function tieCard(decision, trace, lang) {
  if (decision.best.length < 2) return null;
  const { lot } = decision;
  return h("section", { class: "dc-section dc-tie" },
    h("h3", {}, icon("dice", 14),
      h("span", { text: text(lang, "tieCard.title", { names: listed(lang, decision.best.slice(0, 8)) + (decision.best.length > 8 ? " …" : "") }) })),
    h("p", { text: lot
      ? text(lang, "tieCard.drawn", {
        draw: lot.draw, range: Array.from({ length: Math.min(lot.below, 8) }, (_, index) => index).join(", ")
          + (lot.below > 8 ? " …" : ""), node: decision.chosen,
      }) + (eraOf(trace) === TODAY ? ` ${text(lang, "tieCard.today")}` : "")
      : text(lang, "tieCard.open") }));
}

/**
 * The FitError: quoted exactly, its counted pieces underlined, and a row for each with plugin and nodes.
 * @param {Trace} trace
 * @param {Lang} lang
 * @param {(part: SentencePart) => HTMLElement} light a reason that shows its nodes
 */
export function sentence({ result }, lang, light) {
  if (!result.fitError) return null;
  const parts = sentenceParts(result);
  return h("section", { class: "dc-section dc-sentence" },
    h("header", { class: "dc-head" }, h("h3", { text: text(lang, "sentence.title") }),
      h("span", { class: "dc-chip-bad dc-push" }, icon("ban", 11), h("span", { text: result.result === "error"
        ? "SchedulerError" : "Unschedulable" }))),
    h("blockquote", {}, ...quoted(result.fitError, parts)),
    parts.some((part) => part.nodes.length > 0) ? h("table", { class: "dc-table" },
      row("th", [text(lang, "sentence.count"), text(lang, "sentence.reason"), text(lang, "sentence.nodes")]),
      ...parts.map((part) => h("tr", {}, h("td", { class: "dc-count", text: number(lang, part.count) }),
        h("td", {}, part.nodes.length ? light(part) : part.reason, h("div", { class: "dc-mono" }, ...breakable(part.plugin))),
        h("td", {}, ...nodeChips(part.nodes))))) : null);
}

/**
 * @param {readonly string[]} nodes
 */
function nodeChips(nodes) {
  const chips = nodes.slice(0, NODES_SHOWN).map((name) => h("span", { class: "dc-node", text: name }));
  if (nodes.length <= NODES_SHOWN) return chips;
  return [...chips, h("span", { class: "dc-hint", text: `+${nodes.length - NODES_SHOWN}`, title: nodes.join(", ") })];
}

/**
 * The message with each counted piece marked, everything else as it is.
 * @param {string} message
 * @param {readonly SentencePart[]} parts
 */
function quoted(message, parts) {
  /** @type {(string | HTMLElement)[]} */
  const pieces = [];
  let rest = message;
  parts.forEach((part, index) => {
    const piece = `${part.count} ${part.reason}`;
    const at = rest.indexOf(piece);
    if (at < 0) return;
    pieces.push(rest.slice(0, at), h("u", { "data-hue": index % 4, text: piece }));
    rest = rest.slice(at + piece.length);
  });
  return [...pieces, rest];
}

/**
 * The heatmap's page as a table, for reading, copying and screen readers.
 * @param {Decision} decision
 * @param {readonly NodeRow[]} rows
 * @param {Mode} mode
 * @param {Lang} lang
 */
export function decisionTable(decision, rows, mode, lang) {
  return h("details", { class: "dc-details" }, h("summary", { text: text(lang, "decision.asTable") }),
    h("div", { class: "dc-scroll", role: "region", tabindex: "0", "aria-label": text(lang, "decision.asTable") }, h("table", { class: "dc-table" },
      row("th", [text(lang, "outline.node"), text(lang, "decision.filter"), ...decision.plugins.map((plugin) =>
        `${plugin.name} ×${number(lang, plugin.weight, 2)}`), text(lang, "decision.total"), text(lang, "decision.outcome")]),
      ...rows.map((one) => h("tr", { class: one.best && one.feasible ? "dc-chosen" : "" },
        h("th", { scope: "row", text: one.node }),
        h("td", { text: one.feasible ? text(lang, "stage.feasible")
          : one.tried ? `${one.plugin}: ${one.reason}` : text(lang, one.notRun ? "decision.notRun" : "decision.notTried") }),
        ...decision.plugins.map((_, index) =>
          h("td", { text: one.cells[index] ? String(one.cells[index]?.[mode]) : "" })),
        h("td", { text: one.total === null ? "" : number(lang, one.total) }),
        h("td", { text: one.chosen ? text(lang, "stage.winner") : one.best && decision.best.length > 1
          ? text(lang, "stage.tie") : "" }))))));
}

/**
 * @param {"th" | "td"} tag
 * @param {readonly string[]} cells
 * @param {string} [name] class of the row
 */
function row(tag, cells, name) {
  const scope = tag === "th" ? "col" : undefined;
  return h("tr", { class: name }, ...cells.map((cell) => h(tag, { scope }, ...breakable(cell))));
}
