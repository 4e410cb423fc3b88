/** Pods as glyphs: hue says whose, shape says which state. Drawn once per look and kept as small pictures. */

/** @import { Colours } from "../dom/colours.js" */
/** @import { Mark } from "./difference.js" */
import { devicePixels } from "../dom/dom.js";

/**
 * @typedef {{state: string, hue: number, ring: boolean, old?: boolean, mark?: Mark}} Look
 *   `old`: of a template that has been replaced; `mark`: since a held moment */

/** Most pictures kept; a theme change or a zoom through many sizes would otherwise gather them for ever. */
const SPRITES_MAX = 600;

/** @type {Map<string, HTMLCanvasElement>} */
const sprites = new Map();

/**
 * A pod's glyph with its left top corner at x, y.
 * @param {CanvasRenderingContext2D} context
 * @param {Look} look
 * @param {number} x
 * @param {number} y
 * @param {number} size CSS pixels of the square's outer edge
 * @param {Colours} colours
 * @param {number} dpr device pixels per CSS pixel
 */
export function drawGlyph(context, look, x, y, size, colours, dpr) {
  const key = `${colours.key}|${look.state}|${look.hue}|${look.ring}|${look.old ? "old" : ""}|${look.mark ?? ""}|${size}|${dpr}`;
  let sprite = sprites.get(key);
  if (!sprite) {
    if (sprites.size >= SPRITES_MAX) sprites.clear();
    sprite = makeSprite(look, size, colours, dpr);
    sprites.set(key, sprite);
  }
  context.drawImage(sprite, x - 2, y - 2, size + 4, size + 4);
}

/**
 * @param {Look} look
 * @param {number} size
 * @param {Colours} colours
 * @param {number} dpr
 */
function makeSprite(look, size, colours, dpr) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = Math.ceil((size + 4) * dpr);
  const context = canvas.getContext("2d");
  if (context) {
    context.scale(dpr, dpr);
    context.translate(2, 2);
    if (look.mark === "same") context.globalAlpha = 0.4;
    paintGlyph(context, look, size, colours);
    if (look.mark && look.mark !== "same") paintMark(context, look.mark, size, colours);
  }
  return canvas;
}

/**
 * @param {CanvasRenderingContext2D} context at the square's left top corner
 * @param {Look} look
 * @param {number} size
 * @param {Colours} colours
 */
function paintGlyph(context, look, size, colours) {
  const hue = colours.owner[look.hue] ?? colours.t3;
  const stroke = Math.max(1.2, size * 0.12);
  const radius = size * 0.22;
  const inner = () => roundRect(context, stroke / 2, stroke / 2, size - stroke, size - stroke, radius);
  context.fillStyle = context.strokeStyle = hue;
  context.lineWidth = stroke;
  const painter = PAINTERS[look.state] ?? PAINTERS["queued"];
  painter?.({ context, size, stroke, hue, colours, inner });
  if (look.ring && look.state === "running") {
    context.strokeStyle = colours.surf;
    context.lineWidth = Math.max(1, size * 0.1);
    roundRect(context, size * 0.24, size * 0.24, size * 0.52, size * 0.52, radius * 0.6);
    context.stroke();
  }
  if (look.old) foldCorner(context, size, hue);
}

/**
 * A pod of an older template lacks a corner, as a page that has been turned down.
 * @param {CanvasRenderingContext2D} context
 * @param {number} size
 * @param {string} hue
 */
function foldCorner(context, size, hue) {
  const from = size * 0.5;
  context.save();
  context.globalCompositeOperation = "destination-out";
  context.beginPath();
  context.moveTo(from, -1);
  context.lineTo(size + 1, -1);
  context.lineTo(size + 1, size - from);
  context.closePath();
  context.fill();
  context.restore();
  context.strokeStyle = hue;
  context.lineWidth = Math.max(1, size * 0.11);
  context.beginPath();
  context.moveTo(from, size * 0.05);
  context.lineTo(size * 0.95, size - from);
  context.stroke();
}

