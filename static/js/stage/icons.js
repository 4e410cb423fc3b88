/** Icons as paths in a 16 × 16 box, drawn on canvas and as SVG alike; strokes of 1.5 unless filled. */

/** @type {Record<string, {d: string, fill?: boolean}>} */
export const ICONS = {
  layers: { d: "M8 2 14 5 8 8 2 5ZM2 8l6 3 6-3M2 11l6 3 6-3" },
  clock: { d: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 5v3l2 1.5" },
  no: { d: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM3.8 3.8l8.4 8.4" },
  lock: { d: "M4 7.5h8v6H4ZM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5" },
  people: { d: "M6 3a2.2 2.2 0 1 0 0 4.4A2.2 2.2 0 0 0 6 3ZM1.8 13c0-2.6 1.8-4 4.2-4s4.2 1.4 4.2 4M10.5 3.3a2.1 2.1 0 0 1 0 4M12 9.4c1.4.5 2.2 1.7 2.2 3.6" },
  crown: { d: "M1.5 12.5v1.2h13v-1.2ZM1.5 4.2l3.2 2.6L8 2l3.3 4.8 3.2-2.6-1.2 7.3H2.7Z", fill: true },
  dice: { d: "M3 2.5h10a.8.8 0 0 1 .8.8v9.4a.8.8 0 0 1-.8.8H3a.8.8 0 0 1-.8-.8V3.3A.8.8 0 0 1 3 2.5ZM5.4 5.7h.02M10.6 5.7h.02M8 8h.02M5.4 10.3h.02M10.6 10.3h.02" },
  tag: { d: "M2.2 2.8h5.2l6.2 6.2-4.8 4.8-6.2-6.2ZM5 5.6h.02" },
  search: { d: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3 14 14" },
  eye: { d: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8ZM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6Z" },
  check: { d: "M3 8.5 6.5 12 13 4.5" },
  chevron: { d: "M6 3.5 10.5 8 6 12.5" },
  cross: { d: "M4 4l8 8M12 4l-8 8" },
  info: { d: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 7.5v3.5M8 5h.02" },
};

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
