/**
 * The Decision panel: every attempt of a pod, what each extension point did, nodes × plugins, scores, the tie and its
 * lot, the FitError taken apart, the preemption, and in plain words why the runner-up lost.
 */

/** @import { Dispatch, Lang, Theme, Trace } from "../lib/types.d.ts" */
/** @import { Decision } from "./model.js" */
/** @import { Mode } from "./heatmap.js" */
import { clockTime, number, text } from "../lib/text.js";
import { readColours } from "../dom/colours.js";
import { byRank, decisionOf, fateOf, ranking, traceOf, versionOf } from "./model.js";
import { decisionTable, pipeline, plainWords, pointList, sentence, tieCard } from "./parts.js";
import { h, icon } from "../dom/h.js";
import { heatmapChart } from "./heatmap.js";
import { CONFIG, loadPlotly } from "./plotly.js";
import { preemptionSections } from "./preemption.js";
import { scoresChart } from "./scores.js";

/** Nodes on one page of the heatmap, its table and the bars. */
const PAGE_ROWS = 100;
const MODES = /** @type {const} */ (["raw", "normalized", "weighted"]);

/**
 * @typedef {object} DecisionInput
 * @property {readonly Trace[]} traces newest first
 * @property {string} selectedTraceId "" shows the newest
 * @property {boolean} loading
 * @property {Readonly<Record<string, number>>} hues numbers of plugins
 * @property {Theme} theme
 * @property {Lang} lang
 * @property {number} epochMs Unix milliseconds of simulated time zero
 */

/**
 * @param {HTMLElement} element
 * @param {Dispatch} dispatch
 */
