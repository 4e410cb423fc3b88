/** The dock's Model tab: what the formal model's definitions say of the selected pod, and of every node for it. */

/** @import { Dispatch, Lang, ModelAnswer, ModelNode, Ui } from "../lib/types.d.ts" */
import { element, keepFocus } from "../dom/dom.js";
import { number, text } from "../lib/text.js";

/** Nodes drawn in the table; those that the pod may be bound to come first. */
const NODES_MAX = 100;
/** Node names told in one of the nested sets. */
const NAMES_MAX = 12;

const BRANCHES = /** @type {const} */ ([
  ["Scheduling", "SchedulingEnabled ⟶ Scheduling"],
  ["Preemption", "PreemptionEnabled ⟶ Preemption"],
  ["UNCHANGED", "OTHER ⟶ UNCHANGED"],
]);

/**
 * @param {HTMLElement} root
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 */
export function renderModel(root, ui, dispatch) {
  const { pod, answer, problem, gone } = ui.model;
  const t = (/** @type {string} */ key) => text(ui.lang, key);
  if (!answer) {
    keepFocus(root, () => root.replaceChildren(element("p", { class: "none" }, problem || t(pod && !gone ? "model_loading" : "model_select"))));
    return;
  }
  // A fresh answer must neither send the table back to its beginning nor take the focus away.
  const scrolled = root.querySelector(".model-nodes")?.scrollTop ?? 0;
  keepFocus(root, () => root.replaceChildren(
    element("div", { class: "model", "data-testid": "model" }, [
      loop(answer, ui, dispatch), sets(answer, ui.lang), nodes(answer, ui.lang, dispatch),
    ]),
  ));
  root.querySelector(".model-nodes")?.scrollTo(0, scrolled);
}

/** @param {boolean | null} value */
const truth = (value) => (value === null ? "?" : value ? "TRUE" : "FALSE");

/**
 * @param {ModelAnswer} answer
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 */
function loop(answer, ui, dispatch) {
  const t = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values = {}) =>
    text(ui.lang, key, values);
  const harm = answer.casualty;
  /** @type {[string, string][]} */
  const facts = [
    ["Bound", truth(answer.bound)],
    ["BoundTo", answer.boundTo ?? "–"],
    ["SchedulingEnabled", truth(answer.schedulingEnabled)],
    ["PreemptionEnabled", truth(answer.preemptionEnabled)],
    ["Casualty", harm ? t("model_harm", { budgets: harm.brokenBudgets, pods: harm.pods }) : "–"],
  ];
  const engine = answer.engine;
  const step = engine ? [engine.step.kind, engine.step.node ?? ""].join(" ").trim() : t("model_gated");
  const branches = BRANCHES.map(([name, shown]) =>
    element("li", {
      class: answer.case === name ? "enabled" : "", "aria-current": answer.case === name ? "true" : undefined,
    }, shown));
  const turn = answer.bound ? t("model_bound") : answer.mayGo ? t("model_turn") : t("model_above", { count: answer.above.length });
  const trace = element("button", { class: "link", type: "button", "data-testid": "model-trace" }, t("model_trace"));
  trace.addEventListener("click", () => {
    dispatch({ type: "select", resource: "pods", key: answer.pod, tab: "decision" });
    if (answer.trace) dispatch({ type: "selectTrace", id: answer.trace });
  });
  const deviations = (engine?.deviations ?? []).map((name) =>
    element("span", { class: "chip amber", title: answer.named[name]?.engine ?? "" }, name));
  return element("section", { class: "model-loop" }, [
    element("h3", {}, answer.pod),
    element("p", { class: "hint" }, turn),
    element("ol", { class: "model-case", "aria-label": "CASE", "data-testid": "model-case" }, branches),
    element("dl", {}, facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
    element("p", { class: "model-step" }, [
      element("span", {}, `${t("model_engine")}: `), element("b", {}, step), " ",
      ...(engine && engine.deviations === null ? [element("span", { class: "chip" }, t("model_unknown"))] : deviations),
    ]),
    answer.trace ? trace : null,
  ].filter((part) => part !== null));
}

/**
 * The nested sets of one pod's places: possible ⊇ feasible ⊇ viable.
 * @param {ModelAnswer} answer
 * @param {Lang} lang
 */
