/** Many nodes at once: cells and racks, levels of detail 4 and 5. */

/** @import { TileBox } from "./levels.js" */
/** @import { NodeModel } from "./model.js" */
/** @import { Pen } from "./pen.js" */
/** @import { TileState } from "./tile-parts.js" */
import { heatStep } from "../dom/colours.js";
import { roundRect } from "./glyphs.js";
import { drawIcon } from "./icons.js";
import { hatch, write } from "./pen.js";
import { outline } from "./tile-parts.js";
import { trialFrame } from "./trial.js";

/**
 * Level 4: a cell filled by score or else by load, a load line, hatch or a cross where refused.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {NodeModel} node
 * @param {TileState} state
 */
export function drawCell(pen, box, node, state) {
  const { context, colours } = pen;
  const { scene, cycle } = state;
  const { x, y, w, h } = box;
  const refused = scene?.feasible === false;
  const load = node.cpuMilli ? node.cpuUsed / node.cpuMilli : 0;
  const step = heatStep(100 * (placed(state) ?? load));
  context.fillStyle = refused || !node.ready ? colours.stage : colours.heat[step] ?? colours.line;
  roundRect(context, x, y, w, h, 3);
  context.fill();
  if (refused || !node.ready) {
    hatch(pen, 5);
    if (node.taints.length > 0) drawIcon(context, "close", x + w / 2 - 4.5, y + h / 2 - 4.5, 9, colours.t2);
  } else if (step === 0) {
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.stroke();
  }
  if (!refused) {
    context.fillStyle = step > 3 ? colours["heat-high-text"] : colours["heat-low-text"];
    context.globalAlpha = 0.7;
    context.fillRect(x + 3, y + h - 4, Math.max(load > 0 ? 1 : 0, (w - 6) * Math.min(1, load)), 2);
    context.globalAlpha = 1;
  }
  if (scene?.tied || scene?.winner) {
    context.strokeStyle = colours.amb;
    context.lineWidth = 2;
    roundRect(context, x, y, w, h, 3);
    context.stroke();
  }
  if (state.trial) trialFrame(pen, box, state.trial, 3);
  outline(pen, box, state, 3);
}

/**
 * Level 5: twenty nodes as one block with a small histogram of their scores or load.
 * @param {Pen} pen
 * @param {TileBox} box
 * @param {readonly {node: NodeModel, state: TileState}[]} members
 */
export function drawRack(pen, box, members) {
  const { context, colours } = pen;
  const { x, y, w, h } = box;
  const refused = members.filter(({ state }) => state.scene?.feasible === false).length;
  const lit = members.some(({ state }) => state.scene?.tied || state.scene?.winner);
  context.fillStyle = colours.surf;
  roundRect(context, x + 0.5, y + 0.5, w - 1, h - 1, 4);
  context.fill();
  if (refused === members.length) hatch(pen, 5);
  const bins = histogram(members);
  const most = Math.max(1, ...bins);
  bins.forEach((count, index) => {
    const height = (count / most) * (h - 18);
    context.fillStyle = colours.heat[index] ?? colours.acc;
    context.fillRect(x + 5 + index * 5, y + h - 4 - height, 4, height);
  });
  write(pen, String(members.length - refused), x + 4, y + 8, { size: 11, weight: 600, colour: colours.t2 });
  context.strokeStyle = lit ? colours.amb : colours.line2;
  context.lineWidth = lit ? 2 : 1;
  roundRect(context, x + 0.5, y + 0.5, w - 1, h - 1, 4);
  context.stroke();
  for (const { state } of members) if (state.trial?.role) trialFrame(pen, box, state.trial, 4);
  for (const { state } of members) outline(pen, box, state, 4);
}

/**
 * Where a node's total lies between the lowest and the highest: a thousand totals that differ by a few points are told apart.
 * @param {TileState} state
 * @returns {number | null} 0 to 1; null where nothing is scored
 */
export function placed({ scene, cycle }) {
  if (!scene?.segments.length || !cycle?.range) return null;
  const { from, to } = cycle.range;
  return to > from ? (scene.total - from) / (to - from) : 1;
}

/**
 * How many feasible members fall into each step of the heat scale.
 * @param {readonly {node: NodeModel, state: TileState}[]} members
 */
function histogram(members) {
  const bins = [0, 0, 0, 0, 0, 0];
  for (const { node, state } of members) {
    if (state.scene?.feasible === false) continue;
    const step = heatStep(100 * (placed(state) ?? (node.cpuMilli ? node.cpuUsed / node.cpuMilli : 0)));
    bins[step] = (bins[step] ?? 0) + 1;
  }
  return bins;
}
