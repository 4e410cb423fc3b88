// What the Controllers tab tells: what each is doing, what it compared, where its object stands, and why, in both languages.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { differenceOf, inOrder, lagOf, linesOf, resourceOf, stateOf } from "../../../static/js/control/controllers-model.js";
import { newestMade } from "../../../static/js/control/fresh.js";
import { partWord, reasonWord } from "../../../static/js/control/reasons.js";
import { loadTexts } from "../../../static/js/lib/text.js";
import { EN } from "../../../static/js/lib/text/control.en.js";

const last = { object: "default/web", reason: "too few pods", desired: {}, actual: {}, calls: [], callCount: 0, beganMs: 5, endedMs: 5, error: null };
const panel = (fields = {}) => ({
  name: "replicaset", replica: "kube-controller-manager-0", leading: true, flags: {}, caches: {}, workers: { busy: 0, limit: 5 },
  last: null, recent: [], ...fields, queue: { length: 0, adds: 0, retries: 0, ready: [], working: [], waiting: [], ...fields.queue },
});

test("a controller is told by what presses most", () => {
  const waiting = [{ key: "default/web", inMs: 80, failures: 3 }];
  assert.equal(stateOf(panel()), "unused");
  assert.equal(stateOf(panel({ last, recent: [last] })), "idle");
  assert.equal(stateOf(panel({ last, recent: [last], queue: { waiting: [{ key: "a", inMs: 9, failures: 0 }] } })), "idle");
  assert.equal(stateOf(panel({ last, recent: [last], queue: { waiting } })), "retrying");
  assert.equal(stateOf(panel({ last: { ...last, error: "no" }, recent: [last], queue: { waiting } })), "failing");
  assert.equal(stateOf(panel({ queue: { length: 2 } })), "queued");
  assert.equal(stateOf(panel({ queue: { length: 2 }, workers: { busy: 1, limit: 5 } })), "working");
});

test("those at work come first, and among equals whoever worked last", () => {
  const one = (name, fields) => panel({ name, ...fields });
  const sorted = inOrder([one("a"), one("b", { last, recent: [last] }), one("c", { last: { ...last, beganMs: 9 }, recent: [last] }), one("d", { workers: { busy: 1, limit: 1 } })]);
  assert.deepEqual(sorted.map(({ name }) => name), ["d", "c", "b", "a"]);
});

test("desired and actual are lines, and their difference a number where both are one", () => {
  const one = (desired, actual) => ({ ...last, desired, actual });
  assert.deepEqual(linesOf({ "spec.hard": { pods: "3" }, subsets: [], names: ["a", "b"], status: null, left: {} }), [
    { name: "spec.hard", value: "pods 3" }, { name: "subsets", value: "–" }, { name: "names", value: "a, b" }, { name: "status", value: "–" },
    { name: "left", value: "–" },
  ]);
  assert.equal(differenceOf(one({ "spec.replicas": 3 }, { "active pods": 1 })), "+2");
  assert.equal(differenceOf(one({ "spec.replicas": 1 }, { "active pods": 4 })), "−3");
  assert.equal(differenceOf(one({ "spec.replicas": 1 }, { "active pods": 1 })), "0");
  assert.equal(differenceOf(one({ "spec.replicas": 1 }, { "newest set": 1, "older sets": 0 })), "");
  assert.equal(differenceOf(one({}, {})), "");
});

test("a controller is as far behind as its worst cache", () => {
  const cache = (lag) => ({ objects: 1, revision: 1, lag, lists: 1, synced: true });
  assert.equal(lagOf(panel({ caches: { pods: cache(2), nodes: cache(0) } })), 2);
  assert.equal(lagOf(panel({ caches: { pods: cache(null), nodes: cache(0) } })), null);
  assert.equal(lagOf(panel()), 0);
});

test("the object of a reconciliation is of the kind that the controller is named after", () => {
  const caches = { pods: {}, "replicasets.apps": {}, "deployments.apps": {} };
  const there = (...names) => (resource, key) => names.includes(`${resource} ${key}`);
  assert.equal(resourceOf("default/web", panel({ caches }), there("pods default/web", "replicasets.apps default/web")), "replicasets.apps");
  assert.equal(resourceOf("default/web", panel({ name: "node-lifecycle", caches }), there("pods default/web")), "pods");
  assert.equal(resourceOf("monitor", panel({ caches }), there()), "");
});

test("an answer is old when somebody made something; renewals and the clock are nobody's work", () => {
  const rows = (...all) => ({ rows: all.map(([revision, resource]) => ({ revision, resource })) });
  assert.equal(newestMade(rows()), 0);
  assert.equal(newestMade(rows([5, "pods"], [6, "leases.coordination.k8s.io"], [7, "clocks.clustersim.io"])), 5);
  assert.equal(newestMade(rows([5, "pods"], [8, "events"])), 8);
});

test("a reason is told in the reader's language where the page has words for it, else as the controller says it", async () => {
  await loadTexts("zh-hans", "control");
  assert.equal(reasonWord("too few pods", "zh-hans"), "Pod 太少");
  assert.equal(reasonWord("silent for too long, not ready any more: n1", "zh-hans"), "silent for too long, not ready any more: n1");
  assert.equal(reasonWord("", "zh-hans"), "");
});

test("what was compared is told in the reader's language, a field of an object by its name", async () => {
  await loadTexts("zh-hans", "control");
  assert.equal(partWord("newest set", "zh-hans"), "最新的 ReplicaSet");
  assert.equal(partWord("spec.replicas", "zh-hans"), "spec.replicas");
});

test("the page has words for what controllers compare in words of ours, and for nothing else", () => {
  const root = new URL("../../../controllers/", import.meta.url);
  const source = readdirSync(root, { recursive: true }).filter((name) => name.endsWith(".py"))
    .map((name) => readFileSync(new URL(name, root), "utf8")).join("\n");
  const parts = Object.keys(EN).filter((key) => key.startsWith("control.part.")).map((key) => key.slice("control.part.".length));
  assert.deepEqual(parts.filter((part) => !source.includes(`"${part}":`)), []);
  const compared = [...source.matchAll(/(?:desired|actual)=\{([^}]*)\}/g)].flatMap(([, inside]) =>
    [...(inside ?? "").matchAll(/"([^"]+)":/g)].map(([, name]) => name ?? ""));
  assert.ok(compared.length > 60);
  assert.deepEqual(compared.filter((name) => name.includes(" ") && !parts.includes(name)), []);
});

test("the page has words for reasons that controllers give, and for no other", () => {
  const root = new URL("../../../controllers/", import.meta.url);
  const source = readdirSync(root, { recursive: true }).filter((name) => name.endsWith(".py"))
    .map((name) => readFileSync(new URL(name, root), "utf8")).join("\n");
  const reasons = Object.keys(EN).filter((key) => key.startsWith("control.because.")).map((key) => key.slice("control.because.".length));
  assert.ok(reasons.length > 40);
  assert.deepEqual(reasons.filter((reason) => !source.includes(reason)), []);
});
