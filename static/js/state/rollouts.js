/**
 * Which pods are of a template that has been replaced, and how far a rolling update has come. Pure. The newest template is
 * known by what controllers write: the revision of a Deployment's ReplicaSets, the updateRevision of a StatefulSet, the
 * template generation of a DaemonSet.
 */

/** @import { PodSlim, Slim, View } from "../lib/types.d.ts" */
import { compareNames, conditionOf, objectAt, objectsOf } from "./selectors.js";

const REVISION = "deployment.kubernetes.io/revision";
const GENERATION = "deprecated.daemonset.template.generation";

/**
 * How the pods of a workload say which template they were made of.
 * @typedef {object} Template
 * @property {Slim} workload
 * @property {string} label of the pods; "" where the owner itself says it (a ReplicaSet is of one template)
 * @property {string} newest value of that label
 * @property {boolean} old of an owner that is of one template: whether it is replaced
 */

/** @typedef {ReadonlyMap<string, Template>} Templates by `namespace/Kind/name` of the pods' controller */

/**
 * @typedef {object} Rollout a workload with pods of an old template beside those of the newest, or none of it yet
 * @property {string} kind
 * @property {string} resource
 * @property {string} key
 * @property {string} name
 * @property {string} revision of the newest template; "" where nobody counts them
 * @property {number} wanted pods
 * @property {number} fresh pods of the newest template, those that end not counted
 * @property {number} ready of these
 * @property {number} old pods of older templates, those that end not counted
 * @property {number} ending pods of older templates that are on their way out
 * @property {"going" | "paused" | "stuck"} state
 */

const OWNERS = ["replicasets.apps", "deployments.apps", "statefulsets.apps", "daemonsets.apps"];

/**
 * A function from view to templates that hands out the same map while nothing of it has changed.
 * @returns {(view: View) => Templates}
 */
export function templatesMaker() {
  /** @type {unknown[]} */
  let inputs = [];
  /** @type {Templates} */
  let last = new Map();
  return (view) => {
    const next = OWNERS.map((resource) => objectsOf(view, resource));
    if (next.every((input, index) => input === inputs[index])) return last;
    inputs = next;
    const templates = templatesOf(view);
    if (said(templates) !== said(last)) last = templates;
    return last;
  };
}

/** @param {Templates} templates */
function said(templates) {
  return [...templates].map(([key, { newest, old, workload }]) =>
    [key, newest, old, workload.metadata.generation, workload.spec?.["paused"], isStuck(workload)].join(" ")).join("|");
}

/**
 * @param {View} view
 * @returns {Templates}
 */
export function templatesOf(view) {
  /** @type {Map<string, Template>} */
  const found = new Map();
  /** @type {Map<string, number>} Deployment → revision of its newest ReplicaSet */
  const newest = new Map();
  const sets = [...objectsOf(view, "replicasets.apps").values()].flatMap((set) => {
    const above = set.metadata.ownerReferences?.find(({ controller }) => controller);
    if (above?.kind !== "Deployment") return [];
    const key = `${set.metadata.namespace}/${above.name}`;
    const revision = Number(set.metadata.annotations?.[REVISION] ?? 0);
    newest.set(key, Math.max(revision, newest.get(key) ?? 0));
    return [{ set, key, revision }];
  });
  for (const { set, key, revision } of sets) {
    const workload = objectAt(view, "deployments.apps", key);
    if (workload) found.set(`${set.metadata.namespace}/ReplicaSet/${set.metadata.name}`, {
      workload, label: "", newest: String(newest.get(key) ?? ""), old: revision < (newest.get(key) ?? 0),
    });
  }
  for (const workload of objectsOf(view, "statefulsets.apps").values()) {
    const { namespace, name } = workload.metadata;
    const revision = String(workload.status?.["updateRevision"] ?? "");
    if (revision) found.set(`${namespace}/StatefulSet/${name}`, { workload, label: "controller-revision-hash", newest: revision, old: false });
  }
  for (const workload of objectsOf(view, "daemonsets.apps").values()) {
    const { namespace, name, annotations } = workload.metadata;
    const generation = annotations?.[GENERATION] ?? "";
    if (generation) found.set(`${namespace}/DaemonSet/${name}`, { workload, label: "pod-template-generation", newest: generation, old: false });
  }
  return found;
}

/**
 * @param {Templates} templates
 * @param {PodSlim} pod
 * @returns {Template | null}
 */
function templateOf(templates, pod) {
  const owner = templates.size ? pod.metadata.ownerReferences?.find(({ controller }) => controller) : undefined;
  return owner ? templates.get(`${pod.metadata.namespace}/${owner.kind}/${owner.name}`) ?? null : null;
}

/**
 * Whether a pod was made of a template that has been replaced since.
 * @param {Templates} templates
 * @param {PodSlim} pod
 */
export function isOld(templates, pod) {
  const template = templateOf(templates, pod);
  if (!template) return false;
  return template.label ? (pod.metadata.labels?.[template.label] ?? template.newest) !== template.newest : template.old;
}

/**
 * The workloads of which pods of two templates are there, in order of name.
 * @param {Templates} templates
 * @param {Iterable<PodSlim>} pods
 * @returns {readonly Rollout[]}
 */
export function rolloutsOf(templates, pods) {
  /** @type {Map<Slim, Rollout>} */
  const found = new Map();
  for (const pod of pods) {
    const template = templateOf(templates, pod);
    if (!template) continue;
    let rollout = found.get(template.workload);
    if (!rollout) found.set(template.workload, (rollout = empty(template)));
    const old = isOld(templates, pod);
    const ending = Boolean(pod.metadata.deletionTimestamp);
    if (old && ending) rollout.ending += 1;
    else if (old) rollout.old += 1;
    else if (!ending) rollout.fresh += 1;
    if (!old && !ending && conditionOf(pod.status?.conditions, "Ready")?.status === "True") rollout.ready += 1;
  }
  return [...found.values()].filter(({ old, ending }) => old + ending > 0).sort((a, b) => compareNames(a.key, b.key));
}

/** @type {Readonly<Record<string, string>>} */
const KIND_OF = { "deployments.apps": "Deployment", "statefulsets.apps": "StatefulSet", "daemonsets.apps": "DaemonSet" };

/**
 * @param {Template} template
 * @returns {Rollout}
 */
function empty({ workload, newest, label }) {
  const { namespace, name } = workload.metadata;
  return {
    kind: KIND_OF[workload.resource] ?? "", resource: workload.resource, key: `${namespace}/${name}`, name,
    // A StatefulSet's is a name that nobody counts by.
    revision: label === "controller-revision-hash" ? "" : newest,
    wanted: Number(workload.spec?.["replicas"] ?? workload.status?.["desiredNumberScheduled"] ?? 0),
    fresh: 0, ready: 0, old: 0, ending: 0,
    state: workload.spec?.["paused"] ? "paused" : isStuck(workload) ? "stuck" : "going",
  };
}

/** @param {Slim} workload */
function isStuck(workload) {
  return conditionOf(workload.status?.["conditions"], "Progressing")?.reason === "ProgressDeadlineExceeded";
}
