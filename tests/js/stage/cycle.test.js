import assert from "node:assert/strict";
import { test } from "node:test";
import { placed } from "../../../static/js/stage/cells.js";
import { cycleScene, railSteps } from "../../../static/js/stage/cycle.js";
import { cycle, trace } from "./fixtures.js";

const ORDER = ["n1", "n2", "n3", "n4", "n9"];
const OPTIONS = { budgetMs: Infinity, motion: true, order: ORDER, weights: {} };
/** @param {import("../../../static/js/stage/cycle.js").Scene} scene @param {string} name */
const at = (scene, name) => {
  const found = scene.nodes.get(name);
  assert.ok(found, name);
  return found;
};

test("before Filter no node is judged", () => {
  const scene = cycleScene(cycle({ point: "PreFilter", trace: { preFilter: { code: "Success" } } }), 0, OPTIONS);
  assert.deepEqual(ORDER.map((name) => at(scene, name).feasible), [null, null, null, null, null]);
});

test("at Filter an infeasible node dims within 400 ms and carries the exact reason", () => {
  const told = cycle({ point: "Filter" });
  const dims = [0, 40, 120, 400].map((ms) => at(cycleScene(told, ms, OPTIONS), "n2").dim);
  assert.equal(dims[0], 0);
  assert.equal(dims[3], 1);
  assert.deepEqual(dims, [...dims].sort((a, b) => a - b), "dimming never goes back");
  assert.equal(at(cycleScene(told, 0, OPTIONS), "n2").reason, "Insufficient cpu");
  assert.equal(at(cycleScene(told, 400, OPTIONS), "n1").dim, 0);
});

test("a node that the cycle never looked at is neither feasible nor refused", () => {
  assert.equal(at(cycleScene(cycle({ point: "Filter" }), 1000, OPTIONS), "n9").feasible, null);
});

test("totals rise plugin by plugin and end exactly at the trace's total", () => {
  const told = cycle();
  const totals = [0, 110, 220, 330, 440].map((ms) => at(cycleScene(told, ms, OPTIONS), "n4").total);
  assert.equal(totals[0], 0);
  assert.deepEqual(totals, [...totals].sort((a, b) => a - b));
  assert.equal(totals[4], 350);
  assert.equal(at(cycleScene(told, 440, OPTIONS), "n4").delta, 50);
  assert.equal(at(cycleScene(told, 100, OPTIONS), "n4").delta, 300, "the delta is the plugin that is growing");
});

test("the tie shows only when all scores are in, and nobody has won before the lot is drawn", () => {
  assert.equal(cycleScene(cycle(), 300, OPTIONS).tie, null);
  const scene = cycleScene(cycle(), 2000, OPTIONS);
  assert.deepEqual(scene.tie, { nodes: ["n1", "n3"], total: 391, drawn: false });
  assert.equal(at(scene, "n3").glow, 1);
  assert.equal(at(scene, "n3").winner, false);
  const drawn = cycleScene(cycle({ point: "Reserve" }), 0, OPTIONS);
  assert.equal(at(drawn, "n3").winner, true);
  assert.equal(drawn.tie?.drawn, true);
});

test("a trace that has not named its best yet shows it by its totals", () => {
  const { best: _best, chosen: _chosen, lot: _lot, ...open } = trace();
  assert.deepEqual(cycleScene(cycle({ trace: open }), 2000, OPTIONS).tie?.nodes, ["n1", "n3"]);
});

test("the width of a score bar is the highest possible total", () => {
  assert.equal(cycleScene(cycle(), 2000, OPTIONS).pointsMax, 400);
  assert.equal(cycleScene({ ...cycle(), scoreMax: 10 }, 2000, OPTIONS).pointsMax, 40);
});

test("without motion every moment is the last one", () => {
  const scene = cycleScene(cycle(), 0, { ...OPTIONS, motion: false });
  assert.equal(at(scene, "n4").total, 350);
  assert.equal(scene.moving, false);
});

test("a short pace squeezes the scores into its time", () => {
  const scene = cycleScene(cycle(), 200, { ...OPTIONS, budgetMs: 250 });
  assert.equal(at(scene, "n4").total, 350);
});

test("PreFilter's refusal is every node's reason", () => {
  const told = cycle({
    point: "PostFilter",
    trace: { preFilter: { code: "Unschedulable", plugin: "VolumeBinding", reasons: ["no claim"] }, feasible: [] },
  });
  const scene = cycleScene(told, 1000, OPTIONS);
  assert.equal(at(scene, "n1").feasible, false);
  assert.equal(at(scene, "n1").reason, "no claim");
});

