/** The decisions about the selected pod: fetched when they may have changed, with the cycle in hand put before them. */

/** @import { Trace, View } from "../lib/types.d.ts" */
/** @import { SessionApi } from "../net/rest.js" */
import { cycleUnderWay, objectAt } from "../state/selectors.js";

/** Milliseconds between two fetches for one pod: a paced cycle changes its status at every point. */
const FETCH_EVERY_MS = 300;

/**
 * @typedef {object} Decisions
 * @property {string} pod
 * @property {Trace[]} traces newest first
 * @property {string} selectedTraceId
 * @property {string} pinned the attempt that somebody has chosen; "" while the newest is shown as it comes
 * @property {boolean} loading
 */

export class DecisionLoader {
  /**
   * @param {SessionApi} api
   * @param {() => void} onChange
   */
  constructor(api, onChange) {
    this.api = api;
    this.onChange = onChange;
    /** @type {Decisions} */
    this.state = { pod: "", traces: [], selectedTraceId: "", pinned: "", loading: false };
    this.version = "";
    this.chosen = "";
    this.fetchedAtMs = -FETCH_EVERY_MS;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {Trace[]} */
    this.fetched = [];
    /**
     * The cycles that were in hand, newest first: each stays until what was asked after its end is answered.
     * @type {readonly Trace[]}
     */
    this.handed = [];
    /** @type {View | null} */
    this.view = null;
    /** @type {import("../lib/types.d.ts").Cycle | null} */
    this.inHand = null;
    /** The attempt that an address asks for, chosen when it has come. */
    this.wantedAttempt = 0;
  }

  /** The number of the attempt that somebody has chosen; 0: the newest is shown. */
  get attempt() {
    return this.chosen ? (this.state.traces.find((trace) => trace.id === this.chosen)?.attempt ?? 0) : 0;
  }

  /**
   * Whether a cycle is the one in hand. A sealed one has no id.
   * @param {Trace} trace
   */
  holds({ id, pod }) {
    return this.inHand?.traceId === id && this.inHand.pod === pod;
  }

  /** @param {string} id "" for the newest, whichever that will be */
  select(id) {
    this.chosen = id;
    this.state = { ...this.state, selectedTraceId: id || (this.state.traces[0]?.id ?? ""), pinned: id };
    this.onChange();
  }

  /**
   * Follow one pod in the newest view; "" follows none.
   * @param {View} view
   * @param {string} pod namespace/name
   */
  follow(view, pod) {
    const object = pod ? objectAt(view, "pods", pod) : null;
    const inHand = handOf(view, pod)?.cycle ?? null;
    const version = [pod, view.ready, object?.metadata.uid, object?.metadata.resourceVersion, inHand?.traceId, inHand?.point].join("|");
    this.view = view;
    if (version === this.version) {
      // The trace of a large cluster's cycle comes after the news of its point.
      if (inHand?.trace !== this.inHand?.trace) this.merge(view);
      return;
    }
    this.version = version;
    if (pod !== this.state.pod) {
      this.chosen = "";
      this.fetched = [];
      this.handed = [];
      this.state = { pod, traces: [], selectedTraceId: "", pinned: "", loading: Boolean(pod) };
      this.fetchedAtMs = -FETCH_EVERY_MS;
    }
    // A pod that is gone is not asked about: there would be no answer. What was heard of it stays.
    if (view.ready && !object) this.state = { ...this.state, loading: false };
    this.merge(view);
    if (object) this.schedule();
    else clearTimeout(this.timer);
  }

  schedule() {
    clearTimeout(this.timer);
    const wait = Math.max(0, this.fetchedAtMs + FETCH_EVERY_MS - performance.now());
    this.timer = setTimeout(() => void this.ask(), wait);
  }

  async ask() {
    const { pod } = this.state;
    this.fetchedAtMs = performance.now();
    // In the past the pod is asked about by its uid: by now it may be gone.
    const uid = this.view?.me?.past ? objectAt(this.view, "pods", pod)?.metadata.uid : "";
    const ended = new Set(this.handed.filter((trace) => !this.holds(trace)));
    try {
      const traces = await (uid ? this.api.decisionsOf(uid) : this.api.decisions(pod));
      if (pod !== this.state.pod) return;
      // One that is no longer kept has no result; the panel says so by its detail.
      this.fetched = traces.map((/** @type {Trace} */ trace) => ({ ...trace, result: trace.result ?? {} }));
      this.handed = this.handed.filter((trace) => !ended.has(trace));
    } catch {
      // A pod without any cycle answers 404; the panel says that none has taken it.
      if (pod !== this.state.pod) return;
    }
    this.state = { ...this.state, loading: false };
    if (this.view) this.merge(this.view);
    else this.onChange();
  }

  /**
   * The fetched traces, led by the cycle under way as far as it has gone, or by those that have just ended.
   * @param {View} view
   */
  merge(view) {
    const under = handOf(view, this.state.pod);
    const cycle = under?.cycle;
    this.inHand = cycle ?? null;
    if (under && cycle?.trace) {
      /** @type {Trace} */
      const current = {
        id: cycle.traceId,
        revision: view.revision,
        seenRevision: cycle.seenRevision,
        simTime: cycle.startedAtMs / 1000,
        pod: cycle.pod,
        uid: cycle.uid,
        replica: under.replica.metadata.name,
        profile: cycle.profile,
        ...(cycle.era === undefined ? {} : { era: cycle.era }),
        ...(cycle.scoreMax === undefined ? {} : { scoreMax: cycle.scoreMax }),
        attempt: cycle.attempt,
        point: cycle.point,
        result: cycle.trace,
        coming: view.hand !== null && view.hand.id === cycle.traceId && view.hand.point !== cycle.point,
      };
      this.handed = [current, ...this.handed.filter(({ id }) => id !== current.id)];
    }
    const handed = this.handed.filter((trace) => this.holds(trace) || !this.fetched.some(({ id }) => id === trace.id));
    const all = [...handed, ...this.fetched.filter(({ id }) => !handed.some((trace) => trace.id === id))];
    const traces = view.me?.past ? all.filter((trace) => trace.revision <= view.revision) : all;
    const wanted = this.wantedAttempt && traces.find((trace) => trace.attempt === this.wantedAttempt);
    if (wanted) {
      this.chosen = wanted.id;
      this.wantedAttempt = 0;
    }
    const kept = traces.some((trace) => trace.id === this.chosen) ? this.chosen : (traces[0]?.id ?? "");
    this.state = { ...this.state, traces, selectedTraceId: kept, pinned: this.chosen };
    this.onChange();
  }
}

/**
 * The cycle under way where it is about a pod, and who runs it. One of another pod of that name, which is gone, is not.
 * @param {View} view
 * @param {string} pod namespace/name
 */
function handOf(view, pod) {
  const under = cycleUnderWay(view);
  const uid = objectAt(view, "pods", pod)?.metadata.uid;
  return under && under.cycle.pod === pod && (uid === undefined || under.cycle.uid === uid) ? under : null;
}
