// Where a node that is dragged onto the field is put.
import assert from "node:assert/strict";
import { test } from "node:test";

import { joined } from "../../../static/js/panels/drop.js";
import { zoneAt } from "../../../static/js/stage/drop.js";
import { layoutNodes } from "../../../static/js/stage/levels.js";

const zone = (/** @type {string} */ name, /** @type {number} */ count) =>
  ({ name, nodes: Array.from({ length: count }, (_, index) => `${name}${index + 1}`) });
const zoneOf = (/** @type {string} */ node) => node.slice(0, 1);

test("zones beside each other: the one under the point, however far below its nodes", () => {
  const layout = layoutNodes({ zones: [zone("a", 2), zone("b", 2), zone("c", 2)], width: 480, height: 500, zoom: 1 });
  assert.equal(layout.zones[1]?.y, layout.zones[0]?.y, "side by side");
  const { x = 0 } = layout.zones[1] ?? {};
  assert.equal(zoneAt(layout, x + 5, 40, zoneOf), "b");
  assert.equal(zoneAt(layout, x + 5, 4000, zoneOf), "b");
  assert.equal(zoneAt(layout, -10, 40, zoneOf), "a");
  assert.equal(zoneAt(layout, 4000, 40, zoneOf), "c");
});

test("zones below each other: the last that begins above the point", () => {
  const layout = layoutNodes({ zones: [zone("a", 3), zone("b", 3)], width: 200, height: 500, zoom: 1 });
  const { y = 0 } = layout.zones[1] ?? {};
  assert.ok(y > 0, "stacked");
  assert.deepEqual([-20, 5, y - 1, y, y + 9000].map((at) => zoneAt(layout, 10, at, zoneOf)), ["a", "a", "a", "b", "b"]);
});

test("cards: the zone of the nearest one; without nodes or zones there is none", () => {
  const layout = layoutNodes({ zones: [zone("a", 1), zone("b", 1)], width: 900, height: 500, zoom: 1 });
  assert.deepEqual(layout.zones, []);
  assert.equal(zoneAt(layout, 20, 20, zoneOf), "a");
  assert.equal(zoneAt(layout, 880, 20, zoneOf), "b");
  assert.equal(zoneAt(layoutNodes({ zones: [], width: 900, height: 500, zoom: 1 }), 10, 10, zoneOf), "");
});

test("several files become the documents of one text, one alone stays as it is", () => {
  assert.equal(joined(["{\"a\": 1}"]), "{\"a\": 1}");
  assert.equal(joined(["a: 1\n", "b: 2\n"]), "a: 1\n---\nb: 2");
});
