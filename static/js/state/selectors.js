/**
 * Questions that panels and the stage ask a view. Each answer is remembered by the identity of the maps it was computed
 * from, so asking again in every frame costs a lookup.
 */

/**
 * @import { Condition, Container, Cycle, NodeSlim, NodeSummary, PodSlim, PodState, QueueStatus, ReplicaSlim,
 *   Resources, Slim, View } from "../lib/types.d.ts"
 */
import { cpuMilli, memoryBytes, parseQuantity } from "../lib/quantity.js";

/** @type {ReadonlyMap<string, Slim>} */
const NOTHING = new Map();

export const ZONE_LABEL = "topology.kubernetes.io/zone";
/** What the zone's label was called before Kubernetes 1.17; nodes of old clusters have it alone. */
const ZONE_LABEL_BETA = "failure-domain.beta.kubernetes.io/zone";

/**
 * @param {Slim} node
 * @returns {string} "" where it says none
 */
export function zoneOf(node) {
  return node.metadata.labels?.[ZONE_LABEL] ?? node.metadata.labels?.[ZONE_LABEL_BETA] ?? "";
}
export const GPU_RESOURCE = "nvidia.com/gpu";

/**
 * The map of one resource; the same empty map when there is none.
 * @param {View} view
 * @param {string} resource
 * @returns {ReadonlyMap<string, Slim>}
 */
export function objectsOf(view, resource) {
  return view.objects.get(resource) ?? NOTHING;
}

/**
 * @param {View} view
 * @param {string} resource
 * @param {string} key
 * @returns {Slim | null}
 */
export function objectAt(view, resource, key) {
  return objectsOf(view, resource).get(key) ?? null;
}

/**
 * Whether an object has all labels that are wanted; where none is, nothing is selected.
 * @param {Slim} object
 * @param {Record<string, string> | undefined} wanted
 */
export function hasLabels({ metadata: { labels = {} } }, wanted) {
  const pairs = Object.entries(wanted ?? {});
  return pairs.length > 0 && pairs.every(([key, value]) => labels[key] === value);
}

/**
 * A function of one or two maps that answers from memory while both are the same objects.
 * @template {object} A
 * @template {object} B
 * @template R
 * @param {(a: A, b: B) => R} compute
 * @returns {(a: A, b: B) => R}
 */
export function remembered(compute) {
  /** @type {WeakMap<A, WeakMap<B, {value: R}>>} */
  const memory = new WeakMap();
  return (a, b) => {
    let byB = memory.get(a);
    if (!byB) memory.set(a, (byB = new WeakMap()));
    let cell = byB.get(b);
    if (!cell) byB.set(b, (cell = { value: compute(a, b) }));
    return cell.value;
  };
}

/**
 * Names in the order people count in: n2 before n10.
 * @param {string} a
 * @param {string} b
 */
export function compareNames(a, b) {
  return COLLATOR.compare(a, b);
}
const COLLATOR = new Intl.Collator("en", { numeric: true });

const podsByNodeOf = remembered((/** @type {ReadonlyMap<string, Slim>} */ pods, /** @type {object} */ _none) => {
  /** @type {Map<string, PodSlim[]>} */
  const byNode = new Map();
  for (const pod of /** @type {Iterable<PodSlim>} */ (pods.values())) {
    const name = pod.spec?.nodeName ?? "";
    const list = byNode.get(name);
    if (list) list.push(pod);
    else byNode.set(name, [pod]);
  }
  return byNode;
});

/**
 * Pods by node name; those without a node under "".
 * @param {View} view
 * @returns {ReadonlyMap<string, PodSlim[]>}
 */
export function podsByNode(view) {
  return podsByNodeOf(objectsOf(view, "pods"), NOTHING);
}

const nodesOf = remembered(
  (/** @type {ReadonlyMap<string, Slim>} */ nodes, /** @type {ReadonlyMap<string, Slim>} */ pods) => {
    const byNode = podsByNodeOf(pods, NOTHING);
    const list = /** @type {NodeSlim[]} */ ([...nodes.values()]);
    list.sort((a, b) => compareNames(a.metadata.name, b.metadata.name));
    return list.map((node) => summarise(node, byNode.get(node.metadata.name) ?? []));
  },
);

