/** Lanes of watches as Plotly wants them, and the tables of the same. Pure but for the colours handed in. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Scene as Base } from "../streams/charts.js" */
/** @import { Row, Table } from "../lib/csv.js" */
/** @import { Lane, Moment } from "./recorder.js" */
import { escapeText } from "../dom/plotly.js";
import { clockTime, number, text } from "../lib/text.js";
import { layoutOf } from "../streams/charts.js";
import { added } from "./recorder.js";

/** @typedef {Omit<Base, "shape">} Scene */

/** How far the line of a lag rises in its lane. */
const RISE = 0.62;

/**
 * What is known of a lane until a moment; the last one tells how it stands then.
 * @param {Lane} lane
 * @param {number} fromMs
 * @param {number} toMs
 */
export function momentsOf({ moments }, fromMs, toMs) {
  return moments.filter((one) => one.t >= fromMs && one.t <= toMs);
}

/**
 * The name of a lane: how many there are of what runs on every node; of a watch from outside, whose it is and what it selects.
 * @param {Lang} lang
 * @param {Lane} lane
 */
export const nameOf = (lang, { name, count, now }) => (now.client ? clientWords(now).join(": ") : count > 1 ? `${name} ×${number(lang, count)}` : name);

/**
 * @param {Lane["now"]} watch
 * @returns {[string, string]} who, what
 */
function clientWords({ client, resources }) {
  const what = (resources[0]?.resource ?? "").split(".")[0] ?? "";
  return [[client?.agent, client?.name].filter(Boolean).join(" "), client?.namespace ? `${what} -n ${client.namespace}` : what];
}

/**
 * @param {Scene} scene
 * @param {readonly Lane[]} lanes
 */
export function watchesChart(scene, lanes) {
  const { colours, lang, epochMs, size } = scene;
  const parts = lanes.map((lane, index) => ({ lane, y: index, moments: momentsOf(lane, scene.fromMs, scene.toMs) }));
  const highest = Math.max(1, ...parts.flatMap(({ moments }) => moments.map((one) => one.lag ?? 0)));
  /** @typedef {{t: number, y: number, said: string, size?: number}} Point */
  const points = (/** @type {(moment: Moment) => number} */ count, /** @type {string} */ key) => parts.flatMap(({ lane, y, moments }) =>
    moments.filter((one) => count(one) > 0).map((one) => ({
      t: one.t, y, size: Math.min(18, 5 + 2 * Math.sqrt(count(one))),
      said: `${clockTime(epochMs + one.t)} ${nameOf(lang, lane)}: ${text(lang, key, { n: number(lang, count(one)) })} · rv ${one.revision}`,
    })));
  const trace = (/** @type {readonly Point[]} */ found, /** @type {object} */ look) => ({
    type: "scatter", mode: "markers", hoverinfo: "text", x: found.map((one) => epochMs + one.t), y: found.map((one) => one.y),
    hovertext: found.map((one) => escapeText(one.said)), ...look,
  });
  const events = points((one) => one.events, "watches.heard");
  const layout = layoutOf(/** @type {Base} */ (/** @type {unknown} */ (scene)), { l: 15 * size, r: 6 * size });
  return {
    data: [
      ...parts.flatMap(({ y, moments }) => stretches(moments, scene.toMs).map(({ state, from, to }) => ({
        type: "scatter", mode: "lines", hoverinfo: "skip", x: [epochMs + from, epochMs + to], y: [y, y],
        line: ["level", "behind", "polls"].includes(state) ? { width: 2, color: colours.line2 } : { width: 2, dash: state === "down" ? "dot" : "dash", color: state === "down" ? colours.t3 : colours.ver },
      }))),
      // The lag, over its lane.
      ...parts.filter(({ moments }) => moments.some((one) => one.lag)).map(({ y, moments }) => ({
        type: "scatter", mode: "lines", line: { shape: "hv", width: 2, color: colours.t2 }, hoverinfo: "text", x: moments.map((one) => epochMs + one.t),
        y: moments.map((one) => y - RISE * ((one.lag ?? highest) / highest)),
        hovertext: moments.map((one) => escapeText(`${clockTime(epochMs + one.t)} ${lagWords(lang, one.lag)} · rv ${one.revision}`)),
      })),
      behindTrace(scene, parts),
      trace(events, { marker: { symbol: "circle", color: colours.acc, opacity: 0.75, size: events.map((one) => one.size ?? 6) } }),
      trace(points((one) => one.lists, "watches.listed"), { marker: { symbol: "square", size: 10, color: colours.grn, line: { width: 1, color: colours.surf } } }),
      trace(points((one) => one.gones, "watches.gone"), { marker: { symbol: "x-thin-open", size: 11, line: { width: 3, color: colours.ver }, color: colours.ver } }),
    ],
    layout: {
      ...layout,
      uirevision: "watches",
      yaxis: {
        range: [lanes.length - 0.4, -0.85], fixedrange: true, zeroline: false, showgrid: false, ticks: "outside", ticklen: 6, tickcolor: "rgba(0,0,0,0)",
        ticklabeloverflow: "allow",
        tickvals: lanes.map((_, index) => index),
        ticktext: lanes.map((lane) => (lane.now.client ? clientWords(lane.now).map(escapeText).join("<br>") : `<b>${escapeText(nameOf(lang, lane))}</b>`)),
      },
    },
  };
}

