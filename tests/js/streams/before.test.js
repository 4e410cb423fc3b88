// Charts of Streams learn what was before a page heard of it: the way back, folded by the page's own reducer.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Before, goneThrough } from "../../../static/js/streams/before.js";
import { COLUMNS_MAX, Recorder, SAMPLES_MAX } from "../../../static/js/streams/recorder.js";
import { applyMessage, emptyView } from "../../../static/js/state/view.js";

const EPOCH = Date.UTC(2030, 0, 1);
const replica = { resource: "replicas.clustersim.io", metadata: { name: "r0" }, spec: { component: "kube-scheduler" }, status: { leading: true } };

function node(name) {
  const allocatable = { cpu: "4", memory: "8Gi", pods: "110" };
  const conditions = [{ type: "Ready", status: "True" }];
  return { resource: "nodes", metadata: { name }, spec: {}, status: { allocatable, capacity: allocatable, conditions } };
}

function pod(name, nodeName = "") {
  const metadata = { name, namespace: "default", uid: `u-${name}`, creationTimestamp: new Date(EPOCH).toISOString() };
  const spec = { containers: [{ name: "c", resources: { requests: { cpu: "1" } } }], ...(nodeName ? { nodeName } : {}) };
  return { resource: "pods", metadata, spec, status: {} };
}

const queue = (active) => ({ resource: "queues.clustersim.io", metadata: { name: "r0" }, status: { counts: { active } } });

function viewOf(objects, revision) {
  const hello = { type: "hello", epochMs: EPOCH, newestMs: 0, release: "r", session: null, me: null, clock: null };
  return applyMessage(applyMessage(emptyView(), hello), { type: "list", revision, objects, last: true });
}

const line = (id, simTimeMs) => ({ id, revision: 1, simTimeMs, pod: `default/${id}`, uid: `u-${id}`, attempt: 1, replica: "r0", result: "scheduled", node: "n1" });

/** Two pods are bound now; a minute ago one waited, and before that there was no second node. */
const NOW = () => viewOf([replica, node("n1"), node("n2"), pod("a", "n1"), pod("b", "n2"), queue(0)], 40);
const WAY = {
  fromMs: 0, toMs: 60_000, decisions: [line("a", 30_000), line("b", 50_000)],
  moments: [
    { from: 40, to: 30, simTimeMs: 40_000, objects: [pod("b"), queue(1)], gone: [] },
    { from: 30, to: 30, simTimeMs: 20_000, objects: [], gone: [] },
    { from: 30, to: 10, simTimeMs: 0, objects: [pod("a")], gone: [{ resource: "nodes", namespace: "", name: "n2" }] },
  ],
};

const whole = (view, way, toMs) => goneThrough(view, way, toMs, async () => {});

test("the way back tells queue, waits and nodes of each moment as the page would have told them then", async () => {
  const told = await whole(NOW(), WAY, 61_000);
  assert.deepEqual(told.samples.map(({ t, revision, active, half }) => [t, revision, active, half]), [[0, 10, 1, 0], [20_000, 30, 1, 20], [40_000, 30, 1, 40]]);
  assert.deepEqual(told.columns.map(({ t, names, share }) => [t, names, [...share]]), [[0, ["n1"], [0]], [40_000, ["n1", "n2"], [0.25, 0]]]);
  assert.deepEqual(told.marks.map(({ id, label }) => [id, label]), [["a", "a"], ["b", "b"]]);
});

test("what is learned comes before what was heard, fills gaps, and nothing that was heard is replaced", async () => {
  const recorder = new Recorder();
  const view = NOW();
  recorder.take(view, { connection: "live", nowMs: 30_000 });
  recorder.take(view, { connection: "connecting", nowMs: 40_000 });
  recorder.take(view, { connection: "live", nowMs: 60_000 });
  assert.deepEqual(recorder.gaps, [{ fromMs: 30_000, toMs: 60_000 }]);
  const { epoch } = recorder;
  recorder.learn(await whole(view, WAY, 60_000));
  assert.deepEqual(recorder.samples.map(({ t, active }) => [t, active]), [[0, 1], [20_000, 1], [30_000, 0], [40_000, 1], [60_000, 0]]);
  assert.deepEqual(recorder.gaps, []);
  assert.ok(recorder.epoch > epoch, "charts are drawn afresh");
  assert.deepEqual(recorder.columns.map(({ t }) => t), [0, 30_000, 40_000, 60_000]);
  recorder.learn(await whole(view, WAY, 60_000));
  assert.deepEqual([recorder.samples.length, recorder.marks.length], [5, 2], "learned once");
});

test("between a moment long ago and what was heard there is a gap", async () => {
  const recorder = new Recorder();
  const view = NOW();
  recorder.take(view, { connection: "live", nowMs: 100_000 });
  recorder.learn(await whole(view, WAY, 60_000));
  assert.deepEqual(recorder.gaps, [{ fromMs: 60_000, toMs: 100_000 }]);
  assert.deepEqual(recorder.samples.map(({ t, active }) => [t, active]), [[0, 1], [20_000, 1], [40_000, 1], [40_001, null], [100_000, 0]]);
});

test("memory stays bounded by however much is learned", () => {
  const recorder = new Recorder();
  const view = NOW();
  recorder.take(view, { connection: "live", nowMs: 9_000_000 });
  const samples = Array.from({ length: SAMPLES_MAX + 40 }, (_, t) => ({ ...recorder.samples[0], t }));
  const columns = Array.from({ length: COLUMNS_MAX * 3 }, (_, t) => ({ ...recorder.columns[0], t }));
  recorder.learn({ fromMs: 0, toMs: 9_000_000, samples, columns, marks: [] });
  assert.ok(recorder.samples.length <= SAMPLES_MAX);
  assert.ok(recorder.columns.length <= COLUMNS_MAX);
  assert.equal(recorder.samples.at(-1).t, 9_000_000, "the newest is kept");
});

test("a stretch is asked for once; a longer one only for what is missing of it; what failed not at once again", async () => {
  const recorder = new Recorder();
  const view = NOW();
  const asked = [];
  let answer = async () => ({ ...WAY, fromMs: 30_000, moments: WAY.moments.slice(0, 1) });
  const before = new Before(recorder, (path) => {
    asked.push(path);
    return answer();
  });
  recorder.take(view, { connection: "live", nowMs: 60_000 });
  const ui = { connection: "live", nowMs: 61_000 };
  assert.equal(before.follow(view, { ...ui, connection: "connecting" }, 0), undefined);
  await before.follow(view, ui, 30_000);
  assert.deepEqual(asked, ["before/40?seconds=31&moments=120"]);
  assert.equal(before.follow(view, ui, 30_000), undefined, "known by now");
  answer = async () => Promise.reject(new Error("away"));
  await before.follow(view, ui, -Infinity);
  assert.deepEqual(asked.slice(1), ["before/40?seconds=61&moments=120"]);
  assert.equal(before.follow(view, ui, -Infinity), undefined, "not at once again");
  before.notBeforeMs = 0;
  answer = async () => WAY;
  await before.follow(view, ui, -Infinity);
  assert.equal(before.follow(view, ui, -Infinity), undefined, "there is nothing before the log begins");
  assert.equal(asked.length, 3);
});
