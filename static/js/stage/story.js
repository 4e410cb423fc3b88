/**
 * What the stage tells at a moment: the newest view and its model, the cycle that is told, how far its picture has come
 * on real time, and what simulated time the countdowns show. No DOM.
 */

/** @import { Ui, View } from "../lib/types.d.ts" */
/** @import { Scene } from "./cycle.js" */
/** @import { Model } from "./model.js" */
/** @import { Told, Turn } from "./told.js" */
import { pluginHues } from "../state/selectors.js";
import { cycleScene } from "./cycle.js";
import { differenceMaker } from "./difference.js";
import { modelMaker } from "./model.js";
import { motionOn } from "./motion.js";
import { explainedOf, recalledOf, rememberedOf } from "./recall.js";
import { trialOf } from "./trial.js";
import { LINGER_MS, isComplete, pointBudgetMs, profileOf, tell } from "./told.js";

/** How long the newest decision stays on the nodes before the selected pod's takes its place, real milliseconds. */
const RESTS_MS = 3_000;

/** @typedef {{view: View, ui: Ui, model: Model}} Now */

export function makeStory() {
  const makeModel = modelMaker();
  const makeOther = modelMaker();
  const makeDifference = differenceMaker();
  /** @type {Now | null} */
  let now = null;
  /** @type {Told | null} */
  let live = null;
  /** @type {Told | null} what is told: an attempt of the past that somebody has chosen, else the living one */
  let told = null;
  /** @type {Scene | null} */
  let scene = null;
  /** @type {Told | null} */
  let sceneOf = null;
  let frameOf = /** @type {number | null} */ (null);
  let takenMs = 0;
  /** Of the preemption that is told: the frame that somebody has asked for, and the cycle whose scene somebody has left. */
  let frame = /** @type {number | null} */ (null);
  let left = "";
  /** The selected pod, once somebody has gone back from an attempt of it to what happens now. */
  let backFrom = "";
  /**
   * Takes in the newest view.
   * @param {View} view
   * @param {Ui} ui
   * @param {number} timeMs real
   * @param {View | null} [other] the newest view, to be compared with the one that is held
   * @returns {{before: Now | null, now: Now, turns: readonly Turn[], begun: Told | null}} `begun`: what is told since now
   */
  function take(view, ui, timeMs, other = null) {
    const before = now;
    const last = told;
    const model = makeModel(view, ui);
    now = { view, ui, model: other ? makeDifference(model, makeOther(other, ui)) : model };
    const next = tell(live, view, (takenMs = timeMs));
    live = next.told ?? rememberedOf(view, ui);
    backFrom = backFromOf(before?.ui ?? null, ui, backFrom);
    told = trialOf(ui)?.last ? null : readOf(view, ui, live, timeMs, backFrom) ?? live; // Many decisions have no picture in common.
    if (told?.cycle.traceId !== last?.cycle.traceId) frame = null;
    return { before, now, turns: next.turns, begun: told === last ? null : told };
  }

  /**
   * The cycle as it looks at a moment; null while none is told.
   * @param {number} timeMs real
   * @returns {Scene | null}
   */
  function sceneAt(timeMs) {
    if (!told || !now) return null;
    const { view, ui, model } = now;
    const moves = motionOn(ui.reducedMotion, view.clock?.paused ? 0 : view.clock?.rate ?? 1);
    const { weights, filters } = profileOf(view, told.cycle.profile);
    return cycleScene(told.cycle, timeMs - told.sinceMs, {
      budgetMs: pointBudgetMs(view), motion: moves, order: [...model.nodes.keys()],
      weights, filters, frame, hues: pluginHues(view), over: isOver(told, now, timeMs), recalled: Boolean(told.recalled),
    });
  }

  /**
   * Moves the picture on to a moment.
   * @param {number} timeMs real
   * @returns {boolean} whether what stands in words has changed: a cycle left the stage or faded, an animation has
   *   ended, a tie has come or gone
   */
  function advance(timeMs) {
    const gone = live?.endedMs != null && timeMs - live.endedMs > LINGER_MS && !isComplete(live.cycle);
    if (gone && told === live) told = null;
    if (gone) live = null;
    if (told === sceneOf && frame === frameOf && !scene?.moving && Boolean(scene?.over) === isOver(told, now, timeMs)) return gone;
    const before = scene;
    scene = sceneAt(timeMs);
    sceneOf = told;
    frameOf = frame;
    return gone || saysOther(before, scene);
  }

  /** Simulated milliseconds: as the page reckoned them for the newest view, and on from there. */
  function simNow() {
    if (!now) return 0;
    const { clock } = now.view;
    if (!clock || clock.paused) return now.ui.nowMs;
    const rate = Math.min(clock.rate, clock.effectiveRate || clock.rate);
    return now.ui.nowMs + (performance.now() - takenMs) * rate;
  }

  return {
    /** Show a frame of the preemption that is told, whatever the time. @param {number} wanted */
    setFrame: (wanted) => void (frame = wanted),
    /** Leave the scene of the preemption that is told. */
    leave: () => void (left = told?.cycle.traceId ?? ""),
    /** Whether the nodes are to be wide for a preemption. */
    wide: () => Boolean(scene?.eviction && told?.cycle.traceId !== left),
    take, sceneAt, advance, simNow,
    now: () => now, told: () => told,
    /** The cycle under way or the last one, also while another is recalled. */
    live: () => live,
    /** The picture as `advance` last left it. */
    scene: () => scene,
  };
}

/**
 * Whether what stands in words differs between two pictures.
 * @param {Scene | null} before
 * @param {Scene | null} now
 */
function saysOther(before, now) {
  const words = (/** @type {Scene | null} */ scene) => [Boolean(scene?.tie), scene?.outs.length, scene?.eviction?.frame,
    scene?.eviction?.asked, scene?.over];
  const then = words(before);
  return Boolean(before?.moving && !now?.moving) || words(now).some((word, index) => word !== then[index]);
}

/**
 * The attempt that is read in the inspector: one that was chosen at once, the selected pod's when the newest decision was looked at.
 * @param {View} view
 * @param {Ui} ui
 * @param {Told | null} live
 * @param {number} timeMs real
 * @param {string} backFrom
 */
function readOf(view, ui, live, timeMs, backFrom) {
  const rests = !live || (live.endedMs !== null && timeMs - live.endedMs > RESTS_MS);
  return recalledOf(view, ui) ?? (rests && ui.selected?.key !== backFrom ? explainedOf(view, ui, live) : null);
}

/**
 * Whoever goes back to what happens now is not shown the attempt again, as long as its pod stays selected.
 * @param {Ui | null} before
 * @param {Ui} ui
 * @param {string} backFrom
 */
function backFromOf(before, { decisions, selected }, backFrom) {
  if (before?.decisions.pinned && !decisions.pinned && before.decisions.pod === decisions.pod) return decisions.pod;
  return selected?.key === backFrom ? backFrom : "";
}

/**
 * Whether the cycle that is told is only remembered.
 * @param {Told | null} told
 * @param {Now | null} now
 * @param {number} timeMs real
 */
function isOver(told, now, timeMs) {
  return told?.endedMs != null && !told.recalled && (Boolean(now?.view.clock?.paused) || timeMs - told.endedMs > LINGER_MS);
}
