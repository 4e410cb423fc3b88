/** What the formal model says of the selected pod, fetched when pods or nodes have changed. */

/** @import { ModelAnswer, ModelState, View } from "../lib/types.d.ts" */
import { ApiError } from "./rest.js";
/** @import { SessionApi } from "./rest.js" */

/** Milliseconds between two questions: in a busy cluster every batch changes some pod. */
const FETCH_EVERY_MS = 1_000;

export class ModelLoader {
  /**
   * @param {SessionApi} api
   * @param {() => void} onChange
   */
  constructor(api, onChange) {
    this.api = api;
    this.onChange = onChange;
    /** @type {ModelState} */
    this.state = { pod: "", answer: null, problem: "" };
    /** @type {unknown} */
    this.pods = null;
    /** @type {unknown} */
    this.nodes = null;
    this.fetchedAtMs = -FETCH_EVERY_MS;
    this.timer = 0;
    this.told = "";
  }

  /**
   * Follow one pod in the newest view; "" follows none.
   * @param {View} view
   * @param {string} pod namespace/name
   */
  follow(view, pod) {
    const pods = view.objects.get("pods");
    const nodes = view.objects.get("nodes");
    if (pod === this.state.pod && pods === this.pods && nodes === this.nodes) return;
    if (pod !== this.state.pod) {
      this.state = { pod, answer: null, problem: "" };
      this.told = "";
      this.onChange();
    }
    this.pods = pods;
    this.nodes = nodes;
    clearTimeout(this.timer);
    if (!pod) return;
    const wait = Math.max(0, this.fetchedAtMs + FETCH_EVERY_MS - performance.now());
    this.timer = window.setTimeout(() => void this.fetch(pod), wait);
  }

  /** @param {string} pod */
  async fetch(pod) {
    this.fetchedAtMs = performance.now();
    /** @type {ModelAnswer | null} */
    let answer = null;
    let problem = "";
    try {
      answer = await this.api.model(pod);
    } catch (refused) {
      if (!(refused instanceof ApiError)) throw refused;
      problem = refused.causes[0]?.message ?? refused.message;
    }
    if (pod !== this.state.pod) return;
    // Nothing new but the revision: nothing to draw.
    const told = JSON.stringify({ ...answer, revision: 0 });
    if (answer && told === this.told) return;
    this.told = told;
    this.state = { pod, answer, problem };
    this.onChange();
  }
}
