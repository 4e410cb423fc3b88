/**
 * The dock's tabs, in order: one line each. A tab's words are `tab_<name>`. It either draws from what it is given
 * (`source` says what that is: where it is the same as before, nothing is drawn), or is fetched when it is first opened
 * (`load`) and then draws itself.
 */

/** @import { Dispatch, Lang, LogRow, Looks, Ui, View } from "../lib/types.d.ts" */
import { element, keepFocus, syncList } from "../dom/dom.js";
import { face, namedOf } from "../dom/face.js";
import { addStyles } from "../dom/styles.js";
import { clockTime, loadTexts, number, text } from "../lib/text.js";
import { newestEvents } from "../state/events.js";
import { actorOf, whose } from "../state/people.js";
import { keyOf } from "../state/view.js";
import { eventRows } from "./events.js";
import { renderModel } from "./model.js";
import { schedulerPanel, schedulerSource } from "./scheduler.js";

/** @typedef {{onlyWarnings: boolean}} Chosen */

/**
 * A tab with a place of its own in the dock.
 * @typedef {{render: (view: View, ui: Ui, seen: boolean) => void}} Guest `seen`: the tab is open
 */

/**
 * @typedef {object} Tab
 * @property {string} name
 * @property {(view: View, ui: Ui) => unknown} [source]
 * @property {(list: HTMLElement, view: View, ui: Ui, dispatch: Dispatch, chosen: Chosen) => void} [draw]
 * @property {(place: HTMLElement, dispatch: Dispatch, lang: Lang, looks: Looks) => Promise<Guest>} [load]
 * @property {boolean} [tall] it needs more than the height of a list
 */

/** @type {readonly Tab[]} */
export const TABS = [
  { name: "events", source: (view) => view.objects.get("events"), draw: eventsTab },
  { name: "timeline", load: async (place, dispatch, lang) => {
    const [{ mount }] = await Promise.all([import("./timeline.js"), loadTexts(lang, "past"), addStyles("timeline")]);
    return mount(place, dispatch);
  } },
  { name: "streams", tall: true, load: loadStreams },
  { name: "election", tall: true, load: loadElection },
  { name: "watches", tall: true, load: loadWatches },
  { name: "controllers", tall: true, load: async (place, dispatch, lang, looks) => {
    const [{ mount }] = await Promise.all([import("../control/controllers.js"), loadTexts(lang, "control"), addStyles("control")]);
    return mount(place, dispatch, looks);
  } },
  { name: "server", tall: true, load: async (place, dispatch, lang, looks) => {
    const [{ mount }] = await Promise.all([import("../control/server.js"), loadTexts(lang, "control"), addStyles("control", "request")]);
    return mount(place, dispatch, looks);
  } },
  { name: "architecture", tall: true, load: async (place, dispatch, lang, looks) => {
    const [{ mount }] = await Promise.all([
      import("../architecture/panel.js"), loadTexts(lang, "control"), loadTexts(lang, "architecture"), addStyles("control", "architecture"),
    ]);
    return mount(place, dispatch, looks);
  } },
  { name: "compare", tall: true, load: async (place, dispatch, lang) => {
    const [{ mount }] = await Promise.all([import("../compare/panel.js"), loadTexts(lang, "compare"), addStyles("compare")]);
    return mount(place, dispatch);
  } },
  { name: "log", source: (view) => view.rows, draw: logRows },
  { name: "scheduler", source: schedulerSource, draw: schedulerPanel },
  { name: "model", source: (_, ui) => ui.model, draw: (list, _, ui, dispatch) => renderModel(list, ui, dispatch) },
];

/** @type {NonNullable<Tab["load"]>} */
async function loadStreams(place, dispatch, lang, looks) {
  const [{ mount }] = await Promise.all([import("../streams/panel.js"), loadTexts(lang, "dock"), addStyles("streams")]);
  return mount(place, dispatch, looks);
}

/** @type {NonNullable<Tab["load"]>} */
async function loadElection(place, dispatch, lang) {
  const [{ mount }] = await Promise.all([
    import("../election/panel.js"), loadTexts(lang, "dock"), loadTexts(lang, "election"), addStyles("streams"), addStyles("election"),
  ]);
  return mount(place, dispatch);
}

/** @type {NonNullable<Tab["load"]>} */
async function loadWatches(place, dispatch, lang, looks) {
  const [{ mount }] = await Promise.all([
    import("../watches/panel.js"), loadTexts(lang, "dock"), loadTexts(lang, "watches"), addStyles("streams"), addStyles("watches"),
  ]);
  return mount(place, dispatch, looks);
}

/** Kinds whose rows tell only that the machinery breathes: renewals, clock and queue status. */
const QUIET = new Set([
  "leases.coordination.k8s.io", "clocks.clustersim.io", "queues.clustersim.io", "replicas.clustersim.io", "events",
]);
/** Log rows drawn, newest first. */
const LOG_ROWS_MAX = 150;
const SIGNS = { ADDED: "●", MODIFIED: "◆", DELETED: "✕" };

/** @type {NonNullable<Tab["draw"]>} */
function eventsTab(list, view, ui, dispatch, { onlyWarnings }) {
  const all = newestEvents(view);
  eventRows(list, onlyWarnings ? all.filter((event) => event.type === "Warning") : all, view, ui, dispatch, true);
}

/**
 * @param {HTMLElement} list
 * @param {View} view
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 */
function logRows(list, view, ui, dispatch) {
  const rows = view.rows.filter((row) => !QUIET.has(row.resource)).slice(-LOG_ROWS_MAX).reverse();
  if (rows.length === 0) {
    keepFocus(list, () => list.replaceChildren(element("p", { class: "none" }, text(ui.lang, "log_none"))));
    return;
  }
  if (list.firstElementChild?.matches(".none")) list.replaceChildren();
  syncList(list, rows, (row) => String(row.revision), (row) => logRow(row, view, ui, dispatch));
}

/**
 * @param {LogRow} row
 * @param {View} view
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 */
function logRow(row, view, ui, dispatch) {
  const { namespace, name: called } = row.object.metadata;
  const name = element("button", { class: "link", type: "button" }, namedOf(whose(view, namespace), namespace, called));
  name.addEventListener("click", () => dispatch({ type: "select", resource: row.resource, key: keyOf(row.object) }));
  const person = actorOf(view, row.actor);
  return element("div", { class: `log-row verb-${row.verb.toLowerCase()}` }, [
    element("time", {}, clockTime(view.epochMs + row.simTimeMs, true)),
    element("span", { class: "revision" }, number(ui.lang, row.revision)),
    element("span", { class: "sign", title: text(ui.lang, `verb_${row.verb}`) }, SIGNS[row.verb]),
    element("span", {}, row.resource.split(".")[0]),
    name,
    person ? element("span", { class: "actor person" }, face(person, "small"), person.name)
      : element("span", { class: "actor" }, row.actor.replace(/^user:/, "")),
  ]);
}
