import assert from "node:assert/strict";
import { test } from "node:test";
import { listOf } from "../../../static/js/lib/names.js";
import { decisionOf, fateOf, ranking, runnerUp, sentenceParts, versionOf } from "../../../static/js/decision/model.js";
import { decisionWords } from "../../../static/js/decision/words.js";
import { heatmapChart } from "../../../static/js/decision/heatmap.js";
import { scoresChart } from "../../../static/js/decision/scores.js";
import { loadTexts } from "../../../static/js/lib/text.js";
import { trace } from "../stage/fixtures.js";

await loadTexts("en", "stage");
await loadTexts("zh-hans");

/** @import { Trace, TraceResult } from "../../../static/js/lib/types.d.ts" */
/** @import { Colours } from "../../../static/js/dom/colours.js" */

const COLOURS = /** @type {Colours} */ (/** @type {unknown} */ ({
  heat: ["h0", "h1", "h2", "h3", "h4", "h5"], plugin: ["p1", "p2", "p3", "p4", "p5", "p6"], font: "sans",
  "heat-low-text": "dark", "heat-high-text": "light",
}));

/** @param {Partial<Trace>} change @returns {Trace} */
const envelope = (change) => ({
  id: "u-1", revision: 9, seenRevision: 3, simTime: 1, pod: "default/web-1", uid: "u", replica: "kube-scheduler-0",
  profile: "default-scheduler", attempt: 1, point: "Bind", result: trace(), ...change,
});

