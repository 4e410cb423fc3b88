/** The Gantt of an election as Plotly wants it. Pure but for the colours handed in. */

/** @import { Scene as Base } from "../streams/charts.js" */
/** @import { Row, Story } from "./model.js" */
import { escapeText } from "../dom/plotly.js";
import { clockTime, number, text } from "../lib/text.js";
import { layoutOf } from "../streams/charts.js";
import { endOf } from "./words.js";

/** @typedef {Omit<Base, "shape"> & {width: number}} Scene `width`: of the chart, pixels */

/** Half the height of a bar, and where things stand in a row: parts of a row, downwards from its middle. */
const BAR = 0.17;
const AT = /** @type {const} */ ({ bar: -0.24, marks: 0.1, fault: 0.34 });
/** Rows of writes stand closer. */
const WRITES = 0.34;
const SHAPES = ["circle", "diamond", "square", "pentagon", "star", "hexagon"];
const HUES = [0, 2, 3, 1, 4, 5];

/**
 * The colour of a replica, and of letters on it.
 * @param {Scene["colours"]} colours
 * @param {number} index
 */
export function hueOf(colours, index) {
  const hue = HUES[index % HUES.length] ?? 0;
  return { fill: colours.plugin[hue] ?? colours.t2, on: hue === 0 ? colours["on-plugin-1"] : colours["on-plugin"] };
}

/**
 * @param {Scene} scene
 * @param {Story} story
 */
export function electionChart(scene, story) {
  const { size, colours, lang } = scene;
  const last = story.rows.length + 0.6 + WRITES * Math.max(0, story.rows.length - 1);
  const layout = layoutOf(/** @type {Base} */ (/** @type {unknown} */ (scene)), { l: 14 * size, t: 2.4 * size });
  const rows = [
    { at: 0, name: text(lang, "election.lock"), under: text(lang, "election.lockUnder") },
    ...story.rows.map((row) => ({ at: row.index + 1, name: row.identity, under: clockOf(scene, row) })),
    { at: (story.rows.length + 0.6 + last) / 2, name: text(lang, "election.writes"), under: text(lang, "election.writesUnder") },
  ];
  return {
    data: [...windowTraces(scene, story, last), ...markTraces(scene, story), ...writeTraces(scene, story)],
    layout: {
      ...layout,
      uirevision: "election",
      yaxis: {
        range: [last + 0.35, -0.55], fixedrange: true, zeroline: false, showgrid: false, ticks: "outside", ticklen: 6,
        tickcolor: "rgba(0,0,0,0)",
        tickvals: rows.map((one) => one.at),
        ticktext: rows.map((one) => `<b>${escapeText(one.name)}</b><br><span style="color:${colours.t2}">${escapeText(one.under)}</span>`),
      },
      shapes: [...layout.shapes, ...bars(scene, story)],
      annotations: [...labels(scene, story), ...headings(scene, story)],
    },
  };
}

/**
 * What is told of a clock under its owner's name.
 * @param {Scene} scene
 * @param {Row} row
 */
function clockOf({ lang, toMs }, row) {
  const fault = row.faults.find((one) => one.rate !== null && (one.toMs === null || one.toMs > toMs));
  return fault ? text(lang, "election.clockRate", { rate: number(lang, fault.rate ?? 1, 2) }) : text(lang, "election.clockTrue");
}

/**
 * Whether something lies in the stretch that is shown.
 * @param {Scene} scene
 * @param {{fromMs: number, toMs: number}} span
 */
const seen = (scene, { fromMs, toMs }) => toMs >= scene.fromMs && fromMs <= scene.toMs;

/**
 * @param {Scene} scene
 * @param {Story} story
 */
function bars(scene, story) {
  const { colours } = scene;
  const bar = (/** @type {{fromMs: number, toMs: number}} */ span, /** @type {number} */ at, /** @type {object} */ look) => ({
    type: "rect", xref: "x", yref: "y", x0: scene.epochMs + Math.max(span.fromMs, scene.fromMs), x1: scene.epochMs + span.toMs,
    y0: at - BAR, y1: at + BAR, layer: "above", ...look,
  });
  const full = (/** @type {number} */ index) => ({ fillcolor: hueOf(colours, index).fill, line: { width: 0 } });
  const indexOf = (/** @type {string} */ name) => story.rows.find((row) => row.identity === name)?.index ?? 0;
  return [
    ...story.lease.filter((one) => seen(scene, one)).map((one) => bar(one, 0, full(indexOf(one.holder)))),
    ...story.rows.flatMap((row) => row.beliefs.filter((one) => seen(scene, one)).map((one) => bar(one, row.index + 1 + AT.bar, full(row.index)))),
    // What one sees of another's lease: until when it is valid for this one.
    ...story.rows.flatMap((row) => row.sights.map((one) => ({ row, one, fromMs: one.seenMs, toMs: Math.min(one.expiresMs, Math.max(one.atMs, scene.toMs)) })))
      .filter((one) => seen(scene, one))
      .map(({ row, one, fromMs, toMs }) => bar({ fromMs, toMs }, row.index + 1 + AT.bar, {
        fillcolor: colours.surf, line: { width: 1.5, dash: "dash", color: hueOf(colours, indexOf(one.holder)).fill },
      })),
  ];
}

