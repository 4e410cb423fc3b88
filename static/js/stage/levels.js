/**
 * Levels of detail and where everything lies: pure geometry, in CSS pixels of the node area. The rule looks at the
 * number of nodes in view, so zooming in raises the detail.
 */

/** @typedef {1 | 2 | 3 | 4 | 5} Level */

/**
 * @typedef {object} TileBox
 * @property {string} name
 * @property {number} x
 * @property {number} y
 * @property {number} w
 * @property {number} h
 */

/**
 * @typedef {object} ZoneBox
 * @property {string} name
 * @property {number} x
 * @property {number} y left and top of the heading
 * @property {number} w
 * @property {readonly string[]} nodes
 */

/**
 * @typedef {object} Layout
 * @property {Level} level
 * @property {number} zoom
 * @property {number} inView nodes that the rule counts: all of them divided by the zoom
 * @property {readonly ZoneBox[]} zones
 * @property {readonly TileBox[]} tiles
 * @property {ReadonlyMap<string, TileBox>} byName
 * @property {number} height of the whole content
 * @property {boolean} wide whether nodes have the room that the scene of a preemption wants
 */

/** The most nodes in view that a level takes; above the last one it is level 5. */
export const LEVEL_NODES_MAX = [4, 39, 399, 1999];

/** How far the stage may be zoomed in: until a single node of the largest supported cluster is a card. */
export const ZOOM_MAX = 1250;

export const ZONE_HEADING = 24;
/** Nodes in one block of level 5. */
export const RACK_NODES = 20;

export const TILE = {
  2: { w: 150, h: 116, gapX: 6, gapY: 7 },
  3: { w: 96, h: 74, gapX: 6, gapY: 6 },
  4: { w: 16, h: 16, gapX: 2, gapY: 2 },
  5: { w: 40, h: 40, gapX: 4, gapY: 4 },
};
/** As narrow as a tile may be where that lets all zones stand side by side. */
const TILE_MIN = 136;
/** How much wider than by itself a tile may be where zones stand side by side: the stage beside them would be bare. */
const ABREAST_MAX = 5 / 3;
/** As tall as a tile may be where the nodes leave room below them. */
const TILE_TALL = 140;
/** The coarsest level whose nodes are widened for the scene of a preemption, and how wide and tall they may be there. */
const WIDE_LEVEL_MAX = 2;
const WIDE = { w: 210, h: 88, gapX: 8, gapY: 7 };
const WIDE_MAX = { w: 340, h: 158 };
/**
 * Heights of a card: as tall as one may be, as short as its names and the table of its scores need, and as short as it is made so
 * that every node is seen beside a lesson on a small laptop; it tells less then.
 */
const CARD = { wide: 210, tall: 380, whole: 236, short: 156 };
const CARD_GAP = 10;
/** Below this a cell of level 4 would no longer show its load line. */
const CELL_MIN = 11;

/**
 * Whether a card has no room for everything: it leaves out how many pods there may be, and what each plugin gave.
 * @param {TileBox} box
 */
export function isShort(box) {
  return box.h < CARD.whole;
}

/**
 * Whether a card is narrower than it likes: names come first there, and what its plugins gave stands in the bar alone.
 * @param {TileBox} box
 */
export function isNarrow(box) {
  return box.w < CARD.wide;
}

/**
 * The level for a number of nodes in view.
 * @param {number} inView
 * @returns {Level}
 */
export function levelFor(inView) {
  const index = LEVEL_NODES_MAX.findIndex((most) => inView <= most);
  return /** @type {Level} */ (index === -1 ? 5 : index + 1);
}

/**
 * The nodes that the rule counts at a zoom; at least one.
 * @param {number} count
 * @param {number} zoom
 */
export function nodesInView(count, zoom) {
  return Math.max(1, Math.ceil(count / Math.max(1, zoom)));
}

/**
 * The zoom at which the next finer level begins, with one decimal rounded up; null at the finest.
 * @param {number} count
 * @param {Level} level
 */
