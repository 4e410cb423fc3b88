/** The six plots of Streams as Plotly wants them, and what extends them. Pure but for the colours handed in. */

/** @import { Colours } from "../dom/colours.js" */
/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Column, Mark, Recorder, Sample, Shape } from "./recorder.js" */
import { HEAT_STEPS } from "../dom/colours.js";
import { baseLayout, escapeText } from "../dom/plotly.js";
import { formatCpu } from "../lib/quantity.js";
import { listed, number, text } from "../lib/text.js";
import { DECIDED_BY, isBound, isScored, isTie, preemptionsOf, within } from "./marks.js";
import { SAMPLES_MAX, fits } from "./recorder.js";

/**
 * @typedef {object} Scene what charts are drawn of
 * @property {Colours} colours
 * @property {Lang} lang
 * @property {number} epochMs
 * @property {number} fromMs the stretch shown, simulated milliseconds
 * @property {number} toMs
 * @property {number} size of the letters, pixels
 * @property {number} [height] of the chart, pixels
 * @property {Shape} shape asked about: how many more fit
 * @property {Recorder["gaps"]} gaps
 */

/** @typedef {{update: Record<string, unknown[]>, traces: number[]}} Growth what `Plotly.extendTraces` takes */

/** Rows of the heat map; more nodes than this share rows. */
export const HEAT_ROWS_MAX = 40;
/** Marks of a vertical axis, at most. */
const TICKS = 5;
const CELLS = 60;

/**
 * @param {Scene} scene
 * @param {{l?: number, r?: number, t?: number, b?: number}} [margin]
 */
export function layoutOf(scene, margin = {}) {
  const { colours, size } = scene;
  const layout = baseLayout(colours, { l: 3.4 * size, r: size, t: 6, b: 2.2 * size, ...margin }, 0);
  return {
    ...layout,
    height: undefined,
    font: { ...layout.font, size },
    hoverlabel: { ...layout.hoverlabel, font: { ...layout.hoverlabel.font, size } },
    hovermode: "closest",
    uirevision: "streams",
    xaxis: {
      type: "date", tickformat: "%H:%M:%S", nticks: 6, ticks: "outside", tickcolor: colours.line2, gridcolor: colours.line,
      zeroline: false, showline: false, fixedrange: true, range: rangeOf(scene),
    },
    yaxis: axis(colours),
    shapes: shapesOf(scene),
  };
}

/** @param {Colours} colours */
const axis = (colours) => ({
  gridcolor: colours.line, zeroline: false, nticks: TICKS, rangemode: "tozero", fixedrange: true, ticks: "", tickformat: ",~f",
});

/**
 * The ends of the time axis.
 * @param {Scene} scene
 */
export function rangeOf({ epochMs, fromMs, toMs }) {
  // A twentieth of room on the right, so that what is newest is not on the edge.
  return [epochMs + fromMs, epochMs + toMs + (toMs - fromMs) * 0.02];
}

/**
 * The line of now, and the stretches in which nothing was heard.
 * @param {Scene} scene
 */
export function shapesOf({ colours, epochMs, toMs, gaps }) {
  return [
    ...gaps.map(({ fromMs, toMs: end }) => ({
      type: "rect", xref: "x", yref: "paper", x0: epochMs + fromMs, x1: epochMs + end, y0: 0, y1: 1,
      fillcolor: colours.hatch, opacity: 0.35, line: { width: 1, color: colours.line2, dash: "dot" }, layer: "below",
    })),
    { type: "line", xref: "x", yref: "paper", x0: epochMs + toMs, x1: epochMs + toMs, y0: 0, y1: 1, line: { color: colours.acc, width: 1.5 } },
  ];
}

const LANES = /** @type {const} */ (["unschedulable", "backoff", "active"]);

/**
 * @param {Scene} scene
 * @param {readonly Sample[]} samples
 */
