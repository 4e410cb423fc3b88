/** What appears beside the pointer: a pod or node in words, and from level 4 a lens of six nodes in finer detail. */

/** @import { Lang } from "../lib/types.d.ts" */
/** @import { FieldInput } from "./field.js" */
/** @import { TileBox } from "./levels.js" */
/** @import { Glyph, NodeModel } from "./model.js" */
import { devicePixels, setText } from "../dom/dom.js";
import { formatAsked, formatCpu, formatMemory } from "../lib/quantity.js";
import { refusalSentence } from "../lib/refusals.js";
import { text } from "../lib/text.js";
import { podRequests } from "../state/selectors.js";
import { h } from "../dom/h.js";
import { stateOf } from "./field.js";
import { glyphWords } from "./glyph-words.js";
import { drawSmallTile } from "./tiles.js";

const COLUMNS = 3;
const ROWS = 2;
const TILE = { w: 96, h: 74, gap: 8 };

/**
 * @param {HTMLElement} host the stage, which must be positioned
 */
export function mountLens(host) {
  const title = h("b");
  const hint = h("span");
  const canvas = h("canvas");
  const lens = h("div", { class: "st-lens", "aria-hidden": "true" }, h("header", {}, title, hint), canvas,
    h("p", { class: "st-lens-reason" }));
  const tip = h("div", { class: "st-tip", "aria-hidden": "true" });
  const frame = h("div", { class: "st-lens-frame", "aria-hidden": "true" });
  lens.hidden = tip.hidden = frame.hidden = true;
  host.append(frame, lens, tip);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

  function hide() {
    lens.hidden = tip.hidden = frame.hidden = true;
  }

  /**
   * @param {FieldInput} input
   * @param {{box: TileBox, node: NodeModel, glyph: Glyph | null}} hit
   * @param {{x: number, y: number}} at in the host
   * @param {{x: number, y: number}} origin where the field's content begins, in the host
   */
  function show(input, hit, at, origin) {
    if (input.layout.level >= 4) showLens(input, hit.node, at, origin);
    else showTip(input, hit, at);
  }

  /**
   * @param {FieldInput} input
   * @param {NodeModel} node
   * @param {{x: number, y: number}} at
   * @param {{x: number, y: number}} origin
   */
  function showLens(input, node, at, origin) {
    tip.hidden = true;
    const zone = input.layout.zones.find((one) => one.nodes.includes(node.name));
    if (!zone) return;
    const index = zone.nodes.indexOf(node.name);
    const perRow = rowLength(input, zone.nodes);
    const names = around(zone.nodes, index, perRow);
    setText(title, text(input.lang, "lens.title", {
      zone: zone.name || text(input.lang, "stage.noZone"), from: names[0] ?? "", to: names[names.length - 1] ?? "",
    }));
    setText(hint, text(input.lang, "lens.level"));
    const scene = input.scene?.nodes.get(node.name);
    setText(/** @type {HTMLElement} */ (lens.lastElementChild), scene?.feasible === false
      ? [`${node.name}: ${scene.reason}`, refusalSentence(scene.details, input.lang, input.model.say)].filter(Boolean).join(". ") : describe(input, node));
    drawLens(input, names);
    place(host, lens, at, 320, 226);
    const edge = frameOf(names.flatMap((name) => input.layout.byName.get(name) ?? []));
    frame.hidden = !edge;
    if (!edge) return;
    frame.style.transform = `translate(${Math.round(origin.x + edge.x)}px, ${Math.round(origin.y + edge.y)}px)`;
    frame.style.width = `${edge.w}px`;
    frame.style.height = `${edge.h}px`;
  }

  /**
   * @param {FieldInput} input
   * @param {readonly string[]} names
   */
  function drawLens(input, names) {
    const dpr = devicePixels();
    const width = COLUMNS * (TILE.w + TILE.gap);
    const height = ROWS * (TILE.h + TILE.gap);
    canvas.width = width * dpr;
    canvas.height = height * dpr;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    context.setTransform(dpr, 0, 0, dpr, 4 * dpr, 4 * dpr);
    const pen = { context, colours: input.colours, dpr, lang: input.lang, nowMs: input.nowMs, say: input.model.say };
    names.forEach((name, index) => {
      const node = input.model.nodes.get(name);
      if (!node) return;
      const x = (index % COLUMNS) * (TILE.w + TILE.gap);
      const y = Math.floor(index / COLUMNS) * (TILE.h + TILE.gap);
      drawSmallTile(pen, { name, x, y, w: TILE.w, h: TILE.h }, node, stateOf(input, node));
    });
  }

  /**
   * @param {FieldInput} input
   * @param {{box: TileBox, node: NodeModel, glyph: Glyph | null}} hit
   * @param {{x: number, y: number}} at
   */
  function showTip(input, { node, glyph }, at) {
    lens.hidden = frame.hidden = true;
    const lines = glyph
      ? [glyph.key, [stateWords(glyph, input.lang), formatAsked(glyph.pod ? podRequests(glyph.pod) : glyph) || text(input.lang, "stage.noRequests"),
        text(input.lang, "hand.priority", { n: glyph.priority })].join(" · ")]
      : [node.name, describe(input, node)];
    tip.replaceChildren(h("b", { text: lines[0] }), h("span", { text: lines[1] }));
    place(host, tip, at, 240, 54);
  }

  return { show, hide };
}

