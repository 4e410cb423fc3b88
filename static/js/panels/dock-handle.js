/** The dock's upper edge: dragged, or moved by keys, it says how high the dock is. */

/** @import { Dispatch } from "../lib/types.d.ts" */
import { element, pageZoom, setAttribute } from "../dom/dom.js";

const HEIGHT_MIN = 96;
/** Share of the window that the dock may take. */
const SHARE_MAX = 0.7;
const KEY_STEP = 24;

/**
 * @param {HTMLElement} dock
 * @param {Dispatch} dispatch
 * @returns {{handle: HTMLElement, show: (height: number | null, label: string) => void}}
 */
export function dockHandle(dock, dispatch) {
  const session = /** @type {HTMLElement} */ (dock.parentElement);
  const handle = element("div", {
    class: "dock-handle", role: "separator", tabindex: "0", "aria-orientation": "horizontal",
    "aria-controls": dock.id, "aria-valuemin": String(HEIGHT_MIN),
  });
  let dragging = false;
  const highest = () => Math.round((window.innerHeight / pageZoom()) * SHARE_MAX);
  const current = () => dock.getBoundingClientRect().height / pageZoom();

  /** @param {number} height */
  const bounded = (height) => Math.max(HEIGHT_MIN, Math.min(highest(), Math.round(height)));
  /** @param {number | null} height */
  const set = (height) => {
    if (height === null) session.style.removeProperty("--dock");
    else session.style.setProperty("--dock", `${bounded(height)}px`);
  };
  /** @param {number | null} height */
  const choose = (height) => dispatch({ type: "dockHeight", height: height === null ? null : bounded(height) });

  handle.addEventListener("pointerdown", (down) => {
    if (down.button !== 0) return;
    down.preventDefault();
    handle.setPointerCapture(down.pointerId);
    dragging = true;
    const from = current() + down.clientY / pageZoom();
    /** @param {PointerEvent} moved */
    const move = (moved) => set(from - moved.clientY / pageZoom());
    const end = () => {
      handle.removeEventListener("pointermove", move);
      dragging = false;
      choose(current());
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", end, { once: true });
  });
  handle.addEventListener("dblclick", () => choose(null));
  handle.addEventListener("keydown", (event) => {
    const height = {
      ArrowUp: current() + KEY_STEP, ArrowDown: current() - KEY_STEP, Home: HEIGHT_MIN, End: highest(), Escape: null,
    }[event.key];
    if (height === undefined) return;
    event.preventDefault();
    choose(height);
  });
  new ResizeObserver(() => {
    setAttribute(handle, "aria-valuemax", String(highest()));
    setAttribute(handle, "aria-valuenow", String(Math.round(current())));
  }).observe(dock);
  return {
    handle,
    show(height, label) {
      if (!dragging) set(height);
      setAttribute(handle, "aria-label", label);
      setAttribute(handle, "title", label);
    },
  };
}
