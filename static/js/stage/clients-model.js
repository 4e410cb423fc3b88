/** Clients that send requests into the cluster, as their statuses tell: who asks whom, how it goes, what has just come. Pure. */

/** @import { View } from "../lib/types.d.ts" */
import { compareNames, objectsOf } from "../state/selectors.js";

/** Clients named on the stage; more of them are a number. */
export const CLIENTS_SHOWN = 4;
/** Requests of one client that travel at once: the newest. */
const TRAVELS_MAX = 3;

/**
 * @typedef {object} Request one of the newest in a client's status
 * @property {number} number
 * @property {string} result `ok`, or what went wrong
 * @property {string} [message] upstream's or the kubelet's words, where it went wrong
 * @property {string} [service] namespace/name
 * @property {string} [pod] namespace/name
 * @property {string} [node] that the pod is on
 */

/**
 * @typedef {object} ClientRow
 * @property {string} name
 * @property {string} target
 * @property {string} state Sending, Waiting or Done
 * @property {string} message what it waits for
 * @property {number | null} ok the part of its newest requests that were answered well, in percent
 * @property {Request | null} last
 */

/**
 * @param {View} view
 * @returns {ClientRow[]} in order of name
 */
export function clientRows(view) {
  return [...objectsOf(view, "clients.clustersim.io").values()].map(({ metadata, spec, status }) => {
    const newest = requestsOf(status);
    return {
      name: metadata.name, target: String(spec?.["target"] ?? ""), state: String(status?.["state"] ?? ""),
      message: String(status?.["message"] ?? ""), last: newest[0] ?? null,
      ok: newest.length > 0 ? Math.round((100 * newest.filter(({ result }) => result === "ok").length) / newest.length) : null,
    };
  }).sort((a, b) => compareNames(a.name, b.name));
}

/**
 * @param {Record<string, any> | undefined} status
 * @returns {readonly Request[]} newest first
 */
function requestsOf(status) {
  return Array.isArray(status?.["newest"]) ? status["newest"] : [];
}

/**
 * What has been sent since a view before, the newest of each client: what travels over the stage.
 * @param {View | null} before null: nothing travels when the page opens
 * @param {View} now
 * @returns {{client: string, request: Request}[]}
 */
export function sentSince(before, now) {
  const clients = objectsOf(now, "clients.clustersim.io");
  if (!before || clients === objectsOf(before, "clients.clustersim.io") || now.revision < before.revision) return [];
  return [...clients.values()].flatMap(({ metadata, status }) => {
    const known = requestsOf(objectsOf(before, "clients.clustersim.io").get(metadata.name)?.status)[0]?.number ?? 0;
    return requestsOf(status).filter(({ number }) => number > known).slice(0, TRAVELS_MAX)
      .map((request) => ({ client: metadata.name, request }));
  });
}