export function mountDecision(element, dispatch) {
  element.classList.add("dc");
  const body = h("div", { class: "dc-body" });
  element.replaceChildren(body);
  let mode = /** @type {Mode} */ ("normalized");
  let page = 0;
  let look = "";
  let shownTrace = "";
  /** @type {DecisionInput | null} */
  let input = null;
  /** @type {{trace: Trace, decision: Decision} | null} */
  let shown = null;
  let drawn = 0;
  let width = 0;

  /** @param {DecisionInput} next */
  function render(next) {
    input = next;
    const trace = traceOf(next.traces, next.selectedTraceId);
    const key = JSON.stringify([next.traces.map(versionOf), trace?.id, next.loading, next.theme, next.lang, next.hues]);
    if (key === look) return;
    look = key;
    if (trace?.id !== shownTrace) page = 0;
    shownTrace = trace?.id ?? "";
    shown = trace ? { trace, decision: decisionOf(trace.result, trace.scoreMax, next.hues) } : null;
    rebuild();
  }

  function rebuild() {
    if (!input) return;
    const { lang, traces, loading, epochMs } = input;
    if (!shown) {
      body.replaceChildren(h("p", { class: "dc-empty", text: text(lang, loading ? "decision.loading" : "decision.none") }));
      return;
    }
    const { trace, decision } = shown;
    const focused = focusPath(body);
    body.replaceChildren(...[
      attempts(traces, trace, lang, epochMs, dispatch), pipeline(decision, trace, lang), pointList(trace, decision, lang),
      chartSection(decision, trace), plainWords(decision, trace, lang), trace.detail === "compacted" ? null : scoresSection(decision),
      tieCard(decision, trace, lang), sentence(trace.result, lang), ...preemptionSections(trace, lang),
    ].flatMap((part) => part ?? []));
    if (focused) /** @type {HTMLElement | null} */ (body.querySelector(focused))?.focus();
    draw();
  }

  /**
   * @param {Decision} decision
   * @param {Trace} trace
   */
  function chartSection(decision, trace) {
    const { lang } = /** @type {DecisionInput} */ (input);
    if (trace.detail === "compacted") return h("p", { class: "dc-note", text: text(lang, "decision.compacted") });
    if (decision.rows.length === 0) return null;
    const switcher = h("div", { class: "dc-segmented", role: "group", "aria-label": text(lang, "decision.mode") },
      ...MODES.map((name) => h("button", {
        type: "button", "data-mode": name, "aria-pressed": String(name === mode), text: text(lang, `decision.${name}`, { max: decision.scoreMax }),
        onclick: () => {
          mode = name;
          rebuild();
        },
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
      pager(decision), weights, decisionTable(decision, pageOf(rowsOf(decision)), mode, lang));
  }

  /** @param {Decision} decision */
  function scoresSection(decision) {
    const { lang } = /** @type {DecisionInput} */ (input);
    if (decision.plugins.length === 0) {
      // With one feasible node the scheduler scores nothing; the place says so instead of standing empty.
      return h("section", { class: "dc-section dc-scores", "data-testid": "decision-scores" },
        h("header", { class: "dc-head" }, h("h3", { text: text(lang, "decision.scores") })),
        h("p", { class: "dc-note", text: text(lang, decision.feasible > 1 || decision.nodes === 0 ? "decision.notYet"
          : decision.feasible === 1 ? "decision.notScored" : "decision.noScores") }));
    }
    return h("section", { class: "dc-section dc-scores" },
      h("header", { class: "dc-head" }, h("h3", { text: text(lang, "decision.scores") }),
        h("span", { class: "dc-hint dc-push", text: text(lang, "decision.bestFirst") })),
      h("div", { class: "dc-chart", "data-testid": "decision-scores", role: "img", "aria-label": text(lang,
        "decision.scoresLabel", { n: decision.feasible }) }),
      h("ul", { class: "dc-plugins" }, ...decision.plugins.map((plugin) =>
        h("li", {}, h("i", { "data-hue": plugin.look.hue, "data-again": plugin.look.again || undefined }), h("span", { text: `${plugin.name} ×${number(lang, plugin.weight, 2)}` })))));
  }

  /** @param {Decision} decision */
  function pager(decision) {
    const { lang } = /** @type {DecisionInput} */ (input);
    const pages = Math.ceil(decision.rows.length / PAGE_ROWS);
    if (pages <= 1) return null;
    const go = (/** @type {number} */ to, /** @type {string} */ name) => h("button", {
      type: "button", "data-page": name, disabled: to < 0 || to >= pages, text: text(lang, `decision.${name}`),
      onclick: () => {
        page = to;
        rebuild();
      },
    });
    return h("div", { class: "dc-pager" }, go(page - 1, "previous"), h("span", { text: text(lang, "decision.page", {
      from: number(lang, page * PAGE_ROWS + 1), to: number(lang, Math.min(decision.rows.length, (page + 1) * PAGE_ROWS)),
      of: number(lang, decision.rows.length),
    }) }), go(page + 1, "next"));
  }

  /**
   * @template T
   * @param {readonly T[]} rows
   */
  function pageOf(rows) {
    return rows.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS);
  }

  async function draw() {
    const mine = (drawn += 1);
    const heat = /** @type {HTMLElement | null} */ (body.querySelector(".dc-heat .dc-chart"));
    const bars = /** @type {HTMLElement | null} */ (body.querySelector(".dc-scores .dc-chart"));
    if (!heat && !bars) return;
    try {
      const plotly = await loadPlotly();
      // Another trace or theme may have come while the script was loading.
      if (mine !== drawn || !shown || !input || !element.isConnected) return;
      const colours = readColours(element);
      const { lang } = input;
      const { decision } = shown;
      if (heat && heat.clientWidth > 0) {
        const chart = heatmapChart({ decision, rows: pageOf(rowsOf(decision)), mode, colours, lang, width: heat.clientWidth });
        await plotly.react(heat, chart.data, chart.layout, CONFIG);
        heat.dataset["drawn"] = "true";
      }
      if (bars && bars.clientWidth > 0 && decision.plugins.length > 0) {
        const rows = pageOf(ranking(decision));
        const chart = scoresChart({ decision, rows, colours, lang, width: bars.clientWidth });
        await plotly.react(bars, chart.data, chart.layout, CONFIG);
        bars.dataset["drawn"] = "true";
      }
    } catch (error) {
      if (mine !== drawn || !input) return;
      for (const place of [heat, bars]) place?.replaceChildren(h("p", { class: "dc-note", text: text(input.lang,
        "decision.noCharts") }));
      console.warn(error);
    }
  }

  const resized = new ResizeObserver(() => {
    if (Math.abs(element.clientWidth - width) < 2) return;
    width = element.clientWidth;
    draw();
  });
  resized.observe(element);
  return {
    render,
    destroy() {
      resized.disconnect();
      drawn += 1;
      element.replaceChildren();
    },
  };
}

/**
 * A selector that finds the focused control again after a rebuild; "" when focus is elsewhere.
 * @param {HTMLElement} body
 */
function focusPath(body) {
  const active = document.activeElement;
  if (!(active instanceof HTMLElement) || !body.contains(active)) return "";
  for (const name of ["mode", "page", "trace"]) {
    const value = active.dataset[name];
    if (value) return `[data-${name}="${CSS.escape(value)}"]`;
  }
  return "";
}

/**
 * @param {readonly Trace[]} traces newest first
 * @param {Trace} trace
 * @param {Lang} lang
 * @param {number} epochMs
 * @param {Dispatch} dispatch
 */
function attempts(traces, trace, lang, epochMs, dispatch) {
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
    h("span", { class: "dc-hint", text: `${told(trace)} · rv ${number(lang, trace.revision)}` }));
}

/**
 * On one page nodes stand in order of name, as on the stage; over several pages the best must come first.
 * @param {Decision} decision
 */
function rowsOf(decision) {
  return decision.rows.length > PAGE_ROWS ? byRank(decision) : decision.rows;
}

/**
 * A check for a pod that was placed, a clock for a cycle or a wait under way, else the sign of a refusal.
 * @param {Trace} trace
 */
function attemptIcon(trace) {
  const { result } = trace;
  const fate = fateOf(trace);
  if (fate === "bound") return "check";
  return fate === "assumed" || (result.result === undefined && !result.fitError) ? "clock" : "no";
}
