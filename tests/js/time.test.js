import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { nextTimeMs, sessionTimeMs } from "../../static/js/state/time.js";

const CASES = JSON.parse(readFileSync(new URL("../golden/time/cases.json", import.meta.url), "utf8"));

for (const { name, status, newestMs, unixMs, simTimeMs } of CASES) {
  test(`session time: ${name}`, () => assert.equal(sessionTimeMs(status, newestMs, unixMs), simTimeMs));
}

test("what a page shows never goes back while time runs, and is the owner's word where it stands", () => {
  const runs = { paused: false, rate: 50, simTimeMs: 10_000, anchorUnixMs: 1_000_000 };
  const shown = nextTimeMs(0, runs, 10_000, 1_001_000);
  assert.equal(shown, 60_000, "carried on by a second of the real clock");
  assert.equal(nextTimeMs(shown, runs, 10_000, 1_000_500), shown, "the browser's clock was set back");
  assert.equal(nextTimeMs(shown, { ...runs, paused: true, simTimeMs: 12_000 }, 12_000, 1_001_200), 12_000, "held while the page was ahead");
});
