/** What tiles of several levels are made of: the frame, marks, rows of pods, the footer with a reason, a preemption's lines. */

/** @import { NodeScene, Scene } from "./cycle.js" */
/** @import { TileBox } from "./levels.js" */
/** @import { TrialNode } from "../lib/types.d.ts" */
/** @import { Glyph, NodeModel } from "./model.js" */
/** @import { Pen } from "./pen.js" */
import { text } from "../lib/text.js";
import { OVER_DIM } from "./cycle.js";
import { drawGlyph, roundRect } from "./glyphs.js";
import { drawIcon } from "./icons.js";
import { chip, hatch, wrap, write } from "./pen.js";

/**
 * @typedef {object} TileState what is drawn on a node besides itself
 * @property {NodeScene | null} scene
 * @property {Scene | null} cycle
 * @property {boolean} selected
 * @property {boolean} focused
 * @property {boolean} hovered
 * @property {string} selectedPod
 * @property {TrialNode | null} trial what a what-if makes of the node
 * @property {number} trialLast of how many decisions; 0: of one attempt
 */

/** Lines at the foot of a tile that leave its bars to be seen. */
const FOOTER_LINES_MAX = 4;

/** Room between the edge of a tile and what stands on it. */
export const PAD = 9;

/** How much of a verdict is seen once its cycle is over: less than of one in hand, enough to be read. */
export const OVER_ALPHA = 0.85;

/**
 * How much of a footer's words is seen where its ground is seen so far: of an attempt that is over they are still read.
 * @param {number} dim 0 to 1
 */
export function wordsAlpha(dim) {
  return Math.min(1, (dim / OVER_DIM) * OVER_ALPHA);
}

/**
 * The frame of a tile: solid and raised, amber with a glow in the tie set, dashed and hatched where it cannot be.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {NodeModel} node
 * @param {TileState} state
 * @param {number} radius
 */
export function frame(pen, box, node, state, radius) {
  const { context, colours } = pen;
  const { scene } = state;
  const over = Boolean(state.cycle?.over);
  const { x, y, w, h } = box;
  const out = isOut(scene) || !node.ready;
  const dim = isOut(scene) ? scene?.dim ?? 0 : node.ready ? 0 : 1;
  const lit = scene?.winner || scene?.role === "chosen" || (scene?.tied && !over);
  if (lit && !over) {
    context.save();
    context.globalAlpha = scene?.winner || scene?.role ? 1 : scene?.glow ?? 1;
    context.fillStyle = colours.ambbg;
    roundRect(context, x - 3, y - 3, w + 6, h + 6, radius + 3);
    context.fill();
    context.restore();
  } else if (!out) {
    // Two thin strokes below the tile read as its shadow at a hundredth of a blur's cost.
    context.fillStyle = colours.line;
    roundRect(context, x, y + 1, w, h, radius);
    context.fill();
  }
  context.fillStyle = dim > 0 ? colours.stage : colours.surf;
  roundRect(context, x + 0.5, y + 0.5, w - 1, h - 1, radius);
  context.fill();
  if (dim > 0) {
    context.save();
    context.globalAlpha = dim;
    hatch(pen);
    context.restore();
  }
  context.strokeStyle = lit ? colours.amb : scene?.role ? colours.acc : colours.line2;
  context.lineWidth = lit && !over ? 2 : scene?.role ? 1.5 : 1;
  if (out && dim > 0.5) context.setLineDash([4, 3]);
  roundRect(context, x + 0.5, y + 0.5, w - 1, h - 1, radius);
  context.stroke();
  context.setLineDash([]);
  outline(pen, box, state, radius);
}

/**
 * Whether a cycle has ruled a node out: a candidate of a preemption is refused, and still in the running.
 * @param {NodeScene | null} scene
 */
export function isOut(scene) {
  return scene?.feasible === false && scene.role === "";
}

/**
 * Candidate or chosen, at the right of a node's name.
 * @param {Pen} pen
 * @param {NodeScene} scene
 * @param {number} right
 * @param {number} y of the middle
 * @returns {number} its width
 */
