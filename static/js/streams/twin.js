/** A chart's table twin: the same numbers for those who do not see the chart, made only while it is open. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Table } from "../lib/csv.js" */
import { element, setText } from "../dom/dom.js";
import { number, text } from "../lib/text.js";

/** Rows shown, the newest; all of them are in the CSV. */
const ROWS_MAX = 60;

/**
 * @param {string} testid
 * @param {string} [words] where the names of its columns begin
 */
export function twin(testid, words = "streams") {
  const summary = element("summary");
  const body = element("div", { class: "streams-rows", tabindex: "0", role: "region" });
  const root = element("details", { class: "streams-twin", "data-testid": testid }, [summary, body]);
  /** @type {(() => Table) | null} */
  let source = null;
  let lang = /** @type {Lang} */ ("en");

  function fill() {
    if (!root.open || !source) return;
    const { head, rows } = source();
    const shown = rows.slice(-ROWS_MAX).reverse();
    const scrolled = body.scrollTop;
    body.replaceChildren(element("table", {}, [
      element("caption", {}, text(lang, "streams.rows", { n: number(lang, shown.length), all: number(lang, rows.length) })),
      element("thead", {}, element("tr", {}, head.map((name) => element("th", { scope: "col" }, text(lang, `${words}.col.${name}`))))),
      element("tbody", {}, shown.map((row) => element("tr", {}, row.map((value) =>
        element("td", {}, typeof value === "number" ? number(lang, value, 1) : String(value ?? "–")))))),
    ]));
    body.scrollTop = scrolled;
  }
  root.addEventListener("toggle", fill);
  return {
    root,
    /**
     * @param {() => Table} next
     * @param {Lang} nextLang
     */
    render(next, nextLang) {
      source = next;
      lang = nextLang;
      setText(summary, text(lang, "streams.table"));
      body.setAttribute("aria-label", text(lang, "streams.table"));
      fill();
    },
  };
}
