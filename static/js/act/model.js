/** What the formal model says of the selected pod, fetched when pods or nodes have changed. */

/** @import { ModelAnswer, ModelState, View } from "../lib/types.d.ts" */
import { ApiError } from "../net/rest.js";
/** @import { SessionApi } from "../net/rest.js" */

/** Milliseconds between two questions: in a busy cluster every batch changes some pod. */
const FETCH_EVERY_MS = 1_000;
/** A question that took long is asked more seldom: the server is at it for at most one part in so many. */
const REST_FACTOR = 5;

export class ModelLoader {
  /**
   * @param {SessionApi} api
   * @param {() => void} onChange
   */
  constructor(api, onChange) {
    this.api = api;
    this.onChange = onChange;
    /** @type {ModelState} */
    this.state = { pod: "", answer: null, problem: "", gone: false };
    /** @type {ReadonlyMap<string, unknown> | undefined} */
    this.pods = undefined;
    /** @type {unknown} */
    this.nodes = null;
    this.fetchedAtMs = -FETCH_EVERY_MS;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.told = "";
    this.tookMs = 0;
    /** 0: now. */
    this.revision = 0;
    this.asking = false;
    /** Something changed while the question was out. */
    this.stale = false;
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
      this.state = { pod, answer: null, problem: "", gone: false };
      this.told = "";
      this.tookMs = 0;
      this.onChange();
    }
    this.pods = pods;
    this.nodes = nodes;
    this.revision = view.me?.past ? view.revision : 0;
    this.schedule(pod);
  }

  /** @param {string} pod */
  schedule(pod) {
    clearTimeout(this.timer);
    this.stale = this.asking;
    // Of a pod that is gone, everything is said until one of its name comes.
    if (!pod || this.asking || (this.state.gone && !this.pods?.has(pod))) return;
    const wait = Math.max(0, this.fetchedAtMs + Math.max(FETCH_EVERY_MS, REST_FACTOR * this.tookMs) - performance.now());
    this.timer = setTimeout(() => void this.ask(pod), wait);
  }

  /** @param {string} pod */
  async ask(pod) {
    this.fetchedAtMs = performance.now();
    /** @type {ModelAnswer | null} */
    let answer = null;
    let problem = "";
    let gone = false;
    this.asking = true;
    try {
      answer = await this.api.model(pod, this.revision);
    } catch (refused) {
      if (!(refused instanceof ApiError)) throw refused;
      gone = refused.status.code === 404;
      problem = gone ? "" : (refused.causes[0]?.message ?? refused.message);
    } finally {
      this.asking = false;
    }
    this.tookMs = performance.now() - this.fetchedAtMs;
    if (this.stale) this.schedule(this.state.pod);
    if (pod !== this.state.pod) return;
    // Nothing new but the revision: nothing to draw.
    const told = JSON.stringify({ ...answer, revision: 0 });
    if (answer && told === this.told) return;
    this.told = told;
    this.state = { pod, answer, problem, gone };
    this.onChange();
  }
}
