/** The kinds, and how each is addressed: the server's table of kinds again, held to it by tests/pages/test_kinds.py. */

/**
 * @typedef {object} Kind
 * @property {string} kind
 * @property {string} apiVersion
 * @property {string} plural
 * @property {string} resource group resource string, as the log names it
 * @property {boolean} namespaced
 * @property {readonly string[]} names what a person may type for it
 */

/**
 * @param {string} kind
 * @param {string} apiVersion
 * @param {string} plural
 * @param {boolean} namespaced
 * @param {readonly string[]} short
 * @returns {Kind}
 */
function define(kind, apiVersion, plural, namespaced, short) {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  return {
    kind,
    apiVersion,
    plural,
    resource: group ? `${plural}.${group}` : plural,
    namespaced,
    names: [kind.toLowerCase(), plural, ...short],
  };
}

/** @type {readonly Kind[]} */
export const KINDS = [
  define("Pod", "v1", "pods", true, ["po"]),
  define("Node", "v1", "nodes", false, ["no"]),
  define("Namespace", "v1", "namespaces", false, ["ns"]),
  define("Service", "v1", "services", true, ["svc"]),
  define("ServiceAccount", "v1", "serviceaccounts", true, ["sa"]),
  define("ConfigMap", "v1", "configmaps", true, ["cm"]),
  define("Secret", "v1", "secrets", true, []),
  define("Endpoints", "v1", "endpoints", true, ["ep"]),
  define("LimitRange", "v1", "limitranges", true, ["limits"]),
  define("ResourceQuota", "v1", "resourcequotas", true, ["quota"]),
  define("PersistentVolumeClaim", "v1", "persistentvolumeclaims", true, ["pvc"]),
  define("PersistentVolume", "v1", "persistentvolumes", false, ["pv"]),
  define("ReplicationController", "v1", "replicationcontrollers", true, ["rc"]),
  define("Event", "v1", "events", true, ["ev"]),
  define("Deployment", "apps/v1", "deployments", true, ["deploy"]),
  define("ReplicaSet", "apps/v1", "replicasets", true, ["rs"]),
  define("StatefulSet", "apps/v1", "statefulsets", true, ["sts"]),
  define("DaemonSet", "apps/v1", "daemonsets", true, ["ds"]),
  define("Job", "batch/v1", "jobs", true, []),
  define("CronJob", "batch/v1", "cronjobs", true, ["cj"]),
  define("HorizontalPodAutoscaler", "autoscaling/v2", "horizontalpodautoscalers", true, ["hpa"]),
  define("EndpointSlice", "discovery.k8s.io/v1", "endpointslices", true, []),
  define("PodDisruptionBudget", "policy/v1", "poddisruptionbudgets", true, ["pdb"]),
  define("StorageClass", "storage.k8s.io/v1", "storageclasses", false, ["sc"]),
  define("CSINode", "storage.k8s.io/v1", "csinodes", false, []),
  define("CSIDriver", "storage.k8s.io/v1", "csidrivers", false, []),
  define("CSIStorageCapacity", "storage.k8s.io/v1", "csistoragecapacities", true, []),
  define("VolumeAttachment", "storage.k8s.io/v1", "volumeattachments", false, []),
  define("PriorityClass", "scheduling.k8s.io/v1", "priorityclasses", false, ["pc"]),
  define("Lease", "coordination.k8s.io/v1", "leases", true, []),
  define("Clock", "clustersim.io/v1", "clocks", false, []),
  define("Replica", "clustersim.io/v1", "replicas", false, []),
  define("Client", "clustersim.io/v1", "clients", false, []),
  define("Bookmark", "clustersim.io/v1", "bookmarks", false, []),
  define("Poll", "clustersim.io/v1", "polls", false, []),
  define("Lesson", "clustersim.io/v1", "lessons", false, []),
  define("Queue", "clustersim.io/v1", "queues", false, []),
  define("SchedulerConfig", "clustersim.io/v1", "schedulerconfigs", false, []),
  define("Flags", "clustersim.io/v1", "flags", false, []),
  define("Replay", "clustersim.io/v1", "replays", false, []),
];

const BY_RESOURCE = new Map(KINDS.map((kind) => [kind.resource, kind]));
const BY_KIND = new Map(KINDS.map((kind) => [kind.kind, kind]));
const BY_NAME = new Map(KINDS.flatMap((kind) => kind.names.map((name) => [name, kind])));

/** @param {string} resource */
export function kindOfResource(resource) {
  return BY_RESOURCE.get(resource) ?? null;
}

/**
 * The kind of this name; throws for one the page does not know, which only a bug can ask for.
 * @param {string} kind
 * @returns {Kind}
 */
export function kindNamed(kind) {
  const found = BY_KIND.get(kind);
  if (!found) throw new Error(`no kind ${kind} in lib/kinds.js`);
  return found;
}

/**
 * What a person typed: `po`, `pods`, `Pod`.
 * @param {string} word
 */
export function kindTyped(word) {
  return BY_NAME.get(word.toLowerCase()) ?? null;
}

/**
 * @param {string} key `namespace/name` or `name`
 * @returns {{namespace: string, name: string}}
 */
export function splitKey(key) {
  const slash = key.indexOf("/");
  return slash < 0 ? { namespace: "", name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
