/** The numbers in words over and under the charts of Streams: counts of now, of the window, the newest preemption. */

/** @import { Lang, View } from "../lib/types.d.ts" */
/** @import { Scene } from "./charts.js" */
import { element, setText, syncList } from "../dom/dom.js";
import { clockTime, number, text } from "../lib/text.js";
import { nodes } from "../state/selectors.js";
import { preemptionSentence } from "./charts.js";
import { isBound, isScored, isTie, ownersOf, preemptionsOf, within } from "./marks.js";
import { fits, recorder } from "./recorder.js";

const OWNERS_SHOWN = 7;
const LANES = /** @type {const} */ (["active", "backoff", "unschedulable"]);
const PLACES = /** @type {const} */ (["queue", "waits", "scores", "owners", "preemptions", "last", "utilisation", "fits"]);

/** @typedef {{key: string, look: string, said: string, colour?: string}} Fact */

/** @returns {Record<typeof PLACES[number], HTMLElement>} */
export function factPlaces() {
  return /** @type {Record<typeof PLACES[number], HTMLElement>} */ (/** @type {unknown} */ (Object.fromEntries(PLACES.map((name) =>
    [name, element("div", { class: "streams-facts", "data-testid": `streams-facts-${name}` })]))));
}

/**
 * @param {ReturnType<typeof factPlaces>} places
 * @param {Scene} scene
 * @param {View} view
 */
export function tellFacts(places, scene, view) {
  /** @type {Record<typeof PLACES[number], Fact[]>} */
  const made = { ...queueFacts(scene), ...decisionFacts(scene, view.epochMs), ...nodeFacts(scene, view) };
  for (const name of PLACES)
    syncList(places[name], made[name], (one) => one.key, (one) => element("span", { class: `streams-key ${one.look}` }), (row, one) => {
      setText(row, one.said);
      if (one.colour) row.style.setProperty("--key", one.colour);
    });
}

/**
 * @param {Lang} lang
 * @param {string} key
 * @param {string} look
 * @param {string} word
 * @param {Record<string, string | number>} [values]
 * @returns {Fact}
 */
const fact = (lang, key, look, word, values) => ({ key, look, said: text(lang, `streams.${word}`, values) });

/** @param {Scene} scene */
function queueFacts({ toMs, lang }) {
  const sample = recorder.samples.findLast((one) => one.t <= toMs && one.active !== null);
  const total = LANES.reduce((sum, lane) => sum + (sample?.[lane] ?? 0), 0);
  return {
    queue: [
      ...LANES.map((lane) => ({
        key: lane, look: lane, said: `${text(lang, `streams.${lane}`)} ${number(lang, sample?.[lane] ?? 0)}`,
      })),
      fact(lang, "sum", "plain", "sum", { n: number(lang, total) }),
    ],
    waits: [
      fact(lang, "title", "plain strong", "waits"),
      ...(total === 0 ? [fact(lang, "nobody", "plain", "nobodyWaits")] : [
        fact(lang, "half", "half", "half", { s: number(lang, sample?.half ?? 0, 1) }),
        fact(lang, "twentieth", "twentieth", "twentieth", { s: number(lang, sample?.twentieth ?? 0, 1) }),
      ]),
    ],
  };
}

/**
 * @param {Scene} scene
 * @param {number} epochMs
 */
function decisionFacts({ fromMs, toMs, colours, lang }, epochMs) {
  const marks = within(recorder.marks, (one) => one.simTimeMs, fromMs, toMs);
  const ties = marks.filter(isTie).length;
  const bound = marks.filter(isBound);
  const owners = ownersOf(marks);
  const taken = preemptionsOf(marks);
  const last = taken.at(-1);
  const more = owners.length - OWNERS_SHOWN;
  const victims = taken.reduce((sum, one) => sum + (one.preemption?.count ?? 0), 0);
  return {
    scores: [
      fact(lang, "unit", "plain", "scoresUnit"),
      ...(ties ? [fact(lang, "ties", "amber", "ties", { n: number(lang, ties) })] : []),
    ],
    owners: bound.length === 0 ? [fact(lang, "none", "plain", "noneBound")] : [
      ...owners.slice(0, OWNERS_SHOWN).map((one) => ({
        key: `owner ${one.label}`, look: one.ring ? "dot ring" : "dot", said: `${one.label} ${number(lang, one.count)}`, colour: colours.owner[one.hue] ?? colours.t2,
      })),
      ...(more > 0 ? [fact(lang, "more", "plain", "moreOwners", { n: number(lang, more) })] : []),
      fact(lang, "sum", "plain", "bound", { scored: number(lang, bound.filter(isScored).length), all: number(lang, bound.length) }),
    ],
    preemptions: [fact(lang, "sum", "plain", "preempted", { n: number(lang, taken.length), v: number(lang, victims) })],
    last: last
      ? [{ key: "last", look: "last", said: `${clockTime(epochMs + last.simTimeMs)} ${preemptionSentence(last, lang)}` }]
      : [fact(lang, "none", "plain", "nonePreempted")],
  };
}

/**
 * @param {Scene} scene
 * @param {View} view
 */
function nodeFacts({ toMs, shape, lang }, view) {
  const now = nodes(view);
  const used = now.reduce((sum, node) => sum + node.requested.cpuMilli, 0) / 1000;
  const all = now.reduce((sum, node) => sum + node.allocatable.cpuMilli, 0) / 1000;
  const column = recorder.columns.findLast((one) => one.t <= toMs);
  const more = column ? fits(column, shape) : [];
  const holders = column ? column.names.flatMap((name, index) => (more[index] ? [`${name} ${number(lang, more[index])}`] : [])) : [];
  const named = holders.slice(0, 4).join(", ") + (holders.length > 4 ? " …" : "");
  return {
    utilisation: [fact(lang, "sum", "heat", "allocated", { used: number(lang, used, 2), all: number(lang, all, 2) })],
    fits: [
      fact(lang, "n", "plain strong", "fitNow", { n: number(lang, more.reduce((a, b) => a + b, 0)) }),
      named ? { key: "where", look: "plain", said: named } : fact(lang, "where", "plain", "nowhere"),
    ],
  };
}
