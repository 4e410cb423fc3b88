/** The preemption in the Decision panel: which node costs least and why, each pod's fate, the steps, both verdicts. */

/** @import { Account, Lang, Trace } from "../lib/types.d.ts" */
/** @import { CandidateRow, Cost } from "./preemption-model.js" */
import { clockTime, number, text } from "../lib/text.js";
import { CRITERIA } from "../lib/trace.js";
import { h, icon } from "../dom/h.js";
import { accountOf, candidateRows, decidedBy, nominatedOf, readCost } from "./preemption-model.js";

/** @typedef {(key: string) => string} Say a pod's name as it is said, whose it is and in which namespace */

/** Candidates whose pods are listed; the others' costs stand in the table. */
const LISTED = 20;

/** Nodes named behind a reason. */
const NODES_SHOWN = 5;

/**
 * The preemption's sections; empty where there was none.
 * @param {Trace} trace
 * @param {Lang} lang
 * @param {Say} say
 * @returns {HTMLElement[]}
 */
export function preemptionSections(trace, lang, say) {
  const account = accountOf(trace);
  const rows = candidateRows(trace.result, account);
  const nominated = nominatedSection(trace, lang, say);
  const parts = [
    rows.length > 0 ? choice(rows, lang, say) : null,
    account && !account.eligible ? h("p", { class: "dc-callout", text: text(lang, "preemption.notEligible", {
      why: account.whyNot,
    }) }) : null,
    ...rows.slice(0, LISTED).filter((row) => row.fates.length > 0).map((row) => fates(row, lang, say)),
    account?.reasons ? reasonsTable(account.reasons, lang) : null,
    account && account.steps.length > 0 ? stepList(account.steps, lang, say) : null,
  ].filter((part) => part !== null);
  const section = parts.length > 0 ? h("section", { class: "dc-section dc-preemption" },
    h("header", { class: "dc-head" }, h("h3", { text: text(lang, "preemption.title") }),
      rows.length > 1 ? h("span", { class: "dc-hint", text: text(lang, "preemption.hint") }) : null), ...parts) : null;
  return [nominated, section].filter((part) => part !== null);
}

/**
 * Candidates by cost; a row is struck from the criterion on that turned it away.
 * @param {readonly CandidateRow[]} rows
 * @param {Lang} lang
 * @param {Say} say
 */
function choice(rows, lang, say) {
  const decided = decidedBy(rows);
  return h("div", {},
    h("div", { class: "dc-scroll", tabindex: "0", role: "region", "aria-label": text(lang, "preemption.title") },
      h("table", { class: "dc-table dc-costs", "data-testid": "preemption-table" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col", text: text(lang, "outline.node") }),
          ...CRITERIA.map((name, index) => h("th", { scope: "col" }, h("b", { text: String(index + 1) }),
            h("span", { text: text(lang, `criterion.${name}`) }))),
          h("th", { scope: "col", text: text(lang, "preemption.end") }))),
        h("tbody", {}, ...rows.map((row) => h("tr", { class: row.chosen ? "dc-chosen" : "", "data-out": row.out },
          // The others' pods stand below, node by node: here they would part the numbers that are compared.
          h("th", { scope: "row", title: row.victims.map(say).join(", ") }, row.chosen ? h("b", { text: row.node }) : h("s", { text: row.node }),
            row.chosen ? h("span", { class: "dc-hint", text: row.victims.map(say).join(", ") }) : null),
          ...(row.costs.length > 0 ? row.costs : CRITERIA.map(() => null)).map((cost) =>
            h("td", { "data-state": cost?.state ?? "" }, cost ? costText(cost, row.victims.length, lang) : null)),
          h("td", { class: "dc-end" }, endChip(row, lang))))),
        h("tfoot", {}, h("tr", {}, h("td", {}), ...CRITERIA.map((name) =>
          h("td", { text: text(lang, `criterion.${name}.best`) })), h("td", {}))))),
    decided ? h("p", { class: "dc-callout" }, ...decidedWords(decided, rows.length, lang)) : null);
}

