/** The difference that a what-if makes: who would be chosen, by how much, and node by node before and after. */

/** @import { CodeReasons, Lang, Trace, WhatIfAnswer } from "../lib/types.d.ts" */
import { element } from "../dom/dom.js";
import { number, text } from "../lib/text.js";
import { lead } from "./model.js";

/** Rows drawn, the best after the change first. */
const ROWS_MAX = 40;

/**
 * @param {WhatIfAnswer} answer
 * @param {Lang} lang
 * @returns {HTMLElement[]}
 */
export function difference(answer, lang) {
  const [was, now] = answer.difference.chosen;
  const moved = was !== now;
  const rows = rowsOf(answer, lang);
  const head = element("p", { class: moved ? "wi-verdict moved" : "wi-verdict", "data-testid": "whatif-verdict" }, [
    element("b", {}, moved
      ? text(lang, "whatif.moved", { before: was ?? text(lang, "whatif.nowhere"), after: now ?? text(lang, "whatif.nowhere") })
      : text(lang, "whatif.same", { node: now ?? text(lang, "whatif.nowhere") })),
    element("span", {}, ahead(answer.after, lang)),
  ]);
  if (!rows.length) return [head];
  return [head, element("div", { class: "wi-table", role: "region", tabindex: "0", "aria-label": text(lang, "whatif.table") }, [
    element("table", {}, [
      element("thead", {}, [element("tr", {}, ["whatif.col_node", "whatif.col_before", "whatif.col_after", "whatif.col_by"]
        .map((key) => element("th", { scope: "col" }, text(lang, key))))]),
      element("tbody", {}, rows.slice(0, ROWS_MAX).map((row) => element("tr", {
        class: row.node === now ? "won" : row.node === was ? "lost" : "",
      }, [
        element("th", { scope: "row" }, row.node),
        element("td", {}, row.before), element("td", {}, row.after), element("td", { title: row.plugins }, row.by),
      ]))),
    ]),
  ])];
}

/**
 * @param {Trace} after
 * @param {Lang} lang
 */
function ahead(after, lang) {
  const by = lead(after);
  if (by === null) return "";
  if (by > 0) return text(lang, "whatif.ahead", { n: number(lang, by) });
  return text(lang, "whatif.tied");
}

/**
 * @param {WhatIfAnswer} answer
 * @param {Lang} lang
 */
function rowsOf(answer, lang) {
  /** @type {Map<string, {node: string, before: string, after: string, by: string, plugins: string, rank: number}>} */
  const rows = new Map();
  const points = totals(answer);
  for (const { node, before, after } of answer.difference.verdicts) {
    const total = points.after.get(node);
    rows.set(node, {
      node, before: verdict(before, lang), after: verdict(after, lang), by: "", plugins: "",
      rank: total ?? (after === "fits" ? 0 : -1),
    });
  }
  for (const score of answer.difference.scores) {
    const known = rows.get(score.node);
    const { before, after } = score;
    const shown = (/** @type {number | null} */ value, /** @type {string | undefined} */ instead) =>
      value === null ? (instead ?? "–") : number(lang, value);
    const by = before === null || after === null ? "" : signed(after - before, lang);
    const plugins = score.plugins.map((one) => `${one.plugin} ${one.before ?? "–"} → ${one.after ?? "–"}`).join("\n");
    rows.set(score.node, {
      node: score.node, before: shown(before, known?.before), after: shown(after, known?.after), by, plugins, rank: after ?? -1,
    });
  }
  return [...rows.values()].sort((a, b) => b.rank - a.rank || (a.node < b.node ? -1 : 1));
}

/** @param {WhatIfAnswer} answer */
function totals({ after }) {
  const scores = after.result.scores;
  return { after: new Map((scores?.nodes ?? []).map((node, at) => [node, scores?.total[at] ?? 0])) };
}

/**
 * @param {"fits" | CodeReasons | null} verdict
 * @param {Lang} lang
 */
function verdict(verdict, lang) {
  if (verdict === "fits") return text(lang, "whatif.fits");
  return verdict ? (verdict.reasons ?? [verdict.code]).join(", ") : "–";
}

/**
 * @param {number} value
 * @param {Lang} lang
 */
function signed(value, lang) {
  return value > 0 ? `+${number(lang, value)}` : value < 0 ? `−${number(lang, -value)}` : "0";
}
