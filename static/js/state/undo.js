/**
 * The way back from what a person did: a deed is kept as data, and its way back is reckoned from what is there by then.
 * Pure: act/undo.js asks the server.
 */

/** @import { Kind } from "../lib/kinds.js" */

/**
 * @typedef {Record<string, any>} Whole a whole object as the server gave it
 * @typedef {{kind: Kind, namespace: string, name: string}} Target
 * @typedef {{did: "created", target: Target, uid: string}
 *   | {did: "deleted", target: Target, before: Whole}
 *   | {did: "changed", target: Target, subresource: string, before: Whole, after: Whole}
 *   | {did: "imported", targets: readonly Target[], changed: number}
 *   | {did: "unimported", gone: readonly {target: Target, before: Whole}[], changed: number}} Deed
 *   `changed`: how many objects of a file were there before, so that undoing leaves them as the file made them
 * @typedef {{refused: string, values: Record<string, string>, keep: boolean}} NoWay a text key; `keep`: there may be one later
 * @typedef {{remove: {uid: string}} | {create: Whole} | {patch: Whole, paths: string[]} | NoWay} Way
 */

/** What the server writes into the metadata of every object; none of it is a person's. */
const KEPT_BY_SERVER = new Set(["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
  "deletionTimestamp", "deletionGracePeriodSeconds"]);
/** What components fill in besides, by kind: made again with it, the object would be refused or half bound. */
/** @type {Readonly<Record<string, readonly string[]>>} */
const FILLED_IN = {
  Pod: ["spec.nodeName"],
  PersistentVolume: ["spec.claimRef"],
  PersistentVolumeClaim: ["spec.volumeName"],
  Job: ["spec.selector"],
};
/** Annotations and labels by which components remember an object that is gone. */
const REMEMBERED = /^pv\.kubernetes\.io\/|^volume\.kubernetes\.io\/selected-node$|(^|\/)controller-uid$/;
/** The same on the pods of a Job, which writes them itself. */
const REMEMBERED_OF_PODS = /(^|\/)(controller-uid|job-name)$/;

/**
 * What was done, in a shape that can be undone; null where nothing was.
 * @param {{did: "created" | "deleted" | "changed", kind: Kind, namespace: string, name: string, subresource?: string}} write
 * @param {Whole | null} before null: not read, or not there
 * @param {Whole | null} answer of the server
 * @returns {Exclude<Deed, {did: "unimported"}> | null}
 */
export function deedOf({ did, kind, namespace, name, subresource = "" }, before, answer) {
  const target = { kind, namespace, name };
  if (did === "created") {
    const made = answer?.["metadata"];
    if (!made?.name) return null;
    return { did, target: { kind, namespace: made.namespace ?? "", name: made.name }, uid: made.uid ?? "" };
  }
  if (!before) return null;
  if (did === "deleted") return { did, target, before };
  // A subresource of another kind (Scale) does not show the object.
  if (!answer || answer["kind"] !== kind.kind) return null;
  const { paths } = wayFrom(part(before, subresource), part(answer, subresource), part(answer, subresource));
  return paths.length ? { did, target, subresource, before, after: answer } : null;
}

/**
 * What a file made.
 * @param {{kind: Kind | null, namespace: string, name: string, action: string}[]} results in the order of the file
 * @returns {Exclude<Deed, {did: "unimported"}> | null}
 */
export function importOf(results) {
  const made = results.flatMap(({ kind, namespace, name, action }) => (kind && action === "created" ? [{ kind, namespace, name }] : []));
  const changed = results.filter(({ action }) => action === "configured").length;
  return made.length ? { did: "imported", targets: made, changed } : null;
}

/**
 * @param {Exclude<Deed, {did: "imported" | "unimported"}>} deed
 * @param {Whole | null} now what stands under its name; null: nothing
 * @returns {Way}
 */
