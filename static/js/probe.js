/** `window.clustersim.state()`: what the page shows as plain data, for scripts and tests. */

/** @import { PodSlim, Ui, View } from "./lib/types.d.ts" */
import { nodes, objectsOf } from "./state/selectors.js";

/**
 * @param {() => View} view
 * @param {() => Ui} ui
 * @param {() => number} changes how often what is shown has changed
 */
export function installProbe(view, ui, changes) {
  let paintedRevision = 0;
  let paintedChange = 0;
  const state = () => {
    const current = view();
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
    },
  };
}
