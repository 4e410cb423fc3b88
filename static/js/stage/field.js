/**
 * The field of nodes: one canvas the size of what is seen of it, inside a native scroller. Only tiles whose look
 * changed are painted again; a scroll, a new layout or another theme paints all of them.
 */

/** @import { Lang, Trial } from "../lib/types.d.ts" */
/** @import { Colours } from "../dom/colours.js" */
/** @import { Scene } from "./cycle.js" */
/** @import { Layout, TileBox } from "./levels.js" */
/** @import { Glyph, Model, NodeModel } from "./model.js" */
/** @import { Pen } from "./pen.js" */
/** @import { TileState } from "./tile-parts.js" */
import { devicePixels, pageZoom } from "../dom/dom.js";
import { number, text } from "../lib/text.js";
import { drawCard, podRowAt, podsArea } from "./card.js";
import { drawCell, drawRack } from "./cells.js";
import { RACK_NODES, tileAt } from "./levels.js";
import { light } from "./lit.js";
import { drawVictimTile } from "./victims.js";
import { glyphAt } from "./tile-parts.js";
import { trialAt } from "./trial.js";
import { drawSmallTile, drawTile, drawZone, glyphArea, smallArea } from "./tiles.js";

/**
 * @typedef {object} FieldInput
 * @property {Model} model
 * @property {Layout} layout
 * @property {Scene | null} scene
 * @property {Colours} colours
 * @property {Lang} lang
 * @property {number} nowMs
 * @property {string} selectedNode
 * @property {string} selectedPod
 * @property {string} selectedPodNode where the selected pod is drawn; "" while it is on no node
 * @property {string} focused
 * @property {string} hovered
 * @property {Trial | null} trial
 * @property {ReadonlySet<string> | null} lit nodes to be seen among the others
 */

/** Room left of and above the tiles for their glow. */
export const MARGIN = 6;

/**
 * @param {HTMLElement} scroller
 * @param {HTMLCanvasElement} canvas
 */
export function makeField(scroller, canvas) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  let drawn = { layout: /** @type {Layout | null} */ (null), scroll: -1, key: "", width: 0, height: 0 };
  /** @type {Map<string, unknown[]>} */
  let painted = new Map();
  /** From where on, by tile, words cover its pods. @type {Map<string, number>} */
  const covered = new Map();
  /** @type {unknown[] | undefined} */
  let lastWhole;

  /**
   * Paints what changed since the last call.
   * @param {FieldInput} input
   * @returns {number} how many tiles were painted
   */
  function paint(input) {
    const dpr = devicePixels();
    const width = scroller.clientWidth;
    const height = scroller.clientHeight;
    const scroll = scroller.scrollTop;
    // Most frames change nothing: they must not even look at the nodes.
    const whole = [input.model, input.layout, input.scene, input.colours.key, input.lang, input.selectedNode,
      input.selectedPod, input.focused, input.hovered, input.trial, input.lit, Math.ceil(input.nowMs / 1000), dpr, width, height, scroll];
    if (same(lastWhole, whole)) return 0;
    lastWhole = whole;
    const key = `${input.colours.key}|${input.lang}|${dpr}|${zoneDetails(input).flat().join("|")}`;
    const all = drawn.layout !== input.layout || drawn.scroll !== scroll || drawn.key !== key
      || drawn.width !== width || drawn.height !== height;
    if (canvas.width !== Math.round(width * dpr) || canvas.height !== Math.round(height * dpr)) {
      canvas.width = Math.round(width * dpr);
      canvas.height = Math.round(height * dpr);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const pen = { context, colours: input.colours, dpr, lang: input.lang, nowMs: input.nowMs, say: input.model.say };
    context.setTransform(dpr, 0, 0, dpr, MARGIN * dpr, (MARGIN - scroll) * dpr);
    if (all) {
      painted = new Map();
      covered.clear();
      context.clearRect(-MARGIN, scroll - MARGIN, width, height);
      headings(pen, input, scroll, height);
    }
    const count = (input.layout.level === 5 ? racks : tiles)(pen, input, painted, { scroll, height }, covered);
    drawn = { layout: input.layout, scroll, key, width, height };
    return count;
  }

  /**
   * What lies under a point of the window.
   * @param {FieldInput} input
   * @param {number} clientX
   * @param {number} clientY
   * @returns {{box: TileBox, node: NodeModel, glyph: Glyph | null} | null}
   */
  function hit(input, clientX, clientY) {
    const edge = scroller.getBoundingClientRect();
    const x = (clientX - edge.left) / pageZoom() - MARGIN;
    const y = (clientY - edge.top) / pageZoom() - MARGIN + scroller.scrollTop;
    const box = tileAt(input.layout, x, y);
    const node = box && input.model.nodes.get(box.name);
    if (!box || !node) return null;
    return { box, node, glyph: y < (covered.get(box.name) ?? Infinity) ? podAt(input, box, node, x, y) : null };
  }

  /**
   * Where the content begins, as far as it is scrolled, in a host whose edge is told.
   * @param {DOMRect} host
   */
  function origin(host) {
    const edge = scroller.getBoundingClientRect();
    return { x: (edge.left - host.left) / pageZoom() + MARGIN, y: (edge.top - host.top) / pageZoom() + MARGIN - scroller.scrollTop };
  }

  return { paint, hit, origin };
}

