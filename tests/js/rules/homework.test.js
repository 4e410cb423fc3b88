// Homework: a task as its student sees it, what comes of answers, what a teacher sets and reads.
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { loadTexts } from "../../../static/js/lib/text.js";
import { doneOf, progressOf, shownOf, taskRules, wishOf } from "../../../static/js/rules/homework_model.js";

const GI = 2 ** 30;
const RULES = ["engine", "fewest-victims", "lowest-first"].map((id) => ({
  id, title: { en: `Rule ${id}`, zh: `规则 ${id}` }, because: { en: id, zh: id }, kind: id === "engine" ? "choice" : id === "lowest-first" ? "victims" : "node", decides: id !== "engine",
}));
const POD = { key: "default/new", name: "new", priority: 1000, cpu: 2000, memory: GI };
const victim = { key: "default/a", name: "a", priority: 5, cpu: 1000, memory: GI };
const NODES = ["n1", "n2"].map((name) => ({ name, cpu: 4000, memory: 8 * GI, taints: [], pods: name === "n1" ? [victim] : [] }));
const told = (node, victims = []) => ({ nodes: [node], chosen: node, nominated: victims.length > 0, victims, message: "", table: [], asked: [], scores: {} });
const task = (change = {}) => ({
  task: 0, kind: "node", question: { en: "Which node?", zh: "哪个节点？" }, options: ["n1", "n2", "none"], pod: POD, nodes: NODES, mine: {}, over: false, ...change,
});

before(() => Promise.all([loadTexts("en", "rules"), loadTexts("zh-hans", "rules")]));

test("a task shows its cluster and its answers, and nothing of the solution", () => {
  const shown = shownOf(task(), 4, RULES, "en");
  assert.deepEqual([shown.title, shown.question, shown.several, shown.right, shown.said], ["Task 1 of 4", "Which node?", false, null, ""]);
  assert.deepEqual(shown.bars.map(({ bar: { name, chosen, parts } }) => [name, chosen, parts.map((part) => [part.name, part.victim])]), [["n1", false, [["a", false]]], ["n2", false, []]]);
  assert.deepEqual(shown.options.map(({ label }) => label), ["n1", "n2", "no node: it waits"]);
  assert.deepEqual(shown.worlds, []);
  assert.match(shown.pod, /^new asks for 2 CPU, 1.*; priority 1,000$/);
  assert.match(shown.bars[0].facts, /^free: 3 CPU, 7.* of 4 CPU, 8.* · a: 1 CPU, 1/);
  assert.equal(shownOf(task({ pod: { ...POD, memory: 0 } }), 1, RULES, "en").pod, "new asks for 2 CPU; priority 1,000");
  const victims = shownOf(task({ kind: "victims", options: ["default/a", "none"] }), 1, RULES, "zh-hans");
  assert.deepEqual(victims.options.map(({ label }) => label), ["a (5)", "没有 Pod"]);
});

test("a first answer that is not right may be given once more; then both worlds are told", () => {
  const first = task({ mine: { 1: { choice: ["n2"], right: false } } });
  const once = shownOf(first, 1, RULES, "en");
  assert.deepEqual([once.right, once.over, once.options.find(({ picked }) => picked).id], [false, false, "n2"]);
  assert.match(once.said, /one more answer/);
  const answers = { engine: told("n1", ["default/a"]), "fewest-victims": told("n2") };
  const over = shownOf({ ...first, mine: { ...first.mine, 2: { choice: ["n2"], right: false } }, over: true, rule: "fewest-victims", believed: "fewest-victims", solution: { answers } }, 1, RULES, "en");
  assert.match(over.said, /follows the rule “Rule fewest-victims”/);
  assert.deepEqual(over.worlds.map(({ id, bars }) => [id, bars.find(({ chosen }) => chosen).name]), [["fewest-victims", "n2"], ["engine", "n1"]]);
  const right = shownOf(task({ mine: { 1: { choice: ["n1"], right: true } }, over: true, rule: "fewest-victims", believed: "engine", solution: { answers } }), 1, RULES, "en");
  assert.match(right.said, /^Right/);
  assert.equal(doneOf({ tasks: [first, right] }, "en"), "1 of 2 done");
});

test("what a teacher fills in becomes a wish: a topic or a rule, all or some", () => {
  const form = { about: "preemption", title: " ", people: "all", nodes: "3", pods: "4", seed: "" };
  assert.deepEqual(wishOf(form), { topic: "preemption", people: "all", nodes: 3, pods: 4 });
  assert.deepEqual(wishOf({ ...form, about: "lowest-first", title: " Friday ", people: ["7"], seed: "5" }),
    { rule: "lowest-first", title: "Friday", people: ["7"], nodes: 3, pods: 4, seed: 5 });
  assert.deepEqual(taskRules(RULES).map(({ id }) => id), ["fewest-victims", "lowest-first"]);
});

test("how far a class is: who began, and each task by how it went", () => {
  const progress = { people: 30, begun: 1, byTask: [{ rule: "lowest-first", answered: 12, rightAtOnce: 4, rightInTheEnd: 9, believed: 6 }, { rule: "gone", answered: 0, rightAtOnce: 0, rightInTheEnd: 0, believed: 0 }] };
  const shown = progressOf(progress, RULES, "en");
  assert.equal(shown.begun, "1 of 30 has begun");
  assert.deepEqual(shown.rows, [{ rule: "Rule lowest-first", cells: ["12", "4", "9", "6"] }, { rule: "gone", cells: ["0", "0", "0", "0"] }]);
});