/**
 * Windows in which two led: hatched over all rows.
 * @param {Scene} scene
 * @param {Story} story
 * @param {number} last
 */
function windowTraces(scene, story, last) {
  const { colours, epochMs } = scene;
  const area = (/** @type {{fromMs: number, toMs: number}} */ one, /** @type {object} */ look) => {
    const [from, to] = [epochMs + Math.max(one.fromMs, scene.fromMs), epochMs + one.toMs];
    return {
      type: "scatter", mode: "lines", hoverinfo: "skip", fill: "toself", x: [from, to, to, from, from],
      y: [-0.55, -0.55, last + 0.35, last + 0.35, -0.55], ...look,
    };
  };
  return [
    ...story.gaps.filter((one) => seen(scene, one)).map((one) => area(one, { line: { width: 1, dash: "dot", color: colours.line2 }, fillcolor: colours.sunk })),
    ...story.windows.filter((one) => seen(scene, one)).map((one) => area(one, {
      line: { width: 1.5, color: colours.ver }, fillpattern: { shape: "/", size: 8, solidity: 0.25, bgcolor: colours.verbg, fgcolor: colours.ver, fgopacity: 0.45 },
    })),
  ];
}

/**
 * @param {Scene} scene
 * @param {Story} story
 */
function markTraces(scene, story) {
  const { colours, lang, epochMs, size } = scene;
  /** @typedef {{x: number, y: number, said: string, colour?: string}} Point */
  const trace = (/** @type {readonly Point[]} */ points, /** @type {object} */ look) => ({
    type: "scatter", mode: "markers", cliponaxis: true, hoverinfo: "text",
    x: points.map((one) => epochMs + one.x), y: points.map((one) => one.y), hovertext: points.map((one) => escapeText(one.said)), ...look,
  });
  const all = (/** @type {(row: Row) => readonly Point[]} */ of) => story.rows.flatMap(of).filter((one) => one.x >= scene.fromMs && one.x <= scene.toMs);
  const at = (/** @type {number} */ t) => clockTime(epochMs + t, true);
  const said = (/** @type {string} */ key, /** @type {number} */ t, /** @type {Record<string, string | number>} */ values = {}) =>
    `${at(t)} ${text(lang, key, values)}`;
  const renewals = all((row) => row.renewals.map((one) => ({
    x: one.t, y: row.index + 1 + AT.marks, colour: hueOf(colours, row.index).fill, said: `${said("election.renewed", one.t, { who: one.who })} · rv ${one.revision}`,
  })));
  const lost = all((row) => row.lost.map((one) => ({ x: one.atMs, y: row.index + 1 + AT.marks, said: said("election.lost", one.atMs, { who: row.identity }) })));
  const refused = all((row) => row.refused.map((one) => ({ x: one.atMs, y: row.index + 1 + AT.marks, said: said("election.refusedLease", one.atMs, { who: row.identity }) })));
  const expired = all((row) => row.sights.map((one) => ({
    x: one.expiresMs, y: row.index + 1 + AT.bar - BAR, said: said("election.expires", one.expiresMs, { who: row.identity, holder: one.holder }),
  })));
  const reads = all((row) => row.reads.map((one) => ({ x: one.t, y: row.index + 1 + AT.bar, said: said("election.reads", one.t, { who: row.identity, holder: one.holder }) })));
  return [
    trace(renewals, { marker: { symbol: "line-ns-open", size: 11, line: { width: 2 }, color: renewals.map((one) => one.colour) } }),
    trace(lost, { mode: "text", text: lost.map(() => "⊘"), textfont: { size: 1.35 * size, color: colours.t2 } }),
    trace(refused, { marker: { symbol: "x-thin-open", size: 10, line: { width: 3, color: colours.ver }, color: colours.ver } }),
    trace(expired, { marker: { symbol: "triangle-down", size: 11, color: colours.amb, line: { width: 1, color: colours.ambt } } }),
    trace(reads, { marker: { symbol: "diamond", size: 9, color: colours.t2 } }),
  ];
}

/**
 * Writes by replica: accepted in its shape, refused as crosses.
 * @param {Scene} scene
 * @param {Story} story
 */
function writeTraces(scene, story) {
  const { colours, lang, epochMs } = scene;
  return story.rows.flatMap((row) => {
    const own = story.writes.filter((one) => one.who === row.identity && one.t >= scene.fromMs);
    const y = story.rows.length + 0.6 + WRITES * row.index;
    const trace = (/** @type {readonly Story["writes"][number][]} */ writes, /** @type {object} */ marker) => ({
      type: "scatter", mode: "markers", hoverinfo: "text", x: writes.map((one) => epochMs + one.t), y: writes.map(() => y), marker,
      hovertext: writes.map((one) => escapeText(`${clockTime(epochMs + one.t, true)} ${one.who}: ${one.message ?? text(lang, "election.accepted")}`)),
    });
    return [
      trace(own.filter((one) => one.message === null), { symbol: SHAPES[row.index % SHAPES.length], size: 8, color: hueOf(colours, row.index).fill }),
      trace(own.filter((one) => one.message !== null), { symbol: "x-thin-open", size: 10, line: { width: 3, color: colours.ver }, color: colours.ver }),
    ];
  });
}

