/**
 * What the palette offers: for each item its place, its form fields and the document it stands for. Pure: names, zone
 * and namespace come in with the values.
 */
/** @import { Lang } from "./types.d.ts" */
import { field, given, GPU, IMAGE, podSpec, readPairs, readTaints } from "./item_parts.js";
import { PLACED_PODS, STORAGE } from "./storage_items.js";
import { POLICIES, WORKLOADS } from "./workload_items.js";
import { text } from "./text.js";

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label text key
 * @property {string} path field path in the document, for errors of the server
 * @property {"text" | "number" | "select" | "pairs"} type
 * @property {readonly string[]} [options]
 */

/** @typedef {Record<string, string>} Values */

export { GPU, readPairs, readTaints };

/**
 * @typedef {object} Item
 * @property {string} id `node-small`, `pod-gpu`, `deployment`; also the data-testid after `palette-`
 * @property {"nodes" | "pods" | "workloads" | "storage" | "policies"} group
 * @property {string} icon
 * @property {number} [hue] owner hue of the pod's square
 * @property {boolean} [filled]
 * @property {string} label text key
 * @property {string} [note] what stands right of the label
 * @property {string} kind
 * @property {string} stem how generated names begin; "" asks for a workload name
 * @property {Values} defaults
 * @property {readonly Field[]} fields
 * @property {(values: Values) => Record<string, any>} build
 */

/** The type under which the browser carries an item's id while it is dragged. */
export const DRAGGED = "application/x-clustersim-item";
/** The type that a node has besides: it is put in the zone that it is let go over. */
export const DRAGGED_NODE = "application/x-clustersim-node";
export const HIGH_PRIORITY_CLASS = "high-priority";

const NODE_FIELDS = [
  field("name", "metadata.name"),
  field("cpu", "status.capacity.cpu"),
  field("memory", "status.capacity.memory"),
  field("gpu", `status.capacity[${GPU}]`, "number"),
  field("maxPods", "status.capacity.pods", "number"),
  field("zone", "metadata.labels"),
  field("labels", "metadata.labels", "pairs"),
  field("taints", "spec.taints", "pairs"),
];

/** @param {Values} values */
function buildNode(values) {
  const amounts = given({
    cpu: values["cpu"], memory: values["memory"], pods: values["maxPods"], [GPU]: values["gpu"],
  });
  const name = values["name"] ?? "";
  const taints = readTaints(values["taints"]);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        ...given({ "topology.kubernetes.io/zone": values["zone"] }),
        ...readPairs(values["labels"]),
      },
    },
    ...(taints.length ? { spec: { taints } } : {}),
    status: { capacity: amounts, allocatable: amounts },
  };
}

/**
 * @param {string} size
 * @param {string} note
 * @param {Values} values
 * @returns {Item}
 */
function node(size, note, values) {
  return {
    id: `node-${size}`, group: "nodes", icon: "node", label: `size_${size}`, note, kind: "Node", stem: "n",
    defaults: { maxPods: "110", ...values }, fields: NODE_FIELDS, build: buildNode,
  };
}

const CONTAINER = "spec.containers[0]";
const POD_FIELDS = [
  field("name", "metadata.name"),
  field("namespace", "metadata.namespace"),
  field("image", `${CONTAINER}.image`),
  field("cpu", `${CONTAINER}.resources.requests.cpu`),
  field("memory", `${CONTAINER}.resources.requests.memory`),
  field("gpu", `${CONTAINER}.resources.limits[${GPU}]`, "number"),
  field("priorityClass", "spec.priorityClassName"),
  field("nodeSelector", "spec.nodeSelector", "pairs"),
  field("tolerations", "spec.tolerations", "pairs"),
  field("labels", "metadata.labels", "pairs"),
];

/** @param {Values} values */
function buildPod(values) {
  const labels = readPairs(values["labels"]);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: values["name"],
      ...given({ namespace: values["namespace"] }),
      ...(Object.keys(labels).length ? { labels } : {}),
    },
    spec: podSpec(values),
  };
}

/**
 * @param {string} size
 * @param {number} hue
 * @param {string} note
 * @param {Values} values
 * @param {string} stem
 * @returns {Item}
 */
function pod(size, hue, note, values, stem) {
  return {
    id: `pod-${size}`, group: "pods", icon: "", hue, filled: size === "high-priority", label: `pod_${size}`, note,
    kind: "Pod", stem, defaults: { image: IMAGE, ...values }, fields: POD_FIELDS, build: buildPod,
  };
}

/**
 * A pod that asks for more than resources.
 * @param {import("./storage_items.js").PlacedPod} placed
 * @returns {Item}
 */
