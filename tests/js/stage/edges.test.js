// Where a cycle has led is pointed at while it lies outside the part of the field that is seen.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cycleScene } from "../../../static/js/stage/cycle.js";
import { beyond, endsOf } from "../../../static/js/stage/edges.js";
import { layoutNodes } from "../../../static/js/stage/levels.js";
import { cycle } from "./fixtures.js";

const OPTIONS = { budgetMs: Infinity, motion: false, order: ["n1", "n2", "n3", "n4"], weights: {} };

test("a cycle leads to its tie, then to its winner, and nowhere before the scores", () => {
  assert.deepEqual(endsOf(null), []);
  assert.deepEqual(endsOf(cycleScene(cycle({ point: "Filter" }), 0, OPTIONS)), []);
  assert.deepEqual(endsOf(cycleScene(cycle(), 0, OPTIONS)), ["n1", "n3"]);
  assert.deepEqual(endsOf(cycleScene(cycle({ point: "Reserve" }), 0, OPTIONS)), ["n3"]);
});

test("nodes above and below the part that is seen are told, the nearest first", () => {
  const nodes = Array.from({ length: 100 }, (_, at) => `n${at}`);
  const layout = layoutNodes({ zones: [{ name: "z", nodes }], width: 460, height: 500, zoom: 1 });
  const y = (/** @type {string} */ name) => layout.byName.get(name)?.y ?? 0;
  const top = y("n48") - 10;
  const found = beyond(layout, ["n0", "n20", "n50", "n90", "n99", "gone"], top, 200);
  assert.deepEqual(found, { above: ["n20", "n0"], below: ["n90", "n99"] });
  assert.deepEqual(beyond(layout, ["n99"], y("n99") - 100, 500), { above: [], below: [] });
});
