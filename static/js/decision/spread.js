/** Of many nodes: how many got which points, so that the best are seen to be few, or many. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Decision } from "./model.js" */
import { HEAT_STEPS } from "../dom/colours.js";
import { h } from "../dom/h.js";
import { counted, number, text } from "../lib/text.js";

/** Bars at most; fewer where fewer points lie between the worst and the best. */
const BARS_MAX = 24;

/**
 * Feasible nodes by their points, in bars of equally many points each.
 * @param {Pick<Decision, "rows">} decision
 * @returns {{from: number, to: number, best: number, bars: {from: number, count: number}[]} | null} null where nothing was scored
 */
export function spreadOf({ rows }) {
  const totals = rows.flatMap(({ total }) => (total === null ? [] : [total]));
  if (totals.length === 0) return null;
  const from = totals.reduce((least, one) => Math.min(least, one));
  const to = totals.reduce((most, one) => Math.max(most, one));
  const width = Math.max(1, Math.ceil((to - from + 1) / BARS_MAX));
  const bars = Array.from({ length: Math.floor((to - from) / width) + 1 }, (_, index) => ({ from: from + index * width, count: 0 }));
  for (const total of totals) /** @type {{count: number}} */ (bars[Math.floor((total - from) / width)]).count += 1;
  return { from, to, best: totals.filter((one) => one === to).length, bars };
}

/**
 * @param {Decision} decision
 * @param {Lang} lang
 */
export function spreadSection(decision, lang) {
  const spread = spreadOf(decision);
  if (!spread) return null;
  const { from, to, best, bars } = spread;
  const most = Math.max(...bars.map(({ count }) => count));
  const hottest = HEAT_STEPS - 1;
  const told = counted(lang, "spread.best", { n: best, total: number(lang, to) });
  return h("section", { class: "dc-section dc-spread", "data-testid": "decision-spread" },
    h("header", { class: "dc-head" }, h("h3", { text: counted(lang, "spread.title", { n: decision.feasible }) }),
      h("span", { class: "dc-hint dc-push", text: text(lang, "spread.most", { max: number(lang, decision.pointsMax) }) })),
    h("p", { class: "dc-spread-best", text: told }),
    h("div", { class: "dc-spread-bars", role: "img", "aria-label": text(lang, "spread.label", { from: number(lang, from), to: number(lang, to), best: told }) },
      ...bars.map(({ count }, index) => {
        const bar = h("i", { "data-last": index === bars.length - 1 });
        bar.style.height = `${(100 * count) / most}%`;
        bar.style.background = `var(--heat-${bars.length > 1 ? Math.round((hottest * index) / (bars.length - 1)) : hottest})`;
        return bar;
      })),
    h("p", { class: "dc-spread-ends", "aria-hidden": "true" }, h("span", { text: number(lang, from) }), from < to ? h("b", { text: number(lang, to) }) : null));
}