export function roleChip(pen, scene, right, y) {
  const { colours } = pen;
  const chosen = scene.role === "chosen";
  return chip(pen, text(pen.lang, chosen ? "stage.chosenNode" : "stage.candidate"), right, y, {
    back: chosen ? colours.amb : colours.accbg, ink: chosen ? colours["on-plugin"] : colours.acc,
  });
}

/**
 * What a preemption would cost on a node, and the criterion that turned it away or decided for it: two lines in place of
 * its reason.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {NodeScene} scene
 * @param {string} [freed] what that gives back, or what is known before anybody is a victim
 */
export function preemptionLines(pen, box, scene, freed = "") {
  const { colours, context, lang } = pen;
  const chosen = scene.role === "chosen";
  const x = box.x + PAD;
  const room = box.w - 2 * PAD;
  const bottom = box.y + box.h - 14;
  const said = scene.lot ? text(lang, chosen ? "stage.won" : "preemption.outByLot") : scene.criterion > 0 ? text(lang, chosen ? "stage.decidedAt" : "stage.outAt", { n: scene.criterion }) : "";
  const cost = scene.victims > 0 ? text(lang, scene.violations > 0 ? "stage.evictsBreaking" : "stage.evicts", {
    n: scene.victims, p: scene.violations,
  }) : "";
  // A tall tile has room for a second line: what it costs is read whole.
  context.font = `500 11px ${colours.font}`;
  const costs = wrap(pen, [cost, freed].filter(Boolean).join(" "), room, box.h < COST_TALL ? 1 : 2);
  costs.forEach((line, at) => write(pen, line, x, (said ? bottom - 20 : bottom) - COST_PITCH * (costs.length - 1 - at), {
    weight: 500, colour: scene.violations > 0 ? colours.vert : colours.t2, width: room,
  }));
  if (!said) return;
  context.fillStyle = colours.line;
  context.fillRect(x, bottom - 10, room, 1);
  drawIcon(context, chosen ? "check" : "close", x, bottom - 5.5, 11, chosen ? colours.ambt : colours.t2);
  write(pen, said, x + 16, bottom, {
    weight: chosen ? 600 : 400, colour: chosen ? colours.ambt : colours.t2, width: room - 16,
  });
}

/** The height from which a tile tells its cost in two lines, and how far apart those are. */
const COST_TALL = 120;
const COST_PITCH = 13;

/**
 * Selection, hover and keyboard focus around a node.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {TileState} state
 * @param {number} radius
 */
export function outline({ context, colours }, { x, y, w, h }, state, radius) {
  if (!state.selected && !state.focused && !state.hovered) return;
  context.strokeStyle = colours.acc;
  context.lineWidth = state.selected || state.focused ? 2 : 1;
  const out = state.focused ? 1.5 : 0;
  roundRect(context, x + 0.5 - out, y + 0.5 - out, w - 1 + 2 * out, h - 1 + 2 * out, radius + out);
  context.stroke();
}

/**
 * Marks beside a node's name: a tag for taints, a lock where it is cordoned.
 * @param {Pen} pen
 * @param {NodeModel} node
 * @param {number} x
 * @param {number} y of the middle
 * @returns {number} where the next mark would stand
 */
export function marks(pen, node, x, y) {
  let at = x;
  if (node.taints.length > 0) {
    drawIcon(pen.context, "tag", at, y - 6, 12, pen.colours.t2);
    at += 15;
  }
  if (node.unschedulable) {
    drawIcon(pen.context, "lock", at, y - 6, 12, pen.colours.t2);
    at += 15;
  }
  return at;
}

/**
 * Glyphs of pods in rows, and where each stands.
 * @param {Pen} pen
 * @param {readonly Glyph[]} glyphs
 * @param {{x: number, y: number, w: number, rows: number, size: number, pitch: number, dim: number, selectedPod: string}}
 *   area `y`: top of the first row
 * @returns {number} the lower edge of the last row; above `y` where there are no pods
 */
