/** What a trial starts from and what it asks for. Pure. */

/** @import { Change, PodSlim, Trace, View, WeightsAlone } from "../lib/types.d.ts" */
import { objectAt, objectsOf } from "../state/selectors.js";

/**
 * What a person has asked for beside the attempt as it was; "" and absent: as it was.
 * @typedef {object} Wanted
 * @property {Readonly<Record<string, number>>} weights by plugin
 * @property {string} disable
 * @property {string} cpu
 * @property {string} memory
 * @property {string} era of the scheduler; its plugins are others, so weights and what is disabled say nothing there
 * @property {string} like the node that one more is to be like
 */

/** @type {Wanted} */
export const UNCHANGED = { weights: {}, disable: "", cpu: "", memory: "", era: "", like: "" };

/** What a weight is thought to be, as the server tells of each: from 0 on, one after another. */
export const WEIGHT_STEPS = [0, 1, 2, 3, 4, 5];

/** The deepest heat is at least so many decisions: one of forty is not shown as much. */
const HOTTEST_LEAST = 5;

/** Nodes offered to add one like them: more than a list shows, fewer than one scrolls through. */
const LIKE_MAX = 50;

/**
 * The plugins of the profile that decided, each with the weight that it had then; 0 for those that do not score.
 * @param {View} view
 * @param {Trace} trace
 * @returns {{name: string, weight: number}[]}
 */
export function pluginsOf(view, trace) {
  const profiles = objectAt(view, "schedulerconfigs.clustersim.io", "default")?.status?.["profiles"] ?? [];
  const profile = profiles.find((/** @type {any} */ one) => one.schedulerName === trace.profile);
  const scored = trace.result.scores?.plugins ?? {};
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const { name, weight, points } of profile?.plugins ?? [])
    found.set(name, points.includes("score") ? (weight || 1) : 0);
  for (const [name, { normalized, weighted }] of Object.entries(scored)) {
    const at = normalized.findIndex((value) => value > 0);
    const counted = at < 0 ? undefined : (weighted[at] ?? 0) / (normalized[at] ?? 1);
    if (counted !== undefined) found.set(name, Math.round(counted));
    else if (!found.has(name)) found.set(name, 1);
  }
  return [...found].map(([name, weight]) => ({ name, weight }));
}

/** @param {View} view */
export function likeNodes(view) {
  return [...objectsOf(view, "nodes").keys()].sort().slice(0, LIKE_MAX);
}

/**
 * @param {Wanted} wanted
 * @param {readonly {name: string, weight: number}[]} plugins
 * @param {View} view
 * @returns {Change[]}
 */
export function changesOf(wanted, plugins, view) {
  /** @type {Change[]} */
  const changes = [];
  if (wanted.era) changes.push({ scheduler: { era: wanted.era } });
  else for (const { name, weight } of plugins) {
    const now = wanted.weights[name];
    if (now !== undefined && now !== weight && name !== wanted.disable) changes.push({ weight: { plugin: name, weight: now } });
  }
  if (wanted.disable && !wanted.era) changes.push({ disable: wanted.disable });
  const request = Object.fromEntries(Object.entries({ cpu: wanted.cpu, memory: wanted.memory }).filter(([, value]) => value));
  if (Object.keys(request).length) changes.push({ request });
  const like = wanted.like && objectAt(view, "nodes", wanted.like);
  if (like) changes.push({ add: oneMore(like, freeName(view)) });
  return changes;
}

/** @param {View} view */
function freeName(view) {
  for (let number = 1; ; number += 1) if (!objectAt(view, "nodes", `one-more-${number}`)) return `one-more-${number}`;
}

/**
 * @param {import("../lib/types.d.ts").Slim} node
 * @param {string} name
 */
function oneMore(node, name) {
  const taints = (node.spec?.["taints"] ?? []).filter((/** @type {{key: string}} */ taint) => !taint.key.startsWith("node.kubernetes.io/"));
  const amounts = { ...node.status?.["allocatable"] };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { ...node.metadata.labels, "kubernetes.io/hostname": name } },
    spec: taints.length ? { taints } : {},
    status: { capacity: amounts, allocatable: amounts },
  };
}

/**
 * How many decisions each weight of a plugin would have moved, and the step of heat that says so: none for none, the
 * deepest for the most that any plugin's weight would have moved. None where no decision was asked of this plugin; where no
 * decision had scores, no weight would have moved any.
 * @param {WeightsAlone} told
 * @param {string} plugin
 * @returns {{elsewhere: number, decided: number, heat: number}[]}
 */
export function aloneOf({ plugins, decided = 0 }, plugin) {
  if (plugins.length === 0 && decided > 0) return WEIGHT_STEPS.map(() => ({ elsewhere: 0, decided, heat: 0 }));
  const row = plugins.find((one) => one.plugin === plugin);
  if (!row) return [];
  const most = Math.max(HOTTEST_LEAST, ...plugins.flatMap((one) => one.elsewhere));
  return row.elsewhere.map((elsewhere) => ({
    elsewhere, decided: row.decided, heat: Math.ceil((elsewhere / most) * (WEIGHT_STEPS.length - 1)),
  }));
}

/**
 * By how much the winner leads, null where nobody was second.
 * @param {Trace} trace
 */
export function lead(trace) {
  const totals = [...(trace.result.scores?.total ?? [])].sort((a, b) => b - a);
  return totals.length < 2 ? null : (totals[0] ?? 0) - (totals[1] ?? 0);
}

/**
 * What a pod asks for now, where one container tells it: what another request is measured by.
 * @param {PodSlim} pod
 * @returns {{cpu: string, memory: string}}
 */
export function askedBy(pod) {
  const containers = pod.spec?.containers ?? [];
  const requests = containers.length === 1 ? containers[0]?.resources?.requests ?? {} : {};
  return { cpu: String(requests.cpu ?? "500m"), memory: String(requests.memory ?? "1Gi") };
}
