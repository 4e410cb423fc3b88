/**
 * What is known of elections: what each replica's status has told, renewals as rows of the log, writes of controllers. It
 * runs from the page's first moment; what statuses tell is history and stays true, so that of a held past is learnt, too.
 * Its memory is bounded. Pure: no DOM, clock or network.
 */

/** @import { LogRow, Mark, ReplicaSlim, Ui, View } from "../lib/types.d.ts" */
import { replicas } from "../state/selectors.js";

/** Renewals and writes kept, each: the newest. */
export const RENEWALS_MAX = 3_600;
/** Of anything else that one replica has told. */
const TOLD_MAX = 200;
/** What an election may be held by. */
const LOCKS = new Set(["leases.coordination.k8s.io", "endpoints", "configmaps"]);
const REPLICAS = "replicas.clustersim.io";
/** Rows that are no work of a component: how it is shown, and what it tells people. */
const QUIET = /\.clustersim\.io$|^events$/;

/** @typedef {{fromMs: number, toMs: number | null}} Belief `toMs`: null while it lasts */
/** @typedef {NonNullable<ReplicaSlim["status"]["tries"]>[number]} Try */
/** @typedef {NonNullable<ReplicaSlim["status"]["refusals"]>[number]} Refusal */
/** @typedef {{id: number, kind: string, rate: number | null, fromMs: number | null, toMs: number | null}} Fault */
/** @typedef {{revision: number, t: number, who: string, lock?: string}} Renewal `lock`: of one that is no replica of the session */

/**
 * @typedef {object} Told what one replica has told, oldest first
 * @property {string} identity
 * @property {string} component
 * @property {Belief[]} beliefs
 * @property {Try[]} tries
 * @property {Refusal[]} refusals
 * @property {Fault[]} faults
 */

export class ElectionRecorder {
  constructor() {
    /** @type {Map<string, Told>} */
    this.told = new Map();
    /** @type {Renewal[]} */
    this.renewals = [];
    /** @type {Renewal[]} writes of controller managers, as far as this page saw them come */
    this.writes = [];
    /** Goes up with everything that is learnt. */
    this.version = 0;
    this._revision = 0;
    /** @type {ReplicaSlim[]} */
    this._known = [];
  }

  /**
   * Take the newest view in, or one of the past.
   * @param {View} view
   * @param {Pick<Ui, "nowMs" | "past">} ui
   */
  take(view, ui) {
    if (!view.ready) return;
    const live = !ui.past?.revision;
    const rows = live && view.revision !== this._revision ? view.rows.filter((row) => row.revision > this._revision) : [];
    if (live) this._revision = view.revision;
    // A row says when it was so; the object it leaves says only that it is.
    for (const row of rows) if (row.resource === REPLICAS) this._learn(/** @type {ReplicaSlim} */ (row.object), row.simTimeMs);
    const all = /** @type {ReplicaSlim[]} */ ([...replicas(view)]);
    if (all.length !== this._known.length || all.some((one, index) => one !== this._known[index])) {
      this._known = all;
      // Of what a page finds when it is opened, and of a moment of the past, it is not known how long it had lasted.
      for (const one of all) this._learn(one, live && this.told.has(one.metadata.name) ? ui.nowMs : null);
    }
    for (const row of rows) this._row(row);
  }

  /**
   * Take renewals of the time before the page was opened.
   * @param {readonly Mark[]} marks of the lane of leases
   */
  learn(marks) {
    const known = new Set(this.renewals.map((one) => one.revision));
    const fresh = marks.filter((mark) => !known.has(mark.rv)).map((mark) => ({ revision: mark.rv, t: mark.simTime * 1000, who: mark.actor }));
    if (fresh.length === 0) return;
    this.renewals = [...this.renewals, ...fresh].sort((a, b) => a.revision - b.revision).slice(-RENEWALS_MAX);
    this.version += 1;
  }

