// What the charts of Streams are drawn from: samples and decisions as they come, in bounded memory.
import assert from "node:assert/strict";
import { test } from "node:test";

import { paced } from "../../../static/js/lib/paced.js";
import { applyMessage, emptyView } from "../../../static/js/state/view.js";
import { csvOf } from "../../../static/js/lib/csv.js";
import { preemptionsTable, queueTable, scoresTable, utilisationTable } from "../../../static/js/streams/csv.js";
import { isBound, isScored, isTie, ownersOf } from "../../../static/js/streams/marks.js";
import { COLUMNS_MAX, Recorder, SAMPLES_MAX, fits } from "../../../static/js/streams/recorder.js";

const EPOCH = Date.UTC(2030, 0, 1);
const LIVE = { connection: "live" };

function node(name, cpu, extra = {}) {
  const allocatable = { cpu, memory: "8Gi", pods: "110" };
  const ready = [{ type: "Ready", status: "True" }];
  return { resource: "nodes", metadata: { name }, spec: extra, status: { allocatable, capacity: allocatable, conditions: ready } };
}

function pod(name, cpu, nodeName, createdMs = 0) {
  const metadata = { name, namespace: "default", uid: `u-${name}`, creationTimestamp: new Date(EPOCH + createdMs).toISOString() };
  const spec = { containers: [{ name: "c", resources: { requests: { cpu, memory: "1Gi" } } }], ...(nodeName ? { nodeName } : {}) };
  return { resource: "pods", metadata, spec, status: {} };
}

function viewOf(objects, revision = 5) {
  const hello = { type: "hello", epochMs: EPOCH, newestMs: 0, release: "r", session: null, me: null, clock: null };
  return applyMessage(applyMessage(emptyView(), hello), { type: "list", revision, objects, last: true });
}

function line(id, values = {}) {
  return { id: `${id}-1`, revision: 6, simTimeMs: 1000, pod: `default/${id}`, uid: `u-${id}`, attempt: 1, replica: "r",
    result: "scheduled", node: "n1", feasible: 2, points: 479, best: 1, ...values };
}

test("a sample tells the waits of pods without a node, and a held clock adds none", () => {
  const recorder = new Recorder();
  const waiting = [0, 10_000, 20_000].map((ms, index) => pod(`p${index}`, "1", "", ms));
  const view = viewOf([node("n1", "4"), ...waiting, pod("bound", "1", "n1")]);
  assert.equal(recorder.take(view, { ...LIVE, nowMs: 30_000 }), true);
  assert.equal(recorder.take(view, { ...LIVE, nowMs: 30_000 }), false);
  const [sample] = recorder.samples;
  assert.deepEqual([sample.half, sample.twentieth, sample.revision], [20, 30, 5]);
  assert.equal(recorder.columns[0].share[0], 0.25);
});

test("how many more fit counts every resource, and no node that takes no pods", () => {
  const recorder = new Recorder();
  const taint = { taints: [{ key: "gpu", effect: "NoSchedule" }] };
  const nodes = [node("n1", "4"), node("n2", "2"), node("cordoned", "8", { unschedulable: true }), node("tainted", "8", taint)];
  recorder.take(viewOf([...nodes, pod("a", "1500m", "n1")]), { ...LIVE, nowMs: 1 });
  const small = { cpuMilli: 250, memoryBytes: 256 * 2 ** 20, gpu: 0 };
  const told = (shape) => Object.fromEntries(fits(recorder.columns[0], shape).map((more, index) => [recorder.columns[0].names[index], more]));
  assert.deepEqual(told(small), { cordoned: 0, n1: 10, n2: 8, tainted: 0 });
  assert.deepEqual(told({ ...small, memoryBytes: 4 * 2 ** 30 }), { cordoned: 0, n1: 1, n2: 2, tainted: 0 }, "7 and 8 GiB are free");
  assert.deepEqual(told({ ...small, gpu: 1 }), { cordoned: 0, n1: 0, n2: 0, tainted: 0 });
});

