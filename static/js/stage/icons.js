/** Icons on a canvas. */

import { ICONS } from "../dom/icons.js";

/**
 * An icon on a canvas.
 * @param {CanvasRenderingContext2D} context
 * @param {string} name
 * @param {number} x left
 * @param {number} y top
 * @param {number} size
 * @param {string} colour
 */
export function drawIcon(context, name, x, y, size, colour) {
  const icon = ICONS[name];
  if (!icon) return;
  let path = PATHS.get(name);
  if (!path) PATHS.set(name, (path = new Path2D(icon.d)));
  context.save();
  context.translate(x, y);
  context.scale(size / 16, size / 16);
  if (icon.fill) {
    context.fillStyle = colour;
    context.fill(path);
  } else {
    context.strokeStyle = colour;
    context.lineWidth = 1.6;
    context.lineCap = "round";
    context.lineJoin = "round";
    context.stroke(path);
  }
  context.restore();
}

/** @type {Map<string, Path2D>} */
const PATHS = new Map();