/**
 * The timeline's mark of what happened: ● came, ◆ changed, ✕ gone, over the corner below.
 * @param {CanvasRenderingContext2D} context
 * @param {Mark} mark
 * @param {number} size
 * @param {Colours} colours
 */
function paintMark(context, mark, size, colours) {
  const r = Math.max(3, size * 0.3);
  const at = size + 1.5 - r;
  const disc = (/** @type {number} */ radius) => {
    context.beginPath();
    context.arc(at, at, radius, 0, Math.PI * 2);
    context.fill();
  };
  context.fillStyle = colours.surf;
  disc(r + 1);
  context.fillStyle = context.strokeStyle = mark === "gone" ? colours.vert : mark === "came" ? colours.grnt : colours.acc;
  context.lineWidth = Math.max(1.4, r * 0.5);
  context.beginPath();
  if (mark === "came") return disc(r * 0.8);
  if (mark === "changed") {
    context.moveTo(at, at - r);
    context.lineTo(at + r, at);
    context.lineTo(at, at + r);
    context.lineTo(at - r, at);
    context.closePath();
    return context.fill();
  }
  const s = r * 0.7;
  context.moveTo(at - s, at - s);
  context.lineTo(at + s, at + s);
  context.moveTo(at + s, at - s);
  context.lineTo(at - s, at + s);
  return context.stroke();
}

/**
 * @typedef {object} Paint
 * @property {CanvasRenderingContext2D} context
 * @property {number} size
 * @property {number} stroke
 * @property {string} hue
 * @property {Colours} colours
 * @property {() => void} inner traces the square
 */

/** @param {Paint} p */
const hollow = ({ context, colours, hue, inner }) => {
  inner();
  context.fillStyle = colours.surf;
  context.fill();
  context.strokeStyle = hue;
  context.stroke();
  context.fillStyle = hue;
};

/**
 * Fills the part of the square that a shape covers.
 * @param {Paint} p
 * @param {() => void} trace
 */
const fillWithin = ({ context, hue, inner }, trace) => {
  context.save();
  inner();
  context.clip();
  context.beginPath();
  trace();
  context.fillStyle = hue;
  context.fill();
  context.restore();
};

