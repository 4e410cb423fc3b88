/** Pointer, wheel, pinch and keys over the field of nodes. */

import { pageZoom } from "../dom/dom.js";

/**
 * @typedef {object} GestureHandlers
 * @property {(factor: number, y: number) => void} zoomBy `y` within the field
 * @property {() => void} resetZoom
 * @property {(by: 1 | -1) => void} zone scrolls to the next or the previous zone
 * @property {(clientX: number, clientY: number) => void} hover
 * @property {() => void} leave
 * @property {(clientX: number, clientY: number) => void} click
 */

const WHEEL_ZOOM = 0.0022;
const KEY_ZOOM = 1.4;

/**
 * @param {HTMLElement} element
 * @param {GestureHandlers} handlers
 */
export function mountGestures(element, handlers) {
  /** @type {Map<number, {x: number, y: number}>} */
  const touches = new Map();
  let spread = 0;
  const stop = new AbortController();
  const on = (/** @type {string} */ name, /** @type {(event: any) => void} */ handler, passive = true) =>
    element.addEventListener(name, handler, { passive, signal: stop.signal });

  on("wheel", (/** @type {WheelEvent} */ event) => {
    // A pinch on a trackpad arrives as a wheel with ctrlKey; a plain wheel scrolls by zone.
    if (!event.ctrlKey && !event.metaKey) return handlers.leave();
    event.preventDefault();
    handlers.zoomBy(Math.exp(-event.deltaY * WHEEL_ZOOM), (event.clientY - element.getBoundingClientRect().top) / pageZoom());
  }, false);

  on("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.pointerType === "touch") touches.set(event.pointerId, { x: event.clientX, y: event.clientY });
    spread = spreadOf(touches);
  });
  on("pointermove", (/** @type {PointerEvent} */ event) => {
    if (event.pointerType !== "touch") return handlers.hover(event.clientX, event.clientY);
    if (!touches.has(event.pointerId)) return;
    touches.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const wider = spreadOf(touches);
    if (spread > 0 && wider > 0) {
      const middle = [...touches.values()].reduce((sum, touch) => sum + touch.y, 0) / touches.size;
      handlers.zoomBy(wider / spread, (middle - element.getBoundingClientRect().top) / pageZoom());
    }
    spread = wider;
  });
  for (const name of ["pointerup", "pointercancel"]) {
    on(name, (/** @type {PointerEvent} */ event) => {
      touches.delete(event.pointerId);
      spread = spreadOf(touches);
    });
  }
  on("pointerleave", () => handlers.leave());
  on("click", (/** @type {MouseEvent} */ event) => handlers.click(event.clientX, event.clientY));

  // Keys come from the table of nodes beside the field too, so they are heard on the common parent.
  (element.parentElement ?? element).addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") handlers.zoomBy(KEY_ZOOM, element.clientHeight / 2);
    else if (event.key === "-") handlers.zoomBy(1 / KEY_ZOOM, element.clientHeight / 2);
    else if (event.key === "0") handlers.resetZoom();
    else if (event.key === "PageDown") handlers.zone(1);
    else if (event.key === "PageUp") handlers.zone(-1);
    else return;
    event.preventDefault();
  }, { signal: stop.signal });

  return { destroy: () => stop.abort() };
}

/**
 * The distance between two fingers; 0 unless there are exactly two.
 * @param {ReadonlyMap<number, {x: number, y: number}>} touches
 */
function spreadOf(touches) {
  const [a, b] = [...touches.values()];
  return touches.size === 2 && a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
}
