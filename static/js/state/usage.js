/** What is used beside what is requested: requests are a promise to the scheduler, usage is what happens. Pure. */

/** @import { NodeSlim, PodSlim } from "../lib/types.d.ts" */
import { cpuWith } from "./load.js";
import { conditionOf } from "./selectors.js";

/** @type {ReadonlyMap<string, number>} */
const IDLE = new Map();

/**
 * What a node uses on average, its pods and itself, as `kubectl top node` counts it; null where nobody tells.
 * @param {NodeSlim} node
 * @param {Iterable<PodSlim | null>} pods on it
 * @param {ReadonlyMap<string, number>} [loads] what requests make them use
 */
export function usageOf(node, pods, loads = IDLE) {
  if (!node.usage || conditionOf(node.status?.conditions, "Ready")?.status !== "True") return null;
  let { cpu, memory } = node.usage;
  for (const pod of pods) {
    cpu += pod ? cpuWith(pod, loads) : 0;
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
