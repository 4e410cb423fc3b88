/** What a decision was made of beside the outcome, folded: what plugins kept between their points, what extenders were asked. */

/** @import { Explanation, ExtenderCall, Lang, Trace } from "../lib/types.d.ts" */
import { breakable } from "../dom/dom.js";
import { h } from "../dom/h.js";
import { number, text } from "../lib/text.js";
import { listOf } from "../lib/names.js";

/** What is folded out stays so while the panel is told anew: a cycle goes on, another attempt is chosen. */
export function makeKept() {
  /** @type {Set<string>} */
  const open = new Set();

  /**
   * @param {string} name
   * @param {string} summary
   * @param {Node[]} inner
   */
  function fold(name, summary, inner) {
    const made = h("details", { class: "dc-details", "data-testid": `decision-${name}`, open: open.has(name) }, h("summary", { text: summary }), ...inner);
    made.addEventListener("toggle", () => {
      if (made.open) open.add(name);
      else open.delete(name);
    });
    return made;
  }

  return {
    /**
     * @param {Trace} trace
     * @param {Lang} lang
     */
    section(trace, lang) {
      const { cycleState = [], extenders = [] } = trace.explanation ?? trace.result.explanation ?? {};
      if (cycleState.length + extenders.length === 0) return null;
      return h("section", { class: "dc-section dc-kept" },
        cycleState.length > 0 ? fold("cyclestate", text(lang, "decision.cycleState", { n: cycleState.length }), [
          h("p", { class: "dc-note", text: text(lang, "decision.cycleStateNote") }), stateTable(cycleState, lang),
        ]) : null,
        extenders.length > 0 ? fold("extenders", text(lang, "decision.extenders", { n: extenders.length }), [callsTable(extenders, lang)]) : null);
    },
  };
}

/**
 * @param {readonly string[]} columns
 * @param {readonly HTMLElement[]} rows
 */
function table(columns, rows) {
  return h("div", { class: "dc-scroll", tabindex: "0", role: "group", "aria-label": columns.join(", ") }, h("table", { class: "dc-table" },
    h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", { scope: "col", text: name })))), h("tbody", {}, ...rows)));
}

/**
 * @param {NonNullable<Explanation["cycleState"]>} entries
 * @param {Lang} lang
 */
function stateTable(entries, lang) {
  const columns = ["decision.keptKey", "decision.keptValue"].map((key) => text(lang, key));
  return table(columns, entries.map(({ key, writer, value, cloned }) => h("tr", {},
    h("th", { scope: "row" }, h("span", {}, ...breakable(key)), h("p", { class: "dc-hint" }, ...breakable(writer))),
    h("td", {}, h("span", { class: "dc-mono", text: value }), cloned ? h("p", { class: "dc-hint", text: text(lang, "decision.cloned") }) : null))));
}

/**
 * @param {readonly ExtenderCall[]} calls
 * @param {Lang} lang
 */
function callsTable(calls, lang) {
  return table([text(lang, "decision.extenderCall"), text(lang, "decision.extenderAnswer")], calls.map((call) => h("tr", {},
    h("th", { scope: "row" }, h("b", { text: call.verb }), h("p", { class: "dc-mono", text: call.url })),
    h("td", {}, h("p", { text: answerOf(call, lang) }),
      ...Object.entries({ ...call.failedNodes, ...call.failedAndUnresolvableNodes }).map(([node, reason]) => h("p", { class: "dc-hint", text: `${node}: ${reason}` }))))));
}

/**
 * What came of a call: what was left of the nodes, or why it was of no use.
 * @param {ExtenderCall} call
 * @param {Lang} lang
 */
export function answerOf({ nodesIn, nodesOut, durationMs, error, ignored, failedAndUnresolvableNodes }, lang) {
  const ms = number(lang, durationMs, 1);
  if (error !== undefined) return text(lang, ignored ? "decision.extenderIgnored" : "decision.extenderFailed", { error, ms });
  const said = text(lang, "decision.extenderNodes", { in: number(lang, nodesIn), out: number(lang, nodesOut ?? 0), ms });
  const never = Object.keys(failedAndUnresolvableNodes ?? {});
  return never.length > 0 ? `${said} ${text(lang, "decision.extenderNever", { names: listOf(never, lang) })}` : said;
}