export function queueChart(scene, samples) {
  const { colours } = scene;
  const looks = {
    unschedulable: { color: colours.t2, fill: mixed(colours.t2, 0.55), dash: "solid" },
    backoff: { color: colours.t3, fill: mixed(colours.t3, 0.25), dash: "dash" },
    active: { color: colours.acc, fill: mixed(colours.acc, 0.22), dash: "solid" },
  };
  const data = LANES.map((lane) => ({
    type: "scatter", mode: "lines", stackgroup: "queue", name: text(scene.lang, `streams.${lane}`),
    line: { shape: "hv", width: 2, color: looks[lane].color, dash: looks[lane].dash }, fillcolor: looks[lane].fill,
    x: samples.map((one) => scene.epochMs + one.t), y: samples.map((one) => one[lane]), customdata: samples.map((one) => one.revision),
    hovertemplate: `%{x|%H:%M:%S} · rv %{customdata}<br>${text(scene.lang, `streams.${lane}`)} %{y}<extra></extra>`,
  }));
  const layout = layoutOf(scene);
  // There is no half of a pod: with as many as ticks there are, each of these is whole.
  return { data, layout: { ...layout, yaxis: { ...layout.yaxis, autorangeoptions: { include: [0, TICKS - 1] } } } };
}

/**
 * @param {Scene} scene
 * @param {readonly Sample[]} samples
 * @returns {Growth}
 */
export function growQueue(scene, samples) {
  const x = samples.map((one) => scene.epochMs + one.t);
  const revisions = samples.map((one) => one.revision);
  return {
    update: { x: LANES.map(() => x), y: LANES.map((lane) => samples.map((one) => one[lane])), customdata: LANES.map(() => revisions) },
    traces: [0, 1, 2],
  };
}

const WAITS = /** @type {const} */ (["half", "twentieth"]);

/**
 * @param {Scene} scene
 * @param {readonly Sample[]} samples
 */
export function waitsChart(scene, samples) {
  const { colours } = scene;
  const data = WAITS.map((which, index) => ({
    type: "scatter", mode: "lines", connectgaps: false, line: { width: 2, color: index ? colours.owner[5] : colours.acc, dash: index ? "dash" : "solid" },
    x: samples.map((one) => scene.epochMs + one.t), y: samples.map((one) => one[which]), customdata: samples.map((one) => one.revision),
    hovertemplate: `%{x|%H:%M:%S} · rv %{customdata}<br>%{y:.1f} s<extra></extra>`,
  }));
  return { data, layout: layoutOf(scene) };
}

/**
 * @param {Scene} scene
 * @param {readonly Sample[]} samples
 * @returns {Growth}
 */
export function growWaits(scene, samples) {
  const x = samples.map((one) => scene.epochMs + one.t);
  const revisions = samples.map((one) => one.revision);
  return {
    update: { x: [x, x], y: WAITS.map((which) => samples.map((one) => one[which])), customdata: [revisions, revisions] },
    traces: [0, 1],
  };
}

/** Places of the three kinds of marks among the traces: pods with points, ties, pods with one feasible node. */
const SCORE_TRACES = /** @type {const} */ ([isScored, isTie, (/** @type {Mark} */ mark) => isBound(mark) && !isScored(mark)]);

/** @typedef {readonly [string, string]} Symbols of an owner whose hue is its own, and of one that shares it */

/** How each kind is drawn. @type {readonly Symbols[]} */
const SCORE_SYMBOLS = [["circle", "circle-dot"], ["circle-open", "circle-open"], ["line-ns-open", "line-ns-open"]];

/**
 * @param {Scene} scene
 * @param {readonly Mark[]} marks
 */
