/**
 * What the stage draws, reckoned from the folded view: nodes with their pods as glyphs, what they hold and what is
 * assumed on them. Pure. Nodes whose pods did not change keep their identity, so that only changed tiles are redrawn.
 */

/** @import { NodeSlim, PodSlim, PodState, QueueStatus, Taint, Ui, View } from "../lib/types.d.ts" */
/** @import { Trouble } from "../state/eviction.js" */
/** @import { Rollout, Templates } from "../state/rollouts.js" */
/** @import { Difference, Mark } from "./difference.js" */
/** @import { Group } from "./groups.js" */
import { troubleOf } from "../state/eviction.js";
import { isOld, rolloutsOf, templatesMaker } from "../state/rollouts.js";
import {
  GPU_RESOURCE, compareNames, conditionOf, cycleUnderWay, isTerminal, leader, objectAt, objectsOf,
  podRequests, podState, queueOfLeader, remembered, resourcesOf, zoneOf,
} from "../state/selectors.js";
import { saidName } from "../state/people.js";
import { groupOf, sortedGroups } from "./groups.js";
import { unseenPods } from "./lanes-model.js";

/**
 * @typedef {object} Glyph one pod as it is drawn
 * @property {string} key namespace/name
 * @property {string} name
 * @property {string} label name without the hash that a Deployment puts into it; a student's with initials and namespace
 * @property {string} uid
 * @property {PodState | Fate} state
 * @property {number} hue 0-based owner hue
 * @property {boolean} ring whether the hue is used a second time
 * @property {string} group what the hue stands for: an owner, a priority or a person
 * @property {number} priority
 * @property {number} cpuMilli
 * @property {number} memoryBytes
 * @property {string} node where it is drawn: bound or assumed; "" in a lane
 * @property {number | null} endsAtMs simulated time at which a terminating pod is gone
 * @property {boolean} ghost a nominated pod, drawn on a node that it is not on and takes nothing of
 * @property {Mark} [mark] what became of it since a held moment
 * @property {boolean} old made of a template that has been replaced since
 * @property {PodSlim | null} pod
 */

/**
 * @typedef {{resource: string, name: string, used: number, max: number}} ExtendedUse `name`: as short as it is said ("gpu");
 *   `used`: requested by the node's pods; `max`: allocatable; whole units
 */

/** @typedef {"victim" | "reprieved"} Fate what a preemption would make of a pod */

/**
 * @typedef {object} NodeModel
 * @property {string} name
 * @property {string} zone
 * @property {boolean} ready
 * @property {boolean} unschedulable
 * @property {readonly Taint[]} taints
 * @property {string} size "4 CPU · 8 Gi"
 * @property {number} cpuMilli allocatable
 * @property {number} memoryBytes allocatable
 * @property {number} podsMax allocatable
 * @property {readonly ExtendedUse[]} extended GPUs and whatever else a node counts, in order of name
 * @property {number} cpuUsed requested by its pods, assumed ones too; millicores
 * @property {number} memoryUsed bytes
 * @property {readonly Glyph[]} glyphs its pods, then the ghosts of those nominated to it
 * @property {number} podCount without the ghosts
 * @property {Trouble | null} trouble null: it is well
 * @property {Difference} [difference] what happened on it since a held moment
 * @property {NodeSlim} node
 */

/**
 * @typedef {object} Model
 * @property {ReadonlyMap<string, NodeModel>} nodes
 * @property {readonly {name: string, nodes: readonly string[], pods: number}[]} zones
 * @property {ReadonlyMap<string, Glyph>} pods by key
 * @property {readonly Group[]} groups
 * @property {QueueStatus} queue
 * @property {readonly Rollout[]} rollouts workloads with pods of two templates
 * @property {readonly PodSlim[]} unseen pending pods that no queue has taken in yet
 */

/**
 * A function from view to model that remembers what it made last.
 * @returns {(view: View, ui: Ui) => Model}
 */
