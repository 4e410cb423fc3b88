/** Presses that outlive what they began on: the page is told anew at any moment, between button down and button up, too. */

import { wordsOf } from "./dom.js";

/** What is pressed. */
const CONTROLS = "button, summary, a[href], [role=button], [role=option], [role=tab]";
/** What in a page tells which one an element is, beside its words. */
const MARKS = ["id", "data-testid", "data-key", "data-pod", "href"];

/**
 * Let a press count where the control on which it began was replaced by another one like it, under the same pointer. The
 * browser sees two elements and tells of no click.
 * @param {Document} [page]
 */
export function keepPresses(page = document) {
  /** @type {{control: Element, mark: string} | null} */
  let begun = null;
  page.addEventListener("mousedown", ({ button, target }) => {
    const control = button === 0 ? controlOf(target) : null;
    begun = control && { control, mark: markOf(control) };
  }, true);
  page.addEventListener("mouseup", ({ button, target }) => {
    if (button !== 0) return;
    const before = begun;
    begun = null;
    if (!before || before.control.isConnected) return;
    const now = controlOf(target);
    if (now && markOf(now) === before.mark) now.click();
  });
}

/** @param {EventTarget | null} target */
function controlOf(target) {
  return target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest(CONTROLS)) : null;
}

/**
 * Which control it is: what it is called and says, in which row and which parts of the page. Two of one mark do the same.
 * @param {Element} control
 */
function markOf(control) {
  const row = control.closest("li, tr");
  const words = [wordsOf(control), row && row !== control ? row.textContent : ""];
  const path = [];
  for (let at = /** @type {Element | null} */ (control); at; at = at.parentElement)
    path.push(at.localName, ...MARKS.map((name) => at?.getAttribute(name) ?? ""));
  return JSON.stringify([words, path]);
}
