/**
 * A preemption as frames: candidates, dry run, reprieve, choice, eviction. Pure: it computes no preemption, it shows what a
 * trace tells, as far as the scene has come.
 */

/** @import { Account, Cycle, TraceResult } from "../lib/types.d.ts" */
import { CRITERIA } from "../lib/trace.js";

export const FRAMES = /** @type {const} */ (["eligible", "candidates", "dryRun", "reprieve", "choose", "evict"]);
const [CANDIDATES, DRY_RUN, REPRIEVE, CHOOSE, EVICT] = [1, 2, 3, 4, 5];
/** Real milliseconds of a frame, and of one criterion within the choice. */
export const FRAME_MS = 900;
const CRITERION_MS = 500;

/** @typedef {"victim" | "reprieved"} Fate */

/**
 * @typedef {object} EvictionNode what a preemption says of one node so far
 * @property {"candidate" | "chosen"} role
 * @property {number} victims how many pods it would cost there; 0 before that is known
 * @property {number} violations how many PodDisruptionBudgets that would break
 * @property {number} criterion from 1: the one that turned the node away, or decided for it; 0 where none did so far
 * @property {boolean} lot whether chance did: among nodes that every criterion finds equal
 */

/**
 * @typedef {object} Eviction
 * @property {string} node that is nominated; "" where none could be freed
 * @property {number} frame index in FRAMES of what is shown
 * @property {number} asked how many criteria have been asked so far
 * @property {number} nodes how many were refused by the filters
 * @property {number} candidates
 * @property {number} reprieved how many pods of all candidates stay
 * @property {number} criteria how many were needed
 * @property {number} victims on the nominated node
 * @property {ReadonlyMap<string, EvictionNode>} byNode candidates
 * @property {ReadonlyMap<string, {fate: Fate, breaks: boolean}>} fates by pod, as far as they are known
 * @property {ReadonlyMap<string, string>} why upstream's reason of each node that cannot be freed
 * @property {boolean} moving whether a later moment would look different
 */

/**
 * @param {Cycle} cycle that stands at PostFilter
 * @param {{elapsedMs: number, budgetMs: number, frame?: number | null}} clock `elapsedMs`: real, Infinity for the end; `frame`: one
 *   that somebody has asked for, whatever the time
 * @returns {Eviction | null} null where no candidate was found
 */
export function evictionOf(cycle, { elapsedMs, budgetMs, frame = null }) {
  const trace = cycle.trace ?? {};
  const found = trace.preemption?.candidates ?? {};
  const names = Object.keys(found);
  if (names.length === 0) return null;
  const account = trace.explanation?.preemption ?? null;
  const criteria = account?.asked.length ?? 0;
  const at = frame === null ? momentAt(elapsedMs, budgetMs, criteria) : { frame, asked: frame >= CHOOSE ? criteria : 0, moving: false };
  const node = trace.preemption?.nominatedNode ?? "";
  const byNode = new Map(names.map((name) => [name, nodeAt(trace, account, name, at)]));
  return {
    ...at, node, criteria, byNode, fates: fatesAt(trace, account, at.frame),
    nodes: Object.keys(trace.firstFail ?? {}).length || names.length, candidates: names.length,
    reprieved: (account?.candidates ?? []).reduce((sum, one) => sum + one.fates.filter(({ fate }) => fate === "reprieved").length, 0),
    victims: found[node]?.victims.length ?? 0,
    why: new Map(Object.entries(trace.preemption?.nodeStatus ?? {}).map(([name, status]) =>
      [name, (status.reasons ?? []).join(", ")])),
  };
}

/**
 * How far the scene is: each frame has its time, the choice a time for each criterion, all of it squeezed into what the pace
 * leaves.
 * @param {number} elapsedMs
 * @param {number} budgetMs
 * @param {number} criteria
 */
function momentAt(elapsedMs, budgetMs, criteria) {
  const choice = Math.max(1, criteria) * CRITERION_MS;
  const squeeze = Math.min(1, (0.8 * budgetMs) / (3 * FRAME_MS + choice));
  const t = squeeze > 0 ? elapsedMs / squeeze : Infinity;
  if (t < 3 * FRAME_MS) return { frame: CANDIDATES + Math.floor(Math.max(0, t) / FRAME_MS), asked: 0, moving: true };
  if (t < 3 * FRAME_MS + choice) {
    return { frame: CHOOSE, asked: Math.min(criteria, 1 + Math.floor((t - 3 * FRAME_MS) / CRITERION_MS)), moving: true };
  }
  return { frame: EVICT, asked: criteria, moving: false };
}

/**
 * @param {TraceResult} trace
 * @param {Account | null} account
 * @param {string} name
 * @param {{frame: number, asked: number}} at
 * @returns {EvictionNode}
 */
function nodeAt(trace, account, name, { frame, asked }) {
  const candidate = trace.preemption?.candidates?.[name];
  const nominated = trace.preemption?.nominatedNode === name;
  const by = nominated ? account?.asked.at(-1) : account?.candidates.find((one) => one.node === name)?.eliminatedBy;
  const drawn = account?.candidates.some(({ eliminatedBy }) => eliminatedBy === "lot") ?? false;
  const lot = frame >= EVICT && drawn && (nominated || by === "lot");
  const place = account?.asked.indexOf(by ?? "") ?? -1;
  const told = frame >= CHOOSE && place >= 0 && place < asked;
  return {
    role: nominated && (frame >= EVICT || (frame === CHOOSE && told && !drawn)) ? "chosen" : "candidate",
    victims: frame >= REPRIEVE ? candidate?.victims.length ?? 0 : 0,
    violations: frame >= REPRIEVE ? candidate?.numPDBViolations ?? 0 : 0,
    lot,
    criterion: told && !(nominated && drawn) ? CRITERIA.findIndex((criterion) => criterion === by) + 1 : 0,
  };
}

/**
 * @param {TraceResult} trace
 * @param {Account | null} account
 * @param {number} frame
 */
function fatesAt(trace, account, frame) {
  /** @type {Map<string, {fate: Fate, breaks: boolean}>} */
  const fates = new Map();
  if (frame < DRY_RUN) return fates;
  for (const candidate of account?.candidates ?? [])
    for (const { pod, fate, breaksBudget } of candidate.fates)
      fates.set(pod, { fate: frame === DRY_RUN ? "victim" : fate, breaks: breaksBudget });
  // An era without an account still names its victims.
  for (const candidate of Object.values(trace.preemption?.candidates ?? {}))
    for (const pod of candidate.victims) if (!fates.has(pod)) fates.set(pod, { fate: "victim", breaks: false });
  return fates;
}

/**
 * A priority as short as it is said: 100, 20k, sys.
 * @param {number} priority
 */
export function shortPriority(priority) {
  if (priority >= 2_000_000_000) return "sys";
  if (Math.abs(priority) >= 1_000_000) return `${Math.round(priority / 1_000_000)}M`;
  return Math.abs(priority) >= 10_000 ? `${Math.round(priority / 1_000)}k` : String(priority);
}