/**
 * Paints the tiles that are seen and have changed.
 * @param {Pen} pen
 * @param {FieldInput} input
 * @param {Map<string, unknown[]>} painted looks by tile; grows
 * @param {{scroll: number, height: number}} seen
 * @param {Map<string, number>} covered is told of each from where on words cover its pods
 * @returns {number} how many were painted
 */
function tiles(pen, input, painted, { scroll, height }, covered) {
  const draw = input.layout.wide ? drawVictimTile : { 1: drawCard, 2: drawTile, 3: drawSmallTile, 4: drawCell, 5: drawCell }[input.layout.level];
  let count = 0;
  for (const box of input.layout.tiles) {
    if (box.y + box.h < scroll - 12 || box.y > scroll + height + 12) continue;
    const node = input.model.nodes.get(box.name);
    if (!node) continue;
    const state = stateOf(input, node);
    const look = [...lookOf(input, node, state), input.lit && input.lit.has(node.name)];
    if (same(painted.get(box.name), look)) continue;
    painted.set(box.name, look);
    wipe(pen, input.layout.level, box);
    covered.set(box.name, draw(pen, box, node, state) ?? Infinity);
    if (input.lit) light(pen, box, input.lit.has(box.name), input.layout.level >= 4 ? 3 : 8);
    count += 1;
  }
  return count;
}

/**
 * The same for racks of nodes.
 * @param {Pen} pen
 * @param {FieldInput} input
 * @param {Map<string, unknown[]>} painted looks by tile; grows
 * @param {{scroll: number, height: number}} seen
 * @returns {number} how many were painted
 */
function racks(pen, input, painted, { scroll, height }) {
  let count = 0;
  for (const zone of input.layout.zones) {
    for (let first = 0; first < zone.nodes.length; first += RACK_NODES) {
      const name = zone.nodes[first] ?? "";
      const box = input.layout.byName.get(name);
      if (!box || box.y + box.h < scroll || box.y > scroll + height) continue;
      const members = zone.nodes.slice(first, first + RACK_NODES).flatMap((member) => {
        const node = input.model.nodes.get(member);
        return node ? [{ node, state: stateOf(input, node) }] : [];
      });
      const look = members.flatMap(({ node, state }) => [...lookOf(input, node, state), input.lit && input.lit.has(node.name)]);
      if (same(painted.get(name), look)) continue;
      painted.set(name, look);
      wipe(pen, 5, box);
      drawRack(pen, box, members);
      if (input.lit) light(pen, box, members.some(({ node }) => input.lit?.has(node.name)), 4);
      count += 1;
    }
  }
  return count;
}

/**
 * Clears a tile with the half of the gaps around it that its glow may fill.
 * @param {Pen} pen
 * @param {number} level
 * @param {TileBox} box
 */
function wipe({ context }, level, box) {
  const out = level >= 4 ? 1 : level === 1 ? 5 : 3;
  const below = level === 2 ? 3.5 : out;
  context.clearRect(box.x - out, box.y - below, box.w + 2 * out, box.h + 2 * below);
}

