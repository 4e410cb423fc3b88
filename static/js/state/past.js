/** The cluster of another moment: a view, and what the server says differs. Pure. */

/** @import { Changes, LogRow, PastShows, Slim, View } from "../lib/types.d.ts" */
import { foldRows, withClock } from "./view.js";

/** What the stage of a held page may show. @type {readonly PastShows[]} */
export const PAST_SHOWS = ["then", "difference", "now"];

/**
 * What the stage shows next, one after the other.
 * @param {PastShows} shows
 * @returns {PastShows}
 */
export function afterShown(shows) {
  return PAST_SHOWS[(PAST_SHOWS.indexOf(shows) + 1) % PAST_SHOWS.length] ?? "then";
}

const BOOKMARKS = "bookmarks.clustersim.io";

/**
 * The view at the moment that `changes` leads to. Nobody writes into it, its clock stands, and nothing in it is on its way.
 * @param {View} base the view at `changes.from`
 * @param {Changes} changes
 * @param {View} live who is looking, and who is there, is as it is now
 * @returns {View}
 */
export function viewAt(base, changes, live) {
  const row = { revision: changes.to, simTimeMs: changes.simTimeMs, actor: "" };
  /** @type {LogRow[]} */
  const rows = [
    ...changes.objects.map((object) => /** @type {LogRow} */ ({ ...row, verb: "MODIFIED", resource: object.resource, object })),
    ...changes.gone.map(({ resource, namespace, name }) => {
      const object = /** @type {Slim} */ ({ resource, metadata: namespace ? { namespace, name } : { name } });
      return /** @type {LogRow} */ ({ ...row, verb: "DELETED", resource, object });
    }),
  ];
  const objects = new Map(foldRows(base.objects, rows));
  // What people have named since is on the timeline of the past, too.
  const bookmarks = live.objects.get(BOOKMARKS);
  if (bookmarks) objects.set(BOOKMARKS, bookmarks);
  else objects.delete(BOOKMARKS);
  const { clock, ...view } = withClock({
    ...base, revision: changes.to, newestMs: changes.simTimeMs, objects, rows: [], hand: null,
    decisions: base.decisions.filter(({ revision }) => revision <= changes.to),
    me: live.me && { ...live.me, past: true }, people: live.people, looks: live.looks, session: live.session, listing: null, gone: false,
  });
  return { ...view, clock: clock && { ...clock, paused: true, simTimeMs: changes.simTimeMs } };
}