export function zoomForFiner(count, level) {
  const most = LEVEL_NODES_MAX[level - 2];
  return most === undefined ? null : Math.ceil((count / most) * 10) / 10;
}

/**
 * What would show more of each node: a zoom, more room where fewer nodes would not help, or nothing.
 * @param {number} count
 * @param {{level: Level, zoom: number}} shown
 * @returns {number | "room" | null}
 */
export function finerBy(count, { level, zoom }) {
  if (level > levelFor(nodesInView(count, zoom))) return "room";
  return zoomForFiner(count, level);
}

/**
 * @typedef {object} LayoutInput
 * @property {readonly {name: string, nodes: readonly string[]}[]} zones
 * @property {number} width of the node area
 * @property {number} height of the node area
 * @property {number} zoom 1 = everything counts as in view
 * @property {boolean} [wide] as the scene of a preemption wants it; no more than WIDE_LEVEL_MAX allows
 */

/**
 * Where zones and nodes lie. Zones stand side by side as columns while they fit at level 2, else one below the other.
 * @param {LayoutInput} input
 * @returns {Layout}
 */
export function layoutNodes({ zones, width, height, zoom, wide: wanted = false }) {
  const count = zones.reduce((sum, zone) => sum + zone.nodes.length, 0);
  const inView = nodesInView(count, zoom);
  const level = levelFor(inView);
  const wide = wanted && level <= WIDE_LEVEL_MAX;
  if (wide) {
    const scene = layoutWide(zones, width, height);
    return { level, zoom, inView, wide, ...scene, byName: new Map(scene.tiles.map((tile) => [tile.name, tile])) };
  }
  const box = boxFor(level, { zones, width, height, zoom, count });
  const columns = Math.max(1, Math.floor((width + box.gapX) / (box.w + box.gapX)));
  const columnsEach = Math.floor(columns / Math.max(1, zones.length));
  const placed =
    level === 1 ? flowing(zones, box, columns)
    : level === 2 && zones.length > 1 && columnsEach > 0 ? sideBySide(zones, box, columnsEach, height)
    : stacked(zones, box, columns, level);
  return { level, zoom, inView, wide, ...placed, byName: new Map(placed.tiles.map((tile) => [tile.name, tile])) };
}

/**
 * Tiles wide enough for the pods by priority: zones side by side where they fit, else one below the other.
 * @param {LayoutInput["zones"]} zones
 * @param {number} width
 * @param {number} height
 */
function layoutWide(zones, width, height) {
  const abreast = Math.floor((width + WIDE.gapX) / Math.max(1, zones.length)) - WIDE.gapX;
  if (zones.length > 1 && abreast >= WIDE.w) {
    return sideBySide(zones, { ...WIDE, w: Math.min(WIDE_MAX.w, abreast) }, 1, height, WIDE_MAX.h);
  }
  const columns = Math.max(1, Math.floor((width + WIDE.gapX) / (WIDE.w + WIDE.gapX)));
  const used = Math.min(columns, Math.max(1, ...zones.map((zone) => zone.nodes.length)));
  const w = Math.min(WIDE_MAX.w, Math.floor((width + WIDE.gapX) / used) - WIDE.gapX);
  // As tall as lets all of them be seen.
  const rows = zones.reduce((sum, zone) => sum + Math.ceil(zone.nodes.length / used), 0);
  const each = Math.floor((height - zones.length * (ZONE_HEADING + 4)) / Math.max(1, rows)) - WIDE.gapY;
  return stacked(zones, { ...WIDE, w, h: Math.max(WIDE.h, Math.min(WIDE_MAX.h, each)) }, used, 2);
}

/** @typedef {{w: number, h: number, gapX: number, gapY: number}} Box */

/**
 * @param {Level} level
 * @param {LayoutInput & {count: number}} input
 * @returns {Box}
 */
function boxFor(level, { zones, width, height, count }) {
  if (level === 1) return cardBox(width, height, count);
  if (level === 2) return fitColumns(TILE[2], width, zones.length);
  if (level === 3) return fitColumns(TILE[3], width, 1);
  if (level === 4) return cellBox(zones, width, height);
  return TILE[level];
}