export function modelMaker() {
  const readTemplates = templatesMaker();
  /** @type {Map<string, Group>} */
  let groups = new Map();
  let colourBy = "";
  let known = "";
  /** @type {Map<string, NodeModel>} */
  let lastNodes = new Map();
  /** @type {WeakMap<PodSlim, {state: string, glyph: Glyph, templates: Templates}>} */
  let glyphs = new WeakMap();
  /** @type {{inputs: unknown[], model: Model} | null} */
  let last = null;

  return (view, ui) => {
    const queue = queueOfLeader(view);
    const templates = readTemplates(view);
    const inputs = [
      objectsOf(view, "pods"), objectsOf(view, "nodes"),
      objectsOf(view, "queues.clustersim.io"), objectsOf(view, "replicas.clustersim.io"), ui.colourBy,
      whoIs(view.people, NOTHING), templates,
    ];
    if (last && inputs.every((input, index) => input === last?.inputs[index])) return last.model;
    const who = whoIs(view.people, NOTHING);
    if (ui.colourBy !== colourBy || who !== known) {
      colourBy = ui.colourBy;
      known = who;
      groups = new Map();
      glyphs = new WeakMap();
      lastNodes = new Map();
    }
    const { assumed, taken } = takenIn(view, queue);
    const fates = fatesOf(view);
    const byNode = groupPods(view, assumed);
    const podMap = new Map();
    let aged = false;
    const glyphOf = (/** @type {PodSlim} */ pod) => {
      const drawn = glyphs.get(pod);
      const key = drawn?.glyph.key ?? `${pod.metadata.namespace}/${pod.metadata.name}`;
      const state = fates.get(key) ?? stateOf(pod, assumed.has(key));
      const node = pod.spec?.nodeName || assumed.get(key) || "";
      const old = drawn?.templates === templates ? drawn.glyph.old : isOld(templates, pod);
      aged ||= old;
      const glyph = drawn?.state === state && drawn.glyph.node === node && drawn.glyph.old === old ? drawn.glyph
        : makeGlyph(view, pod, { key, state, node, old }, ui.colourBy, groups);
      if (glyph !== drawn?.glyph || drawn.templates !== templates) glyphs.set(pod, { state, glyph, templates });
      podMap.set(key, glyph);
      return glyph;
    };
    const waiting = byNode.get("") ?? [];
    const ghosts = ghostsOf(waiting.map(glyphOf));
    const nodes = new Map();
    const nodeList = /** @type {NodeSlim[]} */ ([...objectsOf(view, "nodes").values()]);
    nodeList.sort((a, b) => compareNames(a.metadata.name, b.metadata.name));
    for (const node of nodeList) {
      const name = node.metadata.name;
      const own = (byNode.get(name) ?? []).map(glyphOf);
      nodes.set(name, nodeModel(node, own, ghosts.get(name) ?? [], lastNodes.get(name), view.epochMs));
    }
    const unseen = unseenPods(waiting.filter((pod) => !isTerminal(pod)), queue, taken, queueRevision(view));
    lastNodes = nodes;
    const model = { nodes, zones: zonesOf(nodes), pods: podMap, groups: sortedGroups(groups, podMap), queue, unseen,
      // Most of the time no pod is of an older template, and there is nothing to count.
      rollouts: aged ? rolloutsOf(templates, /** @type {Iterable<PodSlim>} */ (objectsOf(view, "pods").values())) : [] };
    last = { inputs, model };
    return model;
  };
}

/** Second key of answers that depend on one list alone. */
const NOTHING = {};

/** Who people are, as far as it is drawn: coming and going changes nothing. */
const whoIs = remembered((/** @type {View["people"]} */ people, /** @type {object} */ _none) =>
  people.map(({ slug, name, color, namespace }) => [slug, name, color, namespace].join(" ")).join("|"));

/**
 * The revision at which the leading scheduler wrote its queue; 0 while nobody leads.
 * @param {View} view
 */
function queueRevision(view) {
  const leading = leader(view, "kube-scheduler");
  const queue = leading && objectAt(view, "queues.clustersim.io", leading.metadata.name);
  return Number(queue?.metadata.resourceVersion ?? 0);
}

/**
 * Pods that the scheduler has taken in: where they are assumed, and the uids that some queue, the hand or a binding
 * knows of.
 * @param {View} view
 * @param {QueueStatus} queue
 */