/**
 * How far behind those are who are not level, in words at the edge.
 * @param {Scene} scene
 * @param {readonly {y: number, moments: readonly Moment[]}[]} parts
 */
function behindTrace({ colours, lang, epochMs, size, toMs }, parts) {
  const found = parts.flatMap(({ y, moments }) => {
    const last = moments.at(-1);
    return !last || last.lag === 0 || last.state === "down" ? [] : [{ y, said: lagWords(lang, last.lag) }];
  });
  return {
    type: "scatter", mode: "text", hoverinfo: "skip", cliponaxis: false, x: found.map(() => epochMs + toMs), y: found.map((one) => one.y),
    text: found.map((one) => `<b>\u2009${escapeText(one.said)}</b>`), textposition: "middle right", textfont: { size, color: colours.vert },
  };
}

/**
 * @param {Lang} lang
 * @param {number | null} lag
 */
export const lagWords = (lang, lag) => (lag === null ? text(lang, "watches.lagMore") : text(lang, "watches.lag", { n: number(lang, lag) }));

/**
 * Neighbouring moments in which a lane stood alike; as it stood last it stands until it is told otherwise.
 * @param {readonly Moment[]} moments
 * @param {number} toMs
 */
export function stretches(moments, toMs) {
  /** @type {{state: Moment["state"], from: number, to: number}[]} */
  const found = [];
  for (const { state, t } of moments) {
    const last = found.at(-1);
    if (last) last.to = t;
    if (!last || last.state !== state) found.push({ state, from: t, to: t });
  }
  const last = found.at(-1);
  if (last) last.to = Math.max(last.to, toMs);
  return found;
}

/**
 * How every component stands at the end of the stretch.
 * @param {readonly Lane[]} lanes
 * @param {{lang: Lang, toMs: number}} how
 * @returns {Table}
 */
export function lanesTable(lanes, { lang, toMs }) {
  const rows = lanes.flatMap((lane) => {
    const until = momentsOf(lane, -Infinity, toMs);
    const last = until.at(-1);
    const { lists, events, gones } = until.reduce(added, lane.before);
    return last ? [/** @type {Row} */ ([nameOf(lang, lane), text(lang, `watches.state.${last.state}`), last.revision, last.lag, lists, events, gones])] : [];
  });
  return { head: ["component", "state", "heard", "lag", "lists", "events", "gones"], rows };
}

/**
 * What each copy has cost since its process began.
 * @param {readonly Lane[]} lanes
 * @param {Lang} lang
 * @returns {Table}
 */
export function resourcesTable(lanes, lang) {
  return {
    head: ["component", "resource", "objects", "heard", "lag", "lists", "listedObjects", "events"],
    rows: lanes.flatMap((lane) => lane.now.resources.map((one) =>
      /** @type {Row} */ ([nameOf(lang, lane), one.resource, one.rows, one.revision, one.lag, one.lists, one.listedObjects, one.watchEvents]))),
  };
}

/**
 * Moments in which something happened, for files.
 * @param {readonly Lane[]} lanes
 * @param {{lang: Lang, fromMs: number, toMs: number, time: (t: number) => string}} how
 * @returns {Table}
 */
export function momentsTable(lanes, { lang, fromMs, toMs, time }) {
  const found = lanes.flatMap((lane) => momentsOf(lane, fromMs, toMs).map((one) => ({ lane, one })));
  return {
    head: ["simulatedTime", "component", "state", "heard", "lag", "lists", "events", "gones"],
    rows: found.sort((a, b) => a.one.t - b.one.t)
      .map(({ lane, one }) => /** @type {Row} */ ([time(one.t), nameOf(lang, lane), text(lang, `watches.state.${one.state}`), one.revision, one.lag, one.lists, one.events, one.gones])),
  };
}
