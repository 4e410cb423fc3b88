/** Which pods fly between two views, and where from and to: geometry of the page joined with the rules of motion. */

/** @import { Ui, View } from "../lib/types.d.ts" */
/** @import { Colours } from "../dom/colours.js" */
/** @import { Scene } from "./cycle.js" */
/** @import { Layout } from "./levels.js" */
/** @import { Model } from "./model.js" */
/** @import { Flight, Spot } from "./motion.js" */
/** @import { Turn } from "./told.js" */
import { pageZoom } from "../dom/dom.js";
import { MARGIN } from "./field.js";
import { sentSince } from "./clients-model.js";
import { MOTION_RATE_MAX, connector, motionOn } from "./motion.js";

/** Connectors drawn to tied nodes; with more of them, the glow alone marks the set. */
const CONNECTORS_MAX = 4;
/** Real milliseconds between two requests that are told of at once. */
const REQUESTS_APART_MS = 120;

/**
 * @param {HTMLElement} host
 * @param {{scroller: HTMLElement, schedulers: HTMLElement}} parts
 * @param {{lanes: {rowOf: (key: string) => Element | null}, schedulers: {hand: () => Element | null},
 *   clients: {places: (name: string) => Element[]}}} page
 * @param {ReturnType<typeof import("./overlay.js").makeOverlay>} overlay
 */
export function makeFlights(host, parts, { lanes, schedulers, clients }, overlay) {
  /** Where elements stand, asked of the browser once for all pods that set off together. @type {Map<Element, ReturnType<typeof placeIn>>} */
  const places = new Map();
  const place = (/** @type {Element} */ element) => {
    let known = places.get(element);
    if (!known) places.set(element, (known = placeIn(host, element)));
    return known;
  };

  /**
   * A node's box in the coordinates of the host; null while scrolled out of sight.
   * @param {Layout} layout
   * @param {string} name
   */
  function tileBox(layout, name) {
    const box = layout.byName.get(name);
    if (!box) return null;
    const field = place(parts.scroller);
    const x = field.left + MARGIN + box.x;
    const y = field.top + MARGIN + box.y - parts.scroller.scrollTop;
    if (y + box.h < field.top || y > field.bottom) return null;
    return { x, y, w: box.w, h: box.h, gap: layout.level === 2 ? 7 : 6 };
  }

  /**
   * The path from the scheduler to a node, along the gutter and the gap above its row.
   * @param {Layout} layout
   * @param {string} name
   * @returns {Spot[]}
   */
  function pathTo(layout, name) {
    const box = tileBox(layout, name);
    const hand = schedulers.hand();
    if (!box || !hand) return [];
    const card = place(hand.closest(".st-replica") ?? hand);
    const field = place(parts.scroller);
    // Where the schedulers stand above the nodes, the way is straight.
    if (above(card, field)) return [place(hand), middle(box)].map(({ x, y }) => ({ x, y }));
    const tie = parts.schedulers.querySelector(".st-tie");
    const y = tie ? place(tie).y : place(hand).y;
    // Where the schedulers stand below the lanes, the way out is the right edge of that column all the same.
    return connector({ x: card.right, y: Math.min(y, field.bottom) }, box, field.left - 4, box.gap);
  }

  /**
   * Launches the requests that clients have sent since a view before.
   * @param {View | null} before
   * @param {{view: View, ui: Ui}} now
   * @param {Layout | null} layout
   * @param {number} timeMs
   */
  function requests(before, now, layout, timeMs) {
    places.clear();
    const stops = (/** @type {string} */ client) => clients.places(client).map((element) => place(element)).map(({ x, y }) => ({ x, y }));
    const pathOf = (/** @type {string} */ client, /** @type {string} */ node) =>
      ending(stops(client), layout && node ? tileBox(layout, node) : null);
    for (const flight of requestFlights(before, now, pathOf, timeMs)) overlay.launch(flight);
  }

  /**
   * Launches what turned between two models.
   * @param {Model | null} before
   * @param {{view: View, ui: Ui, model: Model}} now
   * @param {readonly Turn[]} turns
   * @param {Layout | null} layout
   * @param {number} timeMs
   */
  function between(before, { view, ui, model }, turns, layout, timeMs) {
    const rate = view.clock?.rate ?? 1;
    if (!before || !layout || before === model || rate > MOTION_RATE_MAX) return;
    places.clear();
    const kind = motionOn(ui.reducedMotion, rate) ? "fly" : "trail";
    const launch = (/** @type {string} */ key, /** @type {string} */ state, /** @type {readonly Spot[]} */ path) => {
      for (const flight of flightsOf(model, key, state, path)) overlay.launch({ ...flight, startMs: timeMs, kind });
    };
    const hand = schedulers.hand();
    for (const turn of turns) {
      const row = lanes.rowOf(turn.pod);
      if (turn.kind === "taken" && row && hand) launch(turn.pod, "queued", [edge(place(row)), place(hand)]);
      if (turn.kind === "reserved") launch(turn.pod, "assumed", pathTo(layout, turn.node));
    }
    for (const { key, node } of cameUntold(before, model, turns)) launch(key, "assumed", pathTo(layout, node));
  }

  /**
   * @param {number} timeMs
   * @param {Colours} colours
   * @param {Scene | null} scene
   * @param {Layout} layout
   */
  function paint(timeMs, colours, scene, layout) {
    places.clear();
    const hand = layout.level <= 3 ? schedulers.hand() : null;
    const drawn = hand && !above(place(hand), place(parts.scroller)) ? connected(scene) : [];
    const paths = drawn.map((name) => pathTo(layout, name)).filter((path) => path.length > 1);
    return overlay.paint(timeMs, colours, paths, place(parts.scroller));
  }

  return { between, requests, paint };
}