/** @returns {TraceResult} */
const refused = () => ({
  result: "unschedulable",
  preFilter: { code: "Success" },
  feasible: [],
  firstFail: {
    n1: { code: "Unschedulable", plugin: "NodeResourcesFit", reasons: ["Insufficient cpu", "Insufficient memory"] },
    n2: { code: "Unschedulable", plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"] },
    n3: { code: "UnschedulableAndUnresolvable", plugin: "NodeUnschedulable", reasons: ["node(s) were unschedulable"] },
  },
  fitError: "0/3 nodes are available: 1 Insufficient memory, 1 node(s) were unschedulable, 2 Insufficient cpu. no new "
    + "claims to deallocate, preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No "
    + "preemption victims found for incoming pod.",
  preemption: {
    eligible: true, candidates: {},
    nodeStatus: {
      n1: { code: "Unschedulable", reasons: ["No preemption victims found for incoming pod"] },
      n2: { code: "Unschedulable", reasons: ["No preemption victims found for incoming pod"] },
    },
  },
});

test("every node has a row, with its verdict, its cells and whether it won", () => {
  const decision = decisionOf(trace());
  assert.deepEqual(decision.rows.map((row) => [row.node, row.feasible, row.best, row.chosen, row.total]), [
    ["n1", true, true, false, 391], ["n2", false, false, false, null], ["n3", true, true, true, 391],
    ["n4", true, false, false, 350],
  ]);
  assert.equal(decision.rows[1]?.reason, "Insufficient cpu");
  assert.deepEqual(decision.plugins.map(({ name, weight }) => [name, weight]), [["TaintToleration", 3], ["NodeResourcesFit", 1]]);
  assert.equal(decision.pointsMax, 400);
  assert.equal(decisionOf(trace(), 10).pointsMax, 40);
});

test("the ranking starts with the winner, and totals never rise", () => {
  assert.deepEqual(ranking(decisionOf(trace())).map((row) => row.node), ["n3", "n1", "n4"]);
});

test("the runner-up is the first outside the best set, and its differences add up to its distance", () => {
  const second = runnerUp(decisionOf(trace()));
  assert.equal(second?.loser.node, "n4");
  assert.equal(second?.by, 41);
  assert.equal(second?.differences.reduce((sum, one) => sum + one.difference, 0), -41);
  assert.equal(second?.equal, 1);
});

test("each counted piece of the sentence names its plugin and exactly as many nodes as it counts", () => {
  const parts = sentenceParts(refused());
  assert.deepEqual(parts.map((part) => [part.count, part.reason, part.plugin, part.nodes]), [
    [1, "Insufficient memory", "NodeResourcesFit", ["n1"]],
    [1, "node(s) were unschedulable", "NodeUnschedulable", ["n3"]],
    [2, "Insufficient cpu", "NodeResourcesFit", ["n1", "n2"]],
    [1, "Preemption is not helpful for scheduling", "DefaultPreemption", ["n3"]],
    [2, "No preemption victims found for incoming pod", "DefaultPreemption", ["n1", "n2"]],
  ]);
});

test("the heatmap has a number for every feasible node and plugin, in the mode asked for, and none for refused ones", () => {
  const decision = decisionOf(trace());
  const { data } = heatmapChart({
    decision, rows: decision.rows, mode: "weighted", colours: COLOURS, lang: "en", width: 348,
  });
  const series = /** @type {any[]} */ (data);
  const heat = series.find((one) => one.type === "heatmap");
  assert.deepEqual(heat.z, [[100, 91], [null, null], [100, 91], [100, 50]]);
  const numbers = series.filter((one) => ["dark", "light"].includes(one.textfont?.color)).flatMap((one) => one.text);
  assert.deepEqual(numbers.map(Number).sort((a, b) => a - b), [50, 91, 91, 300, 300, 300]);
  assert.ok(series.some((one) => one.text?.includes?.("Insufficient cpu")), "the reason stands across the refused row");
});

test("nodes that were not tried beside a nominated one are not called refused", () => {
  const decision = decisionOf({
    result: "scheduled", usedNominatedNode: true, feasible: ["n3"], best: ["n3"], chosen: "n3", firstFail: {},
    filters: { n1: { NodeResourcesFit: { code: "Unschedulable", reasons: ["Insufficient cpu"] } } },
  });
  assert.deepEqual(decision.rows.map((row) => [row.node, row.tried]), [["n1", false], ["n3", true]]);
  const chart = heatmapChart({ decision, rows: decision.rows, mode: "raw", colours: COLOURS, lang: "en", width: 600 });
  const crosses = /** @type {any[]} */ (chart.data).filter((one) => one.text?.includes("✕"));
  assert.deepEqual(crosses, [], "nor drawn with the cross and the texture of a refusal");
});

test("names that look like markup are shown as they are", () => {
  const result = trace();
  const decision = decisionOf({ ...result, firstFail: { "<img src=x>": { code: "Unschedulable", plugin: "P", reasons: ["<b>"] } } });
  const text = JSON.stringify(heatmapChart({
    decision, rows: decision.rows, mode: "raw", colours: COLOURS, lang: "en", width: 348,
  }).data);
  assert.ok(!text.includes("<img"));
});

test("the segments of a bar add up to the node's total", () => {
  const decision = decisionOf(trace());
  const rows = ranking(decision);
  const bars = /** @type {any[]} */ (scoresChart({ decision, rows, colours: COLOURS, lang: "en", width: 348 }).data)
    .filter((one) => one.type === "bar" && one.name);
  rows.forEach((row, index) => assert.equal(bars.reduce((sum, bar) => sum + bar.x[index], 0), row.total));
});

test("a pod that waits at Permit has not gone anywhere yet", () => {
  const waits = envelope({ point: "Permit" });
  assert.equal(fateOf(waits), "assumed");
  assert.match(decisionWords(decisionOf(waits.result), waits, "en"), /^The pod is assumed on n3, and not bound yet\. 3 of 4/);
  assert.equal(fateOf(envelope({})), "bound");
  assert.match(decisionWords(decisionOf(trace()), envelope({}), "en"), /^The pod went to n3\. 3 of 4/);
  assert.equal(fateOf(envelope({ result: refused() })), "none");
});

test("a no of Permit is told as the no of whom it was, and never as a pod that went there", () => {
  const fitError = "0/1 nodes are available: 1 rejected by Teacher.";
  const no = envelope({
    point: "Permit", result: { ...trace(), result: "unschedulable", fitError },
    undone: { result: "unschedulable", fitError }, undoneBy: "ManualApproval",
  });
  assert.equal(fateOf(no), "givenUp");
  const said = decisionWords(decisionOf(no.result), no, "en");
  assert.match(said, /^n3 was chosen and then given up, because ManualApproval said no: the pod is on no node\./);
  assert.doesNotMatch(said, /went to/);
  assert.notDeepEqual(versionOf(no), versionOf(envelope({ point: "Permit" })), "an open panel sees that it changed");
});

test("before the filters nothing is said of nodes, and what is on the way is said to be", () => {
  const early = envelope({ point: "PreFilter", result: { preFilter: { code: "Success" } } });
  assert.equal(decisionWords(decisionOf(early.result), early, "en"), "No node has been looked at yet.");
  const { chosen: _chosen, scores: _scores, best: _best, lot: _lot, ...filtered } = trace();
  const late = envelope({ point: "Score", result: filtered, coming: true });
  assert.equal(decisionWords(decisionOf(late.result), late, "en"), "What this point found is on its way.");
  assert.notDeepEqual(versionOf(late), versionOf({ ...late, coming: false }));
});

test("an era's scores are coloured and told on its own scale", () => {
  const old = { ...trace(), scores: { ...trace().scores, plugins: {
    Least: { raw: [10, 10, 5], normalized: [10, 10, 5], weighted: [10, 10, 5] },
  }, total: [10, 10, 5], nodes: ["n1", "n3", "n4"] } };
  const decision = decisionOf(old, 10);
  assert.deepEqual([decision.scoreMax, decision.pointsMax], [10, 10]);
  const chart = heatmapChart({ decision, rows: decision.rows, mode: "normalized", colours: COLOURS, lang: "en", width: 600 });
  const heat = /** @type {any} */ (chart.data.find((one) => /** @type {any} */ (one).type === "heatmap"));
  assert.deepEqual([heat.zmin, heat.zmax], [0, 10]);
});

test("a plugin has one hue for every pod, whoever else scores", () => {
  const hues = { TaintToleration: 0, NodeResourcesFit: 3 };
  const both = decisionOf(trace(), 100, hues).plugins.map(({ name, look }) => [name, look.hue]);
  assert.deepEqual(both, [["TaintToleration", 0], ["NodeResourcesFit", 3]]);
  const { TaintToleration: _left, ...rest } = /** @type {any} */ (trace().scores).plugins;
  const alone = { ...trace(), scores: { .../** @type {any} */ (trace().scores), plugins: rest } };
  assert.deepEqual(decisionOf(alone, 100, hues).plugins.map(({ look }) => look.hue), [3]);
});

/** A chart of plugins of these names, all scoring alike. */
function headed(names, width) {
  const { scores } = trace();
  const plugins = Object.fromEntries(names.map((name) => [name, scores?.plugins["NodeResourcesFit"]]));
  const decision = decisionOf({ ...trace(), scores: { .../** @type {any} */ (scores), plugins } });
  const { layout } = heatmapChart({ decision, rows: decision.rows, mode: "raw", colours: COLOURS, lang: "en", width });
  return { head: /** @type {any} */ (layout).margin.t, said: /** @type {any} */ (layout).annotations.map(({ text }) => text) };
}

const SIX = ["TaintToleration", "NodeResourcesFit", "BalancedResourceAllocation", "ImageLocality", "PodTopologySpread", "CEL"];

test("the head of a narrow heatmap is as high as its longest plugin is long", () => {
  assert.ok(headed(SIX, 340).head >= 6.2 * "BalancedResourceAllocation".length + 18);
});

test("where a column is as wide as a word the names of plugins stand a word a line, and no acronym is broken", () => {
  const { head, said } = headed(SIX, 519);
  assert.ok(head < 90, "a projector has room for the nodes below");
  assert.ok(said.some((text) => text.startsWith("Balanced<br>Resource<br>Allocation<br>")), said.join());
  assert.ok(headed(SIX, 900).said.some((text) => text.startsWith("<br>CEL ")));
});

test("round robin asked no other node, and the words do not say that it was the only one", () => {
  const turn = envelope({ era: "round-robin", result: { result: "scheduled", feasible: ["n2"], firstFail: {}, chosen: "n2" } });
  const said = decisionWords(decisionOf(turn.result, 10, {}, "round-robin"), turn, "en");
  assert.equal(said, "The pod went to n2. Round robin takes the first node in turn that fits, n2, and asks no later one.");
});

test("a refused node's reason takes the total's column too in a narrow panel, and is cut only where even that is too little", () => {
  const whole = "node(s) had untolerated taint {gpu: true}";
  const given = trace();
  const decision = decisionOf({ ...given, firstFail: { ...given.firstFail, n2: { code: "Unschedulable", plugin: "TaintToleration", reasons: [whole] } } });
  const told = (/** @type {number} */ width) => heatmapChart({ decision, rows: decision.rows, mode: "raw", colours: COLOURS, lang: "en", width })
    .data.flatMap((one) => one.text ?? []).find((said) => said.includes("node(s)"));
  assert.equal(told(340), whole);
  assert.match(told(200), /^node\(s\) had .*…$/);
});

test("a number on a segment keeps the size that can be read", () => {
  const decision = decisionOf(trace());
  const { data } = scoresChart({ decision, rows: ranking(decision), colours: COLOURS, lang: "en", width: 480 });
  const segments = data.filter((one) => one.name);
  assert.deepEqual(segments.map(({ constraintext, textfont }) => [constraintext, textfont.size]), [["none", 11], ["none", 11]]);
});

test("a node without points is the only one that fits, or the only one that was asked: in turn, or by a nomination", () => {
  const given = { feasible: ["n2"], firstFail: { n1: { code: "Unschedulable", plugin: "NodeLister", reasons: ["node is cordoned"] } }, chosen: "n2" };
  assert.equal(decisionOf(given).alone, "only");
  assert.equal(decisionOf(given, 10, {}, "round-robin").alone, "turn", "those after it were not asked, though one before it was");
  assert.equal(decisionOf({ feasible: ["n2"], usedNominatedNode: true, chosen: "n2" }).alone, "nominated");
});

test("many names are listed as their language lists them, and how many more there are is a number of that language", async () => {
  await loadTexts("zh-hans", "stage");
  const nodes = Array.from({ length: 1_002 }, (_, index) => `n${index + 1}`);
  assert.equal(listOf(nodes, "en"), "n1, n2 and 1,000 more");
  assert.equal(listOf(nodes, "zh-hans"), "n1、n2 等另外 1,000 个");
  assert.equal(listOf(nodes.slice(0, 3), "en"), "n1, n2 and n3");
  assert.equal(listOf(nodes.slice(0, 3), "zh-hans"), "n1、n2 与 n3");
});
