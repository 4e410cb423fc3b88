/** Fetches the trace of the cycle in hand where its status is too small to carry it, at each point that it reaches. */

/** @import { Message, View } from "../lib/types.d.ts" */
/** @import { SessionApi } from "../net/rest.js" */
import { cycleInHand } from "../state/selectors.js";

export class HandLoader {
  /**
   * @param {SessionApi} api
   * @param {(message: Message) => void} fold
   */
  constructor(api, fold) {
    this.api = api;
    this.fold = fold;
    this.wanted = "";
    this.busy = false;
  }

  /** @param {View} view */
  follow(view) {
    const cycle = cycleInHand(view)?.cycle;
    const key = cycle?.traceId && !cycle.trace ? `${cycle.traceId} ${cycle.point}` : "";
    if (key === this.wanted || this.busy) return;
    this.wanted = key;
    if (cycle && key) void this.ask(cycle.traceId);
  }

  /** @param {string} id */
  async ask(id) {
    this.busy = true;
    try {
      const { point, result, explanation } = await this.api.decision(id);
      this.fold({ type: "hand", id, point, trace: explanation ? { ...result, explanation } : result });
    } catch {
      // It may have ended between its status and this request; the next view says so.
    } finally {
      this.busy = false;
    }
  }
}
