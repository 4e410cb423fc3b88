/** Kubernetes Events of a view: the newest of all, and those about one object. */

/** @import { EventSlim, Slim, View } from "../lib/types.d.ts" */
import { objectsOf, remembered } from "./selectors.js";

/** Second key of answers that depend on one map alone. */
const ALONE = {};

/**
 * When an event last happened, as its RFC 3339 text; "" when it does not say.
 * @param {EventSlim} event
 */
export function eventTimeOf(event) {
  return event.lastTimestamp || event.eventTime || event.firstTimestamp || event.metadata.creationTimestamp || "";
}

/** @param {EventSlim} event */
const revisionOf = (event) => Number(event.metadata.resourceVersion ?? 0);

/** Events that `newestEvents` keeps; a page shows fewer, and sorting tens of thousands for each frame would cost it. */
export const NEWEST_EVENTS_MAX = 300;

const newestOf = remembered((/** @type {ReadonlyMap<string, Slim>} */ map, /** @type {object} */ _none) => {
  /** @type {EventSlim[]} */
  const newest = [];
  let least = -1;
  for (const event of /** @type {Iterable<EventSlim>} */ (map.values())) {
    const revision = revisionOf(event);
    if (revision <= least && newest.length >= NEWEST_EVENTS_MAX) continue;
    newest.push(event);
    if (newest.length < 2 * NEWEST_EVENTS_MAX) continue;
    newest.sort((a, b) => revisionOf(b) - revisionOf(a)).length = NEWEST_EVENTS_MAX;
    least = revisionOf(/** @type {EventSlim} */ (newest[NEWEST_EVENTS_MAX - 1]));
  }
  return newest.sort((a, b) => revisionOf(b) - revisionOf(a)).slice(0, NEWEST_EVENTS_MAX);
});

/**
 * The newest Kubernetes Events, newest first.
 * @param {View} view
 * @returns {readonly EventSlim[]}
 */
export function newestEvents(view) {
  return newestOf(objectsOf(view, "events"), ALONE);
}

const aboutOf = remembered((/** @type {ReadonlyMap<string, Slim>} */ map, /** @type {Slim} */ object) => {
  const { uid, name, namespace } = object.metadata;
  /** @type {EventSlim[]} */
  const found = [];
  for (const event of /** @type {Iterable<EventSlim>} */ (map.values())) {
    const about = event.involvedObject;
    const same = about?.uid && uid ? about.uid === uid
      : about?.name === name && (about?.namespace ?? "") === (namespace ?? "");
    if (same) found.push(event);
  }
  return found.sort((a, b) => revisionOf(b) - revisionOf(a));
});

/**
 * Events about one object, newest first.
 * @param {View} view
 * @param {Slim} object
 * @returns {readonly EventSlim[]}
 */
export function eventsAbout(view, object) {
  return aboutOf(objectsOf(view, "events"), object);
}
