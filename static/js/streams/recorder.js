/**
 * What the charts of Streams are drawn from: the queue, waits and nodes as the socket tells of them, a sample at most four
 * times a second, and every decision. It runs from the page's first moment, and learns what was before it from the log
 * (`before.js`); its memory is bounded. Pure: no DOM, clock or network.
 */

/** @import { DecisionLine, NodeSummary, PodSlim, Ui, View } from "../lib/types.d.ts" */
import { ownerGroup, ownerLook } from "../lib/hues.js";
import { saidKey } from "../state/people.js";
import { GPU_RESOURCE, isTerminal, nodes, objectAt, podsByNode, queueOfLeader } from "../state/selectors.js";

/** Samples kept; past it every second one of the older half goes. */
export const SAMPLES_MAX = 3_600;
/** Moments at which nodes are kept; past it every second one goes, and later ones are twice as far apart. */
export const COLUMNS_MAX = 240;
/** Real milliseconds between two samples. */
export const SAMPLE_EVERY_MS = 250;
const COLUMN_MS = 1_000;

/**
 * @typedef {object} Sample one moment; the counts are null where nothing was heard for a while
 * @property {number} t simulated milliseconds
 * @property {number} revision
 * @property {number | null} active
 * @property {number | null} backoff
 * @property {number | null} unschedulable gated pods included
 * @property {number | null} half seconds: half of the pods that wait have waited longer
 * @property {number | null} twentieth seconds: one in twenty has
 */

/**
 * @typedef {object} Column the nodes at one moment, arrays by place in `names`
 * @property {number} t
 * @property {number} revision
 * @property {readonly string[]} names
 * @property {Float32Array} share of the CPU that is allocated, 0 to 1
 * @property {Float32Array} cpu milli that are free; 0 on a node that takes no pod
 * @property {Float32Array} memory bytes
 * @property {Float32Array} pods
 * @property {Float32Array} gpu
 */

/** @typedef {DecisionLine & {label: string, hue: number, ring: boolean, said: string}} Mark a decision with its owner's name and look, and its pod as it is said */
/** @typedef {{cpuMilli: number, memoryBytes: number, gpu: number}} Shape */

/**
 * @typedef {object} Told what is learned of a stretch of time afterwards, in order
 * @property {number} fromMs simulated
 * @property {number} toMs
 * @property {Sample[]} samples
 * @property {Column[]} columns
 * @property {Mark[]} marks
 */

export class Recorder {
  constructor() {
    /** @type {Sample[]} */
    this.samples = [];
    /** @type {Column[]} */
    this.columns = [];
    /** @type {Mark[]} */
    this.marks = [];
    /** @type {{fromMs: number, toMs: number}[]} stretches in which nothing was heard */
    this.gaps = [];
    /** Goes up whenever what is kept changed otherwise than by growing: charts are then drawn afresh. */
    this.epoch = 0;
    this.thinned = false;
    /** @type {Set<() => void>} told after each sample */
    this.listeners = new Set();
    this._columnMs = COLUMN_MS;
    this._revision = -1;
    this._live = false;
    /** @type {readonly DecisionLine[]} */
    this._decisions = [];
    /** @type {readonly NodeSummary[]} */
    this._nodes = [];
    /** @type {readonly string[]} */
    this._names = [];
  }

  /**
   * Take the newest view in; one of the past is none.
   * @param {View} view
   * @param {Pick<Ui, "nowMs" | "connection" | "past">} ui
   * @returns {boolean} whether anything was added
   */
  take(view, ui) {
    if (!view.ready || ui.connection !== "live" || ui.past?.revision) {
      this._live = false;
      return false;
    }
    const last = this.samples.at(-1);
    const t = Math.max(ui.nowMs, last?.t ?? 0);
    if (this._live && last && t === last.t && view.revision === this._revision) return false;
    if (!this._live && last && t > last.t) {
      this.gaps = [...this.gaps, { fromMs: last.t, toMs: t }].slice(-20);
      this._push(silence(last));
    }
    this._live = true;
    this._revision = view.revision;
    this._push(sampleOf(view, t));
    this._column(view, t);
    this._mark(view);
    for (const heard of this.listeners) heard();
    return true;
  }

