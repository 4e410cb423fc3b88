/**
 * Nodes as they are drawn, made anew only where something of them changed: a message tells of a few pods among thousands,
 * and what it costs to draw follows those few. Pure.
 */

/** @import { NodeSlim, PodSlim } from "../lib/types.d.ts" */
/** @import { ExtendedUse, Glyph, Model, NodeModel } from "./model.js" */
import { troubleOf } from "../state/eviction.js";
import { GPU_RESOURCE, compareNames, conditionOf, isTerminal, podRequests, resourcesOf, zoneOf } from "../state/selectors.js";
import { usageOf } from "../state/usage.js";

/**
 * @typedef {object} Drawn
 * @property {ReadonlyMap<string, Glyph>} glyphs by key, in the order of the pods
 * @property {Glyph[]} fresh those that were not there before
 * @property {Glyph[]} waiting those on no node
 * @property {Set<string>} touched nodes that had or have one of the fresh or of the gone
 * @property {boolean} aged whether some are of a template that has been replaced
 */

/**
 * Glyphs of the pods of now. What has no other pod and is not asked about keeps its own.
 * @param {ReadonlyMap<string, PodSlim>} pods
 * @param {ReadonlyMap<string, Glyph>} before
 * @param {ReadonlySet<string> | null} asked keys of pods that may look otherwise though they are the same; null: all
 * @param {(pod: PodSlim, key: string) => Glyph} draw may hand out the one there was
 * @returns {Drawn}
 */
export function redraw(pods, before, asked, draw) {
  /** @type {Map<string, Glyph>} */
  const glyphs = new Map();
  /** @type {Drawn} */
  const drawn = { glyphs, fresh: [], waiting: [], touched: new Set(), aged: false };
  let known = 0;
  for (const [key, pod] of pods) {
    const old = before.get(key);
    if (old) known += 1;
    const glyph = old?.pod === pod && asked && !asked.has(key) ? old : draw(pod, key);
    glyphs.set(key, glyph);
    if (glyph !== old) {
      drawn.fresh.push(glyph);
      drawn.touched.add(glyph.node);
      if (old) drawn.touched.add(old.node);
    }
    if (!glyph.node) drawn.waiting.push(glyph);
    drawn.aged ||= glyph.old;
  }
  if (known < before.size) for (const [key, { node }] of before) if (!glyphs.has(key)) drawn.touched.add(node);
  return drawn;
}

/**
 * @param {ReadonlyMap<string, NodeSlim>} nodes
 * @param {ReadonlyMap<string, NodeModel>} before
 * @param {Drawn} drawn
 * @param {ReadonlyMap<string, readonly Glyph[]>} ghosts by node
 * @param {number} epochMs
 * @returns {Map<string, NodeModel>} in order of name
 */
export function nodeModels(nodes, before, { glyphs, fresh, touched }, ghosts, epochMs) {
  const known = before.size === nodes.size && [...before.keys()].every((name) => nodes.has(name));
  // A node that comes finds its pods among all; those that were there have theirs, less the gone and with the fresh.
  const come = byNode(known ? fresh : glyphs.values());
  /** @type {Map<string, NodeModel>} */
  const made = new Map();
  for (const name of known ? before.keys() : [...nodes.keys()].sort(compareNames)) {
    const node = /** @type {NodeSlim} */ (nodes.get(name));
    const old = before.get(name);
    if (old?.node === node && !touched.has(name)) {
      made.set(name, old);
      continue;
    }
    const kept = known ? old?.glyphs.filter((glyph) => glyphs.get(glyph.key) === glyph) ?? [] : [];
    made.set(name, nodeModel(node, [...kept, ...(come.get(name) ?? [])], ghosts.get(name) ?? [], old, epochMs));
  }
  return made;
}

/**
 * @param {Iterable<Glyph>} glyphs
 */
function byNode(glyphs) {
  /** @type {Map<string, Glyph[]>} */
  const found = new Map();
  for (const glyph of glyphs) {
    const list = found.get(glyph.node);
    if (list) list.push(glyph);
    else found.set(glyph.node, [glyph]);
  }
  return found;
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
    usage: usageOf(node, counted.map(({ pod }) => pod)),
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