function takenIn(view, queue) {
  /** @type {Map<string, string>} */
  const assumed = new Map();
  /** @type {Set<string>} */
  const taken = new Set();
  for (const list of [queue.active, queue.backoff, queue.unschedulable, queue.gated])
    for (const entry of list) taken.add(entry.uid);
  for (const entry of [...queue.waiting, ...queue.binding]) {
    taken.add(entry.uid);
    assumed.set(entry.pod, entry.node);
  }
  const under = cycleUnderWay(view);
  if (under) {
    taken.add(under.cycle.uid);
    const chosen = under.cycle.trace?.chosen;
    if (chosen && AFTER_RESERVE.has(under.cycle.point)) assumed.set(under.cycle.pod, chosen);
  }
  return { assumed, taken };
}

/** @type {WeakMap<Glyph, Glyph>} */
const ghostMemory = new WeakMap();

/**
 * Nominated pods by the node that they wait for.
 * @param {readonly Glyph[]} waiting pods without a node
 * @returns {ReadonlyMap<string, Glyph[]>}
 */
function ghostsOf(waiting) {
  /** @type {Map<string, Glyph[]>} */
  const byNode = new Map();
  for (const glyph of waiting) {
    const node = glyph.state === "nominated" ? glyph.pod?.status?.nominatedNodeName ?? "" : "";
    if (!node) continue;
    let ghost = ghostMemory.get(glyph);
    if (!ghost) ghostMemory.set(glyph, (ghost = { ...glyph, ghost: true }));
    const list = byNode.get(node);
    if (list) list.push(ghost);
    else byNode.set(node, [ghost]);
  }
  return byNode;
}

const AFTER_RESERVE = new Set(["Reserve", "Permit", "PreBind", "Bind", "PostBind"]);

/**
 * What the preemption of the cycle under way would make of pods, on every node that it could choose: who has to leave
 * and, where its account tells, who may stay.
 * @param {View} view
 * @returns {ReadonlyMap<string, Fate>} by key
 */
function fatesOf(view) {
  /** @type {Map<string, Fate>} */
  const fates = new Map();
  const trace = cycleUnderWay(view)?.cycle.trace;
  for (const candidate of trace?.explanation?.preemption?.candidates ?? [])
    for (const { pod, fate } of candidate.fates) fates.set(pod, fate);
  for (const candidate of Object.values(trace?.preemption?.candidates ?? {}))
    for (const pod of candidate.victims) fates.set(pod, "victim");
  return fates;
}

/**
 * @param {View} view
 * @param {ReadonlyMap<string, string>} assumed
 */
function groupPods(view, assumed) {
  /** @type {Map<string, PodSlim[]>} */
  const byNode = new Map();
  for (const pod of /** @type {Iterable<PodSlim>} */ (objectsOf(view, "pods").values())) {
    const name = pod.spec?.nodeName || assumed.get(`${pod.metadata.namespace}/${pod.metadata.name}`) || "";
    const list = byNode.get(name);
    if (list) list.push(pod);
    else byNode.set(name, [pod]);
  }
  return byNode;
}

/**
 * @param {PodSlim} pod
 * @param {boolean} isAssumed
 * @returns {PodState}
 */
function stateOf(pod, isAssumed) {
  const state = podState(pod);
  return isAssumed && !pod.spec?.nodeName && state !== "terminating" ? "assumed" : state;
}

/**
 * @param {View} view
 * @param {PodSlim} pod
 * @param {{key: string, state: PodState | Fate, node: string, old: boolean}} place
 * @param {Ui["colourBy"]} colourBy
 * @param {Map<string, Group>} groups
 * @returns {Glyph}
 */
function makeGlyph(view, pod, { key, state, node, old }, colourBy, groups) {
  const requests = podRequests(pod);
  const group = groupOf(view, pod, colourBy, groups);
  const deleted = pod.metadata.deletionTimestamp;
  return {
    key,
    name: pod.metadata.name,
    label: saidName(view, pod.metadata.namespace, shortName(pod)),
    uid: pod.metadata.uid ?? "",
    state,
    node,
    hue: group.hue,
    ring: group.ring,
    group: group.key,
    priority: pod.spec?.priority ?? 0,
    cpuMilli: requests.cpuMilli,
    memoryBytes: requests.memoryBytes,
    ghost: false,
    old,
    endsAtMs: deleted ? Date.parse(deleted) - view.epochMs : null,
    pod,
  };
}

