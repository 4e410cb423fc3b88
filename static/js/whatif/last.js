/** The same changes over the newest decisions of the session: how many pods would have gone elsewhere, and which. */

/** @import { Change, Lang, WhatIfLast } from "../lib/types.d.ts" */
/** @import { Asks } from "./panel.js" */
import { element } from "../dom/dom.js";
import { number, text } from "../lib/text.js";

/** Decisions asked about. */
export const LAST = 40;

/** Columns that a narrow inspector does without. */
const WIDE = new Set(["whatif.col_old", "whatif.col_new"]);

/**
 * @param {Asks} asks
 * @param {() => void} show called when something else stands there, for the stage
 */
export function mountLast(asks, show) {
  const ask = element("button", { class: "button", type: "button", "data-testid": "whatif-last" });
  const told = element("div", { "aria-live": "polite" });
  const root = element("div", { class: "wi-last" }, [ask, told]);
  /** @type {readonly Change[]} */
  let changes = [];
  /** @type {Lang} */
  let lang = "en";
  let turn = 0;
  /** What stands there: an answer about one decision that comes late must not take its place on the stage. @type {WhatIfLast | null} */
  let found = null;
  /** @type {(key: string) => string} */
  let nameOf = (key) => key;

  ask.addEventListener("click", async () => {
    const mine = (turn += 1);
    told.replaceChildren(element("p", { class: "wi-note" }, text(lang, "whatif.last_asking")));
    const { last, refusal } = await asks.last(changes, LAST);
    if (mine !== turn) return;
    found = last ?? null;
    show();
    told.replaceChildren(...(last ? moved(last, nameOf, lang) : [element("p", { class: "wi-bad" }, refusal?.message ?? "")]));
  });

  return {
    element: root,
    found: () => found,
    /**
     * @param {readonly Change[]} next none: there is nothing to ask about
     * @param {(key: string) => string} say a pod's name as it is said
     * @param {Lang} spoken
     */
    render(next, say, spoken) {
      nameOf = say;
      root.hidden = !next.length;
      ask.textContent = text(spoken, "whatif.last", { n: LAST });
      if (JSON.stringify(next) !== JSON.stringify(changes) || spoken !== lang) {
        turn += 1;
        found = null;
        told.replaceChildren();
      }
      changes = next;
      lang = spoken;
    },
  };
}

/**
 * @param {WhatIfLast} last
 * @param {(key: string) => string} nameOf
 * @param {Lang} lang
 * @returns {HTMLElement[]}
 */
function moved(last, nameOf, lang) {
  const rows = last.decisions.filter((row) => row.before !== row.after);
  const points = (/** @type {number | null | undefined} */ value) => (typeof value === "number" ? number(lang, value) : "–");
  const nowhere = text(lang, "whatif.nowhere");
  const head = element("p", { class: rows.length ? "wi-verdict moved" : "wi-verdict", "data-testid": "whatif-elsewhere" }, [
    element("b", {}, text(lang, "whatif.last_told", { k: number(lang, last.elsewhere), n: number(lang, last.decided) })),
    element("span", {}, last.left.length ? text(lang, "whatif.last_left", { n: number(lang, last.left.length) }) : ""),
  ]);
  if (!rows.length) return [head, element("p", { class: "wi-note" }, text(lang, "whatif.last_none"))];
  const columns = ["whatif.col_pod", "whatif.col_was", "whatif.col_would", "whatif.col_old", "whatif.col_new", "whatif.col_ahead"];
  return [head, element("div", { class: "wi-table", role: "region", tabindex: "0", "aria-label": head.textContent ?? "" }, [
    element("table", {}, [
      element("thead", {}, [element("tr", {}, columns.map((key) => element("th", {
        scope: "col", class: WIDE.has(key) ? "wi-wide" : "",
      }, text(lang, key))))]),
      element("tbody", {}, rows.map(({ pod, before, after, points: [old, fresh] }) => element("tr", {}, [
        element("th", { scope: "row", title: pod }, nameOf(pod)),
        element("td", {}, before ?? nowhere), element("td", { class: "wi-new" }, after ?? nowhere),
        element("td", { class: "wi-wide" }, points(old)), element("td", { class: "wi-wide" }, points(fresh)),
        element("td", {}, typeof old === "number" && typeof fresh === "number" ? `+${number(lang, fresh - old)}` : "–"),
      ]))),
    ]),
  ])];
}
