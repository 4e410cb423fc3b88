/** What is dragged from the palette and let go over the field is made; a node in the zone that it is over. */

/** @import { Dispatch } from "../lib/types.d.ts" */
/** @import { FieldInput } from "./field.js" */
/** @import { Layout, ZoneBox } from "./levels.js" */
import { pageZoom } from "../dom/dom.js";
import { h } from "../dom/h.js";
import { DRAGGED, DRAGGED_NODE, itemOf } from "../lib/items.js";
import { text } from "../lib/text.js";
import { MARGIN } from "./field.js";

/**
 * The zone under a point of the layout: the last that begins above it, among those beside each other the one it is in, or
 * the nearest. Cards have no zones around them: there it is that of the nearest card.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 * @param {(node: string) => string} zoneOf
 * @returns {string} "" where nodes have no zones
 */
export function zoneAt({ zones, tiles }, x, y, zoneOf) {
  if (zones.length === 0) {
    const away = (/** @type {{x: number, y: number, w: number, h: number}} */ box) =>
      Math.hypot(x - box.x - box.w / 2, y - box.y - box.h / 2);
    const nearest = [...tiles].sort((one, other) => away(one) - away(other))[0];
    return nearest ? zoneOf(nearest.name) : "";
  }
  const beside = (/** @type {ZoneBox} */ zone) => Math.max(0, zone.x - x, x - zone.x - zone.w);
  const nearest = Math.min(...zones.map(beside));
  const column = zones.filter((zone) => beside(zone) === nearest);
  return (column.findLast((zone) => zone.y <= y) ?? column[0])?.name ?? "";
}

/**
 * @param {HTMLElement} scroller the field
 * @param {Dispatch} dispatch
 * @param {() => FieldInput | null} input what is painted now
 */
export function mountDrop(scroller, dispatch, input) {
  const hint = h("p", { class: "st-drop", hidden: true, "aria-hidden": "true" });
  scroller.parentElement?.append(hint);
  const stop = new AbortController();
  const on = (/** @type {string} */ name, /** @type {(event: DragEvent) => void} */ handler) =>
    scroller.addEventListener(name, /** @type {EventListener} */ (handler), { signal: stop.signal });
  const zone = (/** @type {DragEvent} */ event) => {
    const shown = input();
    if (!shown) return "";
    const edge = scroller.getBoundingClientRect();
    return zoneAt(shown.layout, (event.clientX - edge.left) / pageZoom() - MARGIN,
      (event.clientY - edge.top) / pageZoom() - MARGIN + scroller.scrollTop, (node) => shown.model.nodes.get(node)?.zone ?? "");
  };

  on("dragover", (event) => {
    const shown = input();
    if (!shown || !event.dataTransfer?.types.includes(DRAGGED)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    const node = event.dataTransfer.types.includes(DRAGGED_NODE);
    const name = node ? zone(event) : "";
    hint.textContent = text(shown.lang, !node ? "drop.item" : name ? "drop.zone" : "drop.cluster", { zone: name });
    hint.hidden = false;
  });
  on("dragleave", () => {
    hint.hidden = true;
  });
  on("drop", (event) => {
    hint.hidden = true;
    const item = itemOf(event.dataTransfer?.getData(DRAGGED) ?? "");
    if (!item) return;
    event.preventDefault();
    const name = item.group === "nodes" ? zone(event) : "";
    dispatch({ type: "create", item: item.id, ...(name ? { values: { zone: name } } : {}) });
  });
  return { destroy: () => stop.abort() };
}