/**
 * All nodes in natural order of name, with what their pods request.
 * @param {View} view
 * @returns {readonly NodeSummary[]}
 */
export function nodes(view) {
  return nodesOf(objectsOf(view, "nodes"), objectsOf(view, "pods"));
}

const zonesOf = remembered(
  (/** @type {ReadonlyMap<string, Slim>} */ nodeMap, /** @type {ReadonlyMap<string, Slim>} */ pods) => {
    /** @type {Map<string, NodeSummary[]>} */
    const byZone = new Map();
    for (const node of nodesOf(nodeMap, pods)) {
      const list = byZone.get(node.zone);
      if (list) list.push(node);
      else byZone.set(node.zone, [node]);
    }
    return [...byZone]
      .sort(([a], [b]) => Number(a === "") - Number(b === "") || compareNames(a, b))
      .map(([name, members]) => ({ name, nodes: members }));
  },
);

/**
 * Nodes grouped by the zone label, in order of name; nodes without one come last under "".
 * @param {View} view
 * @returns {readonly {name: string, nodes: readonly NodeSummary[]}[]}
 */
export function zones(view) {
  return zonesOf(objectsOf(view, "nodes"), objectsOf(view, "pods"));
}

/**
 * @param {NodeSlim} node
 * @param {readonly PodSlim[]} pods
 * @returns {NodeSummary}
 */
function summarise(node, pods) {
  const counted = pods.filter((pod) => !isTerminal(pod));
  return {
    name: node.metadata.name,
    key: node.metadata.name,
    zone: zoneOf(node),
    ready: conditionOf(node.status?.conditions, "Ready")?.status === "True",
    unschedulable: Boolean(node.spec?.unschedulable),
    taints: node.spec?.taints ?? [],
    allocatable: resourcesOf(node.status?.allocatable ?? {}),
    requested: counted.map(podRequests).reduce(addResources, { ...NO_RESOURCES, pods: 0 }),
    pods,
    node,
  };
}

/** @type {Resources} */
const NO_RESOURCES = { cpuMilli: 0, memoryBytes: 0, pods: 0, extended: {} };

/** @type {WeakMap<PodSlim, Resources>} */
const requestsMemory = new WeakMap();

/**
 * What the scheduler counts for a pod: its containers and sidecars, or its largest init container with the sidecars
 * started before it where that is more, and the overhead.
 * @param {PodSlim} pod
 * @returns {Resources}
 */
export function podRequests(pod) {
  const known = requestsMemory.get(pod);
  if (known) return known;
  const counted = { ...(pod.counts ? resourcesOf(pod.counts) : requestsOf(pod)), pods: 1 };
  requestsMemory.set(pod, counted);
  return counted;
}

/**
 * @param {PodSlim} pod
 * @returns {Resources}
 */
function requestsOf(pod) {
  const read = (/** @type {Container} */ container) => resourcesOf(container.resources?.requests ?? {});
  let sum = (pod.spec?.containers ?? []).map(read).reduce(addResources, NO_RESOURCES);
  let sidecars = NO_RESOURCES;
  let largest = NO_RESOURCES;
  for (const init of pod.spec?.initContainers ?? []) {
    if (init.restartPolicy === "Always") {
      sum = addResources(sum, read(init));
      sidecars = addResources(sidecars, read(init));
      largest = maxResources(largest, sidecars);
    } else largest = maxResources(largest, addResources(sidecars, read(init)));
  }
  return addResources(maxResources(sum, largest), resourcesOf(pod.spec?.overhead ?? {}));
}

/**
 * @param {Record<string, string>} list a Kubernetes ResourceList
 * @returns {Resources}
 */
export function resourcesOf(list) {
  /** @type {Record<string, number>} */
  const extended = {};
  for (const [name, quantity] of Object.entries(list))
    if (name.includes("/")) extended[name] = parseQuantity(quantity) || 0;
  return {
    cpuMilli: cpuMilli(list["cpu"]),
    memoryBytes: memoryBytes(list["memory"]),
    pods: parseQuantity(list["pods"] ?? "0") || 0,
    extended,
  };
}

/** @type {(a: Resources, b: Resources) => Resources} */
const addResources = (a, b) => combine(a, b, (x, y) => x + y);
/** @type {(a: Resources, b: Resources) => Resources} */
const maxResources = (a, b) => combine(a, b, Math.max);