export function glyphRows(pen, glyphs, { x, y, w, rows, size, pitch, dim, selectedPod }) {
  const { context, colours, dpr } = pen;
  const columns = Math.max(1, Math.floor((w + pitch - size) / pitch));
  const room = columns * rows;
  const shown = glyphs.length > room ? room - 1 : glyphs.length;
  context.save();
  if (dim > 0) context.globalAlpha = 1 - 0.55 * dim;
  for (let index = 0; index < shown; index += 1) {
    const glyph = glyphs[index];
    if (!glyph) continue;
    const gx = x + (index % columns) * pitch;
    const gy = y + Math.floor(index / columns) * pitch;
    drawGlyph(context, glyph, gx, gy, size, colours, dpr);
    if (glyph.key === selectedPod) {
      context.strokeStyle = colours.acc;
      context.lineWidth = 1.5;
      roundRect(context, gx - 1.5, gy - 1.5, size + 3, size + 3, 4);
      context.stroke();
    }
  }
  context.restore();
  if (shown < glyphs.length) {
    const gx = x + (shown % columns) * pitch;
    write(pen, `+${glyphs.length - shown}`, gx, y + Math.floor(shown / columns) * pitch + size / 2, {
      size: 11, weight: 500, colour: colours.t2,
    });
  }
  return y + Math.min(rows, Math.ceil(glyphs.length / columns)) * pitch - (pitch - size);
}

/**
 * The pod whose glyph lies under a point of a tile of level 1 to 3; null elsewhere.
 * @param {readonly Glyph[]} glyphs
 * @param {{x: number, y: number, w: number, rows: number, size: number, pitch: number}} area
 * @param {number} px
 * @param {number} py
 */
export function glyphAt(glyphs, { x, y, w, rows, size, pitch }, px, py) {
  const columns = Math.max(1, Math.floor((w + pitch - size) / pitch));
  const column = Math.floor((px - x + 1.5) / pitch);
  const row = Math.floor((py - y + 1.5) / pitch);
  if (column < 0 || column >= columns || row < 0 || row >= rows) return null;
  const index = row * columns + column;
  const shown = glyphs.length > columns * rows ? columns * rows - 1 : glyphs.length;
  return index < shown ? glyphs[index] ?? null : null;
}

/**
 * What a footer says, line by line, and how high it is.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {string} reason the exact one
 * @param {string} [amounts] in words of ours, below it as far as there is room
 */
export function footerLines(pen, box, reason, amounts = "") {
  const { context, colours } = pen;
  context.font = `500 11px ${colours.font}`;
  const room = box.w - PAD - 15 - 4;
  const reasons = wrap(pen, reason, room, 3);
  context.font = `400 11px ${colours.font}`;
  const lines = amounts ? [...reasons, ...wrap(pen, amounts, room, FOOTER_LINES_MAX - reasons.length)] : reasons;
  const pitch = lines.length > 2 ? 12 : 14;
  return { lines, reasons: reasons.length, pitch, height: lines.length * pitch + 10 };
}

/**
 * The exact reason, at full contrast, on a plain ground.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {ReturnType<typeof footerLines>} words
 * @param {number} dim
 * @param {string} [mark] icon
 * @returns {number} its upper edge
 */
export function footer(pen, box, { lines, reasons, pitch, height }, dim, mark = "ban") {
  const { context, colours } = pen;
  const top = box.y + box.h - height;
  context.save();
  context.globalAlpha = dim;
  context.fillStyle = colours.stage;
  roundRect(context, box.x + 1, top, box.w - 2, height - 1, 7);
  context.fill();
  context.fillRect(box.x + 1, top, box.w - 2, 8);
  context.fillStyle = colours.line;
  context.fillRect(box.x + 1, top, box.w - 2, 1);
  context.globalAlpha = wordsAlpha(dim);
  drawIcon(context, mark, box.x + PAD - 1, top + 6, 11, colours.t2);
  lines.forEach((line, index) =>
    write(pen, line, box.x + PAD + 15, top + 12 + index * pitch, index < reasons
      ? { weight: 500, colour: colours.t1 } : { colour: colours.t2 }));
  context.restore();
  return top;
}
