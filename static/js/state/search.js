/**
 * What the search box finds: first the objects that exist, best match first, then what could be created. Pure, so that
 * Enter's meaning is a rule with a test: it selects what exists, and creating is asked for by name.
 */

/** @import { Lang, View } from "../lib/types.d.ts" */
import { fullName, ITEMS } from "../lib/items.js";
import { KINDS } from "../lib/kinds.js";
import { text } from "../lib/text.js";
import { saidName } from "./people.js";
import { refusedItem } from "./roles.js";
import { compareNames, objectsOf } from "./selectors.js";

/** Rows of each part; a longer name narrows them. */
const OBJECTS_MAX = 9;
const ITEMS_MAX = 5;

/**
 * @typedef {{resource: string, key: string, name: string, note: string}} FoundObject
 * @typedef {{objects: readonly FoundObject[], items: readonly {id: string, label: string}[]}} Found
 */

/**
 * @param {View} view
 * @param {Lang} lang
 * @param {string} typed
 * @returns {Found}
 */
export function search(view, lang, typed) {
  const query = typed.trim().toLowerCase();
  return query ? { objects: objectsNamed(view, query), items: itemsNamed(view, lang, query) } : { objects: [], items: [] };
}

/**
 * The row that is marked before anybody moves: the best object, and none where there is only something to create.
 * @param {Found} found
 */
export function firstChoice(found) {
  return found.objects.length ? 0 : -1;
}

/**
 * How well a name answers: 0 the very name, 1 its beginning, 2 anywhere in it, -1 not at all.
 * @param {string} name lower case
 * @param {string} query lower case
 */
function rank(name, query) {
  const at = name.indexOf(query);
  return at < 0 ? -1 : at > 0 ? 2 : name.length === query.length ? 0 : 1;
}

/**
 * @param {View} view
 * @param {string} query
 * @returns {FoundObject[]}
 */
function objectsNamed(view, query) {
  /** @type {(FoundObject & {rank: number, order: number})[]} */
  const found = [];
  KINDS.forEach(({ kind, resource }, order) => {
    if (resource === "events") return;
    for (const [key, { metadata }] of objectsOf(view, resource)) {
      // Names of objects are lower case by Kubernetes' own rule; `default/web` is found by its key.
      const best = rank(query.includes("/") ? key : metadata.name, query);
      if (best < 0) continue;
      const note = metadata.namespace ? `${kind} · ${metadata.namespace}` : kind;
      found.push({ resource, key, name: saidName(view, metadata.namespace, metadata.name), note, rank: best, order });
    }
  });
  found.sort((a, b) => a.rank - b.rank || a.order - b.order || compareNames(a.key, b.key));
  return found.slice(0, OBJECTS_MAX).map(({ resource, key, name, note }) => ({ resource, key, name, note }));
}

/**
 * Items that this person may create and whose kind, label or id begins a word with what was typed.
 * @param {View} view
 * @param {Lang} lang
 * @param {string} query
 */
function itemsNamed(view, lang, query) {
  const begins = new RegExp(`[\\s-]${query.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`);
  return ITEMS.filter((item) => begins.test(` ${item.kind} ${text(lang, item.label)} ${item.id}`.toLowerCase()))
    .filter((item) => !refusedItem(view, item))
    .slice(0, ITEMS_MAX)
    .map((item) => ({ id: item.id, label: fullName(item, lang) }));
}