  /** Stretches of which nothing is known: before the first sample, and gaps. */
  holes() {
    return [{ fromMs: -Infinity, toMs: this.samples[0]?.t ?? Infinity }, ...this.gaps];
  }

  /**
   * Take in what the log says of a time of which nothing was heard; what was heard stays as it was.
   * @param {Told} told
   */
  learn(told) {
    const holes = this.holes();
    const open = (/** @type {number} */ t) => holes.some(({ fromMs, toMs }) => t > fromMs && t < toMs);
    const samples = [...this.samples.filter((one) => one.active !== null), ...told.samples.filter((one) => open(one.t))].sort((a, b) => a.t - b.t);
    // What lies between what was told and what was heard is not known yet.
    this.gaps = holes.flatMap(({ fromMs, toMs }) => [{ fromMs, toMs: Math.min(toMs, told.fromMs) }, { fromMs: Math.max(fromMs, told.toMs), toMs }])
      .filter(({ fromMs, toMs }) => fromMs < toMs && fromMs !== -Infinity && toMs !== Infinity);
    const ends = new Set(this.gaps.map(({ fromMs }) => samples.findLastIndex((one) => one.t <= fromMs)));
    this.samples = samples.flatMap((one, index) => (ends.has(index) ? [one, silence(one)] : [one]));
    this._thinSamples();
    this.columns = [...this.columns, ...told.columns.filter((one) => open(one.t))].sort((a, b) => a.t - b.t);
    this._thinColumns();
    const known = new Set(this.marks.map(({ id }) => id));
    this.marks = [...this.marks, ...told.marks.filter(({ id }) => !known.has(id))].sort((a, b) => a.simTimeMs - b.simTimeMs).slice(-SAMPLES_MAX);
    this.epoch += 1;
    for (const heard of this.listeners) heard();
  }

  /** @param {Sample} sample */
  _push(sample) {
    this.samples.push(sample);
    this._thinSamples();
  }

  _thinSamples() {
    if (this.samples.length <= SAMPLES_MAX) return;
    const half = SAMPLES_MAX / 2;
    this.samples = this.samples.filter((_, index) => index >= half || index % 2 === 0);
    this.thinned = true;
    this.epoch += 1;
  }

  /**
   * @param {View} view
   * @param {number} t
   */
  _column(view, t) {
    const last = this.columns.at(-1);
    if (last && t - last.t < this._columnMs) return;
    const now = nodes(view);
    if (now !== this._nodes) {
      const names = now.map((node) => node.name);
      if (names.join("\n") !== this._names.join("\n")) this._names = names;
      this._nodes = now;
    }
    this.columns.push(columnOf(now, this._names, t, view.revision));
    this._thinColumns();
  }

  _thinColumns() {
    while (this.columns.length > COLUMNS_MAX) {
      this.columns = this.columns.filter((_, index) => index % 2 === 0);
      this._columnMs *= 2;
      this.epoch += 1;
    }
  }

  /** @param {View} view */
  _mark(view) {
    if (view.decisions === this._decisions) return;
    const known = new Set(this._decisions);
    this._decisions = view.decisions;
    const fresh = view.decisions.filter((one) => !known.has(one)).map((one) => markOf(view, one));
    const again = new Map(fresh.map((one) => [one.id, one]));
    if (this.marks.some((one) => again.has(one.id))) {
      this.marks = this.marks.filter((one) => !again.has(one.id));
      this.epoch += 1;
    }
    this.marks.push(...fresh);
    if (this.marks.length <= SAMPLES_MAX) return;
    this.marks = this.marks.slice(-SAMPLES_MAX);
    this.thinned = true;
    this.epoch += 1;
  }
}

/** The one recorder of a page. */
export const recorder = new Recorder();

/**
 * What ends a line until something is heard again.
 * @param {Sample} last
 * @returns {Sample}
 */
function silence({ t, revision }) {
  return { t: t + 1, revision, active: null, backoff: null, unschedulable: null, half: null, twentieth: null };
}

