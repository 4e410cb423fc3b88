/**
 * The folded state of one session: applyMessage(view, message) returns the next view, and nothing else makes one. Pure: no
 * DOM, clock or network.
 * Old view + messages = fresh list; tests/golden/watch holds both sides.
 */

/** @import { Clock, DecisionLine, Frame, LogRow, Message, Objects, Slim, View } from "../lib/types.d.ts" */

/** Newest log rows kept for the event list and for motion; older ones fall off the front. */
export const ROWS_KEPT = 400;

/** Newest decisions kept for the charts, a dot each. */
export const DECISIONS_KEPT = 3_600;

/** Newest Kubernetes Events kept, as many as a fresh list brings: of an hour's traffic there would be hundreds of thousands. */
export const EVENTS_KEPT = 2_000;
/** Events beyond these at which the old ones go: sorting them for each message would cost more than they do. */
const EVENTS_SLACK = 500;

const EVENT_RESOURCE = "events";
export const CLOCK_RESOURCE = "clocks.clustersim.io";
export const CLOCK_KEY = "clock";

/** @returns {View} */
export function emptyView() {
  return {
    revision: 0,
    epochMs: 0,
    newestMs: 0,
    release: "",
    session: null,
    me: null,
    clock: null,
    objects: new Map(),
    people: [],
    looks: { on: true, looks: [] },
    presenting: { view: null, by: "", at: 0 },
    frozen: false,
    wallNames: false,
    handed: 0,
    onWall: "",
    yours: false,
    home: "",
    rows: [],
    decisions: [],
    ready: false,
    hand: null,
    listing: null,
    gone: false,
  };
}

/**
 * `namespace/name`, or `name` for a cluster-scoped object.
 * @param {{metadata: {name: string, namespace?: string}}} object
 */
