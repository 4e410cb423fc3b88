/** What has changed since the moment that the page is held at: sums of pods, and what happened, by cause and in order. Pure. */

/** @import { Mark, PodSlim, Slim, View } from "../lib/types.d.ts" */
import { isTerminal, objectsOf, podRequests, podState, remembered } from "./selectors.js";

/** Lanes that tell what happened; renewals and cycles are told by what they led to. */
const LANES = new Set(["pods", "nodes", "people", "controllers"]);
/** Simulated seconds within which changes by one cause are one row. */
const ROW_SECONDS = 10;

/**
 * @typedef {object} Since
 * @property {number} then pods on nodes, as the stage counts them
 * @property {number} came
 * @property {number} changed in another state, or of another size
 * @property {number} gone
 * @property {number} now pods on nodes
 */

/** By uid what would be drawn of the pods on nodes. */
const drawnOf = remembered((/** @type {ReadonlyMap<string, Slim>} */ pods, /** @type {ReadonlyMap<string, Slim>} */ nodes) =>
  new Map([.../** @type {ReadonlyMap<string, PodSlim>} */ (pods)].filter(([, pod]) => nodes.has(pod.spec?.nodeName ?? "") && !isTerminal(pod)).map(([key, pod]) => {
    const { cpuMilli, memoryBytes } = podRequests(pod);
    return [pod.metadata.uid ?? key, `${podState(pod)} ${cpuMilli} ${memoryBytes}`];
  })));

const sumsOf = remembered((/** @type {ReadonlyMap<string, string>} */ before, /** @type {ReadonlyMap<string, string>} */ after) => {
  let came = 0;
  let changed = 0;
  for (const [uid, drawn] of after) {
    const earlier = before.get(uid);
    if (earlier === undefined) came += 1;
    else if (earlier !== drawn) changed += 1;
  }
  return { then: before.size, came, changed, gone: before.size + came - after.size, now: after.size };
});

/**
 * What happened to pods on nodes: then + came − gone = now. Asked in every frame of a page that is held.
 * @param {View} then
 * @param {View} now
 * @returns {Since}
 */
export function sinceOf(then, now) {
  const drawn = (/** @type {View} */ view) => drawnOf(objectsOf(view, "pods"), objectsOf(view, "nodes"));
  return sumsOf(drawn(then), drawn(now));
}

/**
 * @typedef {object} Row changes by one cause, near each other
 * @property {Mark} first
 * @property {number} more of them
 */

/**
 * What happened, in order: what one actor did to one kind in the same way within ten seconds is one row.
 * @param {readonly Mark[]} marks in order
 * @returns {Row[]}
 */
export function rowsOf(marks) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {Map<string, Row>} */
  const open = new Map();
  for (const mark of marks) {
    if (!LANES.has(mark.lane)) continue;
    // The kubelets of all nodes are one cause.
    const cause = [mark.actor.split("/")[0], mark.kind, mark.verb].join("|");
    const row = open.get(cause);
    if (row && mark.simTime - row.first.simTime < ROW_SECONDS) {
      row.more += 1;
      continue;
    }
    const fresh = { first: mark, more: 0 };
    rows.push(fresh);
    open.set(cause, fresh);
  }
  return rows;
}
