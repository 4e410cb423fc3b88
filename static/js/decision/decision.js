/**
 * The Decision panel: every attempt of a pod, what each extension point did, nodes × plugins, scores, the tie and its
 * lot, the FitError taken apart, the preemption, and in plain words why the runner-up lost.
 */

/** @import { Dispatch, Lang, Lit, Theme, Trace } from "../lib/types.d.ts" */
/** @import { Decision } from "./model.js" */
/** @import { Mode } from "./heatmap.js" */
/** @import { Ask } from "./refusals.js" */
import { keepFocus } from "../dom/dom.js";
import { h } from "../dom/h.js";
import { text } from "../lib/text.js";
import { makeCharts } from "./charts.js";
import { decisionOf, ranking, traceOf, versionOf } from "./model.js";
import { pipeline, plainWords, pointList, sentence, tieCard } from "./parts.js";
import { lightButton, reasonsSection } from "./reasons.js";
import { preemptionSections } from "./preemption.js";
import { makeRefusals } from "./refusals.js";
import { makeKept } from "./kept.js";
import { allRefuse, attempts, chartSection, hasPages, pageOf, rowsOf, scoresSection } from "./sections.js";
import { spreadSection } from "./spread.js";

/**
 * @typedef {object} DecisionInput
 * @property {readonly Trace[]} traces newest first
 * @property {string} selectedTraceId "" shows the newest
 * @property {boolean} loading
 * @property {string} [why] why no cycle has run, where it is not only a matter of the pod's turn
 * @property {Readonly<Record<string, number>>} hues numbers of plugins
 * @property {Theme} theme
 * @property {Lang} lang
 * @property {number} epochMs Unix milliseconds of simulated time zero
 * @property {(key: string) => string} say a pod's name as it is said
 * @property {Lit | null} [lit] nodes that are seen among the others
 * @property {unknown} [people] another one where it may be said otherwise
 */

/**
 * @param {HTMLElement} element
 * @param {Dispatch} dispatch
 * @param {Ask} ask who else would refuse
 */
export function mountDecision(element, dispatch, ask) {
  element.classList.add("dc");
  const body = h("div", { class: "dc-body" });
  element.replaceChildren(body);
  const charts = makeCharts(element);
  const refusals = makeRefusals(ask, rebuild);
  const kept = makeKept();
  let mode = /** @type {Mode} */ ("normalized");
  let page = 0;
  let look = "";
  let width = 0;
  let people = /** @type {unknown} */ (null);
  /** @type {DecisionInput | null} */
  let input = null;
  /** @type {{trace: Trace, decision: Decision} | null} */
  let shown = null;

  /** @param {DecisionInput} next */
  function render(next) {
    input = next;
    const trace = traceOf(next.traces, next.selectedTraceId);
    const key = JSON.stringify([next.traces.map(versionOf), trace?.id, next.loading, next.why, next.theme, next.lang, next.hues, next.lit?.attempt, next.lit?.reason]);
    if (key === look && next.people === people) return;
    look = key;
    people = next.people;
    if (trace?.id !== shown?.trace.id) page = 0;
    shown = trace ? { trace, decision: decisionOf(trace.result, trace.scoreMax, next.hues, trace.era) } : null;
    rebuild();
  }

  function rebuild() {
    if (!input) return;
    const { lang, traces, loading, epochMs, say, lit = null, why: untried = "" } = input;
    if (!shown) {
      keepFocus(body, () => body.replaceChildren(h("p", { class: "dc-empty", text: loading ? text(lang, "decision.loading") : untried || text(lang, "decision.none") })));
      return;
    }
    const { trace, decision } = shown;
    const evicting = preemptionSections(trace, lang, say);
    // Where no node had room, what an eviction would do is the decision: it stands before the verdicts, which are all no.
    const early = decision.feasible === 0 && Object.keys(trace.result.preemption?.candidates ?? {}).length > 0;
    const verdicts = column("dc-middle", reasonsSection(trace, lit, lang, dispatch), hasPages(decision) ? spreadSection(decision, lang) : null,
      chartSection(decision, trace, { lang, mode, page, onMode, onPage }));
    const why = [sentence(trace, lang, (part) => lightButton(part, trace, lit, lang, dispatch)), refusals.section(trace, lang, say),
      ...(early ? [] : evicting), kept.section(trace, lang)];
    // Where many nodes say no, the few reasons come before the many rows, and beside them where there is room.
    const reasonsFirst = allRefuse(decision);
    const outcome = column("dc-right", plainWords(decision, trace, lang), ...(early ? evicting : []),
      trace.detail === "compacted" ? null : scoresSection(decision, lang), tieCard(decision, trace, lang), ...(reasonsFirst ? why : []));
    const told = early || reasonsFirst ? [outcome, verdicts] : [verdicts, outcome];
    keepFocus(body, () => body.replaceChildren(...[
      attempts(traces, trace, lang, epochMs, dispatch), pipeline(decision, trace, lang), pointList(trace, decision, lang),
      ...told, reasonsFirst ? null : column("dc-below", ...why),
    ].flatMap((part) => part ?? [])));
    draw();
  }

  /** @param {Mode} next */
  function onMode(next) {
    mode = next;
    rebuild();
  }

  /** @param {number} next */
  function onPage(next) {
    page = next;
    rebuild();
  }

  function draw() {
    if (!shown || !input) return;
    const { decision } = shown;
    void charts.draw({
      decision, rows: pageOf(rowsOf(decision), page), ranked: pageOf(ranking(decision), page), mode, lang: input.lang,
    });
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
      charts.forget();
      element.replaceChildren();
    },
  };
}

/**
 * Sections that an enlarged panel has below one another, beside others; in a narrow one they stand in the panel itself.
 * @param {string} name
 * @param {...(HTMLElement | readonly HTMLElement[] | null | undefined)} parts
 */
function column(name, ...parts) {
  return h("div", { class: name }, ...parts.flatMap((part) => part ?? []));
}