function podItem({ id, group, note, more, defaults, fields }) {
  return {
    id: `pod-${id}`, group, icon: "", hue: group === "pods" ? 1 : 2, label: `pod_${id}`, note, kind: "Pod", stem: `${id}-`,
    defaults: { image: IMAGE, cpu: "100m", memory: "64Mi", ...defaults },
    fields: [...POD_FIELDS.slice(0, 2), ...fields, ...POD_FIELDS.slice(2)],
    build: (values) => more(buildPod(values), values),
  };
}

/**
 * What a pod of an item asks for, where no heading says of what its note is: "250m CPU", "1 GPU", ":8080".
 * @param {Item} item
 */
export function amountOf({ kind, note, defaults: { cpu, gpu } }) {
  if (kind !== "Pod" || note?.startsWith(":")) return note ?? "";
  return gpu ? `${gpu} GPU` : cpu ? `${cpu} CPU` : "";
}

/** @type {readonly Item[]} */
export const ITEMS = [
  node("small", "2", { cpu: "2", memory: "4Gi" }),
  node("medium", "4", { cpu: "4", memory: "8Gi" }),
  node("large", "8", { cpu: "8", memory: "16Gi" }),
  node("gpu", "2 GPU", { cpu: "8", memory: "64Gi", gpu: "2" }),
  pod("small", 3, "250m", { cpu: "250m", memory: "256Mi" }, "small-"),
  pod("medium", 1, "½", { cpu: "500m", memory: "512Mi" }, "medium-"),
  pod("large", 5, "1", { cpu: "1", memory: "1Gi" }, "large-"),
  pod("gpu", 6, "1", { cpu: "500m", memory: "1Gi", gpu: "1" }, "gpu-"),
  pod("besteffort", 7, "", {}, "besteffort-"),
  pod("high-priority", 4, "", { cpu: "500m", memory: "512Mi", priorityClass: HIGH_PRIORITY_CLASS }, "high-"),
  ...PLACED_PODS.map(podItem),
  ...WORKLOADS,
  {
    id: "service", group: "workloads", icon: "service", label: "Service", kind: "Service", stem: "svc-",
    defaults: { selector: "app=web", port: "80" },
    fields: [
      field("name", "metadata.name"),
      field("namespace", "metadata.namespace"),
      field("selector", "spec.selector", "pairs"),
      field("port", "spec.ports[0].port", "number"),
    ],
    build: (values) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: values["name"], ...given({ namespace: values["namespace"] }) },
      spec: { selector: readPairs(values["selector"]), ports: [{ port: Number(values["port"]) }] },
    }),
  },
  {
    id: "namespace", group: "workloads", icon: "folder", label: "Namespace", kind: "Namespace", stem: "team-",
    defaults: {}, fields: [field("name", "metadata.name")],
    build: (values) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name: values["name"] } }),
  },
  ...STORAGE.map((given) => ("build" in given ? given : podItem(given))),
  ...POLICIES,
  {
    id: "priorityclass", group: "policies", icon: "arrow-up", label: "item_priorityclass", kind: "PriorityClass",
    stem: "priority-", defaults: { value: "1000", preemptionPolicy: "PreemptLowerPriority" },
    fields: [
      field("name", "metadata.name"),
      field("value", "value", "number"),
      field("preemptionPolicy", "preemptionPolicy", "select", { options: ["PreemptLowerPriority", "Never"] }),
      field("description", "description"),
    ],
    build: (values) => ({
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: values["name"] },
      value: Number(values["value"]),
      ...given({ preemptionPolicy: values["preemptionPolicy"], description: values["description"] }),
    }),
  },
];

const BY_ID = new Map(ITEMS.map((item) => [item.id, item]));

/** @param {string} id */
export function itemOf(id) {
  return BY_ID.get(id) ?? null;
}

/**
 * An item by kind and label, as one says it: "Pod, Small".
 * @param {Item} item
 * @param {Lang} lang
 */
export function fullName(item, lang) {
  const label = text(lang, item.label);
  return label.includes(item.kind) ? label : `${item.kind}, ${label}`;
}

/**
 * The form field a server's field path belongs to: the longest path that begins it. Keys may stand in brackets or
 * after a dot.
 * @param {readonly Field[]} fields
 * @param {string} path
 */
export function fieldOfPath(fields, path) {
  const plain = (/** @type {string} */ text) => text.replace(/\[([^\]\d][^\]]*)\]/g, ".$1");
  const wanted = plain(path);
  const candidates = fields.filter((candidate) => {
    const begin = plain(candidate.path);
    return wanted === begin || wanted.startsWith(`${begin}.`) || wanted.startsWith(`${begin}[`);
  });
  return candidates.sort((a, b) => b.path.length - a.path.length)[0] ?? null;
}
