/** What deleting an object does besides, so that the page can say it before it is done. Pure. */

/** @import { PodSlim, View } from "../lib/types.d.ts" */
import { objectAt, objectsOf, ownerOf, podsByNode } from "./selectors.js";

/**
 * @param {View} view
 * @param {string} resource
 * @param {string} key
 * @returns {{text: string, values: Record<string, string | number>}} a text key and its values
 */
export function consequence(view, resource, key) {
  if (resource === "nodes") return counted("delete_node", podsByNode(view).get(key)?.length ?? 0);
  if (resource === "namespaces") return counted("delete_namespace", podsIn(view, key));
  const object = objectAt(view, resource, key);
  if (resource === "pods" && object) {
    const owner = ownerOf(view, /** @type {PodSlim} */ (object));
    return owner.kind === "Pod"
      ? { text: "delete_bare_pod", values: {} } : { text: "delete_owned_pod", values: { kind: owner.kind, owner: owner.name } };
  }
  const uid = object?.metadata.uid;
  return counted("delete_owner", uid ? podsOwned(view, uid) : 0);
}

/**
 * @param {string} text
 * @param {number} count
 */
function counted(text, count) {
  return { text: count === 0 ? "delete_plain" : count === 1 ? `${text}_one` : `${text}_many`, values: { count } };
}

/**
 * @param {View} view
 * @param {string} namespace
 */
function podsIn(view, namespace) {
  let count = 0;
  for (const pod of objectsOf(view, "pods").values()) if (pod.metadata.namespace === namespace) count += 1;
  return count;
}

/**
 * Pods that an object controls, itself or through what it controls.
 * @param {View} view
 * @param {string} uid
 */
function podsOwned(view, uid) {
  const owners = new Set([uid]);
  const controlled = (/** @type {import("../lib/types.d.ts").Slim} */ object) =>
    object.metadata.ownerReferences?.some((reference) => reference.controller && owners.has(reference.uid));
  for (const set of objectsOf(view, "replicasets.apps").values())
    if (controlled(set) && set.metadata.uid) owners.add(set.metadata.uid);
  return [...objectsOf(view, "pods").values()].filter(controlled).length;
}
