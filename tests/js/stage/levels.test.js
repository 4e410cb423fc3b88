import assert from "node:assert/strict";
import { test } from "node:test";
import { finerBy, isNarrow, isShort, layoutNodes, levelFor, neighbour, nodesInView, scrollAfterZoom, tileAt, zoomForFiner, } from "../../../static/js/stage/levels.js";
import { layoutOnWall } from "../../../static/js/stage/levels-wall.js";

/** @param {readonly number[]} counts nodes by zone */
const zonesOf = (counts) => counts.map((count, zone) => ({
  name: `zone-${zone}`, nodes: Array.from({ length: count }, (_, index) => `z${zone}-n${index}`),
}));
/** @param {readonly number[]} counts @param {number} [zoom] */
const layout = (counts, zoom = 1) => layoutNodes({ zones: zonesOf(counts), width: 462, height: 520, zoom });

test("the level follows the number of nodes in view at every edge of the rule", () => {
  const edges = /** @type {const} */ ([[1, 1], [4, 1], [5, 2], [39, 2], [40, 3], [399, 3], [400, 4], [1999, 4], [2000, 5]]);
  for (const [count, level] of edges) assert.equal(levelFor(count), level, `${count} nodes`);
});

test("zooming in raises the detail, and the announced zoom is enough for the next level", () => {
  for (const count of [5, 40, 300, 1000, 1523, 5000]) {
    const level = levelFor(count);
    const zoom = zoomForFiner(count, level);
    assert.ok(zoom !== null);
    assert.equal(levelFor(nodesInView(count, zoom)), level - 1, `${count} nodes at ${zoom}`);
  }
  assert.equal(zoomForFiner(3, 1), null);
  assert.equal(finerBy(120, { level: 3, zoom: 1 }), zoomForFiner(120, 3));
  assert.equal(finerBy(3, { level: 4, zoom: 1 }), "room", "three nodes would be cards: no zoom helps");
});

test("three zones of four stand side by side with tiles of at least 150 by 116", () => {
  const { level, zones, tiles } = layout([4, 4, 4]);
  assert.equal(level, 2);
  assert.deepEqual(zones.map((zone) => zone.y), [0, 0, 0]);
  assert.ok(tiles.every((tile) => tile.w >= 150 && tile.h >= 116));
});

test("no two nodes overlap and all lie within the width, at every level but racks", () => {
  for (const counts of [[1], [2, 1], [4, 4, 4], [20, 13], [60, 60, 60], [100, 100, 100, 100, 100]]) {
    const { tiles } = layout(counts);
    assert.equal(tiles.length, counts.reduce((sum, count) => sum + count, 0));
    tiles.forEach((a, index) => {
      assert.ok(a.x >= 0 && a.x + a.w <= 462, `${a.name} is within the width`);
      for (const b of tiles.slice(index + 1)) {
        const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
        assert.ok(apart, `${a.name} and ${b.name} do not overlap`);
      }
    });
  }
});

test("at level 5 twenty nodes share one block", () => {
  const { level, tiles } = layout([2000]);
  assert.equal(level, 5);
  assert.equal(new Set(tiles.map((tile) => `${tile.x},${tile.y}`)).size, 100);
});

test("a point finds its node, and the gap between nodes finds none", () => {
  const one = layout([4, 4, 4]);
  const tile = one.tiles[5];
  assert.ok(tile);
  assert.equal(tileAt(one, tile.x + 3, tile.y + 3)?.name, tile.name);
  assert.equal(tileAt(one, tile.x - 2, tile.y + 3), null);
});

test("arrow keys lead to the neighbour in that direction and stay at the edge", () => {
  const one = layout([4, 4, 4]);
  assert.equal(neighbour(one, "z0-n0", "down"), "z0-n1");
  assert.equal(neighbour(one, "z0-n1", "right"), "z1-n1");
  assert.equal(neighbour(one, "z1-n1", "left"), "z0-n1");
  assert.equal(neighbour(one, "z0-n0", "up"), "z0-n0");
});

test("the node under the pointer stays there when the zoom changes", () => {
  const before = layout([300, 300]);
  const after = layout([300, 300], 20);
  const anchor = before.tiles[450];
  assert.ok(anchor);
  const pointer = 200;
  const scroll = scrollAfterZoom(before, after, anchor.y + anchor.h / 2 - pointer, pointer);
  const row = after.tiles.filter((tile) => Math.abs(tile.y + tile.h / 2 - scroll - pointer) < 1).map((tile) => tile.name);
  const same = before.tiles.filter((tile) => tile.y === anchor.y).map((tile) => tile.name);
  assert.ok(row.some((name) => same.includes(name)));
});

test("three zones of four stand side by side and whole in the node area of a laptop, with and without an inspector", () => {
  for (const [width, height] of [[424, 592], [438, 592], [462, 519], [760, 592]]) {
    const zones = [0, 1, 2].map((zone) => ({ name: `z${zone}`, nodes: [0, 1, 2, 3].map((at) => `z${zone}-n${at}`) }));
    const one = layoutNodes({ zones, width, height, zoom: 1 });
    assert.ok(one.height <= height, `${one.height} of ${height}`);
    assert.equal(new Set(one.zones.map((zone) => zone.y)).size, 1, "one row of zones");
    for (const tile of one.tiles) assert.ok(tile.x + tile.w <= width && tile.w >= 130 && tile.h >= 116 && tile.h <= 140);
  }
});

