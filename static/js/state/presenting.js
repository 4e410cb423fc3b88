/** What the teacher shows, as this page sees it: who leads, what to show after them, and what a projector makes of it. Pure. */

/** @import { Presented, Ui, View } from "../lib/types.d.ts" */
import { standingPoll } from "./classroom.js";

/** Scenes that a presenter may choose; "" leaves it to what they open. */
export const SCENES = /** @type {const} */ (["", "stage", "decision", "preemption", "election", "poll", "lesson"]);

/**
 * What a page shows, as everything that is presented is told.
 * @typedef {object} Shown
 * @property {number} rv 0: now
 * @property {string} select `<resource> <key>`; "" nothing
 * @property {string} inspectorTab "" where nothing is selected
 * @property {number} part how far the inspector is read: a part of what is open there, and the share of it
 * @property {string} dockTab "" the dock is folded
 * @property {number} zoom 1: what fits
 * @property {string} scene "" what is opened says it
 */

/** @typedef {"free" | "presents" | "follows" | "left"} Standing */

/**
 * How a page stands to who presents.
 * @param {View} view
 * @param {boolean} left its person has left the presenter
 * @returns {Standing}
 */
export function standingOf({ presenting, me }, left) {
  if (!presenting.view || !me) return "free";
  if (presenting.by === me.id) return "presents";
  return left && me.role !== "viewer" ? "left" : "follows";
}

/**
 * What is sent of it: what is as it would be without is left out.
 * @param {Shown} shown
 * @returns {Presented}
 */
export function toldOf({ rv, select, inspectorTab, part, dockTab, zoom, scene }) {
  return {
    ...(rv ? { rv } : {}), ...(select ? { select, ...(inspectorTab ? { inspectorTab } : {}), ...(part ? { part } : {}) } : {}),
    ...(dockTab ? { dockTab } : {}), ...(zoom > 1 ? { zoom } : {}), ...(scene ? { scene: /** @type {NonNullable<Presented["scene"]>} */ (scene) } : {}),
  };
}

/**
 * @typedef {{do: "hold", rv: number} | {do: "release"} | {do: "select", resource: string, key: string, tab: string} | {do: "deselect"}
 *   | {do: "dock", tab: string} | {do: "zoom", zoom: number}
 *   | {do: "part", part: number}} Step
 */

/**
 * What a page has to do to show it; nothing that it shows already is done again.
 * @param {Shown} now
 * @param {Presented} wanted
 * @returns {Step[]}
 */
export function stepsTo(now, wanted) {
  /** @type {Step[]} */
  const steps = [];
  const { rv = 0, select = "", inspectorTab = "", part = 0, dockTab = "", zoom = 1 } = wanted;
  if (rv !== now.rv) steps.push(rv ? { do: "hold", rv } : { do: "release" });
  if (!select && now.select) steps.push({ do: "deselect" });
  if (select && (select !== now.select || (inspectorTab && inspectorTab !== now.inspectorTab))) {
    const at = select.indexOf(" ");
    steps.push({ do: "select", resource: select.slice(0, at), key: select.slice(at + 1), tab: inspectorTab });
  }
  if (select && part !== now.part) steps.push({ do: "part", part });
  if (dockTab !== now.dockTab) steps.push({ do: "dock", tab: dockTab });
  if (zoom !== now.zoom) steps.push({ do: "zoom", zoom });
  return steps;
}

/**
 * What a projector shows of it, one thing at a time: what was chosen, else what was opened last by the presenter.
 * @param {Presented} wanted
 * @returns {"stage" | "decision" | "preemption" | "election" | "poll" | "lesson"}
 */
export function sceneOf({ scene, select = "", inspectorTab, dockTab }) {
  if (scene) return scene;
  if (dockTab === "election") return "election";
  if (select.startsWith("pods ") && (inspectorTab === "decision" || inspectorTab === "whatif")) return "decision";
  return "stage";
}

/**
 * Whether this page is a wall: it shows one scene at a time, and no control.
 * @param {View} view
 * @param {Pick<Ui, "theme" | "phone">} ui
 * @param {Standing} standing
 */
export function isProjector({ me }, { theme, phone }, standing) {
  return standing === "follows" && !phone && (me?.role === "viewer" || theme === "projector");
}

/**
 * Whether a lesson's step may say what this page shows, one scene at a time: a viewer's screen, while nobody presents and no
 * question stands there.
 * @param {View} view
 * @param {Pick<Ui, "phone">} ui
 * @param {Standing} standing
 */
export function isGuided(view, { phone }, standing) {
  return standing === "free" && !phone && view.me?.role === "viewer" && standingPoll(view) === null;
}

/**
 * Whether this page shows a question to a class: a viewer's screen while one stands, whoever presents.
 * @param {View} view
 * @param {Pick<Ui, "phone">} ui
 */
export function isAsking(view, { phone }) {
  return !phone && view.me?.role === "viewer" && standingPoll(view) !== null;
}

/**
 * The name of who presents; "" before people are known.
 * @param {View} view
 */
export function presenterName({ presenting, people }) {
  return people.find(({ id }) => id === presenting.by)?.name ?? "";
}

/**
 * Why what this person does is refused; "" it is not.
 * @param {View} view
 * @returns {"" | "frozen" | "muted"}
 */
export function stopped({ frozen, me, people }) {
  if (me?.role !== "student") return "";
  if (frozen) return "frozen";
  return people.find(({ id }) => id === me.id)?.muted ? "muted" : "";
}
