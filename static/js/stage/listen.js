/**
 * A scheduling cycle for who listens to it: the pod that is taken, what the filters leave, who leads after scoring, and what it
 * came to. Turns are told, not ticks, and never faster than they can be heard. Pure.
 */

/** @import { Cycle, DecisionLine, Lang } from "../lib/types.d.ts" */
import { counted, listed, number, text } from "../lib/text.js";
import { POINTS, bestOf, placeOf, reasonOf } from "../lib/trace.js";
import { lastOf } from "./told.js";

/** Real milliseconds between two announcements: a sentence takes about as long to be read out. */
export const SAID_EVERY_MS = 1_500;
/** Reasons that are named with how many nodes each refused. */
const REASONS_MAX = 3;
/** Pods that make way, by name. */
const VICTIMS_MAX = 3;

const [FILTER, SCORE, RESERVE, BIND] = ["Filter", "Score", "Reserve", "Bind"].map((point) => POINTS.findIndex((one) => one === point));

/**
 * What has turned in a cycle since it was heard of last, a sentence each.
 * @param {Cycle | null} before null: another cycle, or none
 * @param {Cycle} cycle
 * @param {string} pod its name as it is said
 * @param {Lang} lang
 * @param {(pod: string) => string} nameOf
 * @returns {string[]}
 */
export function heard(before, cycle, pod, lang, nameOf) {
  const trace = cycle.trace ?? {};
  const at = POINTS.indexOf(placeOf(cycle));
  const was = before ? POINTS.indexOf(placeOf(before)) : -1;
  const reached = (/** @type {number | undefined} */ point) => point !== undefined && at >= point && was < point;
  const said = before ? [] : [text(lang, "live.taken", { pod, n: number(lang, cycle.attempt) })];
  if (reached(FILTER) && trace.feasible) said.push(filtered(cycle, lang));
  const lands = reached(RESERVE) && trace.chosen;
  // Who leads is no news any more to whoever hears who won, with the same points.
  if (reached(SCORE) && trace.scores && !lands) said.push(scored(cycle, lang));
  if (lands) {
    const [key, values] = lastOf(cycle, pod);
    said.push(counted(lang, `live.${key.replace("last.", "")}`, values));
  }
  if (reached(BIND) && trace.chosen) said.push(text(lang, "live.bound", { pod, node: trace.chosen }));
  if (trace.fitError && !before?.trace?.fitError) said.push(text(lang, "live.refused", { pod, message: trace.fitError }));
  const room = trace.preemption?.nominatedNode;
  if (room && room !== before?.trace?.preemption?.nominatedNode) {
    const victims = trace.preemption?.candidates?.[room]?.victims ?? [];
    said.push(evicting(pod, room, victims, victims.length, nameOf, lang));
  }
  return said;
}

/**
 * Who makes way, and where.
 * @param {string} pod its name as it is said
 * @param {string} node
 * @param {readonly string[]} victims the first of them
 * @param {number} n how many there are
 * @param {(pod: string) => string} nameOf
 * @param {Lang} lang
 */
function evicting(pod, node, victims, n, nameOf, lang) {
  const named = listed(lang, victims.slice(0, VICTIMS_MAX).map(nameOf));
  const names = n > VICTIMS_MAX ? `${named} …` : named;
  return counted(lang, names ? "live.preempts" : "live.nominates", { pod, node, n, names });
}

/**
 * How many nodes are left, and what refused the others.
 * @param {Cycle} cycle
 * @param {Lang} lang
 */
function filtered({ trace = {} }, lang) {
  const left = trace.feasible?.length ?? 0;
  const reason = reasonOf(trace);
  /** @type {Map<string, number>} */
  const counts = new Map();
  const refused = Object.keys(trace.firstFail ?? {});
  for (const node of refused) {
    const { reason: why, plugin } = reason(node);
    counts.set(why || plugin, (counts.get(why || plugin) ?? 0) + 1);
  }
  if (refused.length === 0) return left === 1 ? text(lang, "live.oneFits") : counted(lang, "live.allFit", { left });
  const named = [...counts].sort(([, a], [, b]) => b - a).slice(0, REASONS_MAX).map(([why, n]) => `${number(lang, n)} ${why}`);
  return counted(lang, "live.filtered", { left, all: left + refused.length, reasons: named.join(", ") });
}

/**
 * @param {Cycle} cycle
 * @param {Lang} lang
 */
function scored({ trace = {} }, lang) {
  const best = bestOf(trace);
  const [first = 0, second] = [...trace.scores?.total ?? []].sort((a, b) => b - a);
  if (best.length > 1) return counted(lang, "live.tie", { n: best.length, points: first });
  return counted(lang, "live.leads", { node: best[0] ?? "", points: first, lead: first - (second ?? first) });
}

/**
 * A decision that went by too fast to be followed.
 * @param {DecisionLine} line
 * @param {string} pod its name as it is said
 * @param {Lang} lang
 * @param {(pod: string) => string} nameOf
 */
export function heardLine({ result, node, alone, points, best = 1, preemption }, pod, lang, nameOf) {
  if (preemption?.node) return evicting(pod, preemption.node, preemption.victims, preemption.count, nameOf, lang);
  if (result !== "scheduled" || !node) return text(lang, "live.nowhere", { pod });
  if (points === undefined) return text(lang, `live.${alone ?? "only"}`, { pod, node });
  return best > 1 ? counted(lang, "live.lot", { pod, node, points, n: best }) : counted(lang, "live.won", { pod, node, points });
}

/**
 * Sentences on their way to a listener: those of one cycle together, of many only the newest cycle's with how many it passed over.
 * @param {(sentence: string) => void} say
 */
export function makeListener(say) {
  /** @type {Cycle | null} */
  let last = null;
  /** The newest decision that was heard of; null before the first look: what was decided before is no news. @type {string | null} */
  let known = null;
  /** @type {string[]} */
  let waiting = [];
  let passed = 0;
  let saidAtMs = -Infinity;
  const begin = () => {
    if (waiting.length > 0) passed += 1;
    waiting = [];
  };

  return {
    /**
     * @param {Cycle | null} cycle that is under way; null: none
     * @param {readonly DecisionLine[]} decisions newest last
     * @param {(pod: string) => string} nameOf
     * @param {Lang} lang
     */
    follow(cycle, decisions, nameOf, lang) {
      const newest = decisions.at(-1);
      if (newest && known !== null && newest.id !== known && !(last?.uid === newest.uid && last.attempt === newest.attempt)) {
        begin();
        waiting.push(heardLine(newest, nameOf(newest.pod), lang, nameOf));
      }
      known = newest?.id ?? "";
      if (!cycle || cycle === last) return;
      const same = last?.uid === cycle.uid && last.attempt === cycle.attempt ? last : null;
      if (!same) begin();
      const news = heard(same, cycle, nameOf(cycle.pod), lang, nameOf);
      const led = same?.trace?.scores && cycle.trace?.chosen ? scored(same, lang) : "";
      waiting = [...waiting.filter((sentence) => sentence !== led), ...news];
      last = cycle;
    },
    /**
     * Say what waits, when its time has come.
     * @param {number} timeMs real
     * @param {Lang} lang
     */
    tick(timeMs, lang) {
      if (waiting.length === 0 || timeMs - saidAtMs < SAID_EVERY_MS) return;
      saidAtMs = timeMs;
      say([...waiting, ...(passed ? [counted(lang, "live.passed", { n: passed })] : [])].join(" "));
      waiting = [];
      passed = 0;
    },
    waits: () => waiting.length > 0,
  };
}
