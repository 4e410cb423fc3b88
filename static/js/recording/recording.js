/** A recorded session, answering what a server would: objects at any revision, marks, decisions. Pure. */

/** @import { Changes, DecisionLine, LogRow, Mark, Person, Slim } from "../lib/types.d.ts" */

/**
 * What a file holds of a session (docs/protocol.md, A recording).
 * @typedef {object} Recorded
 * @property {Record<string, any>} hello the first frame
 * @property {Record<string, any>} info as `GET /api/sessions/<code>`
 * @property {Slim[]} objects what there was at `base`
 * @property {number} base the revision after which rows are kept
 * @property {number} baseMs simulated time of that revision
 * @property {LogRow[]} rows
 * @property {Person[]} people
 * @property {Record<string, Mark[]>} marks by language
 * @property {DecisionLine[]} lines a line for each scheduling attempt
 * @property {Record<string, any>[]} traces whole, newest first
 */

/** @typedef {{revision: number, object: Slim | null}} Version null: gone from this revision on */

const LANES = ["pods", "scheduler", "controllers", "nodes", "leases", "people"];

/** @param {string} resource @param {string | undefined} namespace @param {string} name */
const keyOf = (resource, namespace, name) => `${resource} ${namespace ?? ""} ${name}`;

export class Recording {
  /** @param {Recorded} recorded */
  constructor(recorded) {
    this.recorded = recorded;
    this.base = recorded.base;
    this.newest = recorded.rows.at(-1)?.revision ?? recorded.base;
    /** What became of each object, in order. @type {Map<string, Version[]>} */
    this.versions = new Map();
    for (const object of recorded.objects) this.put(this.base, object.resource, object, object);
    for (const { revision, verb, resource, object } of recorded.rows)
      this.put(revision, resource, object, verb === "DELETED" ? null : { ...object, resource });
  }

  /**
   * @param {number} revision
   * @param {string} resource
   * @param {Slim} named
   * @param {Slim | null} object
   */
  put(revision, resource, named, object) {
    const key = keyOf(resource, named.metadata.namespace, named.metadata.name);
    const there = this.versions.get(key);
    if (there) there.push({ revision, object });
    else this.versions.set(key, [{ revision, object }]);
  }

  /**
   * The newest version that is not younger than a revision.
   * @param {Version[]} versions
   * @param {number} revision
   * @returns {Slim | null}
   */
  static at(versions, revision) {
    let [low, high] = [0, versions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (/** @type {Version} */ (versions[middle]).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return versions[low - 1]?.object ?? null;
  }

  /**
   * Everything that there was at a revision.
   * @param {number} revision
   * @returns {Slim[]}
   */
  objectsAt(revision) {
    return [...this.versions.values()].map((versions) => Recording.at(versions, revision)).filter((one) => one !== null);
  }

  /** @param {number} revision @returns {number} simulated milliseconds */
  msAt(revision) {
    const { rows, baseMs } = this.recorded;
    let found = baseMs;
    for (const row of rows) {
      if (row.revision > revision) break;
      found = row.simTimeMs;
    }
    return found;
  }

  /** @param {number} revision whether this file reaches to it */
  keeps(revision) {
    return revision >= this.base && revision <= this.newest;
  }

  /**
   * What the cluster of one moment has other than that of another.
   * @param {number} there
   * @param {number} here
   * @returns {Changes}
   */
  changes(there, here) {
    /** @type {Changes} */
    const found = { from: there, to: here, simTimeMs: this.msAt(here), objects: [], gone: [] };
    for (const versions of this.versions.values()) {
      const before = Recording.at(versions, there);
      const after = Recording.at(versions, here);
      if (before === after) continue;
      if (after) found.objects.push(after);
      else if (before) {
        const { resource, metadata: { namespace = "", name } } = before;
        found.gone.push({ resource, namespace, name });
      }
    }
    return found;
  }

  /**
   * The way back from a revision, moment by moment, as `GET …/before/<rv>` has it.
   * @param {number} to
   * @param {number} seconds
   * @param {number} count
   */
  before(to, seconds, count) {
    const { rows, baseMs, base, lines } = this.recorded;
    const toMs = this.msAt(to);
    const fromMs = Math.max(baseMs, toMs - seconds * 1000);
    const moments = [];
    let [at, place] = [to, rows.findLastIndex((row) => row.revision <= to)];
    for (let step = 1; step <= count; step += 1) {
      const simTimeMs = toMs - Math.floor(((toMs - fromMs) * step) / count);
      while (place >= 0 && /** @type {LogRow} */ (rows[place]).simTimeMs > simTimeMs) place -= 1;
      const there = rows[place]?.revision ?? base;
      moments.push({ ...this.changes(at, there), simTimeMs });
      at = there;
    }
    return { fromMs, toMs, moments, decisions: lines.filter(({ revision }) => revision > at && revision <= to) };
  }

  /**
   * @param {{from?: number, to?: number, limit: number, lane?: string, language?: string}} query
   * @returns {Mark[]} at most `limit`, at equal distances
   */
  timeline({ from = 0, to = this.newest, limit, lane = "", language = "en" }) {
    const marks = this.recorded.marks[language] ?? this.recorded.marks["en"] ?? [];
    const found = marks.filter((mark) => mark.rv >= from && mark.rv <= to && (!lane || mark.lane === lane));
    if (found.length <= limit) return found;
    const last = found.length - 1;
    return Array.from({ length: limit }, (_, place) =>
      /** @type {Mark} */ (found[Math.round((place * last) / Math.max(1, limit - 1))]));
  }

  /**
   * How many marks of each lane fall into each part of the time between two revisions.
   * @param {number} slots
   * @param {number} [from]
   * @param {number} [to]
   */
  counts(slots, from = this.base + 1, to = this.newest) {
    const [fromMs, toMs] = [this.msAt(Math.min(from, to)), this.msAt(to)];
    /** @type {Record<string, number[]>} */
    const lanes = Object.fromEntries(LANES.map((lane) => [lane, Array(slots).fill(0)]));
    const span = Math.max(1, toMs - fromMs + 1);
    for (const mark of this.recorded.marks["en"] ?? []) {
      if (mark.rv < from || mark.rv > to) continue;
      const slot = Math.floor(((mark.simTime * 1000 - fromMs) * slots) / span);
      const row = lanes[mark.lane];
      const place = Math.min(slots - 1, Math.max(0, slot));
      if (row) row[place] = (row[place] ?? 0) + 1;
    }
    return { from, to, compacted: this.base, fromTime: fromMs / 1000, toTime: toMs / 1000, lanes };
  }

  /**
   * @param {{pod?: string, uid?: string}} asked
   * @returns {Record<string, any>[]} newest first
   */
  decisions({ pod = "", uid = "" }) {
    return this.recorded.traces.filter((trace) => (uid ? trace["uid"] === uid : trace["pod"] === pod));
  }

  /** @param {string} id @returns {Record<string, any> | undefined} */
  decision(id) {
    return this.recorded.traces.find((trace) => trace["id"] === id);
  }
}
