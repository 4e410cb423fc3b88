/** Fetches what the newest decision came to, where time stands and this page did not see it: opened, or loaded anew, since. */

/** @import { Trace, View } from "../lib/types.d.ts" */
/** @import { SessionApi } from "../net/rest.js" */
import { sealedPod } from "../state/classroom.js";
import { cycleUnderWay } from "../state/selectors.js";

export class LastLoader {
  /**
   * @param {Pick<SessionApi, "decision">} api
   * @param {(trace: Trace) => void} told
   */
  constructor(api, told) {
    this.api = api;
    this.told = told;
    /** Whether time has stood since the page was opened, and nothing was asked. */
    this.waits = true;
  }

  /** @param {View} view the newest */
  follow(view) {
    if (!this.waits || !view.ready || !view.clock) return;
    if (!view.clock.paused || cycleUnderWay(view)) {
      this.waits = false;
      return;
    }
    const newest = view.decisions.at(-1);
    if (!newest || newest.pod === sealedPod(view)) return;
    this.waits = false;
    void this.ask(newest.id);
  }

  /** @param {string} id */
  async ask(id) {
    try {
      const trace = await this.api.decision(id);
      if (trace.result) this.told(trace);
    } catch {
      // No longer kept, or sealed meanwhile: the stage goes on without it.
    }
  }
}