/**
 * Tiles take up what is left beside whole columns, at most a fifth more than their natural width; columns of zones
 * side by side, which nothing stands beside, two thirds.
 * @param {Box} box
 * @param {number} width
 * @param {number} zoneCount
 * @returns {Box}
 */
function fitColumns(box, width, zoneCount) {
  const columns = Math.max(1, Math.floor((width + box.gapX) / (box.w + box.gapX)));
  const abreast = Math.floor((width + box.gapX) / zoneCount) - box.gapX;
  if (zoneCount > columns && abreast >= TILE_MIN) return { ...box, w: abreast };
  const used = zoneCount > 1 && zoneCount <= columns ? Math.floor(columns / zoneCount) * zoneCount : columns;
  const most = zoneCount > 1 && zoneCount <= columns ? ABREAST_MAX : 1.2;
  const w = Math.min(Math.floor((width + box.gapX) / used) - box.gapX, Math.round(box.w * most));
  return { ...box, w: Math.max(Math.min(box.w, width), w) };
}

/**
 * @param {number} width
 * @param {number} height
 * @param {number} count
 * @param {number} [columns] as many as have the width that they like
 * @returns {Box}
 */
export function cardBox(width, height, count, columns = Math.min(Math.max(1, count), Math.max(1, Math.floor((width + CARD_GAP) / (CARD.wide + CARD_GAP))))) {
  const gap = CARD_GAP;
  const rows = Math.ceil(Math.max(1, count) / columns);
  const w = Math.min(340, Math.floor((width + gap) / columns) - gap);
  const free = Math.floor(height / rows) - gap;
  const h = free >= CARD.whole || free < CARD.short ? Math.max(CARD.whole, Math.min(CARD.tall, free)) : free;
  return { w, h, gapX: gap, gapY: gap };
}

/**
 * The largest cell of level 4 with which everything fits without scrolling, within its limits.
 * @param {LayoutInput["zones"]} zones
 * @param {number} width
 * @param {number} height
 * @returns {Box}
 */
export function cellBox(zones, width, height) {
  for (let side = TILE[4].w; side > CELL_MIN; side -= 1) {
    const columns = Math.max(1, Math.floor((width + 2) / (side + 2)));
    const needed = zones.reduce(
      (sum, zone) => sum + ZONE_HEADING + Math.ceil(zone.nodes.length / columns) * (side + 2) + 4, 0,
    );
    if (needed <= height) return { w: side, h: side, gapX: 2, gapY: 2 };
  }
  return { w: CELL_MIN, h: CELL_MIN, gapX: 2, gapY: 2 };
}

/**
 * Cards one after the other: so few nodes need no headings, each card names its zone.
 * @param {LayoutInput["zones"]} zones
 * @param {Box} box
 * @param {number} columns
 */
export function flowing(zones, box, columns) {
  const tiles = zones.flatMap((zone) => zone.nodes).map((name, at) => ({
    name,
    x: (at % columns) * (box.w + box.gapX),
    y: Math.floor(at / columns) * (box.h + box.gapY),
    w: box.w,
    h: box.h,
  }));
  return { zones: [], tiles, height: Math.ceil(tiles.length / columns) * (box.h + box.gapY) };
}

/**
 * @param {LayoutInput["zones"]} zones
 * @param {Box} natural
 * @param {number} columnsEach
 * @param {number} room height of the node area; tiles grow into it where all of them are seen
 * @param {number} [tall] at most
 */
