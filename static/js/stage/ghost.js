/** A resource that is short, as a bar: what is taken, the pod's request as a ghost after it, and where the node ends. */

/** @import { RefusalDetail } from "../lib/types.d.ts" */
/** @import { Pen } from "./pen.js" */
import { ghostOf } from "../lib/refusals.js";
import { roundRect } from "./glyphs.js";
import { hatch } from "./pen.js";

/**
 * What is short of a resource on a node; null where it is not, or nobody knows.
 * @param {readonly RefusalDetail[]} details
 * @param {string} resource
 */
export function shortOf(details, resource) {
  return details.find((detail) => detail.kind === "resource" && detail.resource === resource) ?? null;
}

/**
 * @param {Pen} pen
 * @param {RefusalDetail} detail of a resource
 * @param {number} x
 * @param {number} y top
 * @param {number} w
 * @param {number} h
 */
export function ghostBar(pen, detail, x, y, w, h) {
  if (detail.kind !== "resource") return;
  const { context, colours } = pen;
  const { used, ghost, end } = ghostOf(detail);
  context.fillStyle = colours.line;
  roundRect(context, x, y, Math.max(2, end * w), h, 2);
  context.fill();
  context.fillStyle = colours.owner[4] ?? colours.t3;
  if (used > 0) {
    roundRect(context, x, y, Math.max(2, used * w), h, 2);
    context.fill();
  }
  context.save();
  roundRect(context, x + used * w, y - 0.5, Math.max(3, (ghost - used) * w), h + 1, 2);
  hatch(pen, 4);
  context.strokeStyle = colours.t2;
  context.lineWidth = 1;
  context.setLineDash([3, 2]);
  context.stroke();
  context.restore();
  context.fillStyle = colours.t1;
  context.fillRect(x + end * w - 1, y - 3, 2, h + 6);
}
