/** Verdicts and scores: nodes × plugins as a Plotly heatmap, refused nodes hatched with their reason. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Colours } from "../dom/colours.js" */
/** @import { Decision, NodeRow } from "./model.js" */
import { number, text } from "../lib/text.js";
import { heatStep } from "../dom/colours.js";
import { BARE_AXIS, baseLayout, escapeText } from "../dom/plotly.js";

/** @typedef {"raw" | "normalized" | "weighted"} Mode */

/**
 * @typedef {object} HeatInput
 * @property {Decision} decision
 * @property {readonly NodeRow[]} rows of the page shown
 * @property {Mode} mode
 * @property {Colours} colours
 * @property {Lang} lang
 * @property {number} width of the chart in pixels
 * @property {number} [zoom] how much the page is enlarged around it
 */

/** From this width on, names of plugins are written in two lines. */
const WIDE_PX = 520;
/** In less, a word a line where the columns are wide enough for their longest word, letters of this width; else upright. */
const WORD_LETTER_PX = 6;
const COLUMNS_WITHOUT_SCORES = 6;
/** Width of a letter of the headings. */
const LETTER_PX = 5;
/** Height of a line of a heading, in pixels of the page. */
const LINE_PX = 14;

/**
 * Data and layout of the chart.
 * @param {HeatInput} input
 * @returns {{data: object[], layout: object}}
 */
export function heatmapChart(input) {
  const { decision, rows, colours, width } = input;
  const wide = width >= WIDE_PX;
  const rowHeight = wide ? 26 : 22;
  const columns = decision.plugins.length || COLUMNS_WITHOUT_SCORES;
  const longest = Math.max(2, ...rows.map((row) => row.node.length));
  const namesPx = Math.min(width * 0.3, longest * 7 + 14);
  const scored = decision.plugins.length > 0;
  const totalPx = !scored ? 8 : wide ? 62 : 44;
  // One unit of the x axis is one column; names and totals take the units their pixels are worth.
  const unit = (width - namesPx - totalPx) / (columns + 1);
  const left = -0.5 - namesPx / unit;
  const right = columns + 0.5 + totalPx / unit;
  // In a narrow panel a reason takes the total's column too: a refused node has none, and half a sentence tells nothing.
  const reasonsEnd = wide ? columns + 0.46 : right - 4 / unit;
  const manner = wide || !scored ? "lines" : wordsFit(decision, unit) ? "words" : "upright";
  const head = !scored ? 22 : wide ? 40 : manner === "words" ? stackHeight(decision) : headHeight(decision);
  const layout = {
    ...baseLayout(colours, { l: 0, r: 0, t: head, b: 2 }, rows.length * rowHeight + head + 2),
    width,
    xaxis: { ...BARE_AXIS, range: [left, right] },
    yaxis: { ...BARE_AXIS, range: [rows.length - 0.5, -0.5] },
    barmode: "overlay",
    shapes: outlines(rows, colours, left, right),
    annotations: headings(input, manner, columns, right),
  };
  return {
    data: [
      ...verdicts(rows, colours, reasonsEnd), ...cells(input, rowHeight), ...labels(input, left, right, reasonsEnd),
    ],
    layout,
  };
}

/**
 * Whether each word of the plugins' names fits a column.
 * @param {Decision} decision
 * @param {number} unit pixels of a column
 */
function wordsFit({ plugins }, unit) {
  return Math.max(...plugins.flatMap(({ name }) => wordsOf(shortPlugin(name)).map((word) => word.length))) * WORD_LETTER_PX <= unit - 2;
}

/** @param {Decision} decision */
function stackHeight({ plugins }) {
  return (Math.max(...plugins.map(({ name }) => wordsOf(shortPlugin(name)).length)) + 1) * LINE_PX + 6;
}

/** @param {Decision} decision */
function headHeight(decision) {
  const longest = Math.max(14, ...decision.plugins.map((plugin) => shortPlugin(plugin.name).length));
  return Math.min(220, longest * 6.2 + 26);
}

