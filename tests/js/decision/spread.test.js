import assert from "node:assert/strict";
import test from "node:test";
import { spreadOf } from "../../../static/js/decision/spread.js";
import { frameOf } from "../../../static/js/stage/lens.js";

const rows = (/** @type {(number | null)[]} */ ...totals) => ({ rows: /** @type {any} */ (totals.map((total) => ({ total }))) });

test("nodes are counted by their points, each bar of equally many points, the refused in none", () => {
  const few = spreadOf(rows(399, 401, 400, 401, null));
  assert.deepEqual(few, { from: 399, to: 401, best: 2, bars: [{ from: 399, count: 1 }, { from: 400, count: 1 }, { from: 401, count: 2 }] });
  const many = spreadOf(rows(...Array.from({ length: 1000 }, (_, index) => index)));
  assert.ok(many && many.bars.length <= 24);
  assert.equal(many.bars.reduce((sum, { count }) => sum + count, 0), 1000);
  assert.deepEqual([many.from, many.to, many.best], [0, 999, 1]);
});

test("one total is one bar, and where nothing was scored there is nothing to show", () => {
  assert.deepEqual(spreadOf(rows(300, 300))?.bars, [{ from: 300, count: 2 }]);
  assert.equal(spreadOf(rows(null, null)), null);
});

test("the lens's frame encloses all its nodes", () => {
  assert.deepEqual(frameOf([{ x: 10, y: 20, w: 16, h: 16 }, { x: 28, y: 38, w: 16, h: 16 }]), { x: 7, y: 17, w: 40, h: 40 });
  assert.equal(frameOf([]), null);
});
