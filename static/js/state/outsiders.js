/**
 * Components from outside: who holds a lock in kube-system and is none of the session's replicas, such as an unmodified
 * kube-scheduler that runs beside it. Pure.
 */

/** @import { View } from "../lib/types.d.ts" */
import { objectsOf, replicas } from "./selectors.js";

/** A lease without a duration of its own counts as kube-scheduler's default. */
const LEASE_MS = 15_000;

/** @typedef {{lock: string, holder: string, seenMs: number, durationMs: number}} Outsider `seenMs`: when its newest renewal was seen, simulated */

export class Outsiders {
  constructor() {
    /** Lock → its newest renewal and when that was seen: what stands in it is the time of another machine's clock. */
    /** @type {Map<string, {renewed: string, seenMs: number}>} */
    this._seen = new Map();
  }

  /**
   * Those whose lease is not over, as one that waits for it reckons: from when it saw it renewed.
   * @param {View} view
   * @param {number} nowMs simulated
   * @returns {Outsider[]}
   */
  of(view, nowMs) {
    const own = new Set(replicas(view).map((replica) => replica.metadata.name));
    /** @type {Outsider[]} */
    const found = [];
    for (const { metadata, spec } of objectsOf(view, "leases.coordination.k8s.io").values()) {
      const holder = spec?.["holderIdentity"] ?? "";
      if (metadata.namespace !== "kube-system" || !holder || own.has(holder)) continue;
      const renewed = `${holder} ${spec?.["renewTime"]}`;
      const known = this._seen.get(metadata.name);
      // Time goes back where a moment of the past is held: it is seen anew there.
      const seenMs = known?.renewed === renewed && known.seenMs <= nowMs ? known.seenMs : nowMs;
      this._seen.set(metadata.name, { renewed, seenMs });
      const durationMs = (spec?.["leaseDurationSeconds"] ?? 0) * 1000 || LEASE_MS;
      if (nowMs < seenMs + durationMs) found.push({ lock: metadata.name, holder, seenMs, durationMs });
    }
    return found.sort((a, b) => a.lock.localeCompare(b.lock, "en"));
  }
}
