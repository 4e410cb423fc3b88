/**
 * What differs between the cluster of a held moment and now, drawn on the nodes of both: pods that came, are in another state or
 * are gone since, with what did not change faded. Pure.
 */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Glyph, Model, NodeModel } from "./model.js" */
import { counted, text } from "../lib/text.js";
import { compareNames } from "../state/selectors.js";
import { zonesOf } from "./node-model.js";

/** @typedef {"came" | "changed" | "gone" | "same"} Mark since the moment */

/**
 * @typedef {object} Difference what happened on a node since the moment
 * @property {"came" | "gone" | ""} node itself
 * @property {number} came
 * @property {number} changed
 * @property {number} gone
 * @property {number} cpuUsed now; millicores
 * @property {number} memoryUsed now; bytes
 */

/**
 * A function from two models to that of their difference, which hands out the same one for the same two.
 * @returns {(then: Model, now: Model) => Model}
 */
export function differenceMaker() {
  /** @type {{then: Model, now: Model, model: Model} | null} */
  let last = null;
  return (then, now) => {
    if (last?.then !== then || last.now !== now) last = { then, now, model: differenceOf(then, now) };
    return last.model;
  };
}

/**
 * @param {Model} then
 * @param {Model} now
 * @returns {Model}
 */
export function differenceOf(then, now) {
  /** @type {Map<string, NodeModel>} */
  const nodes = new Map();
  /** @type {Map<string, Glyph>} */
  const pods = new Map(then.pods);
  const names = [...new Set([...then.nodes.keys(), ...now.nodes.keys()])].sort(compareNames);
  for (const name of names) {
    const node = nodeOf(then.nodes.get(name), now.nodes.get(name));
    nodes.set(name, node);
    for (const glyph of node.glyphs) pods.set(glyph.key, glyph);
  }
  return { ...then, nodes, pods, fresh: [], zones: zonesOf(nodes), rollouts: [], groups: mergedGroups(then, now) };
}

/**
 * @param {NodeModel | undefined} then
 * @param {NodeModel | undefined} now
 * @returns {NodeModel}
 */
function nodeOf(then, now) {
  const base = /** @type {NodeModel} */ (then ?? now);
  const before = (then?.glyphs ?? []).filter(({ ghost }) => !ghost);
  const after = (now?.glyphs ?? []).filter(({ ghost }) => !ghost);
  const there = new Map(after.map((glyph) => [glyph.uid || glyph.key, glyph]));
  const known = new Set(before.map((glyph) => glyph.uid || glyph.key));
  const kept = before.map((glyph) => ({ ...glyph, mark: markOf(glyph, there.get(glyph.uid || glyph.key)) }));
  const come = after.filter((glyph) => !known.has(glyph.uid || glyph.key)).map((glyph) => ({ ...glyph, mark: /** @type {Mark} */ ("came") }));
  const count = (/** @type {Mark} */ mark) => kept.filter((glyph) => glyph.mark === mark).length;
  return {
    ...base, glyphs: [...kept, ...come], podCount: before.length, trouble: null,
    cpuUsed: then?.cpuUsed ?? 0, memoryUsed: then?.memoryUsed ?? 0,
    difference: {
      node: then ? (now ? "" : "gone") : "came", came: come.length, changed: count("changed"), gone: count("gone"),
      cpuUsed: now?.cpuUsed ?? 0, memoryUsed: now?.memoryUsed ?? 0,
    },
  };
}

/**
 * @param {Glyph} then
 * @param {Glyph | undefined} now
 * @returns {Mark}
 */
function markOf(then, now) {
  if (!now) return "gone";
  return now.state === then.state && now.cpuMilli === then.cpuMilli && now.memoryBytes === then.memoryBytes ? "same" : "changed";
}

/**
 * @param {Model} then
 * @param {Model} now
 */
function mergedGroups(then, now) {
  const known = new Set(then.groups.map(({ key }) => key));
  return [...then.groups, ...now.groups.filter(({ key }) => !known.has(key))];
}

/**
 * What happened on a node, in words; "" where nothing did.
 * @param {Difference} difference
 * @param {Lang} lang
 */
export function differenceWords({ node, came, changed, gone }, lang) {
  if (node) return text(lang, node === "came" ? "difference.nodeCame" : "difference.nodeGone");
  const parts = [[came, "difference.came"], [changed, "difference.changed"], [gone, "difference.gone"]];
  return parts.flatMap(([n, key]) => (n ? [counted(lang, String(key), { n })] : [])).join(", ");
}

/**
 * How full a node is of cpu or memory now; null where nothing is compared, or of other resources.
 * @param {NodeModel} node
 * @param {string} resource
 */
export function laterShare({ difference, cpuMilli, memoryBytes }, resource) {
  if (!difference) return null;
  if (resource === "cpu") return cpuMilli ? difference.cpuUsed / cpuMilli : 0;
  return resource === "memory" ? (memoryBytes ? difference.memoryUsed / memoryBytes : 0) : null;
}