/**
 * @param {Cost} cost
 * @param {number} victims
 * @param {Lang} lang
 */
function costText(cost, victims, lang) {
  const read = readCost(cost, victims);
  const shown = read.kind === "none" ? text(lang, "preemption.notStarted")
    : read.kind === "time" ? clockTime(read.unixMs)
      : read.kind === "sum" ? `${read.times}·2³¹ ${read.rest < 0 ? "−" : "+"} ${number(lang, Math.abs(read.rest))}`
        : number(lang, read.value);
  if (cost.state === "out") return h("s", { class: "dc-struck", text: shown });
  return cost.state === "after" ? h("s", { text: shown }) : h("span", { text: shown });
}

/**
 * @param {CandidateRow} row
 * @param {Lang} lang
 */
function endChip(row, lang) {
  if (row.chosen) return h("span", { class: "dc-chip-won" }, icon("check", 11), h("span", { text: text(lang, "preemption.chosen") }));
  return h("span", { class: "dc-chip-out", text: outText(row.out, lang) });
}

/**
 * @param {string} out
 * @param {Lang} lang
 */
function outText(out, lang) {
  const at = CRITERIA.indexOf(/** @type {typeof CRITERIA[number]} */ (out));
  if (at >= 0) return text(lang, "preemption.outAt", { n: at + 1 });
  return out === "lot" ? text(lang, "preemption.outByLot") : out;
}

/**
 * @param {NonNullable<ReturnType<typeof decidedBy>>} decided
 * @param {number} count
 * @param {Lang} lang
 */
function decidedWords({ winner, loser, by }, count, lang) {
  if (!loser) return [h("b", { text: text(lang, "preemption.only", { node: winner.node, n: winner.victims.length }) })];
  const at = CRITERIA.indexOf(/** @type {typeof CRITERIA[number]} */ (by));
  const values = { winner: winner.node, loser: loser.node, n: at + 1, count };
  if (at < 0) return [h("b", { text: text(lang, "preemption.byLot", values) })];
  return [h("b", { text: text(lang, "preemption.decided", values) }), ` ${text(lang, `criterion.${by}.why`, values)}`];
}

/**
 * The pods of a candidate, in the order in which they were given back.
 * @param {CandidateRow} row
 * @param {Lang} lang
 * @param {Say} say
 */
function fates(row, lang, say) {
  return h("details", { class: "dc-details dc-fates", ...(row.chosen ? { open: true } : {}) },
    h("summary", {}, h("span", { text: text(lang, row.chosen ? "preemption.podsChosen" : "preemption.pods", {
      node: row.node, n: row.victims.length, spared: row.fates.length - row.victims.length,
    }) })),
    h("div", { class: "dc-scroll", tabindex: "0", role: "region", "aria-label": row.node },
      h("table", { class: "dc-table" },
      h("thead", {}, h("tr", {}, ...["pod", "priority", "start", "budget", "fate", "why"].map((name) =>
        h("th", { scope: "col", text: text(lang, `fates.${name}`) })))),
      h("tbody", {}, ...row.fates.map((fate) => h("tr", { "data-fate": fate.fate },
        h("th", { scope: "row", title: fate.pod, text: say(fate.pod) }),
        h("td", { class: "dc-number", "data-label": text(lang, "fates.priority"), text: number(lang, fate.priority) }),
        h("td", { class: "dc-number", "data-label": text(lang, "fates.start"), text: fate.startTime ? clockTime(Date.parse(fate.startTime)) : text(lang, "preemption.notStarted") }),
        h("td", { "data-label": text(lang, "fates.budget") }, fate.breaksBudget ? h("span", { class: "dc-chip-out", text: text(lang, "fates.breaks") }) : text(lang, "fates.keeps")),
        h("td", {}, h("span", { class: fate.fate === "victim" ? "dc-chip-bad" : "dc-chip-good" },
          icon(fate.fate === "victim" ? "ban" : "check", 11), h("span", { text: text(lang, `fates.${fate.fate}`) }))),
        h("td", {}, fate.plugin ? h("span", { class: "dc-mono", text: `${fate.plugin}: ` }) : null,
          fate.reasons.join(", ") || text(lang, "fates.fits"))))))));
}

