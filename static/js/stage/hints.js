/** What an idle stage tells to do next: the key of a sentence, and what fills it. Pure. */

/** @import { View } from "../lib/types.d.ts" */
/** @import { Model } from "./model.js" */
import { standsLesson } from "../state/classroom.js";
import { refusedWrite } from "../state/roles.js";
import { crashedSchedulers, strangers } from "../state/undecided.js";

/**
 * The first of these that holds: pods wait and no scheduler runs, pods wait while time is held, pods wait for a change, cycles run too fast to be seen,
 * nothing waits. In a lesson nobody is told what to make.
 * @param {View} view
 * @param {Pick<Model, "nodes" | "queue" | "unseen">} model
 * @returns {{key: string, values: Record<string, number>} | null} null while there is no node, which the field tells, or nothing to do
 */
export function idleHint(view, { nodes, queue, unseen }) {
  const { clock, me } = view;
  if (nodes.size === 0) return null;
  const asks = strangers(view);
  const ready = Math.max(queue.active.length, queue.counts["active"] ?? 0) + unseen.filter((pod) => !asks(pod)).length;
  const held = Math.max(queue.unschedulable.length, queue.counts["unschedulable"] ?? 0);
  const mayCreate = !refusedWrite(me, me?.namespace ?? "");
  const teaches = me?.role === "teacher";
  if (ready > 0 && crashedSchedulers(view)) return { key: teaches ? "idle.recover" : "idle.nobody", values: { n: ready } };
  if (ready > 0 && clock?.paused) return { key: teaches ? "idle.play" : "idle.held", values: { n: ready } };
  if (held > 0) return { key: "idle.stuck", values: { n: held } };
  // A lesson says itself what is next, and makes what it needs.
  if (standsLesson(view)) return null;
  if (clock && !clock.paused && clock.pace === 0 && teaches) return { key: "idle.pace", values: {} };
  return { key: mayCreate ? "idle.make" : "idle.look", values: {} };
}
