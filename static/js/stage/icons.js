/** Icons of the page's one sprite (templates/icons.svg), on a canvas. */

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
  const icon = shapeOf(name);
  if (!icon) return;
  context.save();
  context.translate(x, y);
  context.scale(size / 16, size / 16);
  if (icon.solid) {
    context.fillStyle = colour;
    context.fill(icon.path);
  } else {
    context.strokeStyle = colour;
    context.lineWidth = 1.6;
    context.lineCap = "round";
    context.lineJoin = "round";
    context.stroke(icon.path);
  }
  context.restore();
}

/** @type {Map<string, {path: Path2D, solid: boolean} | null>} */
const SHAPES = new Map();

/**
 * What the sprite has under a name, read once: each of its symbols is one path.
 * @param {string} name
 */
function shapeOf(name) {
  let shape = SHAPES.get(name);
  if (shape === undefined) {
    const drawn = document.querySelector(`#i-${name} > path`);
    shape = drawn && { path: new Path2D(drawn.getAttribute("d") ?? ""), solid: drawn.classList.contains("solid") };
    SHAPES.set(name, shape);
  }
  return shape;
}