/**
 * Each reason of the nodes that were turned away, and whether evicting pods mends it: an era's list.
 * @param {NonNullable<Account["reasons"]>} reasons
 * @param {Lang} lang
 */
function reasonsTable(reasons, lang) {
  return h("div", {}, h("h4", { text: text(lang, "preemption.list") }),
    h("table", { class: "dc-table", "data-testid": "preemption-reasons" },
      h("thead", {}, h("tr", {}, ...["reason", "error", "helps", "nodes"].map((name) =>
        h("th", { scope: "col", text: text(lang, `list.${name}`) })))),
      h("tbody", {}, ...reasons.map((one) => h("tr", {}, h("td", { text: one.reason }),
        h("td", { class: "dc-mono", text: one.error || one.predicate }),
        h("td", {}, h("span", { class: one.helps ? "dc-chip-good" : "dc-chip-bad", text: text(lang, one.helps ? "list.may" : "list.never") })),
        h("td", { title: one.nodes.join(", "), text: one.nodes.slice(0, NODES_SHOWN).join(", ")
          + (one.nodes.length > NODES_SHOWN ? ` +${one.nodes.length - NODES_SHOWN}` : "") }))))));
}

/**
 * @param {Account["steps"]} steps
 * @param {Lang} lang
 * @param {Say} say
 */
function stepList(steps, lang, say) {
  return h("div", {}, h("h4", { text: text(lang, "preemption.steps") }),
    h("ol", { class: "dc-steps", "data-testid": "preemption-steps" }, ...steps.map((step) =>
      h("li", { "data-step": step.step, "data-failed": step.error ? "true" : "false" },
        h("i", {}, icon(step.error ? "ban" : "check", 10)),
        h("span", { text: text(lang, `step.${step.step}`, {
          node: step.node ?? "", pod: step.pod ? say(step.pod) : "", count: step.count ?? "", text: step.text ?? "",
        }) }), step.error ? h("b", { text: step.error }) : null))));
}

/**
 * Nodes that others are nominated to: judged with their pods and without.
 * @param {Trace} trace
 * @param {Lang} lang
 * @param {Say} say
 */
function nominatedSection(trace, lang, say) {
  const rows = nominatedOf(trace);
  if (rows.length === 0) return null;
  const verdict = (/** @type {import("../lib/types.d.ts").CodeReasons} */ one) => (one.code === "Success"
    ? h("span", { class: "dc-chip-good" }, icon("check", 11), h("span", { text: text(lang, "stage.feasible") }))
    : h("span", {}, h("span", { class: "dc-mono", text: `${one.plugin ?? ""}: ` }), (one.reasons ?? []).join(", ")));
  return h("section", { class: "dc-section dc-nominated" },
    h("header", { class: "dc-head" }, h("h3", { text: text(lang, "nominated.title") }),
      h("span", { class: "dc-hint", text: text(lang, "nominated.hint") })),
    h("div", { class: "dc-scroll", tabindex: "0", role: "region", "aria-label": text(lang, "nominated.title") },
      h("table", { class: "dc-table", "data-testid": "nominated-table" },
        h("thead", {}, h("tr", {}, ...["node", "pods", "with", "without"].map((name) =>
          h("th", { scope: "col", text: text(lang, `nominated.${name}`) })))),
        h("tbody", {}, ...rows.map((row) => h("tr", {}, h("th", { scope: "row", text: row.node }),
          h("td", { text: row.pods.map(say).join(", ") }), h("td", {}, verdict(row.with)),
          h("td", {}, verdict(row.without))))))));
}
