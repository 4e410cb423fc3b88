/** How the components' watches stand. Pure. */

/** @import { Watch } from "../lib/types.d.ts" */

/**
 * How a component stands: the worst of what is the matter.
 * @param {Watch} watch
 * @returns {"down" | "polls" | "relists" | "cut" | "late" | "behind" | "level"}
 */
export function stateOf(watch) {
  if (!watch.running) return "down";
  if (watch.relistAtMs !== null) return "relists";
  if (watch.pollMs > 0) return "polls";
  if (!watch.connected) return "cut";
  if (watch.lateMs > 0) return "late";
  return watch.lag === null || watch.lag > 0 ? "behind" : "level";
}

/**
 * Whether something goes on that no row of the log will tell of: it is asked for again.
 * @param {readonly Watch[]} watches
 */
export const isUnderWay = (watches) => watches.some((one) => one.running && (one.relistAtMs !== null || one.pollMs > 0 || (one.connected && one.lag !== 0)));
