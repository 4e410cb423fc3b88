/** An attempt of the past, chosen in the inspector, as a cycle that the stage can tell. Pure. */

/** @import { Cycle, Point, Trace, Ui, View } from "../lib/types.d.ts" */
/** @import { Told } from "./told.js" */
import { pointName } from "../lib/trace.js";
import { cycleUnderWay } from "../state/selectors.js";
import { trialOf } from "./trial.js";

/** @type {WeakMap<Trace, Told>} */
const memory = new WeakMap();

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
  let told = memory.get(trace);
  if (!told) {
    told = {
      cycle: cycleOf(trace), replica: trace.replica, sinceMs: -Infinity, endedMs: 0, revision: trace.revision,
      past: Boolean(view.me?.past), recalled: true,
    };
    memory.set(trace, told);
  }
  return told;
}

/**
 * @param {Trace} trace
 * @returns {Cycle}
 */
function cycleOf(trace) {
  const { result, era, scoreMax } = trace;
  const explanation = trace.explanation ?? result.explanation;
  // Told to its end: what came of it is on the nodes, whatever point the log was written at.
  const end = result.chosen ? "PostBind" : result.fitError || result.preemption ? "PostFilter" : null;
  return {
    pod: trace.pod, uid: trace.uid, attempt: trace.attempt, startedAtMs: trace.simTime * 1000, profile: trace.profile,
    seenRevision: trace.seenRevision, traceId: trace.id,
    point: /** @type {Point} */ (end ? pointName(end, era) : trace.point),
    trace: explanation ? { ...result, explanation } : result,
    ...(era === undefined ? {} : { era }), ...(scoreMax === undefined ? {} : { scoreMax }),
  };
}
