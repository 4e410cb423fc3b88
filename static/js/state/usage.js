/** What is used beside what is requested: requests are a promise to the scheduler, usage is what happens. Pure. */

/** @import { NodeSlim, PodSlim } from "../lib/types.d.ts" */
import { conditionOf } from "./selectors.js";

/**
 * What a node uses on average, its pods and itself, as `kubectl top node` counts it; null where nobody tells.
 * @param {NodeSlim} node
 * @param {Iterable<PodSlim | null>} pods on it
 */
export function usageOf(node, pods) {
  if (!node.usage || conditionOf(node.status?.conditions, "Ready")?.status !== "True") return null;
  let { cpu, memory } = node.usage;
  for (const pod of pods) {
    cpu += pod?.usage?.cpu ?? 0;
    memory += pod?.usage?.memory ?? 0;
  }
  return { cpu, memory };
}

/**
 * How much of a node's cpu or memory is used; null where nobody tells, or of other resources.
 * @param {{usage: {cpu: number, memory: number} | null, cpuMilli: number, memoryBytes: number}} node
 * @param {string} resource
 */
export function usedShare({ usage, cpuMilli, memoryBytes }, resource) {
  if (!usage) return null;
  if (resource === "cpu") return cpuMilli ? usage.cpu / cpuMilli : 0;
  return resource === "memory" ? (memoryBytes ? usage.memory / memoryBytes : 0) : null;
}
