/** What tells a panel that its answer is old. Pure. */

/** @import { View } from "../lib/types.d.ts" */

/** What only breathes: renewals, the clock, what replicas and queues tell of themselves. */
const BREATH = new Set(["leases.coordination.k8s.io", "clocks.clustersim.io", "queues.clustersim.io", "replicas.clustersim.io"]);

/**
 * The revision of the newest row that somebody made; 0 before the first. An idle cluster's does not move.
 * @param {View} view
 */
export function newestMade(view) {
  return view.rows.findLast((row) => !BREATH.has(row.resource))?.revision ?? 0;
}
