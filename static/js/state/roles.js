/** What each role may do, as the server rules it; the page only says beforehand what would be refused. */

/** @import { Me } from "../lib/types.d.ts" */

/**
 * Text key of the reason why the clock, faults, imports of traces and cluster-wide kinds are not this person's; null
 * when they are.
 * @param {Me | null} me
 */
export function refusedCluster(me) {
  if (!me) return "reason_connecting";
  return me.role === "teacher" ? null : me.role === "viewer" ? "reason_viewer" : "reason_teacher_only";
}

/**
 * Text key of the reason why this person may not write in a namespace; null when they may.
 * @param {Me | null} me
 * @param {string} namespace "" for cluster-scoped
 */
export function refusedWrite(me, namespace) {
  if (!me) return "reason_connecting";
  if (me.role === "teacher") return null;
  if (me.role === "student" && namespace && namespace === me.namespace) return null;
  if (me.role === "viewer") return "reason_viewer";
  return namespace ? "reason_other_namespace" : "reason_teacher_only";
}
