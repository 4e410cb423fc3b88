/** What pods are coloured by: owners, priorities or people, each with the hue of the number that the server gave. Pure. */

/** @import { PodSlim, Ui, View } from "../lib/types.d.ts" */
import { initials } from "../lib/faces.js";
import { ownerGroup, ownerLook } from "../lib/hues.js";
import { whose } from "./people.js";
import { authorOf, compareNames, objectsOf } from "./selectors.js";

/**
 * @typedef {{key: string, label: string, kind: string, number: number, hue: number, ring: boolean}} Group one entry of
 *   the legend of colours; `kind` of an owner
 */

/**
 * @param {View} view
 * @param {PodSlim} pod
 * @param {Ui["colourBy"]} colourBy
 * @param {Map<string, Group>} [groups] grows
 * @returns {Group}
 */
export function groupOf(view, pod, colourBy, groups = new Map()) {
  const told = colourKey(view, pod, colourBy);
  let group = groups.get(told.key);
  if (!group) {
    group = { ...told, ...ownerLook(told.number, told.key) };
    groups.set(told.key, group);
  }
  return group;
}

/**
 * What a pod is coloured by, and the number that the server gave to it.
 * @param {View} view
 * @param {PodSlim} pod
 * @param {Ui["colourBy"]} colourBy
 * @returns {{key: string, label: string, kind: string, number: number | undefined}}
 */
function colourKey(view, pod, colourBy) {
  if (colourBy === "priority") {
    const key = String(pod.spec?.priority ?? 0);
    return { key, label: key, kind: "", number: pod.hues?.priority };
  }
  if (colourBy === "person") {
    const author = authorOf(view, pod) ?? whose(view, pod.metadata.namespace);
    // Seats have numbers of their own; what controllers made has the grey that is nobody's.
    return { key: author?.slug ?? "", label: author?.name ?? "", kind: "", number: author ? Math.max(0, author.color - 1) : NOBODY };
  }
  if (colourBy === "namespace") {
    const key = pod.metadata.namespace ?? "";
    const student = whose(view, key);
    return { key, label: student ? `${initials(student.name)} ${key}` : key, kind: "", number: pod.hues?.namespace };
  }
  return { ...ownerGroup(pod), number: pod.hues?.owner };
}

/** The slate hue, for pods that no person made. */
const NOBODY = 4;

/**
 * The groups that have a pod now, in the order of their numbers; one whose name another one has too says its kind.
 * @param {ReadonlyMap<string, Group>} groups
 * @param {ReadonlyMap<string, {group: string}>} pods drawn, each in the group of this key
 */
export function sortedGroups(groups, pods) {
  const keys = new Set();
  let last;
  // Neighbours are mostly of one group: asking the set of each of ten thousand would cost more than the rest of it.
  for (const { group } of pods.values()) if (group !== last) keys.add((last = group));
  const used = [...groups.values()].filter((group) => keys.has(group.key))
    .sort((a, b) => a.number - b.number || compareNames(a.key, b.key));
  const labels = new Map();
  for (const { label } of used) labels.set(label, (labels.get(label) ?? 0) + 1);
  return used.map((group) => (labels.get(group.label) > 1 && group.kind
    ? { ...group, label: `${group.label} (${group.kind})` } : group));
}

/**
 * The numbers that the server gave to pods that nobody owns, by the group that they are drawn with.
 * @param {View} view
 * @returns {Map<string, number>}
 */
export function ownerlessNumbers(view) {
  const numbers = new Map();
  for (const object of objectsOf(view, "pods").values()) {
    const pod = /** @type {PodSlim} */ (object);
    if (pod.hues?.owner === undefined || pod.metadata.ownerReferences?.length) continue;
    numbers.set(ownerGroup(pod).key, pod.hues.owner);
  }
  return numbers;
}