/**
 * A pod's name as people say it: without the hash that a Deployment's ReplicaSet puts into it.
 * @param {{metadata: {name: string, labels?: Record<string, string>}}} pod
 */
export function shortName(pod) {
  const hash = pod.metadata.labels?.["pod-template-hash"];
  return hash ? pod.metadata.name.replace(`-${hash}`, "") : pod.metadata.name;
}

/**
 * @param {NodeSlim} node
 * @param {Glyph[]} own
 * @param {readonly Glyph[]} ghosts
 * @param {NodeModel | undefined} before
 * @param {number} epochMs
 * @returns {NodeModel}
 */
function nodeModel(node, own, ghosts, before, epochMs) {
  own.sort((a, b) => compareNames(a.pod?.metadata.creationTimestamp ?? "", b.pod?.metadata.creationTimestamp ?? "")
    || compareNames(a.name, b.name));
  const glyphs = [...own, ...ghosts];
  const same = before?.node === node && before.glyphs.length === glyphs.length
    && glyphs.every((glyph, index) => glyph === before.glyphs[index]);
  if (same && before) return before;
  const allocatable = resourcesOf(node.status?.allocatable ?? {});
  const counted = own.filter((glyph) => glyph.pod && !isTerminal(glyph.pod));
  const sum = (/** @type {(glyph: Glyph) => number} */ read) => counted.reduce((total, glyph) => total + read(glyph), 0);
  const extended = extendedOf(allocatable.extended, counted);
  return {
    name: node.metadata.name,
    zone: zoneOf(node),
    ready: conditionOf(node.status?.conditions, "Ready")?.status === "True",
    unschedulable: Boolean(node.spec?.unschedulable),
    taints: node.spec?.taints ?? [],
    size: sizeOf(allocatable.cpuMilli, allocatable.memoryBytes, allocatable.extended[GPU_RESOURCE] ?? 0),
    cpuMilli: allocatable.cpuMilli,
    memoryBytes: allocatable.memoryBytes,
    podsMax: allocatable.pods,
    extended,
    cpuUsed: sum((glyph) => glyph.cpuMilli),
    memoryUsed: sum((glyph) => glyph.memoryBytes),
    glyphs,
    podCount: own.length,
    trouble: troubleOf(node, own.flatMap(({ pod }) => pod ?? []), epochMs),
    node,
  };
}

/** @type {readonly ExtendedUse[]} */
const NOTHING_EXTENDED = [];

/**
 * @param {Readonly<Record<string, number>>} allocatable by resource
 * @param {readonly Glyph[]} pods that count
 * @returns {readonly ExtendedUse[]}
 */
function extendedOf(allocatable, pods) {
  const resources = Object.keys(allocatable).filter((resource) => (allocatable[resource] ?? 0) > 0).sort(compareNames);
  if (resources.length === 0) return NOTHING_EXTENDED;
  return resources.map((resource) => ({
    resource, name: resource.split("/").pop() ?? resource, max: allocatable[resource] ?? 0,
    used: pods.reduce((sum, { pod }) => sum + (pod ? podRequests(pod).extended[resource] ?? 0 : 0), 0),
  }));
}

/**
 * @param {number} cpuMilli
 * @param {number} memoryBytes
 * @param {number} gpus
 */
function sizeOf(cpuMilli, memoryBytes, gpus) {
  const cpu = `${Math.round(cpuMilli / 10) / 100} CPU`;
  const memory = `${Math.round((memoryBytes / 2 ** 30) * 10) / 10} Gi`;
  return gpus > 0 ? `${cpu} · ${gpus} GPU` : `${cpu} · ${memory}`;
}

/**
 * @param {ReadonlyMap<string, NodeModel>} nodes in order of name
 * @returns {Model["zones"]}
 */
export function zonesOf(nodes) {
  /** @type {Map<string, {name: string, nodes: string[], pods: number}>} */
  const byZone = new Map();
  for (const node of nodes.values()) {
    let zone = byZone.get(node.zone);
    if (!zone) byZone.set(node.zone, (zone = { name: node.zone, nodes: [], pods: 0 }));
    zone.nodes.push(node.name);
    zone.pods += node.podCount;
  }
  return [...byZone.values()].sort((a, b) => Number(a.name === "") - Number(b.name === "")
    || compareNames(a.name, b.name));
}
