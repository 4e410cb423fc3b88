/**
 * What requests make pods use: those of clients, and of pods whose command sends them again and again. Pure.
 * As the server counts it for `kubectl top` and for autoscalers (controllers/kinds/metrics/load.py).
 */

/** @import { PodSlim, Slim, View } from "../lib/types.d.ts" */
import { podsBehind } from "./services.js";
import { objectsOf } from "./selectors.js";

/** How whole names of Services end. */
const WHOLE = /\.svc(?:\.cluster\.local)?$/;

/** @typedef {{namespace: string, host: string, rate: number}} Sender rate in requests per second */

/**
 * What requests make a view's pods use.
 * @param {View} view
 * @returns {ReadonlyMap<string, number>} uid of a pod → millicores
 */
export function loadsOf(view) {
  /** @type {Map<string, Sender>} */
  const asked = new Map();
  for (const sender of sendersOf(view)) {
    const place = `${sender.namespace}/${sender.host}`;
    asked.set(place, { ...sender, rate: (asked.get(place)?.rate ?? 0) + sender.rate });
  }
  /** @type {Map<string, number>} */
  const loads = new Map();
  const services = asked.size ? [...objectsOf(view, "services").values()] : [];
  for (const sender of asked.values()) {
    const service = services.find((one) => isMeant(one, sender));
    const ready = service ? podsBehind(view, service).filter((one) => one.ready) : [];
    for (const { pod } of ready) {
      const { uid = "" } = pod.metadata;
      loads.set(uid, (loads.get(uid) ?? 0) + (sender.rate / ready.length) * (pod.usage?.perRequest ?? 0));
    }
  }
  return loads;
}

/**
 * The millicores that a pod uses, requests included, within its limit.
 * @param {PodSlim} pod that runs
 * @param {ReadonlyMap<string, number>} loads
 */
export function cpuWith({ usage, metadata }, loads) {
  const all = Math.round((usage?.cpu ?? 0) + (loads.get(metadata.uid ?? "") ?? 0));
  return usage?.most === undefined ? all : Math.min(all, usage.most);
}

/**
 * @param {View} view
 * @returns {Sender[]}
 */
function sendersOf(view) {
  const clients = [...objectsOf(view, "clients.clustersim.io").values()].filter((one) => one.status?.["state"] === "Sending");
  const pods = [.../** @type {Iterable<PodSlim>} */ (objectsOf(view, "pods").values())].filter(({ sends }) => sends);
  return [
    ...clients.map(({ spec, status }) => ({
      namespace: spec?.["namespace"], host: hostOf(spec?.["target"] ?? ""), rate: (spec?.["rate"] ?? 0) * (status?.["success"] ?? 1),
    })),
    ...pods.flatMap(({ metadata, sends = [] }) =>
      sends.map(({ host, rate }) => ({ namespace: metadata.namespace ?? "", host, rate }))),
  ];
}

/** @param {string} target as `http://web:80/` */
const hostOf = (target) => /^(?:[a-z]+:\/\/)?([^/:]*)/.exec(target)?.[1]?.toLowerCase().replace(/\.$/, "") ?? "";

/**
 * Whether a request goes to a Service: by its address, or by a name of it as DNS has them.
 * @param {Slim} service
 * @param {Sender} sender
 */
function isMeant({ metadata, spec, status }, { namespace, host }) {
  /** @type {{ip?: string}[]} */
  const balanced = status?.["loadBalancer"]?.ingress ?? [];
  if ([spec?.["clusterIP"], ...(spec?.["externalIPs"] ?? []), ...balanced.map(({ ip }) => ip)].includes(host)) return true;
  const parts = host.replace(WHOLE, "").split(".");
  if (parts.length > (WHOLE.test(host) ? 3 : 2)) return false;
  // The name of a pod below a headless Service is that Service's.
  const [name, where = namespace] = parts.length === 3 ? parts.slice(1) : parts;
  return name === metadata.name && where === metadata.namespace;
}
