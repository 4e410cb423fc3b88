/** Intents of time as a thing: hold a moment, play, go back to now, fork, name it, copy its address. */

/** @import { Intent } from "../lib/types.d.ts" */
/** @import { Table, World } from "./world.js" */
import { speak } from "./world.js";

/** What may be done while the page shows the past: it looks, and changes nothing there. */
const HARMLESS = new Set([
  "select", "deselect", "selectTrace", "showTrial", "light", "colourBy", "tab", "enlarge", "lang", "theme", "dockHeight", "showCode", "showKeys", "shareLooks", "switchLooks",
  "hold", "release", "showPast", "playPast", "zoomTime", "forkHere", "bookmark", "unbookmark", "copyAddress",
  "compare", "eras", "openRules", "showWorld", "present", "freeze", "wallNames", "renamePerson",
  "mutePerson", "mergePeople", "removePerson", "copyHanded", "goToWall", "wallHung", "lookedInto", "myCopy",
]);

/**
 * @param {Intent} intent
 * @param {boolean} past the page is held at a revision
 */
export function isRefused(intent, past) {
  return past && !HARMLESS.has(intent.type);
}

/**
 * @param {World} world
 * @returns {Pick<Table, "hold" | "release" | "showPast" | "playPast" | "zoomTime" | "forkHere" | "bookmark" | "unbookmark" | "copyAddress">}
 */
export function timeIntents(world) {
  const { api } = world.actions;
  const { t, say, attempt } = speak(world);
  const moment = () => world.ui().past.revision || world.view().revision;
  return {
    async hold({ revision }) {
      world.past.stop();
      await world.past.hold(revision);
    },
    release: () => world.past.release(),
    showPast: ({ shows }) => world.setUi({ pastShows: shows }),
    playPast: ({ direction }) => world.past.play(direction),
    zoomTime({ spanMs }) {
      world.timeline.zoom(spanMs);
      world.setUi({});
    },
    forkHere: () => attempt(async () => {
      const { url } = await api.fork(moment());
      location.assign(url);
    }),
    bookmark: ({ name }) => attempt(() => api.bookmark(name, moment()), t("done_bookmark", { name })),
    unbookmark: ({ name }) => attempt(() => api.unbookmark(name), t("done_unbookmark", { name })),
    copyAddress: () => attempt(async () => {
      const address = location.origin + location.pathname + location.search;
      // Browsers keep the clipboard from pages that came over plain HTTP from another machine.
      if (!navigator.clipboard) return say(t("address_is", { address }), "note");
      await navigator.clipboard.writeText(address);
      return say(t("copied"));
    }),
  };
}
