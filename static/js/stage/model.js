/**
 * What the stage draws, reckoned from the folded view: nodes with their pods as glyphs, what they hold and what is
 * assumed on them. Pure. Nodes whose pods did not change keep their identity, so that only changed tiles are redrawn.
 */

/** @import { NodeSlim, PodSlim, PodState, QueueStatus, Taint, Ui, View } from "../lib/types.d.ts" */
/** @import { Trouble } from "../state/eviction.js" */
/** @import { Rollout } from "../state/rollouts.js" */
/** @import { Difference, Mark } from "./difference.js" */
/** @import { Group } from "../state/groups.js" */
/** @import { Wait } from "../state/waits.js" */
import { isOld, rolloutsOf, templatesMaker } from "../state/rollouts.js";
import {
  cycleUnderWay, isTerminal, leader, objectAt, objectsOf, podRequests, podState, queueOfLeader, remembered,
} from "../state/selectors.js";
import { unmounted as unmountedIn, waitOf } from "../state/waits.js";
import { fullKey, saidKey, saidName } from "../state/people.js";
import { groupOf, sortedGroups } from "../state/groups.js";
import { unseenPods } from "./lanes-model.js";
import { nodeModels, redraw, zonesOf } from "./node-model.js";

/**
 * @typedef {object} Glyph one pod as it is drawn
 * @property {string} key namespace/name
 * @property {string} name
 * @property {string} label name without the hash that a Deployment puts into it; a student's with initials and namespace
 * @property {string} spoken the same in full, where pods of all namespaces are read out
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
 * @property {Wait | null} waits why it does not run yet
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
 * @property {{cpu: number, memory: number} | null} usage what its running pods and the node itself use on average, millicores
 *   and bytes; null where nobody tells it
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
 * @property {readonly Glyph[]} fresh those of them that the model before did not have
 * @property {(key: string) => string} say a pod's name as it is said, whether it is still there or not
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
  /** @type {{inputs: unknown[], model: Model, told: ReadonlySet<string>, ghosts: ReadonlyMap<string, readonly Glyph[]>, unmounted: ReadonlyMap<string, string>} | null} `told`: pods that the scheduler says more of than they themselves */
  let last = null;

  return (view, ui) => {
    const queue = queueOfLeader(view);
    const templates = readTemplates(view);
    const who = whoIs(view.people, NOTHING);
    const unmounted = kept(unmountedIn(view), last?.unmounted);
    const inputs = [
      objectsOf(view, "pods"), objectsOf(view, "nodes"),
      objectsOf(view, "queues.clustersim.io"), objectsOf(view, "replicas.clustersim.io"), ui.colourBy, who, templates, unmounted,
    ];
    if (last && inputs.every((input, index) => input === last?.inputs[index])) return last.model;
    const before = last && last.inputs[4] === ui.colourBy && last.inputs[5] === who ? last : null;
    if (!before) groups = new Map();
    const { assumed, taken } = takenIn(view, queue);
    const fates = fatesOf(view);
    /** @type {(pod: PodSlim, key: string) => Glyph} */
    const draw = (pod, key) => {
      const place = { key, state: fates.get(key) ?? stateOf(pod, assumed.has(key)), node: pod.spec?.nodeName || assumed.get(key) || "",
        old: isOld(templates, pod), waits: waitOf(pod, unmounted.get(key)) };
      const glyph = before?.model.pods.get(key);
      const same = glyph?.pod === pod && glyph.state === place.state && glyph.node === place.node && glyph.old === place.old
        && glyph.waits?.message === place.waits?.message;
      return same ? glyph : makeGlyph(view, pod, place, ui.colourBy, groups);
    };
    const pods = /** @type {ReadonlyMap<string, PodSlim>} */ (objectsOf(view, "pods"));
    const told = new Set([...assumed.keys(), ...fates.keys(), ...unmounted.keys()]);
    const asked = templates === before?.inputs[6] ? new Set([...told, ...before.told]) : null;
    const drawn = redraw(pods, before?.model.pods ?? NO_GLYPHS, asked, draw);
    const ghosts = ghostsOf(drawn.waiting);
    for (const name of [...ghosts.keys(), ...(before?.ghosts.keys() ?? [])]) drawn.touched.add(name);
    const nodeMap = /** @type {ReadonlyMap<string, NodeSlim>} */ (objectsOf(view, "nodes"));
    const nodes = nodeModels(nodeMap, before?.model.nodes ?? NO_NODES, drawn, ghosts, view.epochMs);
    const unseen = unseenPods(drawn.waiting.flatMap(({ pod }) => (pod && !isTerminal(pod) ? pod : [])), queue, taken, queueRevision(view));
    const model = { nodes, zones: zonesOf(nodes), pods: drawn.glyphs, fresh: drawn.fresh,
      say: sayer(view, drawn.glyphs), groups: sortedGroups(groups, drawn.glyphs), queue, unseen,
      // Most of the time no pod is of an older template, and there is nothing to count.
      rollouts: drawn.aged ? rolloutsOf(templates, pods.values()) : [] };
    last = { inputs, model, told, ghosts, unmounted };
    return model;
  };
}

/** @type {ReadonlyMap<string, Glyph>} */
const NO_GLYPHS = new Map();
/** @type {ReadonlyMap<string, NodeModel>} */
const NO_NODES = new Map();

/**
 * The map before, where the new one holds the same.
 * @param {ReadonlyMap<string, string>} now
 * @param {ReadonlyMap<string, string>} [before]
 */
function kept(now, before) {
  return before && before.size === now.size && [...now].every(([key, value]) => before.get(key) === value) ? before : now;
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
 * @param {{key: string, state: PodState | Fate, node: string, old: boolean, waits: Wait | null}} place
 * @param {Ui["colourBy"]} colourBy
 * @param {Map<string, Group>} groups
 * @returns {Glyph}
 */
function makeGlyph(view, pod, { key, state, node, old, waits }, colourBy, groups) {
  const requests = podRequests(pod);
  const group = groupOf(view, pod, colourBy, groups);
  const deleted = pod.metadata.deletionTimestamp;
  return {
    key,
    name: pod.metadata.name,
    label: saidName(view, pod.metadata.namespace, shortName(pod)),
    spoken: fullKey(view, key),
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
    waits,
    pod,
  };
}

/**
 * Made apart from the model, whose maker knows the model before: one that kept it would keep all there ever were.
 * @param {View} view
 * @param {ReadonlyMap<string, Glyph>} glyphs
 * @returns {Model["say"]}
 */
function sayer(view, glyphs) {
  return (key) => glyphs.get(key)?.label ?? saidKey(view, key);
}

/**
 * A pod's name as people say it: without the hash that a Deployment's ReplicaSet puts into it.
 * @param {{metadata: {name: string, labels?: Record<string, string>}}} pod
 */
export function shortName(pod) {
  const hash = pod.metadata.labels?.["pod-template-hash"];
  return hash ? pod.metadata.name.replace(`-${hash}`, "") : pod.metadata.name;
}
