/** Remembers what this person did in the session, so that it can be undone; what others did since is left alone. */

/** @import { Kind } from "../lib/kinds.js" */
/** @import { UndoState } from "../lib/types.d.ts" */
/** @import { SessionApi, Write } from "../net/rest.js" */
/** @import { Deed, Target, Whole } from "../state/undo.js" */
import { KINDS } from "../lib/kinds.js";
import { ApiError } from "../net/rest.js";
import { deedOf, importOf, wayBack } from "../state/undo.js";

/** Deeds that can be taken back, one after another. */
export const DEEDS_MAX = 20;

/** @typedef {{key: string, values: Record<string, string | number>, tone: "done" | "note"}} Said a text key, as a notice */

export class Deeds {
  /**
   * @param {SessionApi} api every write that it sends is remembered from now on
   * @param {() => void} onChange
   */
  constructor(api, onChange) {
    this.api = api;
    this.onChange = onChange;
    /** @type {Deed[]} */
    this.done = [];
    this.undoing = false;
    api.around = (write, send) => this.around(write, send);
  }

  /** What the next undo takes back; null where there is nothing. */
  get next() {
    const deed = this.done.at(-1);
    return deed ? told(deed) : null;
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
    if (deed) this.done = [...this.done, deed].slice(-DEEDS_MAX);
    if (deed) this.onChange();
    return answer;
  }

  /**
   * Take the newest deed back, or say why that cannot be; refused as any other write is.
   * @returns {Promise<Said>}
   */
  async undo() {
    const deed = this.done.at(-1);
    if (!deed || this.undoing) return { key: "undo.nothing", values: {}, tone: "note" };
    this.undoing = true;
    try {
      const said = deed.did === "imported" ? await this.unimport(deed) : await this.takeBack(deed);
      if (!said.keep) this.done = this.done.filter((other) => other !== deed);
      return said;
    } finally {
      this.undoing = false;
      this.onChange();
    }
  }

  /**
   * @param {Exclude<Deed, {did: "imported"}>} deed
   * @returns {Promise<Said & {keep: boolean}>}
   */
  async takeBack(deed) {
    const { kind, namespace, name } = deed.target;
    const way = wayBack(deed, await this.read(deed.target));
    if ("refused" in way) return { key: way.refused, values: way.values, tone: "note", keep: way.keep };
    if ("remove" in way) await this.api.delete(kind, namespace, name, way.remove.uid);
    else if ("create" in way) await this.api.create(kind, way.create, namespace);
    else await this.api.patch(kind, namespace, name, way.patch, deed.did === "changed" ? deed.subresource || undefined : undefined);
    const paths = "paths" in way ? way.paths.join(", ") : "";
    return { key: `undo.done_${deed.did}`, values: { kind: kind.kind, name, paths }, tone: "done", keep: false };
  }

  /**
   * @param {Extract<Deed, {did: "imported"}>} deed
   * @returns {Promise<Said & {keep: boolean}>}
   */
  async unimport({ targets, changed }) {
    let count = 0;
    for (const { kind, namespace, name } of [...targets].reverse())
      try {
        await this.api.delete(kind, namespace, name);
        count += 1;
      } catch (problem) {
        if (!isMissing(problem)) throw problem;
      }
    return { key: changed ? "undo.done_imported_part" : "undo.done_imported", values: { count, changed }, tone: "done", keep: false };
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
 * @param {Deed} deed
 * @returns {NonNullable<UndoState>}
 */
function told(deed) {
  if (deed.did === "imported") return { did: deed.did, kind: "", name: "", count: deed.targets.length };
  return { did: deed.did, kind: deed.target.kind.kind, name: deed.target.name, count: 1 };
}
