/** What the palette offers that makes pods, and what rules over them: workloads, budgets, quotas. Pure. */

/** @import { Field, Item, Values } from "./items.js" */
import { field, given, IMAGE, podSpec, readPairs } from "./item_parts.js";

const TEMPLATE = "spec.template.spec.containers[0]";
const NAMED = [field("name", "metadata.name"), field("namespace", "metadata.namespace")];
const POD_OF_TEMPLATE = [
  field("image", `${TEMPLATE}.image`),
  field("cpu", `${TEMPLATE}.resources.requests.cpu`),
  field("memory", `${TEMPLATE}.resources.requests.memory`),
  field("priorityClass", "spec.template.spec.priorityClassName"),
  field("nodeSelector", "spec.template.spec.nodeSelector", "pairs"),
  field("tolerations", "spec.template.spec.tolerations", "pairs"),
];
const REPLICAS = [field("replicas", "spec.replicas", "number")];
const ASKED = { cpu: "250m", memory: "256Mi" };
/** The kind whose name fits no button. */
const LONG = "ReplicationController";
/** Seconds for which the only container of a Job's pod runs. */
const JOB_SECONDS = 20;

/** @param {Values} values */
const named = (values) => ({ name: values["name"], ...given({ namespace: values["namespace"] }) });
/** @param {Values} values */
const labelled = (values) => ({ app: values["name"] });
/** @param {Values} values */
const template = (values) => ({ metadata: { labels: labelled(values) }, spec: podSpec(values) });
/** @param {Values} values */
const count = (values) => ({ replicas: Number(values["replicas"] ?? 1) });

/**
 * @param {string} kind
 * @param {string} icon
 * @param {Values} defaults beside image and requests
 * @param {readonly Field[]} fields beside name and template
 * @param {(values: Values) => Record<string, any>} spec
 * @param {string} [apiVersion]
 * @returns {Item}
 */
function workload(kind, icon, defaults, fields, spec, apiVersion = "apps/v1") {
  return {
    id: kind.toLowerCase(), group: "workloads", icon, label: kind === LONG ? "item_rc" : kind, kind, stem: "",
    defaults: { ...defaults, image: IMAGE, ...ASKED }, fields: [...NAMED, ...fields, ...POD_OF_TEMPLATE],
    build: (values) => ({ apiVersion, kind, metadata: named(values), spec: spec(values) }),
  };
}

/** @param {Values} values */
const selecting = (values) => ({ selector: { matchLabels: labelled(values) }, template: template(values) });

/** @type {readonly Item[]} */
export const WORKLOADS = [
  workload("Deployment", "layers", { replicas: "3" }, REPLICAS, (values) => ({ ...count(values), ...selecting(values) })),
  workload("ReplicaSet", "layers", { replicas: "3" }, REPLICAS, (values) => ({ ...count(values), ...selecting(values) })),
  workload(LONG, "layers", { replicas: "3" }, REPLICAS,
    (values) => ({ ...count(values), selector: labelled(values), template: template(values) }), "v1"),
  workload("StatefulSet", "layers", { replicas: "3" }, REPLICAS,
    (values) => ({ ...count(values), serviceName: values["name"], ...selecting(values) })),
  workload("DaemonSet", "layers", {}, [], selecting),
  workload("Job", "check", { completions: "3", parallelism: "2" },
    [field("completions", "spec.completions", "number"), field("parallelism", "spec.parallelism", "number")],
    (values) => {
      const pods = template(values);
      const [container] = pods.spec.containers;
      return {
        completions: Number(values["completions"]),
        parallelism: Number(values["parallelism"]),
        template: { ...pods, spec: { ...pods.spec, restartPolicy: "Never",
          containers: [{ ...container, command: ["sleep", String(JOB_SECONDS)] }] } },
      };
    }, "batch/v1"),
];

/** @type {readonly Item[]} */
export const POLICIES = [
  {
    id: "poddisruptionbudget", group: "policies", icon: "lock", label: "item_pdb", kind: "PodDisruptionBudget", stem: "budget-",
    defaults: { selector: "app=web", minAvailable: "2" },
    fields: [...NAMED, field("selector", "spec.selector", "pairs"), field("minAvailable", "spec.minAvailable")],
    build: (values) => {
      const least = values["minAvailable"] ?? "";
      return {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: named(values),
        spec: {
          minAvailable: /^\d+$/.test(least) ? Number(least) : least,
          selector: { matchLabels: readPairs(values["selector"]) },
        },
      };
    },
  },
  {
    id: "resourcequota", group: "policies", icon: "lock", label: "item_quota", kind: "ResourceQuota", stem: "quota-",
    defaults: { pods: "20", cpu: "8", memory: "16Gi" },
    fields: [...NAMED, field("pods", "spec.hard.pods", "number"), field("cpu", "spec.hard[requests.cpu]"),
      field("memory", "spec.hard[requests.memory]")],
    build: (values) => ({
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: named(values),
      spec: { hard: given({ pods: values["pods"], "requests.cpu": values["cpu"], "requests.memory": values["memory"] }) },
    }),
  },
];
