// A round by hand: whose pods wait, what a node would be, what a refusal says, and where people and engine parted.
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { loadTexts } from "../../../static/js/lib/text.js";
import { leftText, partedText, refusedText, sidesOf, sizeText, sumsOf, target, verdictText, waiting } from "../../../static/js/rules/byhand_model.js";

const GI = 2 ** 30;
const pod = (name, more = {}) => ({ key: `default/${name}`, uid: name, name, priority: 0, cpu: 1000, memory: GI, queue: "", node: null, ...more });
const sums = (placed, more = {}) => ({ pods: 8, placed, evicted: 0, room: { stranded: 0.25 }, waited: { half: 1, longest: 2.5 }, ...more });
const row = (name, hand, engine, points = [null, null]) => ({ pod: `default/${name}`, uid: name, hand, engine, points, why: null });

before(() => Promise.all([loadTexts("en", "rules"), loadTexts("zh-hans", "rules")]));

test("one's own queue and what belongs to nobody wait, the important ones first", () => {
  const round = { round: 1, left: 4, queues: [], nodes: [], pods: [pod("b"), pod("a", { priority: 1000 }), pod("c", { queue: "mei" }), pod("d", { queue: "tom" }), pod("e", { node: "n1" })] };
  assert.deepEqual(waiting(round, "mei").map(({ name }) => name), ["a", "b", "c"]);
  assert.deepEqual(waiting(round, null).map(({ name }) => name), ["a", "b", "c", "d"]);
  assert.match(sizeText(pod("a")), /^1.* · 1/);
});

test("a node shows what it would be with the pod in hand, never more than full", () => {
  const node = { name: "n1", cpu: 4000, memory: 8 * GI, usedCpu: 3000, usedMemory: 2 * GI };
  const told = target(node, pod("big", { cpu: 3000 }), "en");
  assert.deepEqual([told.cpu, told.cpuThen, told.memory, told.memoryThen], [0.75, 1, 0.25, 0.375]);
  assert.match(told.free, /^free: 1 CPU, 6/);
  assert.equal(target(node, null, "en").cpuThen, 0.75);
});

test("a refused drop says who forbids it and by how much", () => {
  const refusals = [
    { plugin: "TaintToleration", reasons: ["node(s) had untolerated taint {gpu: }"], details: [{ kind: "taint", key: "gpu" }] },
    { plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"], details: [{ kind: "resource", resource: "cpu", asked: 2000, free: 500 }] },
  ];
  assert.equal(refusedText(refusals, "web", "n1", "en"), "n1 does not take web: node(s) had untolerated taint {gpu: }; Insufficient cpu · cpu: asks 2, free 500m");
  assert.match(refusedText(refusals, "web", "n1", "zh-hans"), /不接收 web/);
  const odd = [{ reasons: ["Too few"], details: [{ kind: "resource", resource: "nvidia.com/gpu", asked: 2, free: 0 }] }];
  assert.match(refusedText(odd, "web", "n1", "en"), /nvidia.com\/gpu: asks 2, free 0/);
});

test("the sums stand side by side", () => {
  const told = sumsOf({ sums: { hand: sums(5), engine: sums(7, { waited: { half: null, longest: null } }) }, optimum: { placed: 8 }, rows: [], parted: null }, "en");
  assert.deepEqual(told[0], { label: "Placed", hand: "5 / 8", engine: "7 / 8", optimum: "8 / 8" });
  assert.deepEqual([told[1].hand, told[1].engine, told[2].hand], ["2.5 s", "–", "25 %"]);
  assert.equal(sumsOf({ sums: { hand: sums(5), engine: sums(7) }, optimum: { problem: "too large" }, rows: [], parted: null }, "en")[0].optimum, "–");
});

test("where they parted is one sentence, with the engine's scores where it had them", () => {
  const rows = [row("a", "n1", "n1"), row("b", "n1", "n2", [120, 140])];
  assert.equal(partedText({ rows, parted: "default/b" }, "en"), "You parted at b: yours n1, kube-scheduler's n2. Its scores: 120 for yours, 140 for its own.");
  assert.equal(partedText({ rows: [row("c", null, "n2")], parted: "default/c" }, "en"), "You parted at c: yours waits, kube-scheduler's n2.");
  assert.match(partedText({ rows, parted: null }, "en"), /every pod on the same node/);
});

test("whoever has placed all hears whether others still place theirs", () => {
  const round = { round: 1, left: 2, queues: ["mei", "tom"], nodes: [], pods: [] };
  assert.match(leftText(round, 1, "en"), /^1 pod waits/);
  assert.equal(leftText(round, 0, "en"), "Yours are placed. 2 pods of others still wait.");
  assert.match(leftText({ ...round, left: 0 }, 0, "zh-hans"), /所有 Pod 都有了节点/);
});

test("the end is one sentence, which says of the optimum no more than is proven", () => {
  const told = { sums: { hand: sums(5), engine: sums(7) }, optimum: { placed: 8, proven: true }, rows: [], parted: null };
  assert.equal(verdictText(told, "en"), "Of 8 pods you placed 5, kube-scheduler 7. No placement has more than 8.");
  assert.match(verdictText({ ...told, optimum: { placed: 8, proven: false } }, "en"), /The best that was found has 8/);
  assert.equal(verdictText({ ...told, optimum: { problem: "too large" } }, "en"), "Of 8 pods you placed 5, kube-scheduler 7.");
});

test("three placements stand side by side as bars; what stood there before is nobody's, and the node where they parted is marked", () => {
  const round = {
    round: 1, left: 1, queues: [""], pods: [pod("hand-1-01", { node: "n1" }), pod("hand-1-02")],
    nodes: [{ name: "n1", cpu: 4000, memory: 8 * GI, usedCpu: 1500, usedMemory: 0 }, { name: "n2", cpu: 2000, memory: 8 * GI, usedCpu: 0, usedMemory: 0 }],
  };
  const told = {
    sums: { hand: sums(1), engine: sums(2) }, parted: "default/hand-1-01", rows: [row("hand-1-01", "n1", "n2"), row("hand-1-02", null, "n1")],
    optimum: { placed: 2, proven: true, placement: { "default/hand-1-01": "n1", "default/hand-1-02": "n2" } },
  };
  const [hand, engine, best] = sidesOf(told, round, "en");
  assert.deepEqual([hand, engine, best].map(({ id, placed }) => [id, placed]), [["hand", "1 of 2"], ["engine", "2 of 2"], ["optimum", "2 of 2"]]);
  assert.deepEqual(hand.bars.map(({ name, chosen, free, parts }) => [name, chosen, free, parts.map((part) => [part.name, part.share])]),
    [["n1", true, 0.625, [["others", 0.125], ["01", 0.25]]], ["n2", false, 0.5, []]]);
  assert.deepEqual(engine.bars.map(({ chosen }) => chosen), [false, true]);
  assert.deepEqual([hand.waits, engine.waits], ["1 waits: 02", ""]);
  assert.equal(sidesOf({ ...told, optimum: { problem: "too large" } }, round, "en").length, 2);
});