export function wayBack(deed, now) {
  const { kind, name } = deed.target;
  const no = (/** @type {string} */ refused, /** @type {Record<string, string>} */ values = {}, keep = false) =>
    ({ refused, values: { kind: kind.kind, name, ...values }, keep });
  const other = now?.["metadata"]?.uid;
  if (deed.did === "created") {
    if (!now) return no("undo.gone");
    return deed.uid && other !== deed.uid ? no("undo.other") : { remove: { uid: deed.uid } };
  }
  if (deed.did === "deleted") {
    const { metadata } = deed.before;
    const owner = metadata?.ownerReferences?.find((/** @type {any} */ reference) => reference.controller);
    if (owner) return no("undo.owned", { owner: `${owner.kind} ${owner.name}` });
    if (!now) return { create: madeAgain(deed.before) };
    return other === metadata?.uid ? no("undo.leaving", {}, true) : no("undo.other");
  }
  if (!now) return no("undo.gone");
  if (other !== deed.before["metadata"]?.uid) return no("undo.other");
  const { subresource } = deed;
  const { patch, paths, clashes } = wayFrom(part(deed.before, subresource), part(deed.after, subresource), part(now, subresource));
  if (clashes.length) return no("undo.changed", { paths: clashes.join(", ") });
  // Lists are replaced whole: with its version, a change that comes in between is refused and not lost.
  patch["metadata"] = { ...patch["metadata"], resourceVersion: now["metadata"]?.resourceVersion };
  return { patch, paths };
}

/**
 * The document by which an object is made again as a person asked for it: without what servers and controllers added.
 * @param {Whole} before
 * @returns {Whole}
 */
export function madeAgain(before) {
  const { status: _, ...rest } = structuredClone(before);
  const { metadata } = rest;
  for (const name of KEPT_BY_SERVER) delete metadata[name];
  // A selector that a person wrote says so, and its labels are theirs.
  if (rest["spec"]?.manualSelector) return rest;
  for (const path of FILLED_IN[rest["kind"]] ?? []) drop(rest, path.split("."));
  forget(metadata.annotations, REMEMBERED);
  forget(metadata.labels, REMEMBERED);
  forget(rest["spec"]?.template?.metadata?.labels, REMEMBERED_OF_PODS);
  return rest;
}

/** @param {Record<string, string> | undefined} entries @param {RegExp} keys */
function forget(entries, keys) {
  for (const key of Object.keys(entries ?? {})) if (keys.test(key)) delete entries?.[key];
}

/** @param {Record<string, any>} within @param {string[]} path */
function drop(within, [first = "", ...rest]) {
  if (rest.length === 0) delete within[first];
  else if (within[first]) drop(within[first], rest);
}

/**
 * What a person writes of an object.
 * @param {Whole} object
 * @param {string} subresource "status": its status, and nothing else
 * @returns {Whole}
 */
function part({ apiVersion: _a, kind: _k, status, metadata = {}, ...rest }, subresource) {
  if (subresource === "status") return { status };
  return { ...rest, metadata: Object.fromEntries(Object.entries(metadata).filter(([name]) => !KEPT_BY_SERVER.has(name))) };
}

/**
 * The merge patch from `after` back to `before`, and where `now` is neither: whoever changed that since keeps it.
 * @param {Whole} before
 * @param {Whole} after
 * @param {Whole} now
 * @param {string} [at]
 * @returns {{patch: Whole, paths: string[], clashes: string[]}}
 */
function wayFrom(before, after, now, at = "") {
  /** @type {{patch: Whole, paths: string[], clashes: string[]}} */
  const way = { patch: {}, paths: [], clashes: [] };
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, became, is] = [before[key], after[key], now[key]];
    if (same(was, became)) continue;
    const path = at ? `${at}.${key}` : key;
    if (isMap(was) && isMap(became) && isMap(is)) {
      const deeper = wayFrom(was, became, is, path);
      way.patch[key] = deeper.patch;
      way.paths.push(...deeper.paths);
      way.clashes.push(...deeper.clashes);
      continue;
    }
    way.paths.push(path);
    if (!same(is, became)) way.clashes.push(path);
    way.patch[key] = was === undefined ? null : was;
  }
  return way;
}

/** @param {unknown} value */
function isMap(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/**
 * Whether two values of JSON are the same, in whatever order their fields stand.
 * @param {any} one
 * @param {any} other
 * @returns {boolean}
 */
function same(one, other) {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => name in other && same(one[name], other[name]));
}