/**
 * @param {View} view
 * @param {number} t
 * @returns {Sample}
 */
export function sampleOf(view, t) {
  const { counts } = queueOfLeader(view);
  const waits = waitsOf(view, t);
  return {
    t, revision: view.revision,
    active: counts["active"] ?? 0,
    backoff: counts["backoff"] ?? 0,
    unschedulable: (counts["unschedulable"] ?? 0) + (counts["gated"] ?? 0),
    half: rank(waits, 0.5),
    twentieth: rank(waits, 0.95),
  };
}

/**
 * Seconds that pods without a node have waited, ascending.
 * @param {View} view
 * @param {number} t
 */
function waitsOf(view, t) {
  const now = view.epochMs + t;
  const waiting = (podsByNode(view).get("") ?? []).filter((pod) => !isTerminal(pod) && !pod.spec.schedulingGates?.length);
  return waiting.map((pod) => Math.max(0, now - Date.parse(pod.metadata.creationTimestamp ?? "")) / 1000)
    .filter((seconds) => !Number.isNaN(seconds)).sort((a, b) => a - b);
}

/**
 * @param {readonly number[]} sorted
 * @param {number} share
 */
function rank(sorted, share) {
  return sorted.length === 0 ? 0 : (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
}

/**
 * @param {readonly NodeSummary[]} now
 * @param {readonly string[]} names of them
 * @param {number} t
 * @param {number} revision
 * @returns {Column}
 */
export function columnOf(now, names, t, revision) {
  const count = now.length;
  const column = {
    t, revision, names, share: new Float32Array(count), cpu: new Float32Array(count), memory: new Float32Array(count),
    pods: new Float32Array(count), gpu: new Float32Array(count),
  };
  now.forEach((node, index) => {
    const { allocatable, requested } = node;
    column.share[index] = allocatable.cpuMilli > 0 ? requested.cpuMilli / allocatable.cpuMilli : 0;
    if (!takesPods(node)) return;
    column.cpu[index] = allocatable.cpuMilli - requested.cpuMilli;
    column.memory[index] = allocatable.memoryBytes - requested.memoryBytes;
    column.pods[index] = allocatable.pods - requested.pods;
    column.gpu[index] = (allocatable.extended[GPU_RESOURCE] ?? 0) - (requested.extended[GPU_RESOURCE] ?? 0);
  });
  return column;
}

/**
 * Whether a plain pod may come here: neither cordoned nor down nor hard-tainted.
 * @param {NodeSummary} node
 */
export function takesPods(node) {
  return node.ready && !node.unschedulable && !node.taints.some((taint) => taint.effect !== "PreferNoSchedule");
}

/**
 * How many more pods of a shape each node could hold.
 * @param {Column} column
 * @param {Shape} shape
 * @returns {number[]} by place in `names`
 */
export function fits(column, shape) {
  return column.names.map((_, index) => {
    const limits = [
      column.pods[index] ?? 0,
      shape.cpuMilli > 0 ? (column.cpu[index] ?? 0) / shape.cpuMilli : Infinity,
      // A Float32 of a few GiB is off by some hundred bytes.
      shape.memoryBytes > 0 ? ((column.memory[index] ?? 0) + 512) / shape.memoryBytes : Infinity,
      shape.gpu > 0 ? (column.gpu[index] ?? 0) / shape.gpu : Infinity,
    ];
    return Math.max(0, Math.floor(Math.min(...limits)));
  });
}

/**
 * @param {View} view
 * @param {DecisionLine} line
 * @returns {Mark}
 */
export function markOf(view, line) {
  const found = /** @type {PodSlim | null} */ (objectAt(view, "pods", line.pod));
  const [namespace = "", name = ""] = line.pod.split("/");
  const pod = found?.metadata.uid === line.uid ? found : null;
  const group = ownerGroup(pod ?? { resource: "pods", metadata: { name, namespace }, spec: {}, status: {} });
  const { hue, ring } = ownerLook(pod?.hues?.owner, group.key);
  return { ...line, said: saidKey(view, line.pod), label: group.label, hue, ring };
}