export function scoresChart(scene, marks) {
  const { colours, size } = scene;
  const looks = [
    { size: 8, line: { width: 1, color: colours.surf } },
    { size: 15, line: { width: 2, color: colours.amb } },
    { size: 11, line: { width: 2 } },
  ];
  const data = looks.map((look, index) => {
    const { update } = growScores(scene, marks.filter(/** @type {(mark: Mark) => boolean} */ (SCORE_TRACES[index])));
    const at = (/** @type {string} */ key) => /** @type {unknown[][]} */ (update[key])[index];
    return {
      type: "scatter", mode: "markers", cliponaxis: false, yaxis: index === 2 ? "y2" : "y",
      x: at("x"), y: at("y"), customdata: at("customdata"), hovertext: at("hovertext"), hoverinfo: "text",
      marker: { ...look, symbol: at("marker.symbol"), color: at("marker.color") },
    };
  });
  const layout = layoutOf(scene, { l: 4.4 * size });
  return {
    data,
    layout: {
      ...layout,
      // Times stand under the row of those without a score.
      xaxis: { ...layout.xaxis, anchor: "y2" },
      yaxis: { ...layout.yaxis, domain: [0.2, 1], rangemode: "normal" },
      yaxis2: {
        domain: [0, 0.12], range: [-1, 1], fixedrange: true, zeroline: false, showgrid: false, tickvals: [0], anchor: "x",
        ticktext: [text(scene.lang, "streams.noScore")],
      },
    },
  };
}

/**
 * @param {Scene} scene
 * @param {readonly Mark[]} marks
 * @returns {Growth}
 */
export function growScores(scene, marks) {
  const parts = SCORE_TRACES.map((holds) => marks.filter(holds));
  const each = (/** @type {(mark: Mark) => unknown} */ of) => parts.map((part) => part.map(of));
  return {
    update: {
      x: each((mark) => scene.epochMs + mark.simTimeMs),
      y: each((mark) => mark.points ?? 0),
      customdata: each((mark) => mark.id),
      hovertext: each((mark) => scoreHover(mark, scene.lang)),
      "marker.color": parts.map((part, index) =>
        part.map((mark) => (index === 1 ? scene.colours.amb : scene.colours.owner[mark.hue] ?? scene.colours.t2))),
      "marker.symbol": parts.map((part, index) => part.map(({ ring }) => /** @type {Symbols} */ (SCORE_SYMBOLS[index])[ring ? 1 : 0])),
    },
    traces: [0, 1, 2],
  };
}

/** Why a pod's node has no points. */
const UNSCORED = { only: "streams.placedOnly", nominated: "streams.placedNominated", turn: "streams.placedTurn" };

/**
 * @param {Mark} mark
 * @param {Lang} lang
 */
function scoreHover(mark, lang) {
  const values = { pod: mark.said, node: mark.node ?? "", points: number(lang, mark.points ?? 0) };
  const told = text(lang, mark.points === undefined ? UNSCORED[mark.alone ?? "only"] : "streams.placed", values);
  const tie = isTie(mark)
    ? text(lang, "streams.tieOf", { names: (mark.of && listed(lang, mark.of)) ?? number(lang, mark.best ?? 0), node: mark.node ?? "" }) : "";
  return [told, tie, `rv ${mark.revision}`].filter(Boolean).map(escapeText).join("<br>");
}

/**
 * @param {Scene} scene
 * @param {readonly Mark[]} marks
 */
export function preemptionsChart(scene, marks) {
  const { colours, lang, size } = scene;
  const { update } = growPreemptions(scene, marks);
  const at = (/** @type {string} */ key) => /** @type {unknown[][]} */ (update[key])[0];
  const layout = layoutOf(scene, { l: 11 * size });
  return {
    data: [{
      type: "scatter", mode: "markers+text", cliponaxis: false, textposition: "middle right",
      x: at("x"), y: at("y"), text: at("text"), customdata: at("customdata"), hovertext: at("hovertext"), hoverinfo: "text",
      marker: { symbol: "square-x", size: 13, color: at("marker.color"), line: { width: 2, color: colours.ver } },
    }],
    layout: {
      ...layout,
      yaxis: {
        ...layout.yaxis, range: [DECIDED_BY.length - 0.5, -0.5], tickvals: DECIDED_BY.map((_, index) => index),
        ticktext: DECIDED_BY.map((name) => text(lang, `streams.by.${name}`)), rangemode: "normal",
      },
    },
  };
}

