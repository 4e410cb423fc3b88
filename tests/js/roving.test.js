// Where arrows lead within a toolbar.
import assert from "node:assert/strict";
import { test } from "node:test";

import { roam } from "../../static/js/lib/roving.js";

// Item, its form; item, its form; a tool without one.
const PALETTE = [true, false, true, false, true];
const CASES = [[0, "ArrowRight", 1], [1, "ArrowRight", 2], [4, "ArrowRight", -1], [0, "ArrowLeft", -1], [2, "ArrowLeft", 1],
  [0, "ArrowDown", 2], [1, "ArrowDown", 2], [4, "ArrowDown", -1], [3, "ArrowUp", 2], [2, "ArrowUp", 0], [3, "Home", 0], [0, "End", 4],
  [0, "Enter", -1], [0, "Tab", -1]];
for (const [at, key, to] of CASES) test(`${key} from ${at}`, () => assert.equal(roam(PALETTE, at, key), to));

test("an empty toolbar leads nowhere", () => {
  for (const key of ["ArrowRight", "ArrowDown", "Home", "End"]) assert.equal(roam([], -1, key), -1);
});
