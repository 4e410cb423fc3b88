/**
 * What becomes of the pods of a node that is not well: when each has to leave, and what the node says. Pure: the rules are
 * those of the taint manager (pkg/controller/tainteviction: getMatchingTolerations, getMinTolerationTime).
 */

/** @import { NodeSlim, PodSlim, Taint } from "../lib/types.d.ts" */
import { conditionOf, isTerminal } from "./selectors.js";

/** @typedef {{key?: string, operator?: string, value?: string, effect?: string, tolerationSeconds?: number}} Toleration */

/** What a kubelet was told to do, as its node's annotation. */
const KUBELET = "clustersim.io/kubelet";
/** Since when it has been silent by that. */
const SILENT = "clustersim.io/kubelet-off-since";

/**
 * @param {Toleration} toleration
 * @param {Taint} taint
 */
function tolerates({ key = "", operator = "", value = "", effect = "" }, taint) {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  return operator === "Exists" || ((operator === "" || operator === "Equal") && value === (taint.value ?? ""));
}

/**
 * When a pod is deleted from its node for the node's NoExecute taints: simulated milliseconds, 0 where nothing tolerates one
 * of them, Infinity where it may stay for ever, null where there are none.
 * @param {PodSlim} pod
 * @param {readonly Taint[]} taints of its node
 * @param {number} epochMs
 * @returns {number | null}
 */
export function leavesAt(pod, taints, epochMs) {
  const pushing = taints.filter(({ effect }) => effect === "NoExecute");
  if (pushing.length === 0) return null;
  const all = /** @type {Toleration[]} */ (pod.spec?.["tolerations"] ?? []);
  if (!pushing.every((taint) => all.some((toleration) => tolerates(toleration, taint)))) return 0;
  const used = all.filter((toleration) => pushing.some((taint) => tolerates(toleration, taint)));
  const seconds = used.flatMap(({ tolerationSeconds }) => (tolerationSeconds === undefined ? [] : [Math.max(0, tolerationSeconds)]));
  if (seconds.length === 0) return Infinity;
  const since = pushing.flatMap(({ timeAdded }) => (timeAdded ? [Date.parse(timeAdded) - epochMs] : []));
  return Math.min(...(since.length ? since : [0])) + Math.min(...seconds) * 1000;
}

/**
 * @typedef {object} Trouble
 * @property {"" | "False" | "Unknown"} ready "" while the node is Ready
 * @property {string} reason the condition's, where it is not Ready
 * @property {number | null} sinceMs simulated, since when it is not, or since when its kubelet has been silent
 * @property {boolean} silent its kubelet says nothing, and the node still counts as Ready
 * @property {readonly string[]} pressure conditions by which its kubelet evicts
 * @property {{n: number, atMs: number} | null} leaving pods with an hour, and the first of these
 * @property {number} staying pods that tolerate it for ever
 * @property {number} ending pods that are deleted and not gone
 */

/** Conditions of which the eviction manager of a kubelet tells. */
const PRESSURES = new Set(["MemoryPressure", "DiskPressure", "PIDPressure"]);

/**
 * @param {NodeSlim} node
 * @param {readonly PodSlim[]} pods on it
 * @param {number} epochMs
 * @returns {Trouble | null} null: it is well
 */
export function troubleOf(node, pods, epochMs) {
  const condition = conditionOf(node.status?.conditions, "Ready");
  const ready = condition?.status === "True" ? "" : condition?.status === "Unknown" ? "Unknown" : "False";
  const told = node.metadata.annotations ?? {};
  const silent = ready === "" && (told[KUBELET] === "off" || told[KUBELET] === "gone");
  const pressure = (node.status?.conditions ?? []).filter(({ type, status }) => status === "True" && PRESSURES.has(type)).map(({ type }) => type);
  const there = pods.filter((pod) => !isTerminal(pod));
  const hours = there.flatMap((pod) => (pod.metadata.deletionTimestamp ? [] : leavesAt(pod, node.spec?.taints ?? [], epochMs) ?? []));
  const leaving = hours.filter((atMs) => atMs !== Infinity);
  if (ready === "" && !silent && pressure.length === 0 && leaving.length === 0) return null;
  const since = Date.parse((silent ? told[SILENT] : ready && condition?.lastTransitionTime) || "");
  return {
    ready, silent, pressure, reason: ready ? condition?.reason ?? "" : "",
    sinceMs: Number.isNaN(since) ? null : since - epochMs,
    leaving: leaving.length ? { n: leaving.length, atMs: Math.min(...leaving) } : null,
    staying: hours.length - leaving.length,
    ending: there.filter((pod) => pod.metadata.deletionTimestamp).length,
  };
}

/**
 * Why a pod ends, or has, in the words of who ended it: the reason of its disruption, or of its status; "" where a person did.
 * @param {PodSlim} pod
 */
export function endReason(pod) {
  const disrupted = conditionOf(pod.status?.conditions, "DisruptionTarget");
  return disrupted?.status === "True" ? disrupted.reason ?? "" : pod.status?.phase === "Failed" ? pod.status.reason ?? "" : "";
}
