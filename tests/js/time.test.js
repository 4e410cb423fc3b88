import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { sessionTimeMs } from "../../static/js/state/time.js";

const CASES = JSON.parse(readFileSync(new URL("../golden/time/cases.json", import.meta.url), "utf8"));

for (const { name, status, newestMs, unixMs, simTimeMs } of CASES) {
  test(`session time: ${name}`, () => assert.equal(sessionTimeMs(status, newestMs, unixMs), simTimeMs));
}