  /** @param {LogRow} row */
  _row(row) {
    const [identity = ""] = row.actor.split("/");
    if (!this.told.has(identity)) return this._outside(row);
    const told = { revision: row.revision, t: row.simTimeMs, who: identity };
    if (row.actor === identity && LOCKS.has(row.resource)) {
      this._renewed(told);
    } else if (row.actor !== identity && !QUIET.test(row.resource)) {
      this.writes.push(told);
      if (this.writes.length > RENEWALS_MAX) this.writes = this.writes.slice(-RENEWALS_MAX / 2);
    } else return;
    this.version += 1;
  }

  /**
   * A component from outside writes its lease as the person whose token it has: who holds it stands in the Lease.
   * @param {LogRow} row
   */
  _outside({ revision, simTimeMs, resource, object }) {
    const who = object.spec?.["holderIdentity"] ?? "";
    if (resource !== "leases.coordination.k8s.io" || object.metadata.namespace !== "kube-system" || !who || this.told.has(who)) return;
    this._renewed({ revision, t: simTimeMs, who, lock: object.metadata.name });
    this.version += 1;
  }

  /** @param {Renewal} renewal */
  _renewed(renewal) {
    this.renewals.push(renewal);
    if (this.renewals.length > RENEWALS_MAX) this.renewals = this.renewals.slice(-RENEWALS_MAX / 2);
  }

  /**
   * @param {ReplicaSlim} replica
   * @param {number | null} t when this was so; null: at some time
   */
  _learn({ metadata: { name: identity }, spec, status }, t) {
    const known = this.told.get(identity) ?? { identity, component: spec?.component ?? "", beliefs: [], tries: [], refusals: [], faults: [] };
    this.told.set(identity, {
      ...known,
      beliefs: merged(known.beliefs, (status?.beliefs ?? []).map(({ fromMs, toMs = null }) => ({ fromMs, toMs })), (one) => one.fromMs, (old, now) => (old.toMs === null ? now : old)),
      tries: merged(known.tries, status?.tries ?? [], (one) => `${one.atMs} ${one.branch}`),
      refusals: merged(known.refusals, status?.refusals ?? [], (one) => `${one.atMs} ${one.message}`),
      faults: faultsWith(known.faults, status?.faults ?? [], t, status?.beliefs?.at(-1)?.toMs ?? null),
    });
    this.version += 1;
  }
}

/** The one recorder of a page. */
export const electionRecorder = new ElectionRecorder();

/**
 * @template T
 * @param {readonly T[]} known
 * @param {readonly T[]} told
 * @param {(one: T) => string | number} keyOf
 * @param {(old: T, now: T) => T} [choose] without: what was known stays
 * @returns {T[]}
 */
function merged(known, told, keyOf, choose = (old) => old) {
  const all = new Map(known.map((one) => [keyOf(one), one]));
  for (const one of told) {
    const old = all.get(keyOf(one));
    all.set(keyOf(one), old ? choose(old, one) : one);
  }
  const time = (/** @type {any} */ one) => one.atMs ?? one.fromMs;
  return [...all.values()].sort((a, b) => time(a) - time(b)).slice(-TOLD_MAX);
}

/**
 * @param {readonly Fault[]} known
 * @param {NonNullable<ReplicaSlim["status"]["faults"]>} has
 * @param {number | null} t
 * @param {number | null} ledUntilMs until when it believed that it led: a leader that crashes believes nothing any more
 * @returns {Fault[]}
 */
function faultsWith(known, has, t, ledUntilMs) {
  const lasts = new Set(has.map((one) => one.id));
  const kept = known.map((one) => (t !== null && !lasts.has(one.id) && (one.toMs === null || one.toMs > t) ? { ...one, toMs: t } : one));
  const came = has.filter((fault) => !kept.some((one) => one.id === fault.id)).map((fault) => {
    const untilMs = fault.untilMs ?? null;
    const began = untilMs !== null && fault.seconds ? untilMs - fault.seconds * 1000 : t ?? (fault.kind === "crash" ? ledUntilMs : null);
    return { id: fault.id ?? 0, kind: fault.kind, rate: fault.rate ?? null, fromMs: began, toMs: untilMs };
  });
  return [...kept, ...came].slice(-TOLD_MAX);
}
