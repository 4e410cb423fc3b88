/** The Gantt of an election as Plotly wants it. Pure but for the colours handed in. */

/** @import { Scene as Base } from "../streams/charts.js" */
/** @import { Row, Story } from "./model.js" */
import { escapeText } from "../dom/plotly.js";
import { clockTime, number, text } from "../lib/text.js";
import { layoutOf } from "../streams/charts.js";
import { widthOf, withRoom } from "./places.js";
import { endOf } from "./words.js";

/** @typedef {Omit<Base, "shape"> & {width: number}} Scene `width`: of the chart, pixels */

/** Half the height of a bar, and where things stand in a row: parts of a row, downwards from its middle. */
const BAR = 0.17;
const AT = /** @type {const} */ ({ bar: -0.24, marks: 0.1, fault: 0.34 });
/** Half a mark and some air, pixels. */
const MARK = 10;
/** The upper edge, in rows: over the first one stand the words of windows and gaps. */
const TOP = -0.85;
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

/** Letters of a name that have room beside a row. */
const NAME_MAX = 22;

/**
 * @param {Scene} scene
 * @param {Story} story
 */
export function electionChart(scene, story) {
  const { size, colours, lang } = scene;
  const last = story.rows.length + 0.6 + WRITES * Math.max(0, story.rows.length - 1);
  const layout = layoutOf(/** @type {Base} */ (/** @type {unknown} */ (scene)), { l: 14 * size });
  const rows = [
    { at: 0, name: text(lang, "election.lock"), under: text(lang, "election.lockUnder") },
    ...story.rows.map((row) => ({ at: row.index + 1, name: shortened(row.identity), under: clockOf(scene, row) })),
    { at: (story.rows.length + 0.6 + last) / 2, name: text(lang, "election.writes"), under: text(lang, "election.writesUnder") },
  ];
  return {
    data: [
      ...windowTraces(scene, story, last), ...barTraces(scene, story), ...markTraces(scene, story), ...writeTraces(scene, story),
      labelTrace(scene, withRoom([...headings(scene, story), ...labels(scene, story)].filter((one) => one.t >= scene.fromMs),
        { fromMs: scene.fromMs, toMs: scene.toMs, perMs: perMsOf(scene), size })),
    ],
    layout: {
      ...layout,
      uirevision: "election",
      yaxis: {
        range: [last + 0.35, TOP], fixedrange: true, zeroline: false, showgrid: false, ticks: "outside", ticklen: 6,
        tickcolor: "rgba(0,0,0,0)", ticklabeloverflow: "allow",
        tickvals: rows.map((one) => one.at),
        ticktext: rows.map((one) => `<b>${escapeText(one.name)}</b><br><span style="color:${colours.t2}">${escapeText(one.under)}</span>`),
      },
    },
  };
}

/**
 * What is told of a clock under its owner's name.
 * @param {Scene} scene
 * @param {Row} row
 */
function clockOf({ lang, toMs }, row) {
  if (row.outside) return text(lang, "election.outside");
  const fault = row.faults.find((one) => one.rate !== null && (one.toMs === null || one.toMs > toMs));
  return fault ? text(lang, "election.clockRate", { rate: number(lang, fault.rate ?? 1, 2) }) : text(lang, "election.clockTrue");
}

/**
 * A name as it fits beside its row: which of the replicas it is stands at its end; from outside come a machine's name and an id
 * behind it.
 * @param {string} name
 */
export function shortened(name) {
  const short = name.length > NAME_MAX ? name.replace(/^kube-/, "") : name;
  return short.length > NAME_MAX ? `${short.slice(0, NAME_MAX - 1)}…` : short;
}

/**
 * Whether something lies in the stretch that is shown.
 * @param {Scene} scene
 * @param {{fromMs: number, toMs: number}} span
 */
const seen = (scene, { fromMs, toMs }) => toMs >= scene.fromMs && fromMs <= scene.toMs;

/**
 * Bars as areas: shapes would lie over the words on them.
 * @param {Scene} scene
 * @param {Story} story
 */