/**
 * Pods that came to a node between two models without a turn of their cycle that was told.
 * @param {Model} before
 * @param {Model} model
 * @param {readonly Turn[]} turns those that are told
 */
function cameUntold(before, model, turns) {
  const told = new Set(turns.map((turn) => turn.pod));
  return model.fresh.flatMap((glyph) => {
    const { key } = glyph;
    const node = glyph.pod?.spec?.nodeName;
    if (!node || told.has(key) || (glyph.state !== "bound" && glyph.state !== "pulling")) return [];
    const old = before.pods.get(key);
    const came = old && old !== glyph && !old.pod?.spec?.nodeName && old.state !== "assumed";
    return came ? [{ key, node }] : [];
  });
}

/**
 * @param {{bottom: number}} one
 * @param {{top: number}} other
 */
function above(one, other) {
  return one.bottom <= other.top;
}

/**
 * The stops of a way that ends in a box; a way without a stop goes nowhere.
 * @param {Spot[]} stops
 * @param {{x: number, y: number, w: number, h: number} | null} box
 */
function ending(stops, box) {
  return box && stops.length > 0 ? [...stops, middle(box)] : stops;
}

/**
 * @param {Model} model
 * @param {string} key
 * @param {string} state
 * @param {readonly Spot[]} path
 */
function flightsOf(model, key, state, path) {
  const glyph = model.pods.get(key);
  return glyph ? [{ key, failed: false, look: { state, hue: glyph.hue, ring: glyph.ring }, path }] : [];
}

/** @param {{x: number, y: number, w: number, h: number}} box */
function middle(box) {
  return { x: box.x + box.w / 2, y: box.y + box.h / 2 };
}

/** @param {{right: number, y: number}} box */
function edge(box) {
  return { x: box.right - 12, y: box.y };
}

/**
 * Nodes that the scheduler's connector leads to now: the tie until the lot is drawn, then the winner.
 * @param {Scene | null} scene
 * @returns {readonly string[]}
 */
function connected(scene) {
  if (!scene || scene.over) return [];
  if (scene.chosen) return scene.point === "PostBind" ? [] : [scene.chosen];
  return scene.tie && scene.tie.nodes.length <= CONNECTORS_MAX ? scene.tie.nodes : [];
}

/**
 * Requests in flight: from the client past its Service to the node of the pod that answers; one that failed ends where it
 * failed.
 * @param {View | null} before
 * @param {{view: View, ui: Ui}} now
 * @param {(client: string, node: string) => Spot[]} pathOf empty where the client is not listed
 * @param {number} timeMs
 * @returns {Flight[]}
 */
export function requestFlights(before, { view, ui }, pathOf, timeMs) {
  const rate = view.clock?.rate ?? 1;
  if (rate > MOTION_RATE_MAX) return [];
  const kind = motionOn(ui.reducedMotion, rate) ? "fly" : "trail";
  return sentSince(before, view).map(({ client, request }, index) => ({
    key: `request ${client} ${request.number}`, look: null, failed: request.result !== "ok", kind,
    path: pathOf(client, request.node ?? ""), startMs: timeMs + index * REQUESTS_APART_MS,
  }));
}

/**
 * Where an element stands, in the coordinates of another.
 * @param {HTMLElement} host
 * @param {Element} element
 * @returns {{left: number, right: number, top: number, bottom: number, x: number, y: number}}
 */
function placeIn(host, element) {
  const outer = host.getBoundingClientRect();
  const inner = element.getBoundingClientRect();
  const zoom = pageZoom();
  const left = (inner.left - outer.left) / zoom;
  const top = (inner.top - outer.top) / zoom;
  const right = left + inner.width / zoom;
  const bottom = top + inner.height / zoom;
  return { left, top, right, bottom, x: (left + right) / 2, y: (top + bottom) / 2 };
}