/** @type {Record<string, (paint: Paint) => void>} */
const PAINTERS = {
  queued: hollow,
  running: ({ context, inner }) => {
    inner();
    context.fill();
    context.stroke();
  },
  succeeded: (p) => {
    hollow(p);
    strokePath(p, [[0.28, 0.52], [0.44, 0.68], [0.74, 0.34]], 0.12);
  },
  assumed: (p) => {
    hollow(p);
    fillWithin(p, () => polygon(p, [[0, 0.02], [0, 1], [0.98, 1]]));
  },
  bound: (p) => {
    hollow(p);
    p.context.beginPath();
    p.context.arc(p.size / 2, p.size / 2, p.size * 0.17, 0, Math.PI * 2);
    p.context.fill();
  },
  pulling: (p) => {
    hollow(p);
    fillWithin(p, () => p.context.rect(0, p.size * 0.5, p.size, p.size));
    p.context.strokeStyle = p.hue;
    strokePath(p, [[0.5, 0.2], [0.5, 0.42]], 0.13);
    p.context.strokeStyle = p.colours.surf;
    strokePath(p, [[0.36, 0.6], [0.5, 0.76], [0.64, 0.6]], 0.1);
  },
  terminating: (p) => {
    hollow(p);
    p.context.save();
    p.inner();
    p.context.clip();
    for (let at = -1; at < 1; at += 0.26) strokePath(p, [[at, 1], [at + 1, 0]], 0.09);
    p.context.restore();
  },
  nominated: (p) => {
    p.inner();
    p.context.fillStyle = p.colours.purbg;
    p.context.fill();
    p.context.setLineDash([p.size * 0.16, p.size * 0.12]);
    p.context.stroke();
    p.context.setLineDash([]);
    strokePath(p, [[0.38, 0.76], [0.38, 0.26]], 0.1);
    p.context.fillStyle = p.hue;
    p.context.beginPath();
    polygon(p, [[0.38, 0.24], [0.72, 0.4], [0.38, 0.54]]);
    p.context.fill();
  },
  victim: (p) => {
    const { context, size, colours } = p;
    context.save();
    context.translate(size * 0.14, size * 0.14);
    context.scale(0.72, 0.72);
    PAINTERS["running"]?.(p);
    context.restore();
    context.strokeStyle = colours.ver;
    context.lineWidth = size * 0.1;
    roundRect(context, size * 0.02, size * 0.02, size * 0.96, size * 0.96, size * 0.26);
    context.stroke();
    context.strokeStyle = colours.surf;
    strokePath(p, [[0.36, 0.36], [0.64, 0.64]], 0.12);
    strokePath(p, [[0.64, 0.36], [0.36, 0.64]], 0.12);
  },
  reprieved: (p) => {
    const { context, size, colours, hue } = p;
    context.fillStyle = colours.grnbg;
    p.inner();
    context.fill();
    context.strokeStyle = hue;
    context.lineWidth = size * 0.09;
    context.stroke();
    context.save();
    context.translate(size * 0.2, size * 0.2);
    context.scale(0.6, 0.6);
    context.fillStyle = hue;
    PAINTERS["running"]?.(p);
    context.restore();
    context.strokeStyle = colours.surf;
    strokePath(p, [[0.64, 0.36], [0.64, 0.56], [0.38, 0.56]], 0.09);
    strokePath(p, [[0.46, 0.46], [0.36, 0.56], [0.46, 0.66]], 0.09);
  },
  gated: (p) => {
    hollow(p);
    p.context.fillRect(p.size * 0.3, p.size * 0.48, p.size * 0.4, p.size * 0.28);
    p.context.lineWidth = p.size * 0.09;
    p.context.beginPath();
    p.context.arc(p.size / 2, p.size * 0.46, p.size * 0.13, Math.PI, 0);
    p.context.stroke();
  },
  failed: (p) => {
    hollow(p);
    strokePath(p, [[0.5, 0.25], [0.5, 0.54]], 0.13);
    p.context.beginPath();
    p.context.arc(p.size / 2, p.size * 0.72, p.size * 0.075, 0, Math.PI * 2);
    p.context.fill();
  },
};

/**
 * @param {Paint} p
 * @param {readonly (readonly [number, number])[]} points in shares of the size
 */
function polygon({ context, size }, points) {
  points.forEach(([x, y], index) => (index ? context.lineTo(x * size, y * size) : context.moveTo(x * size, y * size)));
  context.closePath();
}

/**
 * @param {Paint} p
 * @param {readonly (readonly [number, number])[]} points in shares of the size
 * @param {number} width share of the size
 */
function strokePath({ context, size }, points, width) {
  context.beginPath();
  points.forEach(([x, y], index) => (index ? context.lineTo(x * size, y * size) : context.moveTo(x * size, y * size)));
  context.lineWidth = Math.max(1, width * size);
  context.stroke();
}

/**
 * Traces a rounded rectangle as the current path.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} h
 * @param {number} r
 */
export function roundRect(context, x, y, w, h, r) {
  context.beginPath();
  context.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
}

/**
 * A glyph as an element of its own, for lanes, cards and the legend.
 * @param {Look} look
 * @param {number} size
 * @param {Colours} colours
 */
export function glyphElement(look, size, colours) {
  const canvas = makeSprite(look, size, colours, devicePixels());
  canvas.style.width = canvas.style.height = `${size + 4}px`;
  canvas.className = "st-glyph";
  canvas.setAttribute("aria-hidden", "true");
  return canvas;
}