/**
 * @param {Scene} scene
 * @param {readonly Mark[]} marks
 * @returns {Growth}
 */
export function growPreemptions(scene, marks) {
  const found = preemptionsOf(marks);
  const each = (/** @type {(mark: Mark, told: NonNullable<Mark["preemption"]>) => unknown} */ of) =>
    [found.map((mark) => of(mark, /** @type {NonNullable<Mark["preemption"]>} */ (mark.preemption)))];
  return {
    update: {
      x: each((mark) => scene.epochMs + mark.simTimeMs),
      y: each((_, told) => rowOf(told.criterion)),
      text: each((_, told) => (told.count > 1 ? ` × ${told.count}` : "")),
      customdata: each((mark) => mark.id),
      hovertext: each((mark) => escapeText(preemptionSentence(mark, scene.lang))),
      "marker.color": each((mark) => scene.colours.owner[mark.hue] ?? scene.colours.t2),
    },
    traces: [0],
  };
}

/** @param {string} criterion */
function rowOf(criterion) {
  const row = DECIDED_BY.indexOf(/** @type {typeof DECIDED_BY[number]} */ (criterion));
  return row < 0 ? DECIDED_BY.length - 1 : row;
}

/**
 * @param {Mark} mark a preemption
 * @param {Lang} lang
 */
export function preemptionSentence(mark, lang) {
  const told = /** @type {NonNullable<Mark["preemption"]>} */ (mark.preemption);
  const names = listed(lang, told.victims.map((key) => key.split("/")[1] ?? key)) + (told.count > told.victims.length ? " …" : "");
  return text(lang, "streams.took", {
    pod: mark.said, victims: names, node: told.node, candidates: told.candidates,
    criterion: text(lang, `streams.by.${DECIDED_BY[rowOf(told.criterion)]}`),
  });
}

/**
 * Nodes by time: how full each was. More nodes than rows share a row, which shows their mean.
 * @param {Scene} scene
 * @param {readonly Column[]} columns
 * @param {readonly string[]} labels at the right of each node: what is allocated now
 */
export function heatChart(scene, columns, labels) {
  const { colours, size } = scene;
  const names = columns.at(-1)?.names ?? [];
  const bands = bandsOf(names);
  const shown = thin(within(columns, (one) => one.t, scene.fromMs, scene.toMs), CELLS);
  const places = shown.map((column) => (column.names === names ? null : new Map(column.names.map((name, index) => [name, index]))));
  const share = (/** @type {number} */ at, /** @type {number} */ node) => {
    const column = /** @type {Column} */ (shown[at]);
    const place = places[at] ? places[at].get(names[node] ?? "") : node;
    return place === undefined ? null : (column.share[place] ?? 0) * 100;
  };
  const z = bands.map(({ from, to }) => shown.map((_, at) => {
    const found = Array.from({ length: to - from }, (_, index) => share(at, from + index)).filter((value) => value !== null);
    return found.length ? found.reduce((a, b) => a + b, 0) / found.length : null;
  }));
  const steps = colours.heat.flatMap((colour, index) => [[index / HEAT_STEPS, colour], [(index + 1) / HEAT_STEPS, colour]]);
  const layout = layoutOf(scene, { l: 5.2 * size, r: 6.4 * size });
  const rows = bands.map((_, index) => index);
  // As many names as stand under each other with room to be read.
  const each = Math.ceil(rows.length / Math.max(1, Math.floor(((scene.height ?? Infinity) - 2.2 * size) / size)));
  const named = rows.filter((row) => row % each === 0);
  return {
    data: [{
      type: "heatmap", z, x: shown.map((one) => scene.epochMs + one.t), y: rows, zmin: 0, zmax: 100, colorscale: steps,
      showscale: false, xgap: 1, ygap: 2, customdata: bands.map(({ label }) => shown.map(() => label)),
      hovertemplate: "%{customdata} · %{x|%H:%M:%S}<br>%{z:.0f} %<extra></extra>",
    }, {
      // Carries the axis on the right alone.
      type: "scatter", x: [null], y: [null], yaxis: "y2", hoverinfo: "skip",
    }],
    layout: {
      ...layout,
      yaxis: { fixedrange: true, range: [rows.length - 0.5, -0.5], tickvals: named, ticktext: named.map((row) => bands[row]?.label), showgrid: false, zeroline: false, ticks: "" },
      yaxis2: {
        fixedrange: true, range: [rows.length - 0.5, -0.5], overlaying: "y", side: "right", showgrid: false, zeroline: false, ticks: "",
        tickvals: bands.length === names.length ? named : [], ticktext: named.map((row) => labels[row]),
      },
    },
  };
}