test("zones side by side leave no bare strip beside them on a laptop", () => {
  const { tiles } = layoutNodes({ zones: zonesOf([4, 4, 4]), width: 740, height: 592, zoom: 1 });
  const end = Math.max(...tiles.map((tile) => tile.x + tile.w));
  assert.ok(end > 740 - 12 && end <= 740, `they end at ${end} of 740`);
});

test("three cards are all seen beside a lesson on a small laptop, short but whole; where they scroll anyway they are whole", () => {
  // All of the stage, and what a band leaves of it: that verdicts are sealed, or that an attempt of before is shown.
  for (const height of [538, 500]) {
    const beside = layoutNodes({ zones: zonesOf([3]), width: 314, height, zoom: 1 });
    assert.equal(beside.level, 1);
    assert.ok(beside.height <= height + 10, `${beside.height} of ${height}`);
    assert.ok(beside.tiles.every((tile) => isShort(tile) && tile.h >= 156), "a row of pods stands over their score");
  }
  assert.ok(!layoutNodes({ zones: zonesOf([4]), width: 314, height: 538, zoom: 1 }).tiles.some(isShort), "four are scrolled to");
  assert.ok(!layoutNodes({ zones: zonesOf([3]), width: 760, height: 592, zoom: 1 }).tiles.some(isShort));
});

test("the scene of a preemption has wide nodes, all of them seen, and only where they are tiles or cards", () => {
  const wide = (/** @type {readonly number[]} */ counts, width = 770, height = 540) =>
    layoutNodes({ zones: zonesOf(counts), width, height, zoom: 1, wide: true });
  for (const counts of [[3], [4, 4, 4], [2, 1], [1]]) {
    const one = wide(counts);
    assert.ok(one.wide);
    assert.ok(one.height <= 540 + 8, `${counts}: ${one.height}`);
    assert.ok(one.tiles.every((tile) => tile.w >= 210 && tile.h >= 100 && tile.x + tile.w <= 770));
    assert.equal(new Set(one.tiles.map((tile) => `${tile.x},${tile.y}`)).size, one.tiles.length);
  }
  assert.equal(wide([60, 60]).wide, false);
  assert.equal(layout([4, 4, 4]).wide, false);
});

test("on a wall every node is seen at once, as finely as there is room", () => {
  const wall = (/** @type {readonly number[]} */ counts, zoom = 1) => layoutOnWall({ zones: zonesOf(counts), width: 490, height: 250, zoom });
  const levels = /** @type {const} */ ([[[3], 1], [[1, 1, 1], 1], [[4], 2], [[4, 4, 4], 3], [[15], 3], [[100], 4], [[40, 30, 30], 4], [[1000], 5]]);
  for (const [counts, level] of levels) {
    const found = wall(counts);
    assert.equal(found.level, level, `${counts}`);
    assert.equal(found.byName.size, counts.reduce((sum, count) => sum + count, 0));
    for (const tile of found.tiles) assert.ok(tile.x + tile.w <= 490 && tile.y + tile.h <= 250, `${counts}: ${tile.name} is seen`);
  }
  const few = layoutOnWall({ zones: zonesOf([4, 4, 4]), width: 900, height: 560, zoom: 1 });
  assert.deepEqual(few, layoutNodes({ zones: zonesOf([4, 4, 4]), width: 900, height: 560, zoom: 1 }), "as on a laptop where all are seen there");
  const beside = layoutOnWall({ zones: zonesOf([4]), width: 314, height: 538, zoom: 1 });
  assert.deepEqual([beside.level, beside.tiles.every(({ y, h }) => y + h <= 538)], [1, true], "four beside a lesson are all seen");
  const sealed = layoutOnWall({ zones: zonesOf([3]), width: 400, height: 490, zoom: 1 });
  assert.deepEqual([sealed.level, new Set(sealed.tiles.map(({ x }) => x)).size], [1, 2], "three below a notice name their pods, two and one");
  assert.deepEqual([sealed.tiles.every(isNarrow), layout([1]).tiles.some(isNarrow)], [true, false]);
  assert.equal(wall([4, 4, 4], 3).level, 1, "who zooms sees more of fewer");
});

test("twelve nodes above open charts are all seen, with their bars as long as there is room for those", () => {
  const above = (/** @type {number} */ width, /** @type {number} */ height) => layoutOnWall({ zones: zonesOf([4, 4, 4]), width, height, zoom: 1 });
  for (const [width, height, level] of /** @type {const} */ ([[454, 490, 2], [726, 430, 2], [726, 390, 3], [454, 400, 3]])) {
    const { tiles, level: found } = above(width, height);
    assert.equal(found, level, `${width} × ${height}`);
    assert.ok(tiles.every(({ x, y, w, h }) => x + w <= width && y + h <= height), `${width} × ${height}: all are seen`);
  }
});
