/** What the palette offers beside plain pods: pods with disks, ports and neighbours, claims and volumes. Pure. */

/** @import { Field, Item, Values } from "./items.js" */
import { field, given, readPairs } from "./item_parts.js";

/**
 * A pod that asks for more than resources: `more` adds to the document of a plain one.
 * @typedef {object} PlacedPod
 * @property {string} id
 * @property {"pods" | "storage"} group
 * @property {string} note
 * @property {Values} defaults
 * @property {readonly Field[]} fields
 * @property {(pod: Record<string, any>, values: Values) => Record<string, any>} more
 */

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";

/** @type {readonly PlacedPod[]} */
export const PLACED_PODS = [
  {
    id: "hostport", group: "pods", note: ":8080", defaults: { hostPort: "8080" },
    fields: [field("hostPort", "spec.containers[0].ports[0].hostPort", "number")],
    more: (pod, values) => {
      const port = Number(values["hostPort"]);
      pod["spec"].containers[0].ports = [{ containerPort: port, hostPort: port }];
      return pod;
    },
  },
  {
    id: "affinity", group: "pods", note: "", defaults: { labels: "app=apart", affinity: "podAntiAffinity", topologyKey: HOSTNAME },
    fields: [
      field("affinity", "spec.affinity", "select", { options: ["podAntiAffinity", "podAffinity"] }),
      field("topologyKey", "spec.affinity.podAntiAffinity", "select", { options: [HOSTNAME, ZONE] }),
    ],
    more: (pod, values) => {
      const term = { topologyKey: values["topologyKey"], labelSelector: { matchLabels: readPairs(values["labels"]) } };
      pod["spec"].affinity = {
        [values["affinity"] || "podAntiAffinity"]: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
      };
      return pod;
    },
  },
  {
    id: "gated", group: "pods", note: "", defaults: { gate: "example.com/hold" },
    fields: [field("gate", "spec.schedulingGates")],
    more: (pod, values) => {
      pod["spec"].schedulingGates = [{ name: values["gate"] }];
      return pod;
    },
  },
];

/**
 * A pod that brings a disk of its own along.
 * @param {string} id
 * @param {string} disk
 * @param {string} path
 * @param {(disk: string) => Record<string, any>} source
 * @returns {PlacedPod}
 */
function diskPod(id, disk, path, source) {
  return {
    id, group: "storage", note: "", defaults: { disk }, fields: [field("disk", `spec.volumes[0].${path}`)],
    more: (pod, values) => {
      pod["spec"].volumes = [{ name: "data", ...source(values["disk"] ?? "") }];
      return pod;
    },
  };
}

const SIZE = "spec.resources.requests.storage";

/** @type {readonly (Item | PlacedPod)[]} */
export const STORAGE = [
  {
    id: "persistentvolumeclaim", group: "storage", icon: "tag", label: "item_claim", kind: "PersistentVolumeClaim", stem: "claim-",
    defaults: { size: "5Gi", accessMode: "ReadWriteOnce" },
    fields: [
      field("name", "metadata.name"),
      field("namespace", "metadata.namespace"),
      field("size", SIZE),
      field("accessMode", "spec.accessModes", "select",
        { options: ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"] }),
      field("storageClass", "spec.storageClassName"),
      field("zone", "spec.selector"),
    ],
    build: (values) => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: values["name"], ...given({ namespace: values["namespace"] }) },
      spec: {
        accessModes: [values["accessMode"] || "ReadWriteOnce"],
        // Without a class in so many words: it takes a volume that is there, whatever the default class.
        storageClassName: values["storageClass"] ?? "",
        resources: { requests: { storage: values["size"] } },
        ...(values["zone"] ? { selector: { matchLabels: { [ZONE]: values["zone"] } } } : {}),
      },
    }),
  },
  {
    id: "persistentvolume", group: "storage", icon: "folder", label: "item_volume", kind: "PersistentVolume", stem: "volume-",
    defaults: { size: "10Gi", accessMode: "ReadWriteOnce" },
    fields: [
      field("name", "metadata.name"),
      field("size", "spec.capacity.storage"),
      field("accessMode", "spec.accessModes", "select",
        { options: ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"] }),
      field("storageClass", "spec.storageClassName"),
      field("zone", "metadata.labels"),
    ],
    build: (values) => ({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: values["name"], ...(values["zone"] ? { labels: { [ZONE]: values["zone"] } } : {}) },
      spec: {
        capacity: { storage: values["size"] },
        accessModes: [values["accessMode"] || "ReadWriteOnce"],
        ...given({ storageClassName: values["storageClass"] }),
        hostPath: { path: `/mnt/${values["name"]}` },
      },
    }),
  },
  {
    id: "claim", group: "storage", note: "", defaults: { claim: "claim-1" },
    fields: [field("claim", "spec.volumes[0].persistentVolumeClaim.claimName")],
    more: (pod, values) => {
      pod["spec"].volumes = [{ name: "data", persistentVolumeClaim: { claimName: values["claim"] ?? "" } }];
      return pod;
    },
  },
  diskPod("ebs", "vol-1", "awsElasticBlockStore.volumeID", (disk) => ({ awsElasticBlockStore: { volumeID: disk } })),
  diskPod("gcepd", "disk-1", "gcePersistentDisk.pdName", (disk) => ({ gcePersistentDisk: { pdName: disk } })),
  diskPod("rbd", "image-1", "rbd.image", (disk) => ({ rbd: { monitors: ["10.0.0.1:6789"], pool: "rbd", image: disk } })),
];
