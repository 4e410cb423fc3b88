/** Words, bars and textures on a canvas: what every kind of tile is drawn with. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { Colours } from "../dom/colours.js" */
/** @import { PluginLook } from "../lib/hues.js" */
import { roundRect } from "./glyphs.js";

/**
 * @typedef {object} Pen
 * @property {CanvasRenderingContext2D} context
 * @property {Colours} colours
 * @property {number} dpr
 * @property {Lang} lang
 * @property {number} nowMs simulated
 * @property {(key: string) => string} say a pod's name as it is said
 */

/** Letters of a name's last part that are kept where the name is cut. */
const ENDING_MAX = 4;
/** Letters that are drawn for the name of an owner's pod. */
const DRAWN = 5;

/** Most measured widths kept. */
const WIDTHS_MAX = 20_000;

/** @type {Map<string, number>} */
const widths = new Map();

/**
 * @param {Pen} pen
 * @param {string} text
 */
export function widthOf({ context }, text) {
  const key = `${context.font}|${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size >= WIDTHS_MAX) widths.clear();
    width = context.measureText(text).width;
    widths.set(key, width);
  }
  return width;
}

/**
 * The text, cut with an ellipsis where it is too wide; the last letters may be what tells it from others.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} width
 * @param {string} [end] what is kept of the text's end
 * @returns {string}
 */
export function fit(pen, text, width, end = "") {
  if (widthOf(pen, text) <= width) return text;
  let low = 0;
  let high = text.length - end.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(pen, `${text.slice(0, middle)}…${end}`) <= width) low = middle;
    else high = middle - 1;
  }
  if (low > 0) return `${text.slice(0, low)}…${end}`;
  return end ? fit(pen, text, width) : "";
}

/**
 * What tells a node from its sisters: the last part of its name, where that is short.
 * @param {string} name
 */
export function ending(name) {
  return lastPart(name, ENDING_MAX);
}

/**
 * What tells a pod from its sisters: the letters that its owner has drawn for it.
 * @param {string} name
 */
export function podEnding(name) {
  return lastPart(name, DRAWN);
}

/**
 * @param {string} name
 * @param {number} most letters
 */
function lastPart(name, most) {
  const last = name.slice(name.lastIndexOf("-") + 1);
  return last.length < name.length && last.length <= most ? last : "";
}

/**
 * Lines of a text broken between words, at most so many; the last one is cut where more would follow.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} width
 * @param {number} most
 */
export function wrap(pen, text, width, most) {
  /** @type {string[]} */
  const lines = [];
  let line = "";
  // Chinese has no spaces to break at: every character is a place.
  for (const word of text.match(/[⺀-鿿＀-￯]\s*|[^\s⺀-鿿＀-￯]+\s*/g) ?? []) {
    if (line && widthOf(pen, (line + word).trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = word;
    } else line += word;
  }
  if (line) lines.push(line.trimEnd());
  if (lines.length <= most) return lines.map((one) => fit(pen, one, width));
  return [...lines.slice(0, most - 1), fit(pen, `${lines.slice(most - 1).join(" ")}`, width)];
}

/**
 * Writes one line of text.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} x
 * @param {number} y of the middle of the line
 * @param {{size?: number, weight?: number, colour?: string, align?: CanvasTextAlign, width?: number, end?: string}} [style]
 * @returns {number} the written width
 */
export function write(pen, text, x, y, { size = 11, weight = 400, colour, align = "left", width, end } = {}) {
  const { context, colours } = pen;
  const font = `${weight} ${size}px ${colours.font}`;
  if (context.font !== font) context.font = font;
  context.fillStyle = colour ?? colours.t1;
  context.textAlign = align;
  context.textBaseline = "middle";
  const shown = width === undefined ? text : fit(pen, text, width, end);
  context.fillText(shown, x, y + 0.5);
  return widthOf(pen, shown);
}

/**
 * Whether a text has room, in the look that it would be written in.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} width
 * @param {{size?: number, weight?: number}} look
 */
export function fits(pen, text, width, { size = 11, weight = 400 }) {
  const font = `${weight} ${size}px ${pen.colours.font}`;
  if (pen.context.font !== font) pen.context.font = font;
  return widthOf(pen, text) <= width;
}

/**
 * A resource bar: requested of allocatable, with a notch at 80 %, and a thin line in it as long as what is used.
 * @param {Pen} pen
 * @param {number} share 0 to 1, more where overcommitted
 * @param {number} x
 * @param {number} y top
 * @param {number} w
 * @param {number} h
 * @param {number | null} [used] 0 to 1, null: nobody tells
 */
export function bar({ context, colours }, share, x, y, w, h, used = null) {
  context.fillStyle = colours.line;
  roundRect(context, x, y, w, h, 2);
  context.fill();
  const filled = Math.max(0, Math.min(1, share)) * w;
  if (filled > 0) {
    context.fillStyle = colours.owner[4] ?? colours.t3;
    roundRect(context, x, y, Math.max(2, filled), h, 2);
    context.fill();
  }
  context.fillStyle = colours.surf;
  context.fillRect(x + w * 0.8 - 0.75, y, 1.5, h);
  if (used === null) return;
  context.fillStyle = colours.t1;
  context.fillRect(x, y + h / 2 - 1, Math.max(1, Math.min(1, used) * w), 2);
}

/**
 * A resource then and now, one above the other.
 * @param {Pen} pen
 * @param {number} then 0 to 1
 * @param {number} now
 * @param {number} x
 * @param {number} y top
 * @param {number} w
 */
export function twoBars({ context, colours }, then, now, x, y, w) {
  [[then, colours.owner[4] ?? colours.t3], [now, colours.acc]].forEach(([share, colour], index) => {
    context.fillStyle = colours.line;
    context.fillRect(x, y + 4 * index, w, 3);
    context.fillStyle = String(colour);
    context.fillRect(x, y + 4 * index, Math.max(0, Math.min(1, Number(share))) * w, 3);
  });
}

/**
 * The stacked bar of a score.
 * @param {Pen} pen
 * @param {readonly {value: number, look: PluginLook}[]} segments
 * @param {number} pointsMax the width stands for
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} h
 */
export function scoreBar({ context, colours }, segments, pointsMax, x, y, w, h) {
  context.save();
  roundRect(context, x, y, w, h, 2);
  context.clip();
  context.fillStyle = colours.sunk;
  context.fillRect(x, y, w, h);
  let at = x;
  segments.forEach((segment) => {
    const width = pointsMax > 0 ? (segment.value / pointsMax) * w : 0;
    if (width <= 0) return;
    context.fillStyle = colours.plugin[segment.look.hue] ?? colours.acc;
    context.fillRect(at, y, Math.max(0.5, width - 1), h);
    if (segment.look.again) {
      context.fillStyle = colours.surf;
      context.fillRect(at, y + h / 2 - 0.75, Math.max(0.5, width - 1), 1.5);
    }
    at += width;
  });
  context.restore();
}

/** @type {Map<string, CanvasPattern | null>} */
const hatches = new Map();

/**
 * The texture of "not possible", over the current path.
 * @param {Pen} pen
 * @param {number} [spacing]
 */
export function hatch({ context, colours, dpr }, spacing = 7) {
  const key = `${colours.key}|${spacing}|${dpr}`;
  if (!hatches.has(key)) hatches.set(key, hatchPattern(context, colours, spacing, dpr));
  const pattern = hatches.get(key);
  if (!pattern) return;
  context.fillStyle = pattern;
  context.fill();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Colours} colours
 * @param {number} spacing
 * @param {number} dpr
 */
function hatchPattern(context, colours, spacing, dpr) {
  const side = Math.round(spacing * dpr);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = side;
  const ink = canvas.getContext("2d");
  if (!ink) return null;
  ink.strokeStyle = colours.hatch;
  ink.globalAlpha = 0.55;
  ink.lineWidth = 1.3 * dpr;
  ink.beginPath();
  for (const offset of [-side, 0, side]) {
    ink.moveTo(offset - 1, side + 1);
    ink.lineTo(offset + side + 1, -1);
  }
  ink.stroke();
  const pattern = context.createPattern(canvas, "repeat");
  pattern?.setTransform(new DOMMatrix().scale(1 / dpr));
  return pattern;
}

/**
 * A chip with text, its right edge at x.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} right
 * @param {number} y of the middle
 * @param {{back: string, ink: string}} paint
 * @returns {number} its width
 */
export function chip(pen, text, right, y, { back, ink }) {
  const { context, colours } = pen;
  context.font = `600 11px ${colours.font}`;
  const width = widthOf(pen, text) + 14;
  context.fillStyle = back;
  roundRect(context, right - width, y - 9, width, 18, 9);
  context.fill();
  write(pen, text, right - width + 7, y, { size: 11, weight: 600, colour: ink });
  return width;
}
