/** What is missing on each refused node, in numbers, and on request which filters would refuse it after the first. */

/** @import { Lang, Refusal, RefusalDetail, Trace } from "../lib/types.d.ts" */
import { h, icon } from "../dom/h.js";
import { ghostOf, refusalWords } from "../lib/refusals.js";
import { text } from "../lib/text.js";
import { compareNames } from "../state/selectors.js";

/** Nodes listed; the table and the endpoint have all of them. */
const NODES_MAX = 12;
const SVG = "http://www.w3.org/2000/svg";
const BAR = { w: 96, h: 8 };

/** @typedef {(id: string) => Promise<{nodes: Record<string, Refusal[]>}>} Ask asks every filter about a decision */

/**
 * @param {Ask} ask
 * @param {() => void} redraw
 */
export function makeRefusals(ask, redraw) {
  /** @type {{id: string, state: "asking" | "told" | "gone", nodes: Record<string, Refusal[]>}} */
  let others = { id: "", state: "asking", nodes: {} };

  /** @param {string} id */
  async function question(id) {
    others = { id, state: "asking", nodes: {} };
    redraw();
    let answer;
    try {
      answer = { id, state: /** @type {const} */ ("told"), nodes: (await ask(id)).nodes };
    } catch {
      answer = { id, state: /** @type {const} */ ("gone"), nodes: {} };
    }
    if (others.id !== id) return;
    others = answer;
    redraw();
  }

  /**
   * @param {Trace} trace
   * @param {Lang} lang
   * @param {(key: string) => string} say a pod's name as it is said
   */
  function section(trace, lang, say) {
    const { refusals: known = {}, preFilter = [] } = trace.explanation ?? trace.result.explanation ?? {};
    const names = Object.keys(known).sort(compareNames);
    if (names.length === 0 && preFilter.length === 0) return null;
    const asked = others.id === trace.id ? others : null;
    const more = names.length ? Object.keys(trace.result.firstFail ?? {}).length - Math.min(names.length, NODES_MAX) : 0;
    return h("section", { class: "dc-section dc-missing", "data-testid": "decision-missing" },
      h("header", { class: "dc-head" }, h("h3", { text: text(lang, "refusal.amounts") }),
        asked?.state === "told" || names.length === 0 ? null : h("button", {
          type: "button", class: "dc-push", "data-others": "ask", disabled: asked?.state === "asking",
          text: text(lang, "refusal.others"), onclick: () => void question(trace.id),
        })),
      h("ul", { class: "dc-amounts" }, ...(preFilter.length ? [h("li", {}, h("b", { text: text(lang, "refusal.everywhere") }),
        h("div", {}, ...preFilter.map((detail) => line(detail, lang, say))))] : []), ...names.slice(0, NODES_MAX).map((name) =>
        h("li", {}, h("b", { text: name }), h("div", {}, ...(known[name] ?? []).map((detail) => line(detail, lang, say)),
          asked?.state === "told" ? after(asked.nodes[name] ?? [], trace, name, lang, say) : null)))),
      more > 0 ? h("p", { class: "dc-hint", text: text(lang, "refusal.more", { n: more }) }) : null,
      asked ? h("p", { class: "dc-note", role: "status", text: text(lang, asked.state === "told" ? "refusal.othersNote"
        : asked.state === "gone" ? "refusal.notKept" : "refusal.asking") }) : null);
  }

  return { section };
}

/**
 * @param {RefusalDetail} detail
 * @param {Lang} lang
 * @param {(key: string) => string} say
 */
function line(detail, lang, say) {
  return h("p", { class: "dc-amount" }, detail.kind === "resource" ? ghost(detail) : icon("ban", 11),
    h("span", { text: refusalWords(detail, lang, say) }));
}

/**
 * The filters after those that the decision itself told of.
 * @param {readonly Refusal[]} refusals
 * @param {Trace} trace
 * @param {string} node
 * @param {Lang} lang
 * @param {(key: string) => string} say
 */
function after(refusals, trace, node, lang, say) {
  const first = trace.result.firstFail?.[node]?.plugin ?? refusals[0]?.plugin;
  const rest = refusals.filter((one) => one.plugin !== first);
  if (rest.length === 0) return h("p", { class: "dc-hint", text: text(lang, "refusal.nothing") });
  return h("div", { class: "dc-then" },
    h("p", { text: text(lang, "refusal.then", { plugins: rest.map((one) => one.plugin).join(", ") }) }),
    ...rest.flatMap((one) => one.details.map((detail) => line(detail, lang, say))));
}

/**
 * Taken, asked, and the end of the node, as a bar; the words beside it say the same.
 * @param {{asked: number, free: number, size: number}} detail
 */
function ghost(detail) {
  const { used, ghost: to, end } = ghostOf(detail);
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({
    class: "dc-ghost", viewBox: `0 0 ${BAR.w} ${BAR.h + 4}`, width: BAR.w, height: BAR.h + 4, "aria-hidden": "true",
  })) svg.setAttribute(name, String(value));
  const part = (/** @type {string} */ name, /** @type {number} */ from, /** @type {number} */ until, tall = 0) => {
    const rect = document.createElementNS(SVG, "rect");
    for (const [key, value] of Object.entries({
      class: `dc-ghost-${name}`, x: from * BAR.w, y: 2 - tall, width: Math.max(0, until - from) * BAR.w, height: BAR.h + 2 * tall,
    })) rect.setAttribute(key, String(value));
    svg.append(rect);
  };
  part("node", 0, end);
  part("used", 0, used);
  part("asked", used, Math.min(to, 1 - 1 / BAR.w));
  part("end", end, end + 2 / BAR.w, 2);
  return svg;
}
