/** Changes of a what-if as the Kubernetes API takes them, and the way back. Pure. */

/** @import { Change, Slim } from "./types.d.ts" */

/** @typedef {Record<string, any>} Document */

/**
 * The merge patch that takes back what another one does to an object.
 * @param {Document} patch
 * @param {Document} before the object as it was
 * @returns {Document}
 */
export function inverseOf(patch, before) {
  return Object.fromEntries(Object.entries(patch).map(([key, value]) => {
    const old = before[key];
    if (isMapping(value)) return [key, inverseOf(value, isMapping(old) ? old : {})];
    return [key, old ?? null];
  }));
}

/** @param {unknown} value */
function isMapping(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * What is sent to a pod's `resize` so that it asks for so much as a whole: its first container for all of it, the others
 * for none. Where what a container asks for is its limit too (QoS Guaranteed), the limit goes along.
 * @param {Slim} pod
 * @param {Readonly<Record<string, string>>} asked
 */
export function resized(pod, asked) {
  const containers = (pod.spec?.["containers"] ?? []).map((/** @type {Document} */ container, /** @type {number} */ at) => {
    const { requests = {}, limits, ...others } = container["resources"] ?? {};
    if (at > 0 && !Object.keys(asked).some((resource) => resource in requests)) return container;
    const now = { ...requests };
    const bound = limits ? { ...limits } : undefined;
    for (const [resource, amount] of Object.entries(asked)) {
      if (at > 0 && !(resource in requests)) continue;
      const sent = at === 0 ? amount : "0";
      now[resource] = sent;
      if (bound && resource in bound && bound[resource] === requests[resource]) bound[resource] = sent;
    }
    return { ...container, resources: { ...others, requests: now, ...(bound ? { limits: bound } : {}) } };
  });
  return { spec: { containers } };
}

/**
 * The namespace that a change writes in; "" for what is the cluster's.
 * @param {Change} change
 * @param {string} own the namespace of the pod in hand
 */
export function namespaceOf(change, own) {
  if ("request" in change) return own;
  if ("add" in change) return change.add["metadata"]?.namespace ?? "";
  if ("remove" in change) return change.remove.namespace ?? "";
  if ("patch" in change) return change.patch.namespace ?? "";
  return "";
}

/**
 * Which icon a change has, and whether it takes something away.
 * @param {Change | undefined} change
 * @returns {{icon: string, harms: boolean}}
 */
export function lookOf(change) {
  if (!change) return { icon: "check", harms: false };
  if ("request" in change) return { icon: "chevron-down", harms: false };
  if ("add" in change) return { icon: "plus", harms: false };
  if ("remove" in change) return { icon: "close", harms: true };
  if ("patch" in change && change.patch.kind === "Pod") return { icon: "tag", harms: false };
  if ("patch" in change && change.patch.patch["metadata"]) return { icon: "tag", harms: false };
  return { icon: "check", harms: false };
}
