/** What each role may do, as the server rules it; the page only says beforehand what would be refused. */

/** @import { Item } from "../lib/items.js" */
/** @import { Me, View } from "../lib/types.d.ts" */
import { HIGH_PRIORITY_CLASS } from "../lib/items.js";
import { kindNamed } from "../lib/kinds.js";

/**
 * Text key of the reason why the clock, faults, imports of traces and cluster-wide kinds are not this person's; null
 * when they are.
 * @param {Me | null} me
 */
export function refusedCluster(me) {
  if (!me) return "reason_connecting";
  if (me.recorded) return "reason_recording";
  if (me.past) return "reason_past";
  return me.role === "teacher" ? null : me.role === "viewer" ? "reason_viewer" : "reason_teacher_only";
}

/**
 * Text key of the reason why this person may not write in a namespace; null when they may.
 * @param {Me | null} me
 * @param {string} namespace "" for cluster-scoped
 */
export function refusedWrite(me, namespace) {
  if (!me) return "reason_connecting";
  if (me.recorded) return "reason_recording";
  if (me.past) return "reason_past";
  if (me.role === "teacher") return null;
  if (me.role === "student" && namespace && namespace === me.namespace) return null;
  if (me.role === "viewer") return "reason_viewer";
  return namespace ? "reason_other_namespace" : "reason_teacher_only";
}

/**
 * Why this person may not create an item of the palette, as a text key with its values; null when they may.
 * @param {View} view
 * @param {Item} item
 * @returns {{key: string, values: Record<string, string>} | null}
 */
export function refusedItem({ me, objects }, item) {
  const namespace = me?.namespace ?? "";
  const refused = refusedWrite(me, kindNamed(item.kind).namespaced ? namespace : "");
  if (refused) return { key: refused, values: { namespace } };
  const classes = objects.get("priorityclasses.scheduling.k8s.io");
  const missing = item.id === "pod-high-priority" && me?.role !== "teacher" && !classes?.has(HIGH_PRIORITY_CLASS);
  return missing ? { key: "reason_no_class", values: { name: HIGH_PRIORITY_CLASS } } : null;
}
