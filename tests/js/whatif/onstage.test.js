// What a what-if changes, node by node, is what the stage writes on them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadTexts } from "../../../static/js/lib/text.js";
import { recalledOf } from "../../../static/js/stage/recall.js";
import { byOf, trialAt, trialOf, trialWords, turnWords } from "../../../static/js/stage/trial.js";
import { trialOfAnswer, trialOfLast } from "../../../static/js/whatif/onstage.js";

/** @import { Trace, WhatIfAnswer, WhatIfLast } from "../../../static/js/lib/types.d.ts" */

await Promise.all([loadTexts("en", "stage"), loadTexts("zh-hans", "stage")]);

/** @param {string[]} nodes @param {number[]} total @param {string} chosen */
const trace = (nodes, total, chosen) => /** @type {Trace} */ (/** @type {unknown} */ ({
  id: "t-1", result: { chosen, scores: { nodes, total, plugins: {} } },
}));

const answer = /** @type {WhatIfAnswer} */ (/** @type {unknown} */ ({
  before: trace(["n1", "n2", "n3"], [300, 250, 200], "n1"), after: trace(["n2", "n3", "n4"], [260, 200, 240], "n2"),
  difference: {
    chosen: ["n1", "n2"],
    verdicts: [
      { node: "n1", before: "fits", after: { code: "Unschedulable", reasons: ["Insufficient cpu"] } },
      { node: "n4", before: { code: "Unschedulable", reasons: ["Too many pods"] }, after: "fits" },
      { node: "n5", before: { code: "Unschedulable", reasons: ["a"] }, after: { code: "Unschedulable", reasons: ["b"] } },
    ],
    scores: [],
  },
}));

test("every node with points says them before and after, and who would be chosen", () => {
  const { nodes, chosen, attempt, last } = trialOfAnswer("default/big", answer);
  assert.deepEqual([chosen, attempt, last], [["n1", "n2"], "t-1", 0]);
  assert.deepEqual(nodes.get("n2"), { was: 250, now: 260, verdict: "", reason: "", role: "would" });
  assert.deepEqual(nodes.get("n1"), { was: 300, now: null, verdict: "out", reason: "Insufficient cpu", role: "had" });
  assert.deepEqual(nodes.get("n4"), { was: null, now: 240, verdict: "in", reason: "", role: "" });
  assert.equal(nodes.has("n5"), false, "refused before and after: the tile keeps its reason");
});

test("the words name the turn and its size, and quote the filter", () => {
  const trial = trialOfAnswer("default/big", answer);
  const said = (/** @type {string} */ name) => {
    const node = trialAt(trial, name);
    return node ? trialWords(trial, node, "en") : "";
  };
  assert.equal(said("n2"), "what if: 250 → 260 (+10), would be chosen");
  assert.equal(said("n1"), "what if: 300 → Insufficient cpu, was chosen");
  assert.equal(said("n3"), "what if: 200 → 200 (=)");
  assert.equal(said("n4"), "what if: refused → 240");
  assert.equal(said("n5"), "");
  const n1 = trialAt(trial, "n1");
  assert.ok(n1);
  assert.match(turnWords(n1, "zh-hans"), /^300 → Insufficient cpu$/);
});

test("over many decisions each node says how many pods it got and would have got", () => {
  const last = /** @type {WhatIfLast} */ (/** @type {unknown} */ ({
    asked: 4, decided: 4, elsewhere: 2, left: [],
    decisions: [["n1", "n1"], ["n1", "n2"], ["n2", "n2"], ["n1", null]].map(([before, after]) => ({ before, after })),
  }));
  const trial = trialOfLast("default/big", last);
  assert.deepEqual([trial.elsewhere, trial.last], [[2, 4], 4]);
  const [n1, n2, n9] = ["n1", "n2", "n9"].map((name) => trialAt(trial, name));
  assert.ok(n1 && n2 && n9);
  assert.deepEqual([byOf(n1, "en"), byOf(n2, "en"), byOf(n9, "en")], ["−2", "+1", "="]);
  assert.equal(trialWords(trial, n1, "en"), "of the last 4: 3 → 1 (−2) pods");
});

test("it is shown with its pod only, on the verdicts of the attempt that was asked", () => {
  const trial = trialOfAnswer("default/big", answer);
  const big = { resource: /** @type {const} */ ("pods"), key: "default/big" };
  assert.equal(trialOf({ trial, selected: big }), trial);
  assert.equal(trialOf({ trial, selected: { ...big, key: "default/other" } }), null);
  assert.equal(trialOf({ trial, selected: null }), null);
  const view = /** @type {any} */ ({ objects: new Map(), clock: null, me: null });
  const traces = [trace(["n1"], [1], "n1")];
  const decisions = { pod: "default/big", traces, selectedTraceId: "", pinned: "", loading: false };
  assert.equal(recalledOf(view, { decisions, selected: big, trial })?.cycle.traceId, "t-1");
  assert.equal(recalledOf(view, { decisions, selected: null, trial }), null);
});
