/** What part of the nodes is seen: the layout for the room there is, the zoom, and where it is scrolled to. */

/** @import { View } from "../lib/types.d.ts" */
/** @import { Layout } from "./levels.js" */
/** @import { Model } from "./model.js" */
import { pageZoom } from "../dom/dom.js";
import { objectsOf } from "../state/selectors.js";
import { MARGIN } from "./field.js";
import { layoutOnWall } from "./levels-wall.js";
import { layoutNodes, scrollAfterZoom } from "./levels.js";

/** Height of the node area below which two rows of tiles would be cut: above charts that are open, smaller ones show all nodes. */
const LOW = 264;
/** So few nodes are compared with one another: tiles that are all seen tell more than larger ones of which some are not. */
const FEW = 16;
/** Room that a layout needs at least, so that a stage being folded away does not divide by nothing. */
const ROOM_MIN = 60;
/** Where a zoom without a pointer holds still: the first row under its heading. */
const ZOOM_ANCHOR_Y = 40;

/**
 * @param {HTMLElement} scroller
 * @param {HTMLElement} spacer gives the scroller the height of the whole layout
 */
export function makeViewport(scroller, spacer) {
  let zoom = 1;
  /** @type {Layout | null} */
  let layout = null;
  let key = "";
  let wide = false;
  /** @type {unknown[]} */
  let lastInputs = [];
  /** @type {{width: number, height: number, wall: boolean} | null} */
  let room = null;

  /** The scroller's size, asked for anew only where it may have changed: asking has the browser lay the page out at once. */
  function seen() {
    return room ??= { width: scroller.clientWidth, height: scroller.clientHeight, wall: pageZoom() > 1 };
  }

  /**
   * Lays the nodes out again where their names, the room or the zoom changed.
   * @param {View} view
   * @param {Model} model
   * @param {boolean} [asked] whether nodes should be wide from now on; as they are, where nobody asks
   */
  function fit(view, model, asked = wide) {
    wide = asked;
    const width = Math.max(ROOM_MIN, seen().width - 2 * MARGIN);
    const height = Math.max(ROOM_MIN, seen().height - 2 * MARGIN);
    // Joining thousands of names is only worth it when some Node object has changed at all.
    const { wall } = seen();
    const inputs = [objectsOf(view, "nodes"), width, height, zoom, wide, wall];
    if (inputs.every((input, index) => input === lastInputs[index])) return;
    lastInputs = inputs;
    const names = model.zones.map((zone) => `${zone.name}:${zone.nodes.join()}`).join("|");
    const next = `${width} ${height} ${zoom} ${wide} ${wall} ${names}`;
    if (next === key) return;
    key = next;
    const few = model.nodes.size <= FEW;
    layout = (wall || few || height < LOW ? layoutOnWall : layoutNodes)({ zones: model.zones, width, height, zoom, wide });
    const whole = Math.ceil(layout.height + 2 * MARGIN);
    spacer.style.height = `${whole}px`;
    // What scrolls can be scrolled by keys alone.
    scroller.tabIndex = whole > seen().height ? 0 : -1;
  }

  /**
   * Zooms to a factor and keeps the node under the pointer where it is.
   * @param {number} wanted
   * @param {number | null} pointerY within the scroller; null zooms about its top
   * @param {View} view
   * @param {Model} model
   * @returns {boolean} whether anything lies elsewhere now
   */
  function zoomTo(wanted, pointerY, view, model) {
    const before = layout;
    const scroll = scroller.scrollTop;
    zoom = Math.max(1, Math.min(Math.max(1, model.nodes.size), wanted));
    fit(view, model);
    if (!before || !layout || layout === before) return false;
    scroller.scrollTop = scrollAfterZoom(before, layout, scroll, pointerY ?? ZOOM_ANCHOR_Y);
    return true;
  }

  /**
   * Scrolls a node into sight.
   * @param {string} name
   */
  function reveal(name) {
    const box = layout?.byName.get(name);
    if (!box) return;
    const { scrollTop, clientHeight } = scroller;
    if (box.y < scrollTop) scroller.scrollTop = Math.max(0, box.y - 28);
    else if (box.y + box.h > scrollTop + clientHeight - 2 * MARGIN) {
      scroller.scrollTop = box.y + box.h - clientHeight + 20;
    }
  }

  /**
   * Scrolls to the next or the previous zone.
   * @param {1 | -1} by
   */
  function toZone(by) {
    const at = scroller.scrollTop;
    const tops = (layout?.zones ?? []).map((zone) => zone.y);
    const next = by > 0 ? tops.find((y) => y > at + 1) : tops.findLast((y) => y < at - 1);
    if (next !== undefined) scroller.scrollTop = next;
  }

  return { layout: () => layout, zoom: () => zoom, forgetRoom: () => void (room = null), fit, zoomTo, reveal, toZone };
}
