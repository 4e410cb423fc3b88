/** `window.clustersim.state()`: what the page shows as plain data, for scripts and tests; and the frame rate. */

/** @import { PodSlim, Ui, View } from "./lib/types.d.ts" */
import { nodes, objectsOf } from "./state/selectors.js";

/** Milliseconds over which the pictures are counted that the browser gives. */
const FPS_WINDOW_MS = 1_000;
/** Milliseconds after which they are counted again, while anything is painted at all. */
const FPS_EVERY_MS = 10_000;

/**
 * Counts for a second how many pictures the browser has to give: a page that is at rest asks for none.
 * @returns {{count: () => void, fps: () => number, countedMs: () => number}} `count` begins, where none is under way; `fps`:
 *   as last counted, 0 before the first second is over; `countedMs`: when the last count began
 */
export function makeRate() {
  let fps = 0;
  let frames = 0;
  let counting = false;
  let sinceMs = -FPS_EVERY_MS;

  function next() {
    frames += 1;
    const pastMs = performance.now() - sinceMs;
    if (pastMs < FPS_WINDOW_MS) return void requestAnimationFrame(next);
    fps = Math.round((frames * 1_000) / pastMs);
    counting = false;
  }

  return {
    count() {
      if (counting) return;
      counting = true;
      frames = 0;
      sinceMs = performance.now();
      requestAnimationFrame(next);
    },
    fps: () => fps,
    countedMs: () => sinceMs,
  };
}

/**
 * @param {() => View} view
 * @param {() => Ui} ui
 * @param {() => number} changes how often what is shown has changed
 */
export function installProbe(view, ui, changes) {
  let paintedRevision = 0;
  let paintedChange = 0;
  const rate = makeRate();
  /** @param {{counting?: boolean}} [options] `counting: false`: who asks often wants no pictures for it */
  const state = ({ counting = true } = {}) => {
    const current = view();
    if (counting) rate.count();
    return {
      revision: current.revision,
      paintedRevision,
      change: changes(),
      paintedChange,
      nodes: nodes(current).map(({ name, ready, zone, unschedulable, taints, pods }) => ({
        name, ready, zone, unschedulable, taints: [...taints], pods: pods.length,
      })),
      pods: [.../** @type {Iterable<PodSlim>} */ (objectsOf(current, "pods").values())].map((pod) => ({
        namespace: pod.metadata.namespace ?? "",
        name: pod.metadata.name,
        uid: pod.metadata.uid ?? "",
        nodeName: pod.spec?.nodeName ?? "",
        phase: pod.status?.phase ?? "Pending",
        priority: pod.spec?.priority ?? 0,
        terminating: Boolean(pod.metadata.deletionTimestamp),
      })),
      held: current.clock?.held ?? null,
      clock: current.clock && { ...current.clock, simTimeMs: ui().nowMs },
      connection: ui().connection,
      selected: ui().selected,
      fps: rate.fps(),
    };
  };
  Object.assign(window, { clustersim: { state } });
  return {
    /**
     * @param {number} revision
     * @param {number} change the last one that the page shows now
     */
    painted(revision, change) {
      paintedRevision = revision;
      paintedChange = change;
      if (performance.now() - rate.countedMs() >= FPS_EVERY_MS) rate.count();
    },
  };
}