/**
 * How many narrow letters a text is as wide as.
 * @param {string} said
 */
const lettersOf = (said) => [...said].reduce((sum, letter) => sum + (letter > "\u2e80" ? 1.8 : 1), 0);

/**
 * The words on bars, where there is room for them.
 * @param {Scene} scene
 * @param {Story} story
 */
function labels(scene, story) {
  const { colours, lang, epochMs, size, width } = scene;
  const perMs = (width - 15 * size) / ((scene.toMs - scene.fromMs) * 1.02);
  const place = (/** @type {{fromMs: number, toMs: number}} */ span, /** @type {number} */ y, /** @type {string} */ said, /** @type {object} */ look) => {
    const fromMs = Math.max(span.fromMs, scene.fromMs);
    const room = (span.toMs - fromMs) * perMs;
    return room < lettersOf(said) * 0.56 * size ? [] : [note(epochMs + fromMs, y, said, { xshift: 5, ...look })];
  };
  const note = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ said, /** @type {object} */ look) =>
    ({ x, y, xref: "x", yref: "y", text: escapeText(said), showarrow: false, xanchor: "left", font: { size, color: colours.t1 }, ...look });
  const onBar = (/** @type {number} */ index) => ({ font: { size, color: hueOf(colours, index).on, weight: 600 } });
  const indexOf = (/** @type {string} */ name) => story.rows.find((row) => row.identity === name)?.index ?? 0;
  return [
    ...story.lease.filter((one) => seen(scene, one)).flatMap((one) => place(one, 0, text(lang, "election.holder", { who: one.holder }), onBar(indexOf(one.holder)))),
    ...story.rows.flatMap((row) => row.beliefs.filter((one) => seen(scene, one)).flatMap((one) => [
      ...place(one, row.index + 1 + AT.bar, text(lang, "election.believes"), onBar(row.index)),
      ...(one.open || one.toMs < scene.fromMs ? [] : [note(epochMs + one.toMs, row.index + 1 + AT.bar, text(lang, endOf(row, one)), { xshift: 5, bgcolor: colours.surf, font: { size, color: colours.t1, weight: 600 } })]),
    ])),
    ...story.rows.flatMap((row) => row.sights.filter((one) => seen(scene, { fromMs: one.seenMs, toMs: one.expiresMs })).flatMap((one) => [
      ...place({ fromMs: one.seenMs, toMs: Math.min(one.expiresMs, scene.toMs) }, row.index + 1 + AT.bar, text(lang, "election.sees", { seconds: number(lang, (one.expiresMs - one.seenMs) / 1000, 1) }), {}),
      ...(one.expiresMs < scene.fromMs || one.expiresMs > scene.toMs ? [] : [note(epochMs + one.expiresMs, row.index + 1 + AT.marks, text(lang, "election.over", { time: clockTime(epochMs + one.expiresMs, true).slice(0, -2) }), {
        xanchor: "right", xshift: -4, font: { size, color: colours.ambt, weight: 600 },
      })]),
    ])),
    ...story.rows.flatMap((row) => row.faults.filter((one) => seen(scene, { fromMs: one.fromMs ?? 0, toMs: one.toMs ?? Infinity })).map((one) =>
      note(epochMs + Math.max(one.fromMs ?? 0, scene.fromMs), row.index + 1 + AT.fault, text(lang, "election.fault", { kind: one.kind }), {
        bgcolor: colours.sunk, borderpad: 1, font: { size, color: colours.t2 },
      }))),
  ];
}

/**
 * What stands over windows and gaps.
 * @param {Scene} scene
 * @param {Story} story
 */
function headings(scene, story) {
  const { colours, lang, epochMs, size } = scene;
  const over = (/** @type {{fromMs: number, toMs: number}} */ one, /** @type {string} */ key, /** @type {object} */ look) => {
    const fromMs = Math.max(one.fromMs, scene.fromMs);
    return {
      x: epochMs + (fromMs + one.toMs) / 2, y: 1, xref: "x", yref: "paper", yanchor: "bottom", showarrow: false, borderpad: 3,
      text: escapeText(text(lang, key, { seconds: number(lang, (one.toMs - one.fromMs) / 1000, 1) })), ...look,
    };
  };
  return [
    ...story.gaps.filter((one) => seen(scene, one)).map((one) => over(one, "election.gap", {
      bgcolor: colours.sunk, bordercolor: colours.line2, font: { size, color: colours.t1, weight: 600 },
    })),
    ...story.windows.filter((one) => seen(scene, one)).map((one) => over(one, "election.twoLed", {
      bgcolor: colours.verbg, bordercolor: colours.ver, font: { size, color: colours.vert, weight: 600 },
    })),
  ];
}
