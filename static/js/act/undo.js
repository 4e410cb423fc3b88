/** Remembers what this person did in the session, so that it can be undone and done again; what others did since is left alone. */

/** @import { Kind } from "../lib/kinds.js" */
/** @import { UndoState } from "../lib/types.d.ts" */
/** @import { SessionApi, Write } from "../net/rest.js" */
/** @import { Deed, Target, Whole } from "../state/undo.js" */
import { KINDS } from "../lib/kinds.js";
import { ApiError } from "../net/rest.js";
import { deedOf, importOf, madeAgain, wayBack } from "../state/undo.js";

/** Deeds that can be taken back, one after another. */
export const DEEDS_MAX = 20;

/**
 * @typedef {{key: string, values: Record<string, string | number>, tone: "done" | "note"}} Said a text key, as a notice
 * @typedef {{deed: Deed, told: NonNullable<UndoState>}} Entry `told`: what this person did, whichever way it goes next
 * @typedef {{said: Said & {keep: boolean}, inverse: Deed | null}} Turned `inverse`: what would take the way back back
 */

export class Deeds {
  /**
   * @param {SessionApi} api every write that it sends is remembered from now on
   * @param {() => void} onChange
   */
  constructor(api, onChange) {
    this.api = api;
    this.onChange = onChange;
    /** @type {Entry[]} */
    this.done = [];
    /** @type {Entry[]} taken back, to be done again until something else is done */
    this.undone = [];
    this.undoing = false;
    api.around = (write, send) => this.around(write, send);
  }

  /** What the next undo takes back; null where there is nothing. */
  get next() {
    return this.done.at(-1)?.told ?? null;
  }

  /** What the next redo does again; null where there is nothing. */
  get again() {
    return this.undone.at(-1)?.told ?? null;
  }

  /**
   * @param {Write} write
   * @param {() => Promise<any>} send
   */
  async around(write, send) {
    if (this.undoing) return send();
    const before = write.did === "deleted" || write.did === "changed" ? await this.read(write).catch(() => null) : null;
    const answer = await send();
    const deed = write.did === "imported"
      ? importOf(answer.results.map((/** @type {any} */ row) => ({ ...row, namespace: row.namespace ?? "", kind: known(row.kind) })))
      : deedOf(write, before, answer);
    if (deed) {
      this.done = [...this.done, { deed, told: told(deed) }].slice(-DEEDS_MAX);
      this.undone = [];
      this.onChange();
    }
    return answer;
  }

  /**
   * Take the newest deed back, or say why that cannot be; refused as any other write is.
   * @returns {Promise<Said>}
   */
  async undo() {
    const entry = this.done.at(-1);
    if (!entry || this.undoing) return { key: "undo.nothing", values: {}, tone: "note" };
    const { said, inverse } = await this.turn(entry);
    if (!said.keep) this.done = this.done.filter((other) => other !== entry);
    if (inverse) this.undone = [...this.undone, { deed: inverse, told: entry.told }];
    this.onChange();
    return said;
  }

  /**
   * Do again what was taken back last, or say why that cannot be.
   * @returns {Promise<Said>}
   */
  async redo() {
    const entry = this.undone.at(-1);
    if (!entry || this.undoing) return { key: "redo.nothing", values: {}, tone: "note" };
    const { said, inverse } = await this.turn(entry);
    if (!said.keep) this.undone = this.undone.filter((other) => other !== entry);
    if (!inverse) return said;
    this.done = [...this.done, { deed: inverse, told: entry.told }].slice(-DEEDS_MAX);
    this.onChange();
    const { did, kind, name, count } = entry.told;
    return { key: `redo.done_${did}`, values: { kind, name, count }, tone: "done" };
  }

  /**
   * @param {Entry} entry
   * @returns {Promise<Turned>}
   */
  async turn({ deed }) {
    this.undoing = true;
    try {
      if (deed.did === "imported") return await this.unimport(deed);
      return deed.did === "unimported" ? await this.reimport(deed) : await this.takeBack(deed);
    } finally {
      this.undoing = false;
      this.onChange();
    }
  }

  /**
   * @param {Exclude<Deed, {did: "imported" | "unimported"}>} deed
   * @returns {Promise<Turned>}
   */
  async takeBack(deed) {
    const { kind, namespace, name } = deed.target;
    const now = await this.read(deed.target);
    const way = wayBack(deed, now);
    if ("refused" in way) return { said: { key: way.refused, values: way.values, tone: "note", keep: way.keep }, inverse: null };
    /** @type {Deed | null} */
    let inverse = null;
    if ("remove" in way) {
      await this.api.delete(kind, namespace, name, way.remove.uid);
      inverse = now && { did: "deleted", target: deed.target, before: now };
    } else if ("create" in way) {
      inverse = deedOf({ did: "created", ...deed.target }, null, await this.api.create(kind, way.create, namespace));
    } else {
      const subresource = deed.did === "changed" ? deed.subresource : "";
      const after = await this.api.patch(kind, namespace, name, way.patch, subresource || undefined);
      inverse = now && { did: "changed", target: deed.target, subresource, before: now, after };
    }
    const paths = "paths" in way ? way.paths.join(", ") : "";
    return { said: { key: `undo.done_${deed.did}`, values: { kind: kind.kind, name, paths }, tone: "done", keep: false }, inverse };
  }

  /**
   * @param {Extract<Deed, {did: "imported"}>} deed
   * @returns {Promise<Turned>}
   */
  async unimport({ targets, changed }) {
    /** @type {{target: Target, before: Whole}[]} in the order of the file */
    const gone = [];
    for (const target of [...targets].reverse()) {
      const before = await this.read(target);
      if (!before) continue;
      await this.api.delete(target.kind, target.namespace, target.name);
      gone.unshift({ target, before });
    }
    const key = changed ? "undo.done_imported_part" : "undo.done_imported";
    return {
      said: { key, values: { count: gone.length, changed }, tone: "done", keep: false },
      inverse: gone.length ? { did: "unimported", gone, changed } : null,
    };
  }

  /**
   * @param {Extract<Deed, {did: "unimported"}>} deed
   * @returns {Promise<Turned>}
   */
  async reimport({ gone, changed }) {
    for (const { target, before } of gone) await this.api.create(target.kind, madeAgain(before), target.namespace);
    return {
      said: { key: "", values: {}, tone: "done", keep: false },
      inverse: { did: "imported", targets: gone.map(({ target }) => target), changed },
    };
  }

  /**
   * The whole object as it is now; null where there is none.
   * @param {Target} target
   * @returns {Promise<Whole | null>}
   */
  async read({ kind, namespace, name }) {
    try {
      return await this.api.get(kind, namespace, name);
    } catch (problem) {
      if (isMissing(problem)) return null;
      throw problem;
    }
  }
}

/** @param {unknown} problem */
function isMissing(problem) {
  return problem instanceof ApiError && problem.status.code === 404;
}

/**
 * @param {string} name
 * @returns {Kind | null}
 */
function known(name) {
  return KINDS.find(({ kind }) => kind === name) ?? null;
}

/**
 * @param {Exclude<Deed, {did: "unimported"}>} deed
 * @returns {NonNullable<UndoState>}
 */
function told(deed) {
  if (deed.did === "imported") return { did: deed.did, kind: "", name: "", count: deed.targets.length };
  return { did: deed.did, kind: deed.target.kind.kind, name: deed.target.name, count: 1 };
}
