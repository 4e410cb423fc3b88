/** Services as the page knows them: which pods are behind one, and where it is reached. */

/** @import { PodSlim, Slim, View } from "../lib/types.d.ts" */
import { hasLabels, objectsOf } from "./selectors.js";

/** Phases of pods that take no requests any more. */
const ENDED = new Set(["Succeeded", "Failed"]);

/**
 * The pods that a Service selects, but for those that have ended; none where it selects none by itself.
 * @param {View} view
 * @param {Slim} service
 * @returns {{pod: PodSlim, ready: boolean}[]} in the order in which the page knows them
 */
export function podsBehind(view, service) {
  const selected = [.../** @type {Iterable<PodSlim>} */ (objectsOf(view, "pods").values())].filter((pod) =>
    pod.metadata.namespace === service.metadata.namespace && !ENDED.has(pod.status?.phase ?? "")
    && hasLabels(pod, service.spec?.["selector"]));
  return selected.map((pod) => ({
    pod, ready: Boolean(pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")),
  }));
}

/**
 * Where a Service is reached from outside the cluster: addresses, or a name that it stands for.
 * @param {Slim} service
 * @returns {readonly string[]}
 */
export function outsideOf(service) {
  const { type, externalName, externalIPs = [] } = service.spec ?? {};
  if (type === "ExternalName") return [externalName ?? ""];
  /** @type {{ip?: string, hostname?: string}[]} */
  const points = (type === "LoadBalancer" && service.status?.["loadBalancer"]?.ingress) || [];
  return [...points.map(({ ip, hostname }) => ip ?? hostname ?? ""), ...externalIPs];
}

/**
 * Whether a Service still waits for its load balancer.
 * @param {Slim} service
 */
export function isPending(service) {
  return service.spec?.["type"] === "LoadBalancer" && !outsideOf(service).length;
}
