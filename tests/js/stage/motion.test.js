import assert from "node:assert/strict";
import { test } from "node:test";
import { along, connector, flightEase, motionOn } from "../../../static/js/stage/motion.js";

test("a flight starts at its start, ends at its end and never turns back", () => {
  const shares = Array.from({ length: 51 }, (_, index) => flightEase(index / 50));
  assert.ok(Math.abs(shares[0] ?? 1) < 1e-6);
  assert.ok(Math.abs((shares[50] ?? 0) - 1) < 1e-6);
  shares.slice(1).forEach((share, index) => assert.ok(share >= (shares[index] ?? 0) - 1e-9));
});

test("the way along a path is measured by length", () => {
  const path = [{ x: 0, y: 0 }, { x: 30, y: 0 }, { x: 30, y: 10 }];
  assert.deepEqual(along(path, 0), { x: 0, y: 0 });
  assert.deepEqual(along(path, 0.5), { x: 20, y: 0 });
  assert.deepEqual(along(path, 1), { x: 30, y: 10 });
});

test("the connector runs in straight pieces and ends at the tile", () => {
  const near = connector({ x: 100, y: 200 }, { x: 118, y: 150, w: 150, h: 116 }, 106, 9);
  assert.deepEqual(near[near.length - 1], { x: 118, y: 200 });
  const far = connector({ x: 100, y: 200 }, { x: 274, y: 150, w: 150, h: 116 }, 106, 9);
  assert.deepEqual(far[far.length - 1], { x: 300, y: 150 });
  for (const path of [near, far]) {
    path.slice(1).forEach((spot, index) => {
      const before = path[index];
      assert.ok(before && (before.x === spot.x || before.y === spot.y));
    });
  }
});

test("motion is off when reduced and above ten times real time", () => {
  assert.equal(motionOn(false, 1), true);
  assert.equal(motionOn(false, 10), true);
  assert.equal(motionOn(false, 10.1), false);
  assert.equal(motionOn(true, 1), false);
});