export function keyOf(object) {
  const { namespace, name } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

/**
 * The view after one message. A batch that does not start where the view stands changes nothing but `gone`, because a
 * gap must never be painted over: the caller subscribes again.
 * @param {View} view
 * @param {Message} message
 * @returns {View}
 */
export function applyMessage(view, message) {
  switch (message.type) {
    case "hello":
      return {
        ...view,
        epochMs: message.epochMs,
        newestMs: message.newestMs ?? 0,
        release: message.release,
        session: message.session,
        me: message.me,
        clock: view.clock ?? message.clock,
        listing: null,
      };
    case "list":
      return applyList(view, message);
    case "events":
      return applyEvents(view, message);
    case "gone":
      return { ...view, gone: true, listing: null };
    case "people":
      return { ...view, people: message.people };
    case "looks":
      return { ...view, looks: { on: message.on, looks: message.looks } };
    case "presenting":
      return { ...view, presenting: { view: message.view, by: message.by, at: message.at } };
    case "class":
      return { ...view, frozen: message.frozen, wallNames: message.names, handed: message.handed[view.me?.id ?? ""] ?? 0, onWall: message.wall, home: message.home, yours: message.yours };
    // A word to whoever looks at the page: nothing of the session changes.
    case "pointed":
      return view;
    case "hand":
      return { ...view, hand: { id: message.id, point: message.point, trace: message.trace } };
    case "requests":
    case "copies":
    case "votes":
    case "ping":
      return view;
  }
}

/**
 * @param {View} view
 * @param {Extract<Frame, {type: "list"}>} frame
 * @returns {View}
 */
function applyList(view, frame) {
  // The maps of a list under way belong to this fold alone until it is whole, so they may grow in place.
  /** @type {Map<string, Map<string, Slim>>} */
  const listing = new Map(view.listing ?? []);
  for (const object of frame.objects) {
    let byKey = listing.get(object.resource);
    if (!byKey) listing.set(object.resource, (byKey = new Map()));
    byKey.set(keyOf(object), object);
  }
  if (!frame.last) return { ...view, listing, gone: false };
  return withClock({
    ...view, revision: frame.revision, objects: listing, rows: [], ready: true, listing: null, gone: false,
  });
}

/**
 * @param {View} view
 * @param {Extract<Frame, {type: "events"}>} frame
 * @returns {View}
 */
function applyEvents(view, frame) {
  const decisions = foldDecisions(view.decisions, frame.decisions ?? []);
  if (frame.to <= view.revision) return decisions === view.decisions ? view : { ...view, decisions };
  if (frame.from > view.revision) return { ...view, gone: true };
  const fresh = frame.events.filter((row) => row.revision > view.revision);
  if (fresh.length === 0) return { ...view, revision: frame.to };
  return withClock({
    ...view,
    revision: frame.to,
    newestMs: Math.max(view.newestMs, fresh[fresh.length - 1]?.simTimeMs ?? 0),
    objects: withoutOldEvents(foldRows(view.objects, fresh)),
    rows: [...view.rows, ...fresh].slice(-ROWS_KEPT),
    decisions,
  });
}

/**
 * The newest decisions, oldest first; one that comes again is told anew in its place.
 * @param {readonly DecisionLine[]} decisions
 * @param {readonly DecisionLine[]} told
 * @returns {readonly DecisionLine[]}
 */
function foldDecisions(decisions, told) {
  if (told.length === 0) return decisions;
  const known = new Map(decisions.map((one) => [one.id, one]));
  const fresh = new Map(told.filter((one) => one.revision > (known.get(one.id)?.revision ?? -1)).map((one) => [one.id, one]));
  if (fresh.size === 0) return decisions;
  const kept = decisions.map((one) => {
    const again = fresh.get(one.id);
    fresh.delete(one.id);
    return again ?? one;
  });
  return [...kept, ...fresh.values()].slice(-DECISIONS_KEPT);
}

/**
 * Objects after log rows; only the maps of touched resources are copied, each once.
 * @param {Objects} objects
 * @param {readonly LogRow[]} rows
 * @returns {Objects}
 */
export function foldRows(objects, rows) {
  const next = new Map(objects);
  /** @type {Map<string, Map<string, Slim>>} */
  const touched = new Map();
  for (const row of rows) {
    let byKey = touched.get(row.resource);
    if (!byKey) {
      byKey = new Map(objects.get(row.resource) ?? []);
      touched.set(row.resource, byKey);
      next.set(row.resource, byKey);
    }
    const key = keyOf(row.object);
    if (row.verb === "DELETED") byKey.delete(key);
    else byKey.set(key, row.object);
  }
  for (const [resource, byKey] of touched) if (byKey.size === 0) next.delete(resource);
  return next;
}

/**
 * Objects without all but the newest Kubernetes Events. What came later in the list was written later, but for what was
 * written again in between, which is told by its revision.
 * @param {Objects} objects
 * @returns {Objects}
 */
function withoutOldEvents(objects) {
  const events = objects.get(EVENT_RESOURCE);
  if (!events || events.size <= EVENTS_KEPT + EVENTS_SLACK) return objects;
  const revision = (/** @type {Slim} */ event) => Number(event.metadata.resourceVersion ?? 0);
  const newest = [...events].sort(([, a], [, b]) => revision(b) - revision(a)).slice(0, EVENTS_KEPT);
  return new Map(objects).set(EVENT_RESOURCE, new Map(newest.reverse()));
}

/**
 * The view with its clock read from the Clock object, once its owner has written a status.
 * @param {View} view
 * @returns {View}
 */
export function withClock(view) {
  const object = view.objects.get(CLOCK_RESOURCE)?.get(CLOCK_KEY);
  const status = object?.status;
  if (!status || status["anchorUnixMs"] === undefined) return view;
  /** @type {Clock} */
  const clock = {
    paused: Boolean(status["paused"]),
    rate: Number(status["rate"] ?? 1),
    pace: Number(status["pace"] ?? 0),
    simTimeMs: Number(status["simTimeMs"] ?? 0),
    anchorUnixMs: Number(status["anchorUnixMs"] ?? 0),
    carryRate: Number(status["carryRate"] ?? status["rate"] ?? 1),
    effectiveRate: Number(status["effectiveRate"] ?? status["rate"] ?? 1),
    held: status["held"] ?? null,
    narrated: status["narrated"] ?? null,
    hibernated: Boolean(status["hibernated"]),
  };
  return { ...view, clock };
}
