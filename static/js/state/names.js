/** Names for what a click creates: short, readable, free in this view. The server has the last word (AlreadyExists). */

/** @import { View } from "../lib/types.d.ts" */
import { objectsOf } from "./selectors.js";

/** Deployments get the names of a small shop, so that owners can be told apart at a glance. */
const WORKLOADS = ["web", "api", "cart", "redis", "batch", "train", "mail", "search"];

/**
 * The next free `<stem><number>` of a resource: n4 after n3.
 * @param {View} view
 * @param {string} resource
 * @param {string} namespace "" for cluster-scoped
 * @param {string} stem
 * @param {Iterable<string>} [also] names that are taken as well: asked for, and not heard of yet
 */
export function numberedName(view, resource, namespace, stem, also = []) {
  const taken = [...namesIn(view, resource, namespace), ...also];
  let highest = 0;
  for (const name of taken) {
    if (!name.startsWith(stem)) continue;
    const rest = name.slice(stem.length);
    if (/^\d{1,9}$/.test(rest)) highest = Math.max(highest, Number(rest));
  }
  return `${stem}${highest + 1}`;
}

/**
 * The next free workload name: web, api, … then web-2.
 * @param {View} view
 * @param {string} resource
 * @param {string} namespace
 * @param {Iterable<string>} [also] names that are taken as well: asked for, and not heard of yet
 */
export function workloadName(view, resource, namespace, also = []) {
  const taken = new Set([...namesIn(view, resource, namespace), ...also]);
  for (let round = 1; ; round += 1)
    for (const word of WORKLOADS) {
      const name = round === 1 ? word : `${word}-${round}`;
      if (!taken.has(name)) return name;
    }
}

/**
 * The names of the objects of a resource in a namespace, "" where it has none.
 * @param {View} view
 * @param {string} resource
 * @param {string} namespace
 * @returns {Set<string>}
 */
export function namesIn(view, resource, namespace) {
  const names = new Set();
  for (const object of objectsOf(view, resource).values())
    if ((object.metadata.namespace ?? "") === namespace) names.add(object.metadata.name);
  return names;
}