function barTraces(scene, story) {
  const { colours } = scene;
  const bar = (/** @type {{fromMs: number, toMs: number}} */ span, /** @type {number} */ at, /** @type {object} */ look) => {
    const [from, to] = [scene.epochMs + Math.max(span.fromMs, scene.fromMs), scene.epochMs + span.toMs];
    return {
      type: "scatter", mode: "lines", hoverinfo: "skip", fill: "toself", x: [from, to, to, from, from],
      y: [at - BAR, at - BAR, at + BAR, at + BAR, at - BAR], ...look,
    };
  };
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
      y: [TOP, TOP, last + 0.35, last + 0.35, TOP], ...look,
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
 * Pixels of a millisecond, beside what the rows' names take.
 * @param {Scene} scene
 */
const perMsOf = ({ width, size, fromMs, toMs }) => (width - 15 * size) / ((toMs - fromMs) * 1.02);

/** @typedef {{t: number, y: number, said: string, colour: string, bold?: boolean, at?: "right" | "left" | "center",
 *   turned?: string}} Label `turned`: its colour on the other side of its moment, where it stands on a bar */

/**
 * All words in the chart as one trace: annotations are measured, and measured wrongly where the page is enlarged.
 * @param {Scene} scene
 * @param {readonly Label[]} found
 */
function labelTrace({ epochMs, size }, found) {
  const space = "\u2009";
  return {
    type: "scatter", mode: "text", hoverinfo: "skip", cliponaxis: false, x: found.map((one) => epochMs + one.t), y: found.map((one) => one.y),
    text: found.map((one) => {
      const said = space + escapeText(one.said) + space;
      return one.bold ? `<b>${said}</b>` : said;
    }),
    textposition: found.map((one) => `middle ${one.at ?? "right"}`), textfont: { size, color: found.map((one) => one.colour) },
  };
}

/**
 * The words on bars, where there is room for them.
 * @param {Scene} scene
 * @param {Story} story
 * @returns {Label[]}
 */
function labels(scene, story) {
  const { colours, lang, epochMs, size } = scene;
  const perMs = perMsOf(scene);
  const place = (/** @type {{fromMs: number, toMs: number}} */ span, /** @type {number} */ y, /** @type {string} */ said, /** @type {string} */ colour, bold = false) => {
    const t = Math.max(span.fromMs, scene.fromMs);
    return (span.toMs - t) * perMs < widthOf(said, bold) * size ? [] : [{ t, y, said, colour, bold }];
  };
  const ended = (/** @type {Row} */ row, /** @type {Row["beliefs"][number]} */ one) => {
    const said = text(lang, endOf(row, one));
    const end = one.toMs + (widthOf(said, true) * size + MARK) / perMs;
    const begins = [...row.reads.map(({ t }) => t), ...row.sights.map(({ seenMs }) => seenMs), ...row.beliefs.map(({ fromMs }) => fromMs)];
    // Where something else follows at once on the line of the bars, the word stands below it.
    const taken = begins.some((t) => t >= one.toMs && t <= end);
    return { t: one.toMs, y: row.index + 1 + (taken ? AT.marks : AT.bar), said, colour: colours.t1, turned: taken ? colours.t1 : on(row.identity), bold: true };
  };
  const on = (/** @type {string} */ name) => hueOf(colours, story.rows.find((row) => row.identity === name)?.index ?? 0).on;
  return [
    ...story.lease.filter((one) => seen(scene, one)).flatMap((one) => place(one, 0, text(lang, "election.holder", { who: one.holder }), on(one.holder), true)),
    ...story.rows.flatMap((row) => row.beliefs.filter((one) => seen(scene, one)).flatMap((one) => [
      ...place(one, row.index + 1 + AT.bar, text(lang, "election.believes"), on(row.identity), true),
      ...(one.open ? [] : [ended(row, one)]),
    ])),
    ...story.rows.flatMap((row) => row.sights.filter((one) => seen(scene, { fromMs: one.seenMs, toMs: one.expiresMs })).flatMap((one) => [
      ...place({ fromMs: one.seenMs, toMs: Math.min(one.expiresMs, scene.toMs) }, row.index + 1 + AT.bar,
        text(lang, "election.sees", { seconds: number(lang, (one.expiresMs - one.seenMs) / 1000, 1) }), colours.t1),
      ...(one.expiresMs > scene.toMs ? [] : [{
        t: one.expiresMs, y: row.index + 1 + AT.marks, said: text(lang, "election.over", { time: clockTime(epochMs + one.expiresMs, true).slice(0, -2) }),
        colour: colours.ambt, bold: true, at: /** @type {const} */ ("left"),
      }]),
    ])),
    ...story.rows.flatMap((row) => faults(scene, row).map(({ t, kinds }) =>
      ({ t, y: row.index + 1 + AT.fault, said: text(lang, "election.fault", { kind: kinds.map((kind) => text(lang, `fault.name.${kind}`)).join(", ") }), colour: colours.t2,
        // One that has just begun is told before it: behind it the chart ends.
        at: t > scene.toMs - 0.15 * (scene.toMs - scene.fromMs) ? /** @type {const} */ ("left") : /** @type {const} */ ("right") }))),
  ];
}

/**
 * The faults of a row by when they begin: those that begin together are told together.
 * @param {Scene} scene
 * @param {Row} row
 */
function faults(scene, row) {
  /** @type {Map<number, string[]>} */
  const byTime = new Map();
  for (const { kind, fromMs, toMs } of row.faults.filter((one) => seen(scene, { fromMs: one.fromMs ?? 0, toMs: one.toMs ?? Infinity }))) {
    const t = Math.max(fromMs ?? 0, scene.fromMs);
    byTime.set(t, [...(byTime.get(t) ?? []), kind]);
  }
  return [...byTime].map(([t, kinds]) => ({ t, kinds }));
}

/**
 * What stands over windows and gaps.
 * @param {Scene} scene
 * @param {Story} story
 * @returns {Label[]}
 */
function headings(scene, story) {
  const { colours, lang } = scene;
  const over = (/** @type {{fromMs: number, toMs: number}} */ one, /** @type {string} */ key, /** @type {string} */ colour) => ({
    t: (Math.max(one.fromMs, scene.fromMs) + one.toMs) / 2, y: TOP + 0.25, colour, bold: true, at: /** @type {const} */ ("center"),
    said: text(lang, key, { seconds: number(lang, (one.toMs - one.fromMs) / 1000, 1) }),
  });
  // Where there is no room for all, windows in which two led are told first.
  return [
    ...story.windows.filter((one) => seen(scene, one)).map((one) => over(one, "election.twoLed", colours.vert)),
    ...story.gaps.filter((one) => seen(scene, one)).map((one) => over(one, "election.gap", colours.t1)),
  ];
}
