/** What has changed since the moment that the page is held at: sums of pods, and what happened, by cause and in order. Pure. */

/** @import { Mark, PodSlim, View } from "../lib/types.d.ts" */
import { isTerminal, objectsOf, podState } from "./selectors.js";

/** Lanes that tell what happened; renewals and cycles are told by what they led to. */
const LANES = new Set(["pods", "nodes", "people", "controllers"]);
/** Simulated seconds within which changes by one cause are one row. */
const ROW_SECONDS = 10;

/**
 * @typedef {object} Since
 * @property {number} then pods on nodes, as the stage counts them
 * @property {number} came
 * @property {number} changed in another state
 * @property {number} gone
 * @property {number} now pods on nodes
 */

/**
 * @param {View} then
 * @param {View} now
 * @returns {Since}
 */
export function sinceOf(then, now) {
  const before = podsBy(then);
  const after = podsBy(now);
  let came = 0;
  let changed = 0;
  for (const [uid, state] of after) {
    const earlier = before.get(uid);
    if (earlier === undefined) came += 1;
    else if (earlier !== state) changed += 1;
  }
  return { then: before.size, came, changed, gone: before.size + came - after.size, now: after.size };
}

/**
 * @param {View} view
 * @returns {Map<string, string>} uid → what would be drawn of it
 */
function podsBy(view) {
  const pods = /** @type {[string, PodSlim][]} */ ([...objectsOf(view, "pods")]);
  const nodes = objectsOf(view, "nodes");
  return new Map(pods.filter(([, pod]) => nodes.has(pod.spec?.nodeName ?? "") && !isTerminal(pod)).map(([key, pod]) => [pod.metadata.uid ?? key, podState(pod)]));
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
