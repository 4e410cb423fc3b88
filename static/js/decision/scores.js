/** Weighted scores: feasible nodes best first as stacked Plotly bars, a segment a plugin. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Colours } from "../dom/colours.js" */
/** @import { Decision, NodeRow } from "./model.js" */
import { number, text } from "../lib/text.js";
import { words } from "./heatmap.js";
import { BARE_AXIS, baseLayout, escapeText } from "../dom/plotly.js";

/** Texture beside hue, so that neighbours differ without colour: hues 2, 4 and 5 carry lines, dots and bars. */
const PATTERNS = ["", "/", "", ".", "|", ""];

/**
 * @param {{decision: Decision, rows: readonly NodeRow[], colours: Colours, lang: Lang, width: number}} input `rows` best
 *   first
 * @returns {{data: object[], layout: object}}
 */
export function scoresChart({ decision, rows, colours, lang, width }) {
  const wide = width >= 420;
  const rowHeight = wide ? 30 : 27;
  const namePx = Math.min(width * 0.26, Math.max(2, ...rows.map((row) => row.node.length)) * 7 + 16);
  const totalPx = wide ? 132 : 108;
  const points = Math.max(1, decision.pointsMax);
  const unit = (width - namePx - totalPx) / points;
  const left = -namePx / unit;
  const right = points + totalPx / unit;
  const y = rows.map((_, index) => index);
  const segments = decision.plugins.map((plugin, index) => segment(plugin, index, { rows, colours, y, unit, lang }));
  const rest = {
    type: "bar", orientation: "h", y, x: rows.map((row) => points - (row.total ?? 0)), width: 0.6,
    marker: { color: colours.sunk }, hoverinfo: "skip",
  };
  const best = rows.flatMap((row, index) => (row.best ? [index] : []));
  const others = rows.flatMap((row, index) => (row.best ? [] : [index]));
  const total = (/** @type {number} */ index) => `<b>${number(lang, rows[index]?.total ?? 0)}</b>`;
  const after = points + 8 / unit;
  const beside = points + (wide ? 44 : 38) / unit;
  return {
    data: [
      ...segments, rest,
      words(y.map((index) => ({ x: left + 4 / unit, y: index, text: `<b>${escapeText(rows[index]?.node ?? "")}</b>` })),
        colours.t1, { size: 12, position: "middle right" }),
      words(best.map((index) => ({ x: after, y: index, text: total(index) })), colours.ambt,
        { size: 13, position: "middle right" }),
      words(others.map((index) => ({ x: after, y: index, text: total(index) })), colours.t1,
        { size: 13, position: "middle right" }),
      words(y.map((index) => ({ x: beside, y: index, text: outcome(decision, rows[index], lang) })), colours.t2,
        { size: 11, position: "middle right" }),
    ],
    layout: {
      ...baseLayout(colours, { l: 0, r: 0, t: 2, b: 2 }, rows.length * rowHeight + 4),
      width,
      barmode: "stack",
      xaxis: { ...BARE_AXIS, range: [left, right] },
      yaxis: { ...BARE_AXIS, range: [rows.length - 0.5, -0.5] },
      shapes: best.flatMap((index) => [{
        type: "rect", layer: "below", x0: left, x1: right, y0: index - 0.44, y1: index + 0.44, fillcolor: colours.ambbg,
        line: { width: 0 },
      }, {
        type: "rect", layer: "above", x0: left + 1 / unit, x1: right - 1 / unit, y0: index - 0.44, y1: index + 0.44,
        line: { color: colours.amb, width: 1.5 },
      }]),
    },
  };
}

/**
 * @param {Decision["plugins"][number]} plugin
 * @param {number} index
 * @param {{rows: readonly NodeRow[], colours: Colours, y: number[], unit: number, lang: Lang}} shared
 */
function segment(plugin, index, { rows, colours, y, unit, lang }) {
  const { hue, again } = plugin.look;
  const values = rows.map((row) => row.cells[index]?.weighted ?? 0);
  const pattern = again ? "x" : PATTERNS[hue];
  return {
    type: "bar", orientation: "h", name: plugin.name, y, x: values, width: 0.6,
    marker: {
      color: colours.plugin[hue], line: { color: colours.surf, width: 1 },
      ...(pattern ? { pattern: { shape: pattern, bgcolor: colours.plugin[hue], fgcolor: colours.surf, fgopacity: 0.35, size: 5, solidity: 0.3 } } : {}),
    },
    // A number that does not fit its segment would be turned or shrunk: leave it to the hover box.
    text: values.map((value) => (value * unit > 24 ? String(Math.round(value)) : "")),
    textposition: "inside", insidetextanchor: "middle", textangle: 0, constraintext: "none",
    textfont: { size: 11, color: hue === 0 ? colours["on-plugin-1"] : colours["on-plugin"] },
    hovertemplate: `${plugin.name} %{x} ${text(lang, "stage.pts")}<extra></extra>`,
  };
}

/**
 * @param {Decision} decision
 * @param {NodeRow | undefined} row
 * @param {Lang} lang
 */
function outcome(decision, row, lang) {
  if (!row) return "";
  if (row.best && decision.best.length > 1) {
    if (!decision.chosen) return text(lang, "stage.tie");
    return text(lang, row.chosen ? "decision.wonLot" : "stage.lost");
  }
  if (row.best) return text(lang, "decision.highest");
  return text(lang, "decision.behind", { n: number(lang, (decision.bestTotal ?? 0) - (row.total ?? 0)) });
}