test("decisions become marks with their owners, each once; one told anew is drawn anew", () => {
  const recorder = new Recorder();
  let view = viewOf([node("n1", "4")]);
  const told = (to, ...decisions) => {
    const object = { resource: "configmaps", metadata: { name: `c${to}` } };
    const events = [{ revision: to, verb: "ADDED", simTimeMs: to, actor: "x", resource: "configmaps", object }];
    const lines = decisions.map((one) => ({ ...one, revision: to }));
    view = applyMessage(view, { type: "events", from: view.revision, to, events, decisions: lines });
    recorder.take(view, { ...LIVE, nowMs: to });
  };
  told(6, line("web-a"), line("web-b", { best: 2, of: ["n1", "n2"] }), line("solo", { points: undefined, feasible: 1 }));
  const epoch = recorder.epoch;
  told(7, line("other", { result: "unschedulable", node: undefined, points: undefined }));
  assert.equal(recorder.epoch, epoch, "what only grows is not drawn anew");
  assert.deepEqual(recorder.marks.map(isBound), [true, true, true, false]);
  assert.deepEqual(recorder.marks.map(isScored), [true, true, false, false]);
  assert.deepEqual(recorder.marks.map(isTie), [false, true, false, false]);
  assert.deepEqual(ownersOf(recorder.marks).map(({ label, count }) => [label, count]), [["web", 2], ["solo", 1]]);
  told(8, line("web-a", { result: "error" }));
  assert.notEqual(recorder.epoch, epoch);
  assert.deepEqual(recorder.marks.filter((mark) => mark.id === "web-a-1").map((mark) => mark.result), ["error"]);
});

test("a student's pod is said with their initials, as everywhere", () => {
  const recorder = new Recorder();
  const student = { id: "2", slug: "mei", name: "Mei Lin", namespace: "mei", color: 2, role: "student", online: true };
  const view = { ...viewOf([node("n1", "4")]), people: [student], decisions: [line("a", { pod: "mei/web-1" }), line("b")] };
  recorder.take(view, { ...LIVE, nowMs: 1 });
  assert.deepEqual(recorder.marks.map(({ said, pod }) => [said, pod]), [["ML web-1 · mei", "mei/web-1"], ["b", "default/b"]]);
});

test("memory is bounded, and a silence is a gap", () => {
  const recorder = new Recorder();
  const view = viewOf([node("n1", "4")]);
  for (let at = 0; at < SAMPLES_MAX + 10; at += 1) recorder.take(view, { ...LIVE, nowMs: at * 1000 });
  assert.ok(recorder.samples.length <= SAMPLES_MAX);
  assert.ok(recorder.columns.length <= COLUMNS_MAX);
  const last = recorder.samples.at(-1).t;
  assert.equal(last, (SAMPLES_MAX + 9) * 1000);
  assert.ok(recorder.thinned);
  assert.equal(recorder.take(view, { connection: "offline", nowMs: last + 9000 }), false);
  assert.equal(recorder.take(view, { ...LIVE, nowMs: 3, past: { revision: 2, shown: 2, playing: 0 } }), false, "the past is no news");
  recorder.take(view, { ...LIVE, nowMs: last + 20_000 });
  assert.deepEqual(recorder.gaps, [{ fromMs: last, toMs: last + 20_000 }]);
  assert.equal(recorder.samples.at(-2).active, null, "the line is broken there");
});

test("files begin with time and resourceVersion, and no name becomes a formula", () => {
  const time = (ms) => `t${ms}`;
  const mark = { ...line("a"), label: "a", hue: 0, ring: false };
  const preemption = { node: "n1", candidates: 2, criterion: "victimCount", victims: ["default/x", "default/y"], count: 2 };
  const queue = queueTable([
    { t: 1, revision: 5, active: 1, backoff: 0, unschedulable: 2, half: 1.25, twentieth: 3 },
    { t: 2, revision: 5, active: null, backoff: null, unschedulable: null, half: null, twentieth: null },
  ], time);
  assert.deepEqual(queue.rows, [["t1", 5, 1, 0, 2, 1.25, 3]]);
  const preempted = preemptionsTable([mark, { ...mark, preemption }], time);
  assert.equal(preempted.rows.length, 1);
  const nodes = utilisationTable([], { cpuMilli: 1, memoryBytes: 1, gpu: 0 }, time);
  for (const { head, rows } of [queue, scoresTable([mark], time), preempted, nodes]) {
    assert.deepEqual(head.slice(0, 2), ["simulatedTime", "resourceVersion"]);
    for (const row of rows) assert.equal(row.length, head.length);
  }
  assert.equal(csvOf({ head: ["a"], rows: [["=SUM(1)"], ['say "no", twice'], [1.23456], [null]] }),
    'a\r\n\'=SUM(1)\r\n"say ""no"", twice"\r\n1.235\r\n\r\n');
});

test("bursts are paced: at most one call in the time given, the newest counts, and silence costs nothing", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {number[]} */
  const calls = [];
  const call = paced(250, (value) => calls.push(value));
  for (let value = 0; value < 100; value += 1) call(value);
  assert.deepEqual(calls, [0]);
  context.mock.timers.tick(250);
  assert.deepEqual(calls, [0, 99]);
  context.mock.timers.tick(10_000);
  assert.deepEqual(calls, [0, 99]);
  for (let value = 0; value < 40; value += 1) {
    call(value);
    context.mock.timers.tick(25);
  }
  assert.ok(calls.length - 2 <= 5, `${calls.length - 2} calls in a second`);
});
