/** Where the parts of the architecture stand, and the arrows between them and the API server. Pure. */

/** @import { Part } from "./model.js" */

/** @typedef {{x: number, y: number, width: number, height: number}} Box centre and size, in CSS pixels */

/** The least room that a node needs for its two components, and a person for their name. */
export const NODE_WIDTH = 116;
/** How wide a box is in which `kube-controller-manager-0` fits, and how high a field with two rows of them, in letters. */
const NAME_LETTERS = 16;
const TWO_ROWS_HEIGHT = 24;
const GAP = 10;
const EDGE = 12;

/**
 * How many nodes have a place of their own; the cloud has the last one.
 * @param {number} width
 */
export function nodesRoom(width) {
  return Math.max(1, Math.floor((width - 2 * EDGE + GAP) / (NODE_WIDTH + GAP)) - 1);
}

/**
 * @param {readonly Part[]} parts
 * @param {number} width
 * @param {number} height
 * @param {number} size of the letters
 * @returns {Map<string, Box>} by id
 */
export function layoutOf(parts, width, height, size) {
  const of = (/** @type {Part["kind"][]} */ ...kinds) => parts.filter(({ kind }) => kinds.includes(kind));
  /** @type {Map<string, Box>} */
  const boxes = new Map();
  const tops = topRows(of("manager"), of("scheduler"), width, height, size);
  const each = size * 3.6;
  tops.forEach((top, index) => row(top, EDGE, width - EDGE, EDGE + each / 2 + index * (each + 6), topWidth(top.length, width), each, boxes));
  const tall = tops.length * each + (tops.length - 1) * 6;
  const nodes = [...new Set(of("kubelet").map(({ node }) => node))];
  const slots = nodes.length + of("more").length + 1;
  const slot = Math.min(170, (width - 2 * EDGE - (slots - 1) * GAP) / slots);
  const line = size * 2.1;
  const from = (width - slots * slot - (slots - 1) * GAP) / 2 + slot / 2;
  const bottom = height - EDGE / 2 - line - size * 0.95;
  nodes.forEach((node, index) => {
    const x = from + index * (slot + GAP);
    boxes.set(`kubelet/${node}`, { x, y: bottom - line / 2 + size * 0.7, width: slot - 12, height: line });
    boxes.set(`kube-proxy/${node}`, { x, y: bottom + line / 2 + size * 0.7 + 2, width: slot - 12, height: line });
    boxes.set(`node/${node}`, { x, y: bottom, width: slot, height: 2 * line + size * 1.9 });
  });
  if (of("more").length > 0) boxes.set("more", { x: from + nodes.length * (slot + GAP), y: bottom, width: slot, height: 2 * line + size * 1.9 });
  boxes.set("cloud", { x: from + (slots - 1) * (slot + GAP), y: bottom, width: slot, height: 2 * line + size * 1.9 });
  const middle = (EDGE + tall + bottom - line - size) / 2;
  boxes.set("kube-apiserver", { x: width / 2, y: middle, width: Math.min(230, width * 0.3), height: size * 5 });
  boxes.set("store", { x: width - EDGE - Math.min(150, width * 0.2) / 2, y: middle, width: Math.min(150, width * 0.2), height: size * 5 });
  const people = of("person", "session");
  const room = bottom - line - size * 2 - (EDGE + tall + size);
  const step = Math.min(size * 3.3, room / Math.max(1, people.length));
  people.forEach(({ id }, index) => boxes.set(id, {
    x: EDGE + Math.min(150, width * 0.2) / 2, y: middle + (index - (people.length - 1) / 2) * step, width: Math.min(150, width * 0.2),
    height: Math.max(size * 1.4, Math.min(size * 2.9, step - 3)),
  }));
  return boxes;
}

/**
 * Replicas stand in one row while their names fit, else in a row a component where there is height for two.
 * @param {readonly Part[]} managers
 * @param {readonly Part[]} schedulers
 * @param {number} width
 * @param {number} height
 * @param {number} size
 */
function topRows(managers, schedulers, width, height, size) {
  const all = [...managers, ...schedulers];
  const narrow = topWidth(all.length, width) < NAME_LETTERS * size;
  return narrow && managers.length > 0 && schedulers.length > 0 && height >= TWO_ROWS_HEIGHT * size ? [managers, schedulers] : [all];
}

/**
 * @param {number} count
 * @param {number} width of the field
 */
function topWidth(count, width) {
  return Math.min(230, (width - 2 * EDGE) / Math.max(1, count) - GAP);
}

/**
 * Parts side by side, centred.
 * @param {readonly Part[]} parts
 * @param {number} from
 * @param {number} to
 * @param {number} y
 * @param {number} width of each
 * @param {number} height
 * @param {Map<string, Box>} boxes
 */
function row(parts, from, to, y, width, height, boxes) {
  const whole = parts.length * width + (parts.length - 1) * GAP;
  parts.forEach(({ id }, index) => boxes.set(id, { x: (from + to - whole) / 2 + width / 2 + index * (width + GAP), y, width, height }));
}

/**
 * The line between two boxes, from border to border, `aside` pixels to the left of the way from one to the other.
 * @param {Box} from
 * @param {Box} to
 * @param {number} aside
 * @returns {{x1: number, y1: number, x2: number, y2: number}}
 */
export function edgeOf(from, to, aside) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const [sx, sy] = [(dy / length) * aside, (-dx / length) * aside];
  const [a, b] = [border(from, dx, dy), border(to, -dx, -dy)];
  return { x1: a.x + sx, y1: a.y + sy, x2: b.x + sx, y2: b.y + sy };
}

/**
 * Where a line from a box's centre leaves it.
 * @param {Box} box
 * @param {number} dx
 * @param {number} dy
 */
function border({ x, y, width, height }, dx, dy) {
  const share = Math.min(dx === 0 ? Infinity : width / 2 / Math.abs(dx), dy === 0 ? Infinity : height / 2 / Math.abs(dy));
  return { x: x + dx * share, y: y + dy * share };
}