/**
 * @param {FieldInput} input
 * @param {TileBox} box
 * @param {NodeModel} node
 * @param {number} x
 * @param {number} y
 */
function podAt(input, box, node, x, y) {
  const state = stateOf(input, node);
  if (input.layout.wide) return null;
  if (input.layout.level === 1) return podRowAt(node.glyphs, podsArea(box, node, state), x, y);
  const said = state.trial !== null || (state.scene !== null && state.scene.feasible !== null);
  if (input.layout.level === 2) return glyphAt(node.glyphs, glyphArea(box, node, said || node.trouble !== null || node.difference !== undefined), x, y);
  if (input.layout.level === 3) return glyphAt(node.glyphs, smallArea(box), x, y);
  return null;
}

/**
 * @param {FieldInput} input
 * @param {NodeModel} node
 * @returns {TileState}
 */
export function stateOf(input, node) {
  return {
    scene: input.scene?.nodes.get(node.name) ?? null,
    cycle: input.scene,
    selected: input.selectedNode === node.name,
    focused: input.focused === node.name,
    hovered: input.hovered === node.name,
    selectedPod: input.selectedPodNode === node.name ? input.selectedPod : "",
    trial: trialAt(input.trial, node.name),
    trialLast: input.trial?.last ?? 0,
  };
}

/**
 * Everything that a tile's picture depends on.
 * @param {FieldInput} input
 * @param {NodeModel} node
 * @param {TileState} state
 * @returns {unknown[]}
 */
function lookOf(input, node, state) {
  const { scene } = state;
  const ending = node.glyphs.some((glyph) => glyph.endsAtMs !== null) ? Math.ceil(input.nowMs / 1000) : 0;
  const pressed = node.trouble ? Math.ceil(input.nowMs / 1000) : 0;
  const own = [node, state.selected, state.focused, state.hovered, state.selectedPod, ending, pressed, state.trial];
  if (!scene) return own;
  const grown = scene.settled ? -1 : scene.segments.reduce((sum, segment) => sum + segment.value, 0);
  return [...own, scene.feasible, scene.dim, scene.reason, scene.details, scene.total, scene.delta, grown, scene.glow, scene.winner, scene.role,
    scene.victims, scene.criterion, state.cycle?.tie?.drawn, state.cycle?.pod, state.cycle?.over, state.cycle?.eviction?.frame];
}

/**
 * @param {unknown[] | undefined} a
 * @param {unknown[]} b
 */
function same(a, b) {
  return a !== undefined && a.length === b.length && a.every((value, index) => value === b[index]);
}

/**
 * What the heading of each zone says beside its name, in full and in short.
 * @param {FieldInput} input
 */
function zoneDetails({ model, layout, scene, lang }) {
  const counted = new Map(model.zones.map((zone) => [zone.name, zone]));
  return layout.zones.map((zone) => {
    const count = zone.nodes.length;
    const told = scene && [...scene.nodes.values()].some((node) => node.feasible !== null);
    if (told) {
      if (scene.eviction) {
        const helps = zone.nodes.filter((name) => scene.eviction?.byNode.has(name)).length;
        return [text(lang, "stage.canHelp", { n: number(lang, helps), of: number(lang, count) })];
      }
      // A node that the cycle never looked at neither fits nor does not.
      const looked = zone.nodes.map((name) => scene.nodes.get(name)?.feasible ?? null).filter((fits) => fits !== null);
      const fits = looked.filter(Boolean).length;
      return [looked.length === 0 ? text(lang, "stage.notAsked") : text(lang, "stage.fit", { n: number(lang, fits), of: number(lang, looked.length) })];
    }
    const pods = counted.get(zone.name)?.pods ?? 0;
    return [text(lang, "stage.zoneCounts", { nodes: number(lang, count), pods: number(lang, pods) }),
      text(lang, "stage.zoneNodes", { nodes: number(lang, count) })];
  });
}

/**
 * @param {Pen} pen
 * @param {FieldInput} input
 * @param {number} scroll
 * @param {number} height
 */
function headings(pen, input, scroll, height) {
  const details = zoneDetails(input);
  input.layout.zones.forEach((zone, index) => {
    if (zone.y > scroll + height) return;
    drawZone(pen, zone, details[index] ?? []);
  });
}
