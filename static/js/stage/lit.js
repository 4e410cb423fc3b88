/** Nodes that somebody wants to see among the others: they are framed, the others stand back. */

/** @import { Lit, Ui } from "../lib/types.d.ts" */
/** @import { TileBox } from "./levels.js" */
/** @import { Pen } from "./pen.js" */
import { roundRect } from "./glyphs.js";

/** How much the others stand back: their names can still be read. */
export const VEIL = 0.4;

/**
 * What is lit: only while the attempt is shown that it was asked of.
 * @param {Pick<Ui, "decisions" | "lit" | "selected">} ui
 * @returns {Lit | null}
 */
export function litOf({ decisions, lit, selected }) {
  return lit && selected?.resource === "pods" && selected.key === lit.pod && decisions.selectedTraceId === lit.attempt ? lit : null;
}

/**
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {boolean} lit
 * @param {number} radius
 */
export function light({ context, colours }, { x, y, w, h }, lit, radius) {
  if (!lit) {
    context.save();
    context.globalAlpha = VEIL;
    context.fillStyle = colours.stage;
    context.fillRect(x - 1, y - 1, w + 2, h + 2);
    context.restore();
    return;
  }
  context.strokeStyle = colours.acc;
  context.lineWidth = 2;
  roundRect(context, x + 1, y + 1, w - 2, h - 2, radius);
  context.stroke();
}
