/**
 * Which hue a pod or a plugin is drawn in. The server gives the numbers (`hues` of a Slim, docs/protocol.md), so that
 * everybody sees the same and a reload changes nothing; here they become hues. Pure.
 */

/** @import { Slim } from "./types.d.ts" */

/** Hues of owners; after the last one they repeat with an inner ring. */
export const OWNER_HUES = 7;
export const PLUGIN_HUES = 6;

/**
 * The group that a pod is drawn with, by owner: as `clustersim/feed/palette.py: owner_of` names it (tests/golden/groups.json).
 * @param {Pick<Slim, "metadata">} pod
 * @returns {{key: string, label: string, kind: string}}
 */
export function ownerGroup({ metadata }) {
  const owner = metadata.ownerReferences?.find((reference) => reference.controller);
  if (!owner) {
    const label = (metadata.labels?.["app"] || metadata.name).replace(/-[a-z0-9]{1,6}$/, "");
    return { key: `Pod ${label}`, label, kind: "Pod" };
  }
  const template = metadata.labels?.["pod-template-hash"];
  const deployed = owner.kind === "ReplicaSet" && template && owner.name.endsWith(`-${template}`);
  const kind = deployed ? "Deployment" : owner.kind;
  const label = deployed ? owner.name.slice(0, -template.length - 1) : owner.name;
  return { key: `${kind} ${metadata.namespace ?? ""}/${label}`, label, kind };
}

/**
 * The look of a number among owners: its hue, and whether that is used a second time.
 * @param {number | undefined} number as the server gave it; undefined where it gave none
 * @param {string} name that decides where there is no number
 */
export function ownerLook(number, name) {
  const at = number ?? nameNumber(name);
  return { number: at, hue: at % OWNER_HUES, ring: at >= OWNER_HUES };
}

/**
 * @typedef {{hue: number, again: boolean}} PluginLook `again`: its hue is another plugin's too, so it has a texture of
 *   its own
 */

/**
 * The look of a plugin.
 * @param {string} name
 * @param {Readonly<Record<string, number>>} numbers by plugin, as the server gave them
 * @returns {PluginLook}
 */
export function pluginLook(name, numbers) {
  const number = numbers[name] ?? nameNumber(name);
  // A second round begins elsewhere: the first hue's plugin scores for every pod.
  return number < PLUGIN_HUES ? { hue: number, again: false } : { hue: (number + 2) % PLUGIN_HUES, again: true };
}

/**
 * A number that follows from the name alone, for what the server has not numbered.
 * @param {string} name
 */
function nameNumber(name) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997;
  return sum % PLUGIN_HUES;
}
