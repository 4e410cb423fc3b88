/** What a comparison came to, in words and tables: a verdict, the sums, the pods that went elsewhere, the nodes. */

/** @import { Compared, CompareRow, Lang } from "../lib/types.d.ts" */
/** @import { Sum } from "./model.js" */
import { element } from "../dom/dom.js";
import { number, text } from "../lib/text.js";
import { movedOf, nodesOf, sumsOf, whyOf } from "./model.js";

/** Rows of pods that are drawn; all of them are in the CSV. */
const ROWS_MAX = 200;

/** What each number is called, and how many decimals it has. */
const SUMS = /** @type {const} */ ({
  placed: "compare.placed", evicted: "compare.evicted", spread: "compare.spread", fits: "compare.fits",
  stranded: "compare.stranded", half: "compare.half",
});

/** @typedef {(key: string, values?: Record<string, string | number>) => string} Words */

/**
 * @param {Compared} answer
 * @param {Lang} lang
 */
export function verdictOf(answer, lang) {
  const t = wordsOf(lang);
  const stopped = answer.sums.flatMap(({ atRest }, index) => (atRest ? [] : ["AB".charAt(index)]));
  return [
    element("b", {}, t("compare.elsewhere", { k: number(lang, answer.elsewhere), n: number(lang, answer.pods) })),
    element("span", {}, t("compare.input_was", { seed: answer.seed, seconds: number(lang, Math.max(...answer.sums.map((one) => one.simTime)), 1) })),
    stopped.length ? element("span", { class: "cmp-bad" }, t("compare.stopped", { side: stopped.join(", ") })) : null,
  ].filter((one) => one !== null);
}

/**
 * @param {Compared} answer
 * @param {Lang} lang
 */
export function sumsTable(answer, lang) {
  const t = wordsOf(lang);
  const rows = sumsOf(answer).map((sum) => element("div", { class: "cmp-sum", "data-testid": `compare-sum-${sum.name}` }, [
    element("dt", {}, t(sum.name === "spread" && !sum.about ? "compare.spread_none" : SUMS[sum.name], { size: sizeOf(answer, lang), group: sum.about })), element("dd", {}, pair(sum, answer, lang)),
  ]));
  const { optimum } = answer;
  if (optimum) rows.push(element("div", { class: "cmp-sum cmp-optimum", "data-testid": "compare-optimum" }, [
    element("dt", {}, t("compare.optimum")),
    element("dd", {}, "problem" in optimum
      ? [element("small", {}, optimum.problem)]
      : [element("b", {}, number(lang, optimum.placed)), element("small", {}, t(optimum.proven ? "compare.proven" : "compare.best_found"))]),
  ]));
  return element("dl", { class: "cmp-sums" }, rows);
}

/**
 * @param {Sum} sum
 * @param {Compared} answer
 * @param {Lang} lang
 */
function pair({ name, values, better }, answer, lang) {
  const t = wordsOf(lang);
  const shown = values.map((value) => {
    if (value === null) return name === "half" ? t("compare.never") : "–";
    if (name === "stranded") return `${number(lang, value * 100)} %`;
    return name === "half" ? `${number(lang, value, 1)} s` : number(lang, value);
  });
  const same = shown[0] === shown[1];
  const total = name === "placed" ? element("small", {}, t("compare.of", { n: number(lang, answer.pods) })) : null;
  return [
    element("span", {}, [element("span", { class: "sr-only" }, "A "), shown[0]]), element("i", { "aria-hidden": "true" }, "→"),
    element("b", { class: same ? "" : "other" }, [element("span", { class: "sr-only" }, "B "), shown[1]]), total,
    better ? element("small", { class: "cmp-better" }, t("compare.better", { side: better.toUpperCase() })) : null,
  ];
}

/**
 * @param {Compared} answer
 * @param {Lang} lang
 */
function sizeOf(answer, lang) {
  const { cpu, memory } = answer.sums[0].room.size;
  const cores = cpu % 1000 ? `${cpu}m` : number(lang, cpu / 1000);
  return memory ? `${cores} · ${number(lang, memory / 2 ** 20)} Mi` : cores;
}

/**
 * @param {Compared} answer
 * @param {Lang} lang
 * @param {(pod: string) => void} choose
 * @param {(key: string) => string} say a pod's name as it is said
 */
export function podsTable(answer, lang, choose, say) {
  const t = wordsOf(lang);
  const moved = movedOf(answer);
  if (!moved.length) return element("p", { class: "cmp-note" }, t("compare.none_moved"));
  const columns = ["compare.col_pod", "compare.col_a", "compare.col_b", "compare.col_old", "compare.col_new", "compare.col_why"];
  return element("div", { class: "cmp-table", role: "region", tabindex: "0", "aria-label": t("compare.pods") }, [
    element("table", { "data-testid": "compare-pods" }, [
      element("caption", {}, moved.length > ROWS_MAX
        ? t("compare.first_rows", { k: number(lang, ROWS_MAX), n: number(lang, moved.length) }) : t("compare.pods")),
      element("thead", {}, [element("tr", {}, columns.map((key) => element("th", { scope: "col" }, t(key))))]),
      element("tbody", {}, moved.slice(0, ROWS_MAX).map((row) => podRow(row, lang, choose, say))),
    ]),
  ]);
}

/**
 * @param {CompareRow} row
 * @param {Lang} lang
 * @param {(pod: string) => void} choose
 * @param {(key: string) => string} say
 */
function podRow(row, lang, choose, say) {
  const t = wordsOf(lang);
  const points = (/** @type {number | null} */ value) => (value === null ? "–" : number(lang, value));
  const why = whyOf(row, t);
  const name = element("button", { class: "link", type: "button", title: row.pod, onclick: () => choose(row.pod) }, say(row.pod));
  return element("tr", {}, [
    element("th", { scope: "row" }, [name]), element("td", {}, row.a.node ?? t("compare.no_node")),
    element("td", { class: "cmp-new" }, row.b.node ?? t("compare.no_node")),
    element("td", { class: "cmp-points" }, points(row.points[0])), element("td", { class: "cmp-points" }, points(row.points[1])),
    element("td", { class: "cmp-why", title: why }, why),
  ]);
}

/**
 * The charts' numbers for who does not see them: pods and CPU by node on both sides.
 * @param {Compared} answer
 * @param {Lang} lang
 */
export function nodesTable(answer, lang) {
  const t = wordsOf(lang);
  const share = (/** @type {number} */ used, /** @type {number} */ cpu) => (cpu ? `${number(lang, (used / cpu) * 100)} %` : "–");
  return element("table", {}, [
    element("thead", {}, [element("tr", {}, [
      t("compare.col_node"), t("compare.col_zone"), t("compare.pods_of", { side: "A" }), t("compare.pods_of", { side: "B" }),
      t("compare.cpu_of", { side: "A" }), t("compare.cpu_of", { side: "B" }),
    ].map((head) => element("th", { scope: "col" }, head)))]),
    element("tbody", {}, nodesOf(answer).map(({ node, zone, cpu, pods: [a, b], used: [usedA, usedB] }) => element("tr", {}, [
      element("th", { scope: "row" }, node), element("td", {}, zone || "–"), element("td", {}, number(lang, a)), element("td", {}, number(lang, b)),
      element("td", {}, share(usedA, cpu)), element("td", {}, share(usedB, cpu)),
    ]))),
  ]);
}

/** @param {Lang} lang @returns {Words} */
const wordsOf = (lang) => (key, values) => text(lang, key, values);
