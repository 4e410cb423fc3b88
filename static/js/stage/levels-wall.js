/** Where everything lies on a wall, and where nodes are few: as fine as lets all of them be seen. Pure geometry. */

/** @import { Layout, LayoutInput, Level } from "./levels.js" */
import { TILE, ZONE_HEADING, cardBox, cellBox, flowing, layoutNodes, sideBySide, stacked } from "./levels.js";

/** As narrow as a card is that still names its pods and what they ask for. */
const CARD_MIN = 150;
/** Tiles from the finest to the smallest: as narrow and low as one may be, and as wide and tall as it may grow. */
const TILES = /** @type {const} */ ([
  { level: 2, w: 136, h: 108, gapX: 6, gapY: 7, wide: 180, tall: 180 },
  { level: 2, w: 190, h: 92, gapX: 6, gapY: 7, wide: 250, tall: 116 },
  { level: 3, w: 96, h: 74, gapX: 6, gapY: 6, wide: 190, tall: 116 },
  { level: 3, w: 72, h: 60, gapX: 5, gapY: 5, wide: 110, tall: 110 },
]);

/**
 * The usual layout where it shows all nodes, or where a person zooms; else the finest that shows them.
 * @param {LayoutInput} input
 * @returns {Layout}
 */
export function layoutOnWall(input) {
  const usual = layoutNodes(input);
  if (usual.wide || input.zoom > 1 || usual.height <= input.height) return usual;
  const found = finest(input, usual.level);
  return found ? { ...usual, ...found, byName: new Map(found.tiles.map((tile) => [tile.name, tile])) } : usual;
}

/**
 * @param {LayoutInput} input
 * @param {Level} from no finer than this
 */
function finest(input, from) {
  const cards = from === 1 ? narrowCards(input) : null;
  if (cards) return cards;
  const tile = TILES.filter(({ level }) => level >= from).map((size) => tiles(size, input)).find((one) => one !== null);
  if (tile) return tile;
  const { zones, width, height } = input;
  const boxes = /** @type {const} */ ([[4, cellBox(zones, width, height)], [5, TILE[5]]]);
  return boxes.filter(([level]) => level >= from).map(([level, box]) =>
    ({ level, ...stacked(zones, box, Math.max(1, Math.floor((width + box.gapX) / (box.w + box.gapX))), level) }))
    .find((one) => one.height <= height) ?? null;
}

/**
 * Cards as narrow as lets them stand beside one another: they name their pods, which no tile does. Null where not all are seen.
 * @param {LayoutInput} input
 */
function narrowCards({ zones, width, height }) {
  const count = zones.reduce((sum, zone) => sum + zone.nodes.length, 0);
  for (let columns = 1; columns <= count; columns += 1) {
    const box = cardBox(width, height, count, columns);
    if (box.w < CARD_MIN) return null;
    const placed = flowing(zones, box, columns);
    if (placed.height <= height) return { level: /** @type {Level} */ (1), ...placed };
  }
  return null;
}

/**
 * Tiles of a size, zones side by side or one below the other; null where not all are seen.
 * @param {(typeof TILES)[number]} size
 * @param {LayoutInput} input
 */
function tiles({ level, wide, tall, ...least }, { zones, width, height }) {
  const abreast = Math.floor((width + least.gapX) / Math.max(1, zones.length));
  const each = Math.floor(abreast / (least.w + least.gapX));
  if (zones.length > 1 && each > 0) {
    const box = { ...least, w: Math.min(wide, Math.floor(abreast / each) - least.gapX) };
    const placed = sideBySide(zones, box, each, height, tall);
    if (placed.height <= height) return { level, ...placed };
  }
  let columns = Math.floor((width + least.gapX) / (least.w + least.gapX));
  if (columns === 0) return null;
  const rowsOf = (/** @type {number} */ abreast) => zones.reduce((sum, zone) => sum + Math.ceil(zone.nodes.length / abreast), 0);
  const rows = rowsOf(columns);
  // No more columns than rows as few need: what is wider shows its name whole.
  while (columns > 1 && rowsOf(columns - 1) === rows) columns -= 1;
  const w = Math.min(wide, Math.floor((width + least.gapX) / columns) - least.gapX);
  const room = Math.floor((height - zones.length * (ZONE_HEADING + 4)) / Math.max(1, rows)) - least.gapY;
  const placed = stacked(zones, { ...least, w, h: Math.max(least.h, Math.min(tall, room)) }, columns, level);
  return placed.height <= height ? { level, ...placed } : null;
}
