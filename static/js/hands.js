/** What hands do anywhere on the session page: its keys, and clicks on what is refused. */

/** @import { Dispatch, Ui, View } from "./lib/types.d.ts" */
import { afterShown } from "./state/past.js";

/** Where letters are meant for what is written. */
const WRITTEN_IN = "input, textarea, select, dialog, [contenteditable]";
/** Where the space bar is the control's own. */
const SPACE_IS_ITS_OWN = "button, a, summary, [role=tab], [role=option], [role=grid]";

/**
 * @typedef {object} Hands what the page hands to them
 * @property {() => Ui} ui
 * @property {() => View} view what is there now
 * @property {() => boolean} held whether the page shows a moment of the past
 * @property {Dispatch} dispatch
 * @property {() => boolean} leave look away from who presents; false where nobody does
 * @property {() => boolean} back look at what is presented again; false where one has not left
 * @property {() => boolean} fold close charts that have the page; false where none are open
 * @property {() => void} search take the keyboard to the search
 * @property {() => {desk: boolean, undo: boolean}} ready what has been fetched
 * @property {(reason: string) => void} refuse say why something is refused
 */

/** @param {Hands} page */
export function listenToHands(page) {
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target.closest(WRITTEN_IN) !== null;
    // What is open over the page is closed first, and nothing else.
    const over = document.querySelector(":popover-open");
    if (event.key === "Escape" && !over && !target.closest("dialog, input, textarea")) escape(page);
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing && page.ready().undo) {
      event.preventDefault();
      page.dispatch({ type: event.shiftKey ? "redo" : "undo" });
    }
    if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey) pressed(event, target, page);
  });
  // A refused control stays reachable by keyboard; using it says why it is refused instead of doing nothing.
  document.addEventListener("click", (event) => {
    const refused = /** @type {Element} */ (event.target).closest("[aria-disabled=true]");
    if (!refused) return;
    event.preventDefault();
    event.stopPropagation();
    const reason = refused.getAttribute("title");
    if (reason) page.refuse(reason);
  }, true);
}

/**
 * One step back: from who presents, out of the past, back beside the stage, out of a what-if, from nodes that are lit, out of an attempt that was chosen, out of the selection, and
 * from charts that have the page.
 * @param {Hands} page
 */
function escape({ ui, held, dispatch, leave, fold }) {
  if (leave()) return;
  if (held()) dispatch({ type: "release" });
  else if (ui().enlarged) dispatch({ type: "enlarge", on: false });
  else if (ui().trial) dispatch({ type: "showTrial", trial: null });
  else if (ui().lit) dispatch({ type: "light", lit: null });
  else if (ui().decisions.pinned) dispatch({ type: "selectTrace", id: "" });
  else if (ui().selected || !fold()) dispatch({ type: "deselect" });
}

/**
 * A key alone, where nobody writes.
 * @param {KeyboardEvent} event
 * @param {HTMLElement} target
 * @param {Hands} page
 */
function pressed(event, target, { ui, view, held, dispatch, back, search, ready }) {
  const key = event.key.toLowerCase();
  if (key === "/") {
    event.preventDefault();
    search();
  }
  if (key === "d" && held()) dispatch({ type: "showPast", shows: afterShown(ui().pastShows) });
  if (key === "f" && back()) event.preventDefault();
  if (key === "?" && ready().desk) {
    event.preventDefault();
    dispatch({ type: "showKeys" });
  }
  if (key === " " && !target.closest(SPACE_IS_ITS_OWN)) {
    event.preventDefault();
    dispatch(held() ? { type: "playPast", direction: 1 } : { type: view().clock?.paused ? "play" : "pause" });
  }
}