function sets(answer, lang) {
  const viable = new Set(answer.viable);
  const feasible = new Set(answer.feasible);
  /** @type {[string, string[], string][]} */
  const parts = [
    ["viable", answer.viable, "model_viable"],
    ["feasible", answer.feasible.filter((name) => !viable.has(name)), "model_feasible"],
    ["possible", answer.possible.filter((name) => !feasible.has(name)), "model_possible"],
  ];
  const counts = { viable: viable.size, feasible: feasible.size, possible: answer.possible.length };
  let inner = element("span");
  for (const [name, names, key] of parts) {
    const told = names.slice(0, NAMES_MAX).join(" ") + (names.length > NAMES_MAX ? " …" : "");
    inner = element("div", { class: `model-set ${name}` }, [
      element("b", {}, `${text(lang, key)} ${number(lang, counts[/** @type {keyof typeof counts} */ (name)])}`),
      ...(name === "viable" ? [] : [inner]),
      element("span", {}, told),
    ]);
  }
  return element("section", { class: "model-sets", tabindex: "0", "aria-label": text(lang, "model_sets") }, [inner]);
}

/**
 * @param {ModelAnswer} answer
 * @param {Lang} lang
 * @param {Dispatch} dispatch
 */
function nodes(answer, lang, dispatch) {
  const sections = Object.keys(answer.formulas);
  const rows = [...answer.nodes].sort((a, b) => Number(b.feasible) - Number(a.feasible)).slice(0, NODES_MAX);
  const head = element("tr", {}, [
    element("th", { scope: "col" }, "Node"),
    ...sections.map((name) => element("th", { scope: "col", title: answer.formulas[name] ?? "" }, name)),
    ...["model_viability", "model_total", "model_jeopardy"].map((key) => element("th", { scope: "col" }, text(lang, key))),
  ]);
  return element("div", { class: "model-nodes", role: "region", "aria-label": text(lang, "model_table"), tabindex: "0" }, [
    element("table", {}, [
      element("caption", { class: "sr-only" }, text(lang, "model_table")),
      element("thead", {}, [head]),
      element("tbody", {}, rows.map((row) => nodeRow(row, answer, lang, dispatch))),
    ]),
  ]);
}

/**
 * @param {ModelNode} node
 * @param {ModelAnswer} answer
 * @param {Lang} lang
 * @param {Dispatch} dispatch
 */
function nodeRow(node, answer, lang, dispatch) {
  const link = element("button", { class: "link", type: "button" }, node.node);
  link.addEventListener("click", () => dispatch({ type: "select", resource: "nodes", key: node.node }));
  const cells = node.filters.map((filter) => {
    const apart = filter.holds !== filter.today;
    const said = text(lang, filter.holds ? "model_holds" : "model_fails");
    const more = apart ? `; ${text(lang, "model_today", { names: filter.deviations.join(", ") })}` : "";
    return element("td", {
      class: `${filter.holds ? "holds" : "fails"}${apart ? " apart" : ""}`,
      title: `${said}${more}\n${answer.formulas[filter.section] ?? ""}`,
    }, [
      element("span", { "aria-hidden": "true" }, `${filter.holds ? "✓" : "✕"}${apart ? "≠" : ""}`),
      element("span", { class: "sr-only" }, `${said}${more}`),
    ]);
  });
  const engine = node.engine;
  const total = engine?.total ?? null;
  const victims = node.preemption.pods?.length ? ` → −${number(lang, node.preemption.pods.length)}` : "";
  return element("tr", { class: answer.viable.includes(node.node) ? "viable" : node.feasible ? "feasible" : "" }, [
    element("th", { scope: "row" }, [link, node.boundTo ? " ●" : ""]),
    ...cells,
    element("td", {}, node.feasible ? number(lang, node.viability) : "–"),
    element("td", { title: engine?.reasons.join("; ") ?? "" },
      total !== null ? number(lang, total) : engine?.feasible ? "–" : (engine?.plugin ?? "–")),
    element("td", { title: node.preemption.jeopardy.join(", ") }, `${number(lang, node.preemption.jeopardy.length)}${victims}`),
  ]);
}
