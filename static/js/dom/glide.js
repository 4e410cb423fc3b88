/** A list whose rows change their places is seen to do so: each glides from where it was to where it is. */
import { pageZoom } from "./dom.js";

const GLIDE_MS = 160;

/**
 * @param {Element} parent of the rows
 * @param {boolean} still whether nothing is to move
 * @param {() => void} tell bring the rows to where they belong
 */
export function glide(parent, still, tell) {
  if (still) return tell();
  const before = new Map([...parent.children].map((row) => [row, row.getBoundingClientRect()]));
  tell();
  const zoom = pageZoom();
  for (const [row, { left, top }] of before) {
    if (!row.isConnected) continue;
    const now = row.getBoundingClientRect();
    const [x, y] = [(left - now.left) / zoom, (top - now.top) / zoom];
    if (x || y) row.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], { duration: GLIDE_MS, easing: "ease-out" });
  }
}