/**
 * The state of a pod in words: an older template and why it ends, too.
 * @param {Glyph} glyph
 * @param {Lang} lang
 */
function stateWords(glyph, lang) {
  const { state, reason, old, mark } = glyphWords(glyph, lang);
  return [state, reason, old, mark].filter(Boolean).join(" · ");
}

/**
 * Puts a box beside a spot of the host, where there is room.
 * @param {HTMLElement} host
 * @param {HTMLElement} box
 * @param {{x: number, y: number}} at
 * @param {number} width
 * @param {number} height
 */
function place(host, box, at, width, height) {
  box.hidden = false;
  const x = at.x + 18 + width > host.clientWidth ? at.x - width - 14 : at.x + 18;
  const y = Math.max(8, Math.min(at.y + 14, host.clientHeight - height - 8));
  box.style.transform = `translate(${Math.round(Math.max(8, x))}px, ${Math.round(y)}px)`;
}

/** How far the frame stands off the nodes that the lens shows, pixels. */
const FRAME_OFF = 3;

/**
 * What encloses some nodes, so that it is seen which of the field the lens shows; null around none.
 * @param {readonly {x: number, y: number, w: number, h: number}[]} boxes
 */
export function frameOf(boxes) {
  if (boxes.length === 0) return null;
  const x = Math.min(...boxes.map((box) => box.x)) - FRAME_OFF;
  const y = Math.min(...boxes.map((box) => box.y)) - FRAME_OFF;
  return {
    x, y, w: Math.max(...boxes.map((box) => box.x + box.w)) + FRAME_OFF - x, h: Math.max(...boxes.map((box) => box.y + box.h)) + FRAME_OFF - y,
  };
}

/**
 * How many nodes of a zone lie in one row of the field.
 * @param {FieldInput} input
 * @param {readonly string[]} names
 */
function rowLength(input, names) {
  const first = input.layout.byName.get(names[0] ?? "");
  const next = names.findIndex((name) => (input.layout.byName.get(name)?.y ?? 0) > (first?.y ?? 0));
  return next > 0 ? next : names.length;
}

/**
 * Six names around one: three of its row, three of the row below, or above at the end.
 * @param {readonly string[]} names
 * @param {number} index
 * @param {number} perRow
 */
function around(names, index, perRow) {
  const rowStart = Math.floor(index / perRow) * perRow;
  const rowEnd = Math.min(names.length, rowStart + perRow);
  const start = Math.max(rowStart, Math.min(index - 1, rowEnd - COLUMNS));
  const other = start + perRow < names.length ? start + perRow : Math.max(0, start - perRow);
  const upper = names.slice(Math.min(start, other), Math.min(start, other) + COLUMNS);
  const lower = start === other ? [] : names.slice(Math.max(start, other), Math.max(start, other) + COLUMNS);
  return [...upper, ...lower];
}

/**
 * @param {FieldInput} input
 * @param {NodeModel} node
 */
function describe(input, node) {
  const taints = node.taints.map((taint) => `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`);
  return [
    `cpu ${formatCpu(node.cpuUsed)}/${formatCpu(node.cpuMilli)}`,
    `mem ${formatMemory(node.memoryUsed)}/${formatMemory(node.memoryBytes)}`,
    text(input.lang, "outline.podCount", { n: node.podCount }), ...taints,
  ].join(" · ");
}
