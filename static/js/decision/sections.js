/** The panel's sections that a person can turn: attempts, the heatmap with its modes and pages, the scores. */

/** @import { Dispatch, Lang, Trace } from "../lib/types.d.ts" */
/** @import { Decision } from "./model.js" */
/** @import { Mode } from "./heatmap.js" */
import { h, icon } from "../dom/h.js";
import { clockTime, number, text } from "../lib/text.js";
import { byRank, fateOf } from "./model.js";
import { decisionTable } from "./parts.js";

/** Nodes on one page of the heatmap, its table and the bars. */
const PAGE_ROWS = 100;
/** Rows of nodes that are seen at one look. */
const LOOK_ROWS = 12;
const MODES = /** @type {const} */ (["raw", "normalized", "weighted"]);

/**
 * @typedef {object} Shown what a person has turned the panel to
 * @property {Lang} lang
 * @property {Mode} mode
 * @property {number} page from 0
 * @property {(mode: Mode) => void} onMode
 * @property {(page: number) => void} onPage
 */

/**
 * @param {readonly Trace[]} traces newest first
 * @param {Trace} trace
 * @param {Lang} lang
 * @param {number} epochMs
 * @param {Dispatch} dispatch
 */
export function attempts(traces, trace, lang, epochMs, dispatch) {
  const told = (/** @type {Trace} */ one) => clockTime(epochMs + one.simTime * 1000, true);
  const oldestFirst = [...traces].reverse();
  return h("div", { class: "dc-attempts" },
    h("div", { class: "dc-segmented", role: "group", "aria-label": text(lang, "decision.attempts") },
      ...oldestFirst.map((one) => h("button", {
        type: "button", "data-trace": one.id, "aria-pressed": String(one.id === trace.id),
        title: told(one),
        onclick: () => dispatch({ type: "selectTrace", id: one.id }),
      }, icon(attemptIcon(one), 12),
      h("span", { text: text(lang, "decision.attempt", { n: one.attempt }) })))),
    h("span", { class: "dc-hint", text: `${told(trace)} · rv ${number(lang, trace.revision)}` }),
    h("button", {
      class: "link", type: "button", "data-testid": "decision-rules", text: text(lang, "decision.rules"),
      onclick: () => dispatch({ type: "openRules", decision: trace.id, pod: trace.pod }),
    }));
}

/**
 * A check for a pod that was placed, a clock for a cycle or a wait under way, else the sign of a refusal.
 * @param {Trace} trace
 */
function attemptIcon(trace) {
  const { result } = trace;
  const fate = fateOf(trace);
  if (fate === "bound") return "check";
  return fate === "assumed" || (result.result === undefined && !result.fitError) ? "clock" : "ban";
}

/**
 * Whether the rows of a decision that are all no would hide the few reasons below them.
 * @param {Decision} decision
 */
export function allRefuse(decision) {
  return decision.feasible === 0 && decision.rows.length > LOOK_ROWS;
}

/** @param {Decision} decision */
export function hasPages(decision) {
  return decision.rows.length > PAGE_ROWS;
}

/**
 * On one page nodes stand in order of name, as on the stage; over several pages the best must come first.
 * @param {Decision} decision
 */
export function rowsOf(decision) {
  return hasPages(decision) ? byRank(decision) : decision.rows;
}

/**
 * The rows of a page.
 * @template T
 * @param {readonly T[]} rows
 * @param {number} page from 0
 */
export function pageOf(rows, page) {
  return rows.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS);
}

/**
 * @param {Decision} decision
 * @param {Trace} trace
 * @param {Shown} shown
 */
export function chartSection(decision, trace, shown) {
  const { lang, mode, onMode } = shown;
  if (trace.detail === "compacted") return h("p", { class: "dc-note", text: text(lang, "decision.compacted") });
  if (decision.rows.length === 0) return null;
  const switcher = h("div", { class: "dc-segmented", role: "group", "aria-label": text(lang, "decision.mode") },
    ...MODES.map((name) => h("button", {
      type: "button", "data-mode": name, "aria-pressed": String(name === mode), text: text(lang, `decision.${name}`, { max: decision.scoreMax }),
      onclick: () => onMode(name),
    })));
  const weights = decision.plugins.length > 0 ? h("p", { class: "dc-note", text: text(lang, decision.skipped.length > 0
    ? "decision.weightsSkipped" : "decision.weights", {
    weights: decision.plugins.map((plugin) => number(lang, plugin.weight, 2)).join(" · "),
    max: number(lang, decision.pointsMax), skipped: decision.skipped.join(", "),
  }) }) : null;
  return h("section", { class: "dc-section dc-heat" },
    h("header", { class: "dc-head" }, h("h3", { text: text(lang, "decision.verdicts") }),
      h("span", { class: "dc-hint", text: text(lang, "decision.counts", {
        n: number(lang, decision.nodes), f: number(lang, decision.feasible),
      }) }), decision.plugins.length > 0 ? switcher : null),
    h("div", { class: "dc-chart", "data-testid": "decision-heatmap", role: "img", "aria-label": text(lang,
      "decision.heatmapLabel", { n: decision.nodes }) }),
    pager(decision, shown), weights, decisionTable(decision, pageOf(rowsOf(decision), shown.page), mode, lang));
}

/**
 * @param {Decision} decision
 * @param {Lang} lang
 */
export function scoresSection(decision, lang) {
  if (decision.plugins.length === 0) {
    if (decision.feasible === 0 && decision.nodes > 0) return null;
    // With one feasible node the scheduler scores nothing; the place says so instead of standing empty.
    return h("section", { class: "dc-section dc-scores", "data-testid": "decision-scores" },
      h("header", { class: "dc-head" }, h("h3", { text: text(lang, "decision.scores") })),
      h("p", { class: "dc-note", text: text(lang, decision.feasible === 1 ? `decision.${decision.alone}` : "decision.notYet") }));
  }
  return h("section", { class: "dc-section dc-scores" },
    h("header", { class: "dc-head" }, h("h3", { text: text(lang, "decision.scores") }),
      h("span", { class: "dc-hint dc-push", text: text(lang, "decision.bestFirst") })),
    h("div", { class: "dc-chart", "data-testid": "decision-scores", role: "img", "aria-label": text(lang,
      "decision.scoresLabel", { n: decision.feasible }) }),
    h("ul", { class: "dc-plugins" }, ...decision.plugins.map((plugin) =>
      h("li", {}, h("i", { class: "plugin-swatch", "data-hue": plugin.look.hue, "data-again": plugin.look.again || undefined }), h("span", { text: `${plugin.name} ×${number(lang, plugin.weight, 2)}` })))));
}

/**
 * @param {Decision} decision
 * @param {Shown} shown
 */
function pager(decision, { lang, page, onPage }) {
  const pages = Math.ceil(decision.rows.length / PAGE_ROWS);
  if (pages <= 1) return null;
  const go = (/** @type {number} */ to, /** @type {string} */ name) => h("button", {
    type: "button", "data-page": name, disabled: to < 0 || to >= pages, text: text(lang, `decision.${name}`),
    onclick: () => onPage(to),
  });
  return h("div", { class: "dc-pager" }, go(page - 1, "previous"), h("span", { text: text(lang, "decision.page", {
    from: number(lang, page * PAGE_ROWS + 1), to: number(lang, Math.min(decision.rows.length, (page + 1) * PAGE_ROWS)),
    of: number(lang, decision.rows.length),
  }) }), go(page + 1, "next"));
}