/** @param {readonly string[]} names */
function bandsOf(names) {
  const each = Math.max(1, Math.ceil(names.length / HEAT_ROWS_MAX));
  return Array.from({ length: Math.ceil(names.length / each) }, (_, index) => {
    const from = index * each;
    const to = Math.min(names.length, from + each);
    return { from, to, label: to - from > 1 ? `${names[from]} … ${names[to - 1]}` : String(names[from]) };
  });
}

/**
 * At most so many of a list, evenly, the last among them.
 * @template T
 * @param {readonly T[]} list
 * @param {number} most
 * @returns {T[]}
 */
export function thin(list, most) {
  if (list.length <= most) return [...list];
  return Array.from({ length: most }, (_, index) => /** @type {T} */ (list[Math.ceil(((index + 1) * list.length) / most) - 1]));
}

/**
 * How many more pods of a shape fit, by time.
 * @param {Scene} scene
 * @param {readonly Column[]} columns
 */
export function fitsChart(scene, columns) {
  const { colours } = scene;
  const { update } = growFits(scene, columns);
  return {
    data: [{
      type: "scatter", mode: "lines", fill: "tozeroy", line: { shape: "hv", width: 2, color: colours.acc }, fillcolor: mixed(colours.acc, 0.18),
      x: /** @type {unknown[][]} */ (update["x"])[0], y: /** @type {unknown[][]} */ (update["y"])[0],
      customdata: /** @type {unknown[][]} */ (update["customdata"])[0],
      hovertemplate: "%{x|%H:%M:%S} · rv %{customdata}<br>%{y}<extra></extra>",
    }],
    layout: layoutOf(scene, { l: 5.2 * scene.size, r: 6.4 * scene.size }),
  };
}

/**
 * @param {Scene} scene
 * @param {readonly Column[]} columns
 * @returns {Growth}
 */
export function growFits(scene, columns) {
  return {
    update: {
      x: [columns.map((one) => scene.epochMs + one.t)],
      y: [columns.map((one) => fits(one, scene.shape).reduce((a, b) => a + b, 0))],
      customdata: [columns.map((one) => one.revision)],
    },
    traces: [0],
  };
}

/** What `Plotly.extendTraces` is told to keep of each trace. */
export const KEPT = SAMPLES_MAX;

/**
 * @param {number} milli
 * @param {number} of
 */
export const cores = (milli, of) => `${formatCpu(milli)} / ${formatCpu(of)}`;

/**
 * A colour at part of its strength.
 * @param {string} hex `#rrggbb`
 * @param {number} alpha
 */
function mixed(hex, alpha) {
  const parts = /^#(..)(..)(..)$/.exec(hex)?.slice(1).map((part) => parseInt(part, 16));
  return parts ? `rgba(${parts.join(",")},${alpha})` : hex;
}
