/** Why pods that have a node do not run: what their containers wait for, and that their volumes are not there. */

/** @import { EventSlim, PodSlim, Slim, View } from "../lib/types.d.ts" */
import { isTerminal, objectsOf, remembered } from "./selectors.js";
import { keyOf } from "./view.js";

/** What a container waits for that is merely being made. */
const BEING_MADE = new Set(["", "ContainerCreating", "PodInitializing"]);

/** The reason of the event that tells why a pod's volumes are not there. */
export const UNMOUNTED = "FailedMount";

/**
 * Why a pod does not run yet: the reason as kubectl tells it (`CrashLoopBackOff`, `Init:Error`, `Init:0/2`), its sentence, and the
 * init container that is at work.
 * @typedef {{reason: string, message: string, init: string}} Wait
 */

/**
 * A reason and its sentence, as far as there are any.
 * @param {{reason?: string, message?: string} | null | undefined} wait
 * @returns {string}
 */
export function waitWords(wait) {
  return [wait?.reason, wait?.message].filter(Boolean).join(": ");
}

/**
 * Why a container of a pod waits; null: none does, but to be made.
 * @param {PodSlim} pod
 * @param {string} [unmounted] why its volumes are not there
 * @returns {Wait | null}
 */
export function waitOf(pod, unmounted = "") {
  if (pod.metadata.deletionTimestamp || isTerminal(pod)) return null;
  const init = initWaitOf(pod);
  if (init) return init;
  const all = (pod.status?.containerStatuses ?? []).flatMap((status) => status.state?.waiting ?? []);
  const waits = all.find(({ reason }) => !BEING_MADE.has(reason ?? ""));
  if (waits) return { reason: waits.reason ?? "", message: waits.message ?? "", init: "" };
  return unmounted && all.length > 0 ? { reason: UNMOUNTED, message: unmounted, init: "" } : null;
}

/**
 * At which init container a pod is, where that one runs or cannot; null: it is past them, or one is being made.
 * @param {PodSlim} pod
 * @returns {Wait | null}
 */
function initWaitOf(pod) {
  const statuses = pod.status?.initContainerStatuses ?? [];
  const specs = pod.spec?.initContainers ?? [];
  for (const [done, { name, state }] of statuses.entries()) {
    const { waiting, running, terminated } = state ?? {};
    if (waiting && !BEING_MADE.has(waiting.reason ?? "")) return { reason: `Init:${waiting.reason}`, message: waiting.message ?? "", init: "" };
    if (terminated?.exitCode) return { reason: `Init:${terminated.reason || "Error"}`, message: "", init: "" };
    if (terminated) continue;
    const sidecar = specs.find((one) => one.name === name)?.restartPolicy === "Always";
    if (running && !sidecar) return { reason: `Init:${done}/${statuses.length}`, message: "", init: name };
    if (!running) return null;
  }
  return null;
}

/** Second key of answers that depend on one map alone. */
const ALONE = {};

/** @type {ReadonlyMap<string, string>} */
const NONE = new Map();

/** Revision of an event. @param {EventSlim | undefined} event */
const revisionOf = (event) => Number(event?.metadata.resourceVersion ?? -1);

/** Whether any event is about a volume; asked whenever one comes, of thousands. @param {ReadonlyMap<string, EventSlim>} events */
function isTold(events) {
  for (const { reason } of events.values()) if (reason === UNMOUNTED) return true;
  return false;
}

const unmountedIn = remembered((/** @type {ReadonlyMap<string, Slim>} */ map, /** @type {object} */ _none) => {
  const all = /** @type {ReadonlyMap<string, EventSlim>} */ (map);
  if (!isTold(all)) return NONE;
  /** @type {Map<string, EventSlim>} */
  const newest = new Map();
  for (const event of all.values()) {
    const about = event.involvedObject;
    const key = `${about?.namespace}/${about?.name}`;
    if (about?.kind === "Pod" && revisionOf(event) > revisionOf(newest.get(key))) newest.set(key, event);
  }
  return new Map([...newest].filter(([, { reason }]) => reason === UNMOUNTED).map(([key, { message }]) => [key, message ?? ""]));
});

/**
 * Why the volumes of pods are not there, by the key of the pod: of each that of which nothing was told since.
 * @param {View} view
 * @returns {ReadonlyMap<string, string>}
 */
export function unmounted(view) {
  return unmountedIn(objectsOf(view, "events"), ALONE);
}

/**
 * Why a pod does not run yet, with what only its events tell.
 * @param {View} view
 * @param {PodSlim} pod
 * @returns {Wait | null}
 */
export function waitIn(view, pod) {
  return waitOf(pod, unmounted(view).get(keyOf(pod)));
}