/**
 * The words of a name: NodeResourcesFit has three, CEL one.
 * @param {string} name
 * @returns {string[]}
 */
function wordsOf(name) {
  return name.match(/[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|\d+/g) ?? [name];
}

/**
 * The name without what every reader of this table knows.
 * @param {string} name
 */
export function shortPlugin(name) {
  return name.replace(/^NodeResources(?=Balanced)/, "");
}

/**
 * @param {readonly NodeRow[]} rows
 * @param {Colours} colours
 * @param {number} reasonsEnd
 */
function verdicts(rows, colours, reasonsEnd) {
  // Where nobody looked there is no verdict: no texture of "not possible", no cross.
  const refused = rows.flatMap((row, y) => (row.feasible || !row.tried ? [] : [y]));
  const untried = rows.flatMap((row, y) => (row.tried ? [] : [y]));
  const fits = rows.flatMap((row, y) => (row.feasible ? [y] : []));
  const bar = (/** @type {number[]} */ y, /** @type {number} */ from, /** @type {number} */ to, /** @type {object} */ marker) =>
    ({
      type: "bar", orientation: "h", y, x: y.map(() => to - from), base: y.map(() => from), width: 0.88, offset: -0.44, marker,
      hoverinfo: "skip",
    });
  return [
    bar(fits, -0.46, 0.46, { color: colours.grnbg }),
    bar(refused, -0.46, 0.46, {
      color: colours.surf, pattern: { shape: "/", fgcolor: colours.hatch, bgcolor: colours.stage, size: 6, solidity: 0.25 },
    }),
    bar([...refused, ...untried], 0.54, reasonsEnd, { color: colours.sunk }),
    bar(untried, -0.46, 0.46, { color: colours.surf, line: { color: colours.line2, width: 1 } }),
    words(untried.map((y) => ({ x: 0, y, text: "–" })), colours.t3, { size: 12, position: "middle center" }),
    words(fits.map((y) => ({ x: 0, y, text: "✓" })), colours.grnt, { size: 13, position: "middle center" }),
    words(refused.map((y) => ({ x: 0, y, text: "✕" })), colours.t1, { size: 12, position: "middle center" }),
  ];
}

/**
 * @param {HeatInput} input
 * @param {number} rowHeight
 */
function cells({ decision, rows, mode, colours, lang }, rowHeight) {
  const { plugins } = decision;
  if (plugins.length === 0) return [];
  const scale = colours.heat.flatMap((colour, index) =>
    [[index / colours.heat.length, colour], [(index + 1) / colours.heat.length, colour]]);
  /** @type {{x: number, y: number, text: string}[]} */
  const light = [];
  /** @type {typeof light} */
  const dark = [];
  rows.forEach((row, y) => row.cells.forEach((cell, index) => {
    const shown = { x: index + 1, y, text: number(lang, cell[mode], 0).replace(/,/g, "") };
    (heatStep((100 * cell.normalized) / decision.scoreMax) > 3 ? dark : light).push(shown);
  }));
  const size = rowHeight > 22 ? 12 : 11;
  return [
    {
      type: "heatmap", zmin: 0, zmax: decision.scoreMax, colorscale: scale, showscale: false, xgap: 2, ygap: 2,
      x: plugins.map((_, index) => index + 1),
      y: rows.map((_, index) => index),
      z: rows.map((row) => plugins.map((_, index) => (row.cells.length > 0 ? row.cells[index]?.normalized ?? null : null))),
      customdata: rows.map((row) => plugins.map((plugin, index) => hover(row, plugin, index, decision.scoreMax, lang))),
      hovertemplate: "%{customdata}<extra></extra>",
      hoverongaps: false,
    },
    words(light, colours["heat-low-text"], { size, position: "middle center" }),
    words(dark, colours["heat-high-text"], { size, position: "middle center" }),
  ];
}

/**
 * @param {NodeRow} row
 * @param {{name: string, weight: number}} plugin
 * @param {number} index
 * @param {number} scoreMax
 * @param {Lang} lang
 */
function hover(row, plugin, index, scoreMax, lang) {
  const cell = row.cells[index];
  if (!cell) return "";
  return `<b>${escapeText(row.node)}</b> · ${plugin.name}<br>${text(lang, "decision.raw")} ${cell.raw}<br>0–${scoreMax} `
    + `${cell.normalized}<br>× ${plugin.weight} = ${cell.weighted} ${text(lang, "stage.pts")}`;
}

/**
 * About how wide a reason is, in pixels: wide enough that none is drawn across an edge.
 * @param {string} said
 */
function reasonWidth(said) {
  return [...said].reduce((sum, letter) => sum + (/[ijlt.,:;()'{}[\]|! ]/.test(letter) ? 3.5 : /[A-Zmw]/.test(letter) ? 7.6 : letter > "\u2e80" ? 11 : 6.1), 0);
}

/**
 * Names on the left, reasons across refused rows, totals on the right.
 * @param {HeatInput} input
 * @param {number} left
 * @param {number} right
 * @param {number} reasonsEnd
 */
function labels({ decision, rows, colours, lang, width }, left, right, reasonsEnd) {
  const at = (/** @type {number} */ x, /** @type {(row: NodeRow) => boolean} */ which,
    /** @type {(row: NodeRow) => string} */ say) =>
    rows.flatMap((row, y) => (which(row) ? [{ x, y, text: say(row) }] : []));
  const unit = width / (right - left);
  const room = (reasonsEnd - 0.54) * unit;
  const reason = (/** @type {NodeRow} */ row) => {
    if (!row.tried) return text(lang, row.notRun ? "decision.notRun" : "decision.notTried");
    const whole = width >= WIDE_PX && row.plugin ? `${row.plugin} ${row.reason}` : row.reason;
    let cut = whole;
    while (reasonWidth(cut) > room && cut.length > 8) cut = `${cut.slice(0, -2)}…`;
    const plugin = width >= WIDE_PX ? row.plugin : "";
    return plugin && cut.startsWith(plugin) ? `<b>${plugin}</b>${escapeText(cut.slice(plugin.length))}` : escapeText(cut);
  };
  const total = (/** @type {NodeRow} */ row) =>
    `${row.chosen ? "♛ " : ""}<b>${row.total === null ? "–" : number(lang, row.total)}</b>`;
  return [
    words(at(left + 5 / unit, (row) => row.feasible, (row) => `<b>${escapeText(row.node)}</b>`), colours.t1,
      { size: 12, position: "middle right" }),
    words(at(left + 5 / unit, (row) => !row.feasible, (row) => escapeText(row.node)), colours.t2, { size: 12, position: "middle right" }),
    words(at(0.56, (row) => !row.feasible, reason), colours.t2, { size: 11, position: "middle right" }),
    words(at(right - 0.1, (row) => row.feasible && row.best && decision.plugins.length > 0, total), colours.ambt,
      { size: 12.5, position: "middle left" }),
    words(at(right - 0.1, (row) => row.feasible && !row.best && decision.plugins.length > 0, total), colours.t1,
      { size: 12.5, position: "middle left" }),
    words(at(right - 0.1, (row) => !row.feasible && width >= WIDE_PX && decision.plugins.length > 0, () => "–"), colours.t3, { size: 12, position: "middle left" }),
    words(decision.plugins.length > 0 ? [] : at(0.56, (row) => row.feasible, (row) =>
      text(lang, row.chosen ? `decision.${decision.alone}` : "stage.feasible")), colours.grnt, { size: 11, position: "middle right" }),
  ];
}

/**
 * A trace of words.
 * @param {readonly {x: number, y: number, text: string}[]} items
 * @param {string} colour
 * @param {{size: number, position: string}} style
 */
export function words(items, colour, { size, position }) {
  return {
    type: "scatter", mode: "text", x: items.map((item) => item.x), y: items.map((item) => item.y),
    text: items.map((item) => item.text), textposition: position, textfont: { size, color: colour }, hoverinfo: "skip",
    cliponaxis: false,
  };
}

/**
 * Amber frames around the best set, the chosen one filled.
 * @param {readonly NodeRow[]} rows
 * @param {Colours} colours
 * @param {number} left
 * @param {number} right
 */
function outlines(rows, colours, left, right) {
  return rows.flatMap((row, y) => (row.best && row.feasible ? [{
    type: "rect", layer: "below", x0: left, x1: right, y0: y - 0.5, y1: y + 0.5, fillcolor: colours.ambbg, line: { width: 0 },
  }, {
    type: "rect", layer: "above", x0: left + 0.03, x1: right - 0.03, y0: y - 0.48, y1: y + 0.48,
    line: { color: colours.amb, width: 1.5 },
  }] : []));
}

/**
 * Names of plugins over their columns, with weights.
 * @param {HeatInput} input
 * @param {"lines" | "words" | "upright"} manner
 * @param {number} columns
 * @param {number} right
 */
function headings({ decision, colours, lang, zoom = 1 }, manner, columns, right) {
  // Plotly measures words in enlarged pixels and lifts them by half of what it has measured too much.
  const sunk = (/** @type {string} */ words) => Math.round(((zoom - 1) * words.length * LETTER_PX) / 2);
  const level = (/** @type {number} */ lines) => -Math.round(((zoom - 1) * lines * LINE_PX) / 2);
  const base = { xref: "x", yref: "paper", y: 1, showarrow: false, font: { size: 11, color: colours.t2 } };
  const filter = text(lang, "decision.filter");
  const broken = (/** @type {{name: string, weight: number}} */ plugin) => manner === "words"
    ? [...wordsOf(shortPlugin(plugin.name)), `<b>×${weight(plugin, lang)}</b>`] : [`${twoLines(shortPlugin(plugin.name))} <b>×${weight(plugin, lang)}</b>`];
  const heads = manner !== "upright"
    ? [{ ...base, x: 0, yanchor: "bottom", text: filter, yshift: level(1) }, ...decision.plugins.map((plugin, index) => ({
      ...base, x: index + 1, yanchor: "bottom", text: broken(plugin).join("<br>"), yshift: level(manner === "words" ? broken(plugin).length : 2),
    }))]
    : [{ ...base, x: 0, yanchor: "bottom", textangle: -90, text: text(lang, "decision.verdict"), yshift: 2 - sunk(text(lang, "decision.verdict")) },
      ...decision.plugins.flatMap((plugin, index) => [{
        ...base, x: index + 1, yanchor: "bottom", textangle: -90, text: shortPlugin(plugin.name), yshift: 18 - sunk(shortPlugin(plugin.name)),
      }, {
        ...base, x: index + 1, yanchor: "bottom", text: `<b>×${weight(plugin, lang)}</b>`, yshift: 0,
      }])];
  if (decision.plugins.length === 0) return heads.slice(0, 1);
  return [...heads, {
    ...base, x: right - 0.06, xanchor: "right", yanchor: "bottom", text: `<b>${text(lang, "decision.total")}</b>`,
    font: { size: 11, color: colours.t1 },
  }].filter((head) => head.x <= columns || "xanchor" in head);
}

/**
 * @param {{weight: number}} plugin
 * @param {Lang} lang
 */
function weight(plugin, lang) {
  return number(lang, plugin.weight, 2);
}

/**
 * A long name in two lines, broken between its words.
 * @param {string} name
 */
function twoLines(name) {
  const parts = wordsOf(name);
  if (parts.length < 2) return `<br>${name}`;
  const half = Math.ceil(parts.length / 2);
  return `${parts.slice(0, half).join("")}<br>${parts.slice(half).join("")}`;
}
