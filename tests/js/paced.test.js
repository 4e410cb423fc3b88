import assert from "node:assert/strict";
import test from "node:test";
import { atMostEvery, untilNext } from "../../static/js/lib/paced.js";

test("what is asked in every frame is let through once in each gap", () => {
  const due = atMostEvery(80);
  const frames = Array.from({ length: 61 }, (_, index) => (index * 1000) / 60);
  assert.equal(frames.filter(due).length, 13, "a second has twelve gaps and a half");
});

test("the first time it is asked it is time, and whoever waits for the same gap goes in the same frame", () => {
  const early = atMostEvery(80);
  const late = atMostEvery(80);
  assert.ok(early(10));
  assert.ok(late(70));
  assert.ok(!early(79) && !late(79));
  assert.ok(early(85) && late(85));
});

test("what waits for a gap is woken where the gap ends, never at once", () => {
  assert.deepEqual([0, 79, 80, 81].map((timeMs) => untilNext(timeMs, 80)), [80, 1, 80, 79]);
});