export function sideBySide(zones, natural, columnsEach, room, tall = TILE_TALL) {
  const rows = Math.max(1, ...zones.map((zone) => Math.ceil(zone.nodes.length / columnsEach)));
  const each = Math.floor((room - ZONE_HEADING) / rows) - natural.gapY;
  const box = { ...natural, h: Math.max(natural.h, Math.min(tall, each)) };
  /** @type {ZoneBox[]} */
  const zoneBoxes = [];
  /** @type {TileBox[]} */
  const tiles = [];
  let height = 0;
  zones.forEach((zone, index) => {
    const x = index * columnsEach * (box.w + box.gapX);
    zoneBoxes.push({ name: zone.name, x, y: 0, w: columnsEach * (box.w + box.gapX) - box.gapX, nodes: zone.nodes });
    zone.nodes.forEach((name, at) => {
      tiles.push({
        name,
        x: x + (at % columnsEach) * (box.w + box.gapX),
        y: ZONE_HEADING + Math.floor(at / columnsEach) * (box.h + box.gapY),
        w: box.w,
        h: box.h,
      });
    });
    height = Math.max(height, ZONE_HEADING + Math.ceil(zone.nodes.length / columnsEach) * (box.h + box.gapY));
  });
  return { zones: zoneBoxes, tiles, height };
}

/**
 * @param {LayoutInput["zones"]} zones
 * @param {Box} box
 * @param {number} columns
 * @param {Level} level
 */
export function stacked(zones, box, columns, level) {
  /** @type {ZoneBox[]} */
  const zoneBoxes = [];
  /** @type {TileBox[]} */
  const tiles = [];
  // At level 5 a block stands for a rack; all its nodes share the block's box so that any of them can be found.
  const perBlock = level === 5 ? RACK_NODES : 1;
  let y = 0;
  for (const zone of zones) {
    zoneBoxes.push({ name: zone.name, x: 0, y, w: columns * (box.w + box.gapX) - box.gapX, nodes: zone.nodes });
    y += ZONE_HEADING;
    zone.nodes.forEach((name, index) => {
      const at = Math.floor(index / perBlock);
      tiles.push({
        name,
        x: (at % columns) * (box.w + box.gapX),
        y: y + Math.floor(at / columns) * (box.h + box.gapY),
        w: box.w,
        h: box.h,
      });
    });
    y += Math.ceil(Math.ceil(zone.nodes.length / perBlock) / columns) * (box.h + box.gapY) + 4;
  }
  return { zones: zoneBoxes, tiles, height: y };
}

/**
 * The node under a point of the content; null between nodes.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 * @returns {TileBox | null}
 */
export function tileAt(layout, x, y) {
  return layout.tiles.find((t) => x >= t.x && x < t.x + t.w && y >= t.y && y < t.y + t.h) ?? null;
}

/**
 * The node that an arrow key leads to: the nearest in that direction, preferring the same row or column.
 * @param {Layout} layout
 * @param {string} from
 * @param {"left" | "right" | "up" | "down"} direction
 * @returns {string}
 */
export function neighbour(layout, from, direction) {
  const here = layout.byName.get(from);
  if (!here) return layout.tiles[0]?.name ?? from;
  const horizontal = direction === "left" || direction === "right";
  const sign = direction === "left" || direction === "up" ? -1 : 1;
  let best = from;
  let bestCost = Infinity;
  for (const tile of layout.tiles) {
    const along = sign * (horizontal ? tile.x - here.x : tile.y - here.y);
    if (along <= 0) continue;
    const across = Math.abs(horizontal ? tile.y - here.y : tile.x - here.x);
    const cost = along + across * 3;
    if (cost < bestCost) {
      bestCost = cost;
      best = tile.name;
    }
  }
  return best;
}

/**
 * The scroll position that keeps the node under the pointer where it is when the zoom changes.
 * @param {Layout} before
 * @param {Layout} after
 * @param {number} scroll of `before`
 * @param {number} pointerY within the node area
 */
export function scrollAfterZoom(before, after, scroll, pointerY) {
  const y = scroll + pointerY;
  let anchor = before.tiles[0];
  for (const tile of before.tiles) {
    if (!anchor || Math.abs(tile.y + tile.h / 2 - y) < Math.abs(anchor.y + anchor.h / 2 - y)) anchor = tile;
  }
  const moved = anchor && after.byName.get(anchor.name);
  return moved ? Math.max(0, moved.y + moved.h / 2 - pointerY) : 0;
}
