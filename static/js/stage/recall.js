/** Decisions that this page did not see being made, as cycles that the stage can tell: one chosen in the inspector, the newest. Pure. */

/** @import { Cycle, Point, Trace, Ui, View } from "../lib/types.d.ts" */
/** @import { Told } from "./told.js" */
import { isBroken, pointName } from "../lib/trace.js";
import { cycleUnderWay } from "../state/selectors.js";
import { trialOf } from "./trial.js";

/** @type {WeakMap<Trace, Told>} */
const memory = new WeakMap();
/** @type {WeakMap<Trace, Told>} */
const explained = new WeakMap();

/**
 * The attempt that somebody has chosen, or that a what-if is asked of; null while none is, while it is the one under way, and where its trace is no
 * longer kept.
 * @param {View} view
 * @param {Pick<Ui, "decisions" | "selected" | "trial">} ui
 * @returns {Told | null}
 */
export function recalledOf(view, ui) {
  const { pinned, traces } = ui.decisions;
  const wanted = trialOf(ui)?.attempt || pinned;
  const trace = wanted ? traces.find((one) => one.id === wanted) : undefined;
  if (!trace || trace.detail === "compacted" || trace.id === cycleUnderWay(view)?.cycle.traceId) return null;
  return toldOf(trace, view, memory);
}

/**
 * The attempt that the inspector explains, while nothing is under way: what is read there is what the nodes show. null where they
 * show that one anyway, and at a moment that is held, which has its own.
 * @param {View} view
 * @param {Pick<Ui, "decisions" | "selected">} ui
 * @param {Told | null} live what is told otherwise
 * @returns {Told | null}
 */
export function explainedOf(view, { decisions: { pod, traces, selectedTraceId }, selected }, live) {
  if (view.me?.past || cycleUnderWay(view) || selected?.resource !== "pods" || selected.key !== pod || selectedTraceId === live?.cycle.traceId) return null;
  const trace = traces.find((one) => one.id === selectedTraceId);
  return !trace || trace.detail === "compacted" ? null : Object.assign(toldOf(trace, view, explained), { explained: true });
}

/**
 * @param {Trace} trace
 * @param {View} view
 * @param {WeakMap<Trace, Told>} known
 */
function toldOf(trace, view, known) {
  const told = known.get(trace) ?? {
    cycle: cycleOf(trace), replica: trace.replica, sinceMs: -Infinity, endedMs: 0, revision: trace.revision,
    past: Boolean(view.me?.past), recalled: true,
  };
  known.set(trace, told);
  return told;
}

/**
 * The newest decision as one that is over, where it was made before this page was there to see it; null where it is not the
 * newest any more, or where the past is shown.
 * @param {View} view
 * @param {Pick<Ui, "last">} ui
 * @returns {Told | null}
 */
export function rememberedOf(view, { last }) {
  if (!last || view.me?.past || cycleUnderWay(view) || view.decisions.at(-1)?.id !== last.id) return null;
  const told = ends.get(last) ?? {
    cycle: cycleOf(last), replica: last.replica, sinceMs: -Infinity, endedMs: 0, revision: last.revision, past: false,
  };
  ends.set(last, told);
  return told;
}

/** @type {WeakMap<Trace, Told>} */
const ends = new WeakMap();

/**
 * @param {Trace} trace
 * @returns {Cycle}
 */
function cycleOf(trace) {
  const { result, era, scoreMax } = trace;
  const explanation = trace.explanation ?? result.explanation;
  // Told to its end: what came of it is on the nodes, whatever point the log was written at.
  const end = isBroken(result) ? null : result.chosen ? "PostBind" : result.fitError || result.preemption ? "PostFilter" : null;
  return {
    pod: trace.pod, uid: trace.uid, attempt: trace.attempt, startedAtMs: trace.simTime * 1000, profile: trace.profile,
    seenRevision: trace.seenRevision, traceId: trace.id,
    point: /** @type {Point} */ (end ? pointName(end, era) : trace.point),
    trace: explanation ? { ...result, explanation } : result,
    ...(era === undefined ? {} : { era }), ...(scoreMax === undefined ? {} : { scoreMax }),
  };
}