/**
 * @param {Resources} a
 * @param {Resources} b
 * @param {(x: number, y: number) => number} join
 * @returns {Resources}
 */
function combine(a, b, join) {
  /** @type {Record<string, number>} */
  const extended = { ...a.extended };
  for (const [name, value] of Object.entries(b.extended)) extended[name] = join(extended[name] ?? 0, value);
  return {
    cpuMilli: join(a.cpuMilli, b.cpuMilli),
    memoryBytes: join(a.memoryBytes, b.memoryBytes),
    pods: join(a.pods, b.pods),
    extended,
  };
}

/**
 * @param {readonly Condition[] | undefined} conditions
 * @param {string} type
 */
export function conditionOf(conditions, type) {
  return conditions?.find((condition) => condition.type === type);
}

/** @param {PodSlim} pod */
export function isTerminal(pod) {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

const replicasOf = remembered((/** @type {ReadonlyMap<string, Slim>} */ map, /** @type {object} */ _none) => {
  const list = /** @type {ReplicaSlim[]} */ ([...map.values()]);
  return list.sort((a, b) => compareNames(a.metadata.name, b.metadata.name));
});

/**
 * Replicas of one component, or of all, in order of name.
 * @param {View} view
 * @param {ReplicaSlim["spec"]["component"]} [component]
 * @returns {readonly ReplicaSlim[]}
 */
export function replicas(view, component) {
  const all = replicasOf(objectsOf(view, "replicas.clustersim.io"), NOTHING);
  return component ? all.filter((replica) => replica.spec?.component === component) : all;
}

/**
 * The replica that leads and knows it; null between two terms.
 * @param {View} view
 * @param {ReplicaSlim["spec"]["component"]} component
 */
export function leader(view, component) {
  return replicas(view, component).find((r) => r.status?.leading && r.status?.state !== "Crashed") ?? null;
}

/**
 * A replica's lease as far as this page can tell. Its status is written when the election moves; the renewals in
 * between are in the Lease, so the later of both counts.
 * @param {View} view
 * @param {ReplicaSlim} replica
 * @returns {{holder: string, renewedAtMs: number, observedAtMs: number, durationMs: number} | null}
 */
export function leaseSeen(view, replica) {
  const told = replica.status?.lease;
  if (!told) return null;
  const lease = objectAt(view, "leases.coordination.k8s.io", `kube-system/${replica.spec?.component}`);
  const renewTime = Date.parse(lease?.spec?.["renewTime"] ?? "");
  if (Number.isNaN(renewTime) || lease?.spec?.["holderIdentity"] !== told.holder) return told;
  const atMs = renewTime - view.epochMs;
  return {
    ...told, renewedAtMs: Math.max(told.renewedAtMs, atMs), observedAtMs: Math.max(told.observedAtMs, atMs),
  };
}

/** @type {Readonly<Record<string, number>>} */
const NO_HUES = {};

/**
 * Numbers of the hues that plugins are drawn in, as the server gave them.
 * @param {View} view
 * @returns {Readonly<Record<string, number>>}
 */
export function pluginHues(view) {
  return objectAt(view, "schedulerconfigs.clustersim.io", "default")?.["hues"] ?? NO_HUES;
}

/** @type {QueueStatus} */
const EMPTY_QUEUE = { active: [], backoff: [], unschedulable: [], gated: [], waiting: [], binding: [], assumed: [], counts: {} };

/** Lists of a queue in which no pod waits that has a node. */
const WAITING = /** @type {const} */ (["active", "backoff", "unschedulable"]);

/**
 * The queue of the leading scheduler; an empty one while nobody leads. It is written a moment after a pod was bound, and where
 * time stands in that moment it never is: who has a node waits for none.
 * @param {View} view
 * @returns {QueueStatus}
 */
export function queueOfLeader(view) {
  const leading = leader(view, "kube-scheduler");
  const status = leading && objectAt(view, "queues.clustersim.io", leading.metadata.name)?.status;
  if (!status) return EMPTY_QUEUE;
  /** @type {QueueStatus} */
  const queue = { ...EMPTY_QUEUE, ...status };
  for (const name of WAITING) {
    const waits = /** @type {any[]} */ (queue[name]).filter(({ pod }) => !objectAt(view, "pods", pod)?.spec?.["nodeName"]);
    const gone = queue[name].length - waits.length;
    if (gone === 0) continue;
    queue[name] = waits;
    queue.counts = { ...queue.counts, [name]: Math.max(waits.length, (queue.counts[name] ?? 0) - gone) };
  }
  return queue;
}

/**
 * The scheduling cycle that is held or paced now as its replica's status tells it, with or without its trace.
 * @param {View} view
 * @returns {{replica: ReplicaSlim, cycle: Cycle} | null}
 */
export function cycleInHand(view) {
  for (const replica of replicas(view, "kube-scheduler")) {
    const cycle = replica.status?.cycle;
    if (cycle && replica.status.state !== "Crashed") return { replica, cycle };
  }
  return null;
}

const withTrace = remembered((/** @type {Cycle} */ cycle, /** @type {NonNullable<View["hand"]>} */ hand) => ({
  ...cycle, trace: hand.trace,
}));

/** @type {NonNullable<View["hand"]>} */
const NOTHING_FOUND = { id: "", point: "", trace: {} };

/**
 * The cycle in hand with what it has found so far. While its trace is still on the way there is none: better no
 * picture for a moment than one that says no node was feasible.
 * @param {View} view
 * @returns {{replica: ReplicaSlim, cycle: Cycle} | null}
 */
export function cycleUnderWay(view) {
  const inHand = cycleInHand(view);
  if (!inHand || inHand.cycle.trace) return inHand;
  // Sealed by a poll: where it stands is told, and nothing that it found.
  if (!inHand.cycle.traceId) return { replica: inHand.replica, cycle: withTrace(inHand.cycle, NOTHING_FOUND) };
  const { hand } = view;
  if (hand?.id !== inHand.cycle.traceId) return null;
  return { replica: inHand.replica, cycle: withTrace(inHand.cycle, hand) };
}

/**
 * The state a pod is drawn in. `assumed` names pods whose binding is under way (queue status `binding`, `waiting`).
 * @param {PodSlim} pod
 * @param {ReadonlySet<string>} [assumed] keys of assumed pods
 * @returns {PodState}
 */
export function podState(pod, assumed) {
  if (pod.metadata.deletionTimestamp) return "terminating";
  const phase = pod.status?.phase ?? "Pending";
  if (phase === "Failed") return "failed";
  if (phase === "Succeeded") return "succeeded";
  if (phase === "Running") return "running";
  if (!pod.spec?.nodeName) {
    if (assumed?.has(`${pod.metadata.namespace}/${pod.metadata.name}`)) return "assumed";
    if ((pod.spec?.schedulingGates ?? []).length > 0) return "gated";
    if (pod.status?.nominatedNodeName) return "nominated";
    return "queued";
  }
  const waiting = (pod.status?.containerStatuses ?? []).some((status) => status.state?.waiting);
  return waiting ? "pulling" : "bound";
}

/**
 * The name of what made a pod: its Deployment where a ReplicaSet stands between, else its owner, else itself.
 * @param {View} view
 * @param {PodSlim} pod
 * @returns {{kind: string, name: string}}
 */
export function ownerOf(view, pod) {
  const direct = pod.metadata.ownerReferences?.find((reference) => reference.controller);
  if (!direct) return { kind: "Pod", name: pod.metadata.labels?.["app"] ?? pod.metadata.name };
  if (direct.kind === "ReplicaSet") {
    const set = objectAt(view, "replicasets.apps", `${pod.metadata.namespace}/${direct.name}`);
    const above = set?.metadata.ownerReferences?.find((reference) => reference.controller);
    if (above) return { kind: above.kind, name: above.name };
  }
  return { kind: direct.kind, name: direct.name };
}

export const CREATED_BY = "clustersim.io/created-by";

/**
 * The participant who created an object; null for what controllers made.
 * @param {View} view
 * @param {Slim} object
 */
export function authorOf(view, object) {
  const slug = object.metadata.annotations?.[CREATED_BY];
  if (!slug) return null;
  return view.people.find((person) => person.slug === slug) ?? { id: "", slug, name: slug, namespace: "", color: 1, role: "student", online: false };
}
