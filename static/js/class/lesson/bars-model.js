/** The stage of a question about few pods, as bars: a node is as wide as its CPU, a pod as what it asks for. Pure. */

/** @import { ClassState } from "../../lib/class.d.ts" */
/** @import { NodeSummary, PodSlim, Ui, View } from "../../lib/types.d.ts" */
import { groupOf } from "../../state/groups.js";
import { hasLabels, nodes, objectAt, objectsOf, podRequests, queueOfLeader } from "../../state/selectors.js";

/** As many nodes stand below one another on a laptop, and as many pods beside one another on one of them. */
const NODES_MAX = 4;
const PODS_MAX = 6;

/**
 * @typedef {{key: string, name: string, cpu: number, share: number, hue: number, priority: number, guard: string}} BarPod
 *   `share`: of the widest node's CPU, 0 to 1; `guard`: the budget that allows it no disruption
 * @typedef {{name: string, cpu: number, used: number, share: number, voted: boolean, pods: BarPod[]}} BarNode
 * @typedef {{replica: string, pod: BarPod, cpu: number, nodes: BarNode[], lanes: {name: string, count: number}[]}} Bars `cpu`: of the widest node
 */

/**
 * What is drawn while a pod is in hand and asked about; null where bars of CPU would leave out what decides: another resource,
 * taints, pods that are only assumed; or where there is too much to draw.
 * @param {View} view
 * @param {Pick<ClassState, "poll" | "lesson" | "kept">} state
 * @param {Ui["colourBy"]} colourBy
 * @returns {Bars | null}
 */
export function barsOf(view, { poll, lesson, kept }, colourBy) {
  const held = view.clock?.held;
  if (!lesson || !poll || lesson.poll !== poll.id || poll.state === "revealed" || !poll.pod || held?.pod !== poll.pod) return null;
  const pod = /** @type {PodSlim | null} */ (objectAt(view, "pods", poll.pod));
  const queue = queueOfLeader(view);
  const all = nodes(view);
  if (!pod || !asksCpuAlone(pod) || all.length === 0 || all.length > NODES_MAX || !all.every(isPlain)) return null;
  if (queue.waiting.length + queue.binding.length > 0) return null;
  const cpu = Math.max(...all.map(({ allocatable }) => allocatable.cpuMilli));
  const draw = (/** @type {PodSlim} */ one) => ({
    key: `${one.metadata.namespace}/${one.metadata.name}`, name: one.metadata.name, cpu: podRequests(one).cpuMilli, share: podRequests(one).cpuMilli / cpu,
    hue: groupOf(view, one, colourBy).hue, priority: one.spec?.priority ?? 0, guard: guardOf(view, one),
  });
  return {
    replica: held.replica.replace(/^kube-/, ""), pod: draw(pod), cpu,
    nodes: all.map(({ name, allocatable, requested, pods }) => ({
      name, cpu: allocatable.cpuMilli, used: requested.cpuMilli, share: allocatable.cpuMilli / cpu, voted: kept?.poll === poll.id && kept.picked.includes(name),
      pods: pods.map(draw).sort((a, b) => b.priority - a.priority || b.cpu - a.cpu || (a.name < b.name ? -1 : 1)),
    })),
    lanes: [["backoff", queue.backoff], ["unschedulable", queue.unschedulable], ["gated", queue.gated], ["permit", queue.waiting]].map(([name, list]) =>
      ({ name: String(name), count: queue.counts[String(name)] ?? list?.length ?? 0 })),
  };
}

/** @param {PodSlim} pod */
function asksCpuAlone(pod) {
  const { cpuMilli, memoryBytes, extended } = podRequests(pod);
  return cpuMilli > 0 && memoryBytes === 0 && Object.keys(extended).length === 0;
}

/** @param {NodeSummary} node */
function isPlain({ ready, unschedulable, taints, pods }) {
  return ready && !unschedulable && taints.length === 0 && pods.length <= PODS_MAX && pods.every((pod) => asksCpuAlone(pod) && !pod.metadata.deletionTimestamp);
}

/**
 * The budget by whose labels a pod stands under it, where that allows no disruption now; "" for none.
 * @param {View} view
 * @param {PodSlim} pod
 */
function guardOf(view, pod) {
  for (const { metadata, spec, status } of objectsOf(view, "poddisruptionbudgets.policy").values()) {
    const stands = metadata.namespace === pod.metadata.namespace && hasLabels(pod, spec?.["selector"]?.matchLabels);
    if (stands && !status?.["disruptionsAllowed"]) return metadata.name;
  }
  return "";
}
