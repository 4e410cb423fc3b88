/** The pointer over the field: what it is on, the lens or tip beside it, and what a click selects. */

/** @import { Dispatch } from "../lib/types.d.ts" */
/** @import { FieldInput } from "./field.js" */
import { pageZoom } from "../dom/dom.js";
import { mountDrop } from "./drop.js";
import { mountGestures } from "./gestures.js";

/**
 * @param {HTMLElement} host the whole stage
 * @param {HTMLElement} scroller
 * @param {object} stage
 * @param {ReturnType<typeof import("./field.js").makeField>} stage.field
 * @param {ReturnType<typeof import("./lens.js").mountLens>} stage.lens
 * @param {Dispatch} stage.dispatch
 * @param {() => FieldInput | null} stage.input what is painted now
 * @param {() => number} stage.zoom
 * @param {(zoom: number, y: number | null) => void} stage.setZoom
 * @param {(by: 1 | -1) => void} stage.toZone
 */
export function mountPointer(host, scroller, { field, lens, dispatch, input, zoom, setZoom, toZone }) {
  let hovered = "";
  const gestures = mountGestures(scroller, {
    zoomBy: (factor, y) => setZoom(zoom() * factor, y),
    resetZoom: () => setZoom(1, null),
    zone: toZone,
    hover: (x, y) => {
      const now = input();
      const hit = now && field.hit(now, x, y);
      hovered = hit?.node.name ?? "";
      scroller.style.cursor = hit ? "pointer" : "";
      const edge = host.getBoundingClientRect();
      if (now && hit) lens.show(now, hit, { x: (x - edge.left) / pageZoom(), y: (y - edge.top) / pageZoom() }, field.origin(edge));
      else lens.hide();
    },
    leave: () => {
      hovered = "";
      lens.hide();
    },
    click: (x, y) => {
      const now = input();
      const hit = now && field.hit(now, x, y);
      if (hit?.glyph) dispatch({ type: "select", resource: "pods", key: hit.glyph.key });
      else if (hit) dispatch({ type: "select", resource: "nodes", key: hit.node.name });
    },
  });
  const drop = mountDrop(scroller, dispatch, input);
  return {
    hovered: () => hovered,
    destroy: () => {
      gestures.destroy();
      drop.destroy();
    },
  };
}