test("a refused node has the amounts behind its no, a feasible one has none", () => {
  const refusal = { code: "Unschedulable", plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"] };
  const details = [{ kind: "resource", resource: "cpu", asked: 900, free: 250, missing: 650, size: 4000 }];
  const trace = {
    feasible: ["n1"], firstFail: { n2: refusal, n3: refusal }, explanation: { refusals: { n1: details, n2: details } },
  };
  const scene = cycleScene(cycle({ point: "Filter", trace }), 1000, OPTIONS);
  assert.deepEqual(["n1", "n2", "n3"].map((name) => at(scene, name).details), [[], details, []]);
  assert.deepEqual(at(cycleScene(cycle({ point: "PreFilter", trace }), 0, OPTIONS), "n2").details, []);
});

test("candidates of a preemption stay in the running, the nominated one is chosen, the rest are out", () => {
  const refusal = { code: "Unschedulable", plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"] };
  const told = cycle({
    point: "PostFilter",
    trace: {
      feasible: [], firstFail: { n1: refusal, n2: refusal, n3: refusal },
      preemption: {
        candidates: {
          n1: { victims: ["a/x"], numPDBViolations: 0 }, n2: { victims: ["a/y", "a/z"], numPDBViolations: 0 },
        },
        nominatedNode: "n1", victims: ["a/x"],
      },
    },
  });
  const scene = cycleScene(told, 9000, OPTIONS);
  assert.deepEqual(["n1", "n2", "n3"].map((name) => [at(scene, name).role, at(scene, name).victims, at(scene, name).dim]),
    [["chosen", 1, 0], ["candidate", 2, 0], ["", 0, 1]]);
});

/** @param {Record<string, number>} counts */
const profile = (counts, sort = "PrioritySort") => ({ counts, sort });

test("the rail names who orders the queue: a first-come queue has no priority", () => {
  const sorted = (/** @type {string} */ by) => railSteps(cycle(), profile({}, by), 4)
    .find((step) => step.point === "QueueSort");
  assert.deepEqual(sorted("PrioritySort")?.values, { plugin: "Priority" });
  assert.deepEqual(sorted("FIFO")?.values, { plugin: "FIFO" });
});

test("the rail counts the nodes that were asked: round robin asks one, and of many a share is enough", () => {
  const filter = (/** @type {object} */ trace) => railSteps(cycle({ point: "Reserve", trace }), profile({}), 12).find((step) => step.point === "Filter")?.values;
  assert.deepEqual(filter({ feasible: ["n5"], chosen: "n5" }), { from: 1, to: 1 });
  assert.deepEqual(filter({ feasible: ["n5"], firstFail: { n1: { plugin: "NodePorts", reasons: ["no"] } } }), { from: 2, to: 1 });
  assert.deepEqual(filter({ feasible: [], preFilter: { plugin: "NodeAffinity", code: "Unschedulable" } }), { from: 12, to: 0 }, "a PreFilter speaks for all");
});

test("the rail says what each point did, what is skipped and what comes next", () => {
  const steps = railSteps(cycle(), profile({ PreEnqueue: 2, PreFilter: 10, PreScore: 7 }), 4);
  const by = Object.fromEntries(steps.map((step) => [step.point, step]));
  assert.deepEqual(by["Filter"], { point: "Filter", state: "done", line: "arrow", values: { from: 4, to: 3 } });
  assert.equal(by["PostFilter"]?.state, "skipped");
  assert.deepEqual(by["PreFilter"]?.values, { n: 9, of: 10 });
  assert.deepEqual(by["Score"], { point: "Score", state: "current", line: "tie", values: { n: 2, of: 2, tie: 2 } });
  assert.equal(by["Reserve"]?.line, "next");
  assert.equal(by["Permit"]?.line, "none");
});

test("with one feasible node the scores are skipped; with none everything after PostFilter is", () => {
  const { scores: _scores, ...rest } = trace();
  const one = railSteps(cycle({ point: "Reserve", trace: { ...rest, feasible: ["n1"], best: ["n1"], chosen: "n1" } }), profile({}), 4);
  assert.deepEqual(one.filter((step) => step.state === "skipped").map((step) => step.point),
    ["PostFilter", "PreScore", "Score"]);
  const none = railSteps(cycle({ point: "PostFilter", trace: { feasible: [], firstFail: {} } }), profile({}), 4);
  assert.equal(none.filter((step) => step.state === "skipped").length, 7);
});

test("where a plugin failed the rail ends: nothing is said of preemption, which was not asked", () => {
  const steps = railSteps(cycle({ point: "Filter", trace: { result: "error", feasible: [], firstFail: { n1: "CEL" }, notRun: ["n2"] } }), profile({}), 4);
  assert.deepEqual(steps.slice(3).map(({ state, line }) => [state, line]),
    [["current", "error"], ...Array.from({ length: 8 }, () => ["skipped", "skipped"])]);
});

test("a candidate tells what it would cost, and the criterion that turned it away or decided", () => {
  const told = cycle({ point: "PostFilter", trace: {
    feasible: [], firstFail: {},
    preemption: {
      nominatedNode: "n1", victims: ["a/x"],
      candidates: { n1: { victims: ["a/x"], numPDBViolations: 0 }, n2: { victims: ["a/y", "a/z"], numPDBViolations: 1 } },
    },
    explanation: { preemption: { eligible: true, whyNot: "", asked: ["pdbViolations"], draw: null, steps: [], candidates: [
      { node: "n1", costs: {}, eliminatedBy: "", fates: [] }, { node: "n2", costs: {}, eliminatedBy: "pdbViolations", fates: [] },
    ] } },
  } });
  const scene = cycleScene(told, Infinity, { budgetMs: Infinity, motion: false, order: ["n1", "n2"], weights: {} });
  const shown = ["n1", "n2"].map((name) => scene.nodes.get(name))
    .map((one) => [one?.role, one?.victims, one?.violations, one?.criterion]);
  assert.deepEqual(shown, [["chosen", 1, 0, 1], ["candidate", 2, 1, 1]]);
});

test("filters rule nodes out one after the other, in their running order", () => {
  const fail = (/** @type {string} */ plugin) => ({ code: "Unschedulable", plugin, reasons: [`${plugin} says no`] });
  const told = cycle({ point: "Filter", trace: {
    preFilter: { code: "Success" }, feasible: ["n4"],
    firstFail: { n1: fail("NodeResourcesFit"), n2: fail("TaintToleration"), n3: fail("NodeResourcesFit") },
  } });
  const options = { ...OPTIONS, filters: ["NodeName", "TaintToleration", "NodeResourcesFit"] };
  const first = cycleScene(told, 399, options);
  assert.deepEqual([at(first, "n2").dim, at(first, "n1").dim, at(first, "n3").dim], [1, 0, 0], "the taint first, though n1 is before n2");
  assert.deepEqual(first.outs, [{ plugin: "TaintToleration", count: 1 }]);
  assert.equal(first.moving, true);
  const second = cycleScene(told, 800, options);
  assert.deepEqual(["n1", "n2", "n3", "n4"].map((name) => at(second, name).dim), [1, 1, 1, 0]);
  assert.deepEqual(second.outs, [{ plugin: "TaintToleration", count: 1 }, { plugin: "NodeResourcesFit", count: 2 }]);
  assert.equal(second.moving, false);
  const squeezed = cycleScene(told, 250, { ...options, budgetMs: 250 });
  assert.equal(squeezed.moving, false, "all of it in what the pace leaves");
  const still = cycleScene(told, 0, { ...options, motion: false });
  assert.deepEqual([still.moving, still.outs.length, at(still, "n3").dim], [false, 2, 1], "at once where motion is reduced");
});

test("a cell's colour says where its total lies between the lowest and the highest", () => {
  const share = (/** @type {import("../../../static/js/stage/cycle.js").Scene} */ scene, /** @type {string} */ name) => placed({ scene: at(scene, name), cycle: scene });
  const scene = cycleScene(cycle({ point: "Score" }), Infinity, OPTIONS);
  assert.deepEqual(scene.range, { from: 350, to: 391 });
  assert.deepEqual(["n1", "n2", "n4"].map((name) => share(scene, name)), [1, null, 0]);
  const rising = cycleScene(cycle({ point: "Score" }), 0, OPTIONS);
  assert.deepEqual(rising.range, scene.range, "the same while totals rise");
  const same = trace();
  const { scores } = same;
  assert.ok(scores);
  const even = cycleScene(cycle({ point: "Score", trace: { ...same, scores: { ...scores, total: [391, 391, 391] } } }), Infinity, OPTIONS);
  assert.equal(share(even, "n4"), 1, "all alike are all the best");
});
