/** Why no scheduling cycle runs for a pod: nobody schedules, it asks for another scheduler, or time stands. Pure. */

/** @import { Lang, PodSlim, View } from "../lib/types.d.ts" */
import { listOf } from "../lib/names.js";
import { leader, objectAt, replicas } from "./selectors.js";

const COMPONENT = "kube-scheduler";

/** @typedef {{key: string, values: Record<string, string | number>}} Why a key of the page's texts, and what fills it */

/**
 * Which schedulers pods may ask for here; null where that is not known yet.
 * @param {View} view
 * @returns {readonly string[] | null}
 */
function schedulerNames(view) {
  /** @type {{schedulerName: string}[] | undefined} */
  const profiles = objectAt(view, "schedulerconfigs.clustersim.io", "default")?.status?.["profiles"];
  return profiles?.length ? profiles.map(({ schedulerName }) => schedulerName) : null;
}

/**
 * Tells of pods which scheduler they ask for that is none of the session's; "" where it is one.
 * @param {View} view
 * @returns {(pod: PodSlim) => string}
 */
export function strangers(view) {
  const names = schedulerNames(view);
  return ({ spec }) => {
    const asked = spec?.["schedulerName"] || "default-scheduler";
    return names === null || names.includes(asked) ? "" : asked;
  };
}

/**
 * The schedulers of a session in which all have crashed; null where one runs, or there is none.
 * @param {View} view
 * @returns {readonly string[] | null} their identities
 */
export function crashedSchedulers(view) {
  const all = replicas(view, COMPONENT);
  return all.length > 0 && all.every(({ status }) => status?.state === "Crashed") ? all.map(({ metadata }) => metadata.name) : null;
}

/**
 * Why no scheduler of the session takes a pod into its hand; null while one leads, or somebody from outside holds its lock.
 * @param {View} view
 * @param {Lang} lang
 * @returns {Why | null}
 */
export function nobodySchedules(view, lang) {
  const all = replicas(view, COMPONENT);
  if (all.length === 0 || leader(view, COMPONENT)) return null;
  const holder = objectAt(view, "leases.coordination.k8s.io", `kube-system/${COMPONENT}`)?.spec?.["holderIdentity"];
  if (holder && !all.some(({ metadata }) => metadata.name === holder)) return null;
  const crashed = crashedSchedulers(view);
  return crashed ? { key: "undecided.crashed", values: { n: crashed.length, names: listOf(crashed, lang) } } : { key: "undecided.election", values: {} };
}

/**
 * Why no cycle has run for a pod yet; null where it is only a matter of its turn.
 * @param {View} view
 * @param {PodSlim} pod
 * @param {Lang} lang
 * @returns {Why | null}
 */
export function whyUndecided(view, pod, lang) {
  const node = pod.spec?.nodeName;
  if (node) return { key: "undecided.placed", values: { node } };
  const name = strangers(view)(pod);
  if (name) {
    const known = schedulerNames(view) ?? [];
    return { key: "undecided.other", values: { name, n: known.length, known: listOf(known, lang) } };
  }
  /** @type {{name: string}[]} */
  const gates = pod.spec?.schedulingGates ?? [];
  if (gates.length) return { key: "undecided.gated", values: { n: gates.length, names: listOf(gates.map(({ name }) => name), lang) } };
  return nobodySchedules(view, lang) ?? (view.clock?.paused ? { key: "undecided.held", values: {} } : null);
}
