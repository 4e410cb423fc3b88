/** The dock's upper edge: dragged, or moved by keys, it says how high the dock is. The browser remembers. */

import { element, pageZoom, setAttribute } from "../dom/dom.js";
import { dockHeight, rememberDockHeight } from "../net/recent.js";

const HEIGHT_MIN = 96;
/** Share of the window that the dock may take. */
const SHARE_MAX = 0.7;
const KEY_STEP = 24;

/**
 * @param {HTMLElement} dock
 * @returns {HTMLElement} the handle; its label is the caller's
 */
export function dockHandle(dock) {
  const session = /** @type {HTMLElement} */ (dock.parentElement);
  const handle = element("div", {
    class: "dock-handle", role: "separator", tabindex: "0", "aria-orientation": "horizontal",
    "aria-controls": dock.id, "aria-valuemin": String(HEIGHT_MIN),
  });
  const highest = () => Math.round((window.innerHeight / pageZoom()) * SHARE_MAX);

  /** @param {number | null} height null: as high as the page's size says */
  const set = (height) => {
    if (height === null) session.style.removeProperty("--dock");
    else session.style.setProperty("--dock", `${Math.max(HEIGHT_MIN, Math.min(highest(), Math.round(height)))}px`);
  };
  const current = () => dock.getBoundingClientRect().height / pageZoom();
  /** @param {number | null} height */
  const choose = (height) => {
    set(height);
    rememberDockHeight(height === null ? null : current());
  };

  handle.addEventListener("pointerdown", (down) => {
    if (down.button !== 0) return;
    down.preventDefault();
    handle.setPointerCapture(down.pointerId);
    const from = current() + down.clientY / pageZoom();
    /** @param {PointerEvent} moved */
    const move = (moved) => set(from - moved.clientY / pageZoom());
    const end = () => {
      handle.removeEventListener("pointermove", move);
      rememberDockHeight(current());
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
  set(dockHeight());
  return handle;
}
