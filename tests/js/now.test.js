// What a phone tells: the cycle in hand with its best nodes, and a pod's story with the reason for where it is.
import assert from "node:assert/strict";
import { test } from "node:test";

import { EN } from "../../static/js/lib/text/page.en.js";
import { handOf, newestPods, RAIL, storyOf } from "../../static/js/state/now.js";
import { cycle, node, pod, scheduler, viewOf } from "./stage/fixtures.js";

/** @import { PodSlim, View } from "../../static/js/lib/types.d.ts" */

const states = (/** @type {View} */ view) => handOf(view)?.rail.map(({ state }) => state);
const keys = (/** @type {View} */ view, /** @type {any} */ one) => storyOf(view, one).map(({ key }) => key);

/** A line of a decision about the pod web-1. */
const decision = (/** @type {object} */ change) => ({
  id: "u-web-1-1", revision: 5, simTimeMs: 4_000, pod: "default/web-1", uid: "u-web-1", attempt: 1, replica: "kube-scheduler-0", ...change,
});

test("no cycle, no hand", () => assert.equal(handOf(viewOf([node("n1"), scheduler({})])), null));

test("the pod in hand has its rail, its best nodes highest first, and how many refused it", () => {
  const hand = handOf(viewOf([node("n1"), pod("web-1"), scheduler({ cycle: cycle({ point: "Score" }) })]));
  assert.equal(hand?.said, "web-1");
  assert.deepEqual(hand?.best.map(({ node: name, total, best }) => [name, total, best]), [["n1", 391, true], ["n3", 391, true], ["n4", 350, false]]);
  assert.equal(hand?.best[2]?.share, 350 / 391);
  assert.deepEqual(hand?.refused, { refused: 1, of: 4, reason: "Insufficient cpu" });
});

test("of a cycle that a poll seals only where it stands is told", () => {
  const { trace: _trace, traceId: _id, ...sealed } = cycle({ point: "QueueSort" });
  const hand = handOf(viewOf([node("n1"), pod("web-1"), scheduler({ cycle: sealed })]));
  assert.deepEqual([hand?.pod, hand?.point, hand?.best, hand?.refused], ["default/web-1", "QueueSort", [], null]);
});

test("the short rail stands at the last of its points that was reached", () => {
  const at = (/** @type {any} */ point, era = undefined) =>
    states(viewOf([pod("web-1"), scheduler({ cycle: cycle({ point, ...(era ? { era } : {}) }) })]));
  assert.deepEqual(at("PreEnqueue"), at("PreFilter"));
  assert.deepEqual(at("PreFilter"), ["current", "ahead", "ahead", "ahead", "ahead", "ahead"]);
  assert.deepEqual(at("Score"), ["done", "done", "current", "ahead", "ahead", "ahead"]);
  assert.deepEqual(at("PreBind"), ["done", "done", "done", "done", "current", "ahead"]);
  assert.deepEqual(at("PostBind"), ["done", "done", "done", "done", "done", "current"]);
  assert.equal(RAIL.length, 6);
});

test("the pods of one's own namespace stand newest first, by number where they came together", () => {
  const at = (/** @type {string} */ name, second = 0) => {
    const one = pod(name);
    return { ...one, metadata: { ...one.metadata, creationTimestamp: `2030-01-01T00:00:0${second}Z` } };
  };
  const other = { ...pod("other"), metadata: { ...pod("other").metadata, namespace: "kube-system" } };
  const view = viewOf([at("large-2"), at("large-10"), at("large-1", 1), other]);
  assert.deepEqual(newestPods(view, "default").map(({ metadata }) => metadata.name), ["large-1", "large-10", "large-2"]);
});

test("before anything is known of it a pod waits", () => {
  const waiting = pod("web-1");
  assert.deepEqual(keys(viewOf([waiting]), waiting), ["made", "queued"]);
  const crashed = viewOf([waiting, scheduler({ state: "Crashed", leading: false })]);
  assert.deepEqual(keys(crashed, waiting), ["made", "untaken"], "nobody takes it, and it says so");
});

test("a refused pod says why, with the scheduler's own counts", () => {
  const message = "0/3 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 Insufficient cpu.";
  const waiting = pod("web-1", {}, { conditions: [{ type: "PodScheduled", status: "False", message }] });
  const view = viewOf([waiting]);
  assert.equal(storyOf(view, /** @type {any} */ (waiting))[1]?.values["why"], "Insufficient cpu (2/3), node(s) had untolerated taint {a: b} (1/3)");
  const told = { ...view, decisions: [1, 2, 3, 4].map((attempt) => decision({ attempt, result: "unschedulable" })) };
  assert.deepEqual(keys(told, waiting), ["made", "tried", "refused", "refused_why"]);
  assert.deepEqual(storyOf(told, /** @type {any} */ (waiting))[1]?.values, { count: 2 });
  const room = { ...view, decisions: [decision({ result: "unschedulable", preemption: { node: "n2", count: 2, candidates: 1, criterion: "", victims: [] } })] };
  assert.deepEqual(storyOf(room, /** @type {any} */ (waiting))[1], { key: "room", values: { node: "n2", count: 2 }, atMs: 4_000 });
});

test("a pod whose container cannot run says why, and not that its image is pulled", () => {
  const waits = (/** @type {object} */ waiting) => /** @type {any} */ (pod("web-1", { nodeName: "n1" }, {
    phase: "Pending", containerStatuses: [{ name: "c", state: { waiting } }] }));
  const wrong = waits({ reason: "CreateContainerConfigError", message: 'configmap "app" not found' });
  assert.deepEqual(storyOf(viewOf([wrong]), wrong).at(-1),
    { key: "is_waiting", values: { why: 'CreateContainerConfigError: configmap "app" not found' }, atMs: null });
  const made = waits({ reason: "ContainerCreating" });
  assert.equal(storyOf(viewOf([made]), made).at(-1)?.key, "is_pulling");
});

test("a pod whose init container fails, or runs, says so", () => {
  const at = (/** @type {object} */ state) => {
    const one = /** @type {any} */ (pod("web-1", { nodeName: "n1", initContainers: [{ name: "i" }] }, {
      phase: "Pending", initContainerStatuses: [{ name: "i", state }],
      containerStatuses: [{ name: "c", state: { waiting: { reason: "PodInitializing" } } }] }));
    return storyOf(viewOf([one]), one).at(-1);
  };
  assert.deepEqual(at({ waiting: { reason: "CrashLoopBackOff", message: "back-off 10s" } }),
    { key: "is_waiting", values: { why: "Init:CrashLoopBackOff: back-off 10s" }, atMs: null });
  assert.deepEqual(at({ terminated: { reason: "Error", exitCode: 1 } })?.values, { why: "Init:Error" });
  assert.deepEqual(at({ running: {} }), { key: "is_preparing", values: { name: "i", why: "Init:0/1" }, atMs: null });
  assert.equal(at({ terminated: { reason: "Completed", exitCode: 0 } })?.key, "is_pulling");
});

test("a pod whose volumes are not there says why until its node tells something newer", () => {
  const one = /** @type {any} */ (pod("web-1", { nodeName: "n1" }, {
    phase: "Pending", containerStatuses: [{ name: "c", state: { waiting: { reason: "ContainerCreating" } } }] }));
  const event = (/** @type {string} */ reason, /** @type {string} */ message, /** @type {number} */ revision) => /** @type {any} */ ({
    resource: "events", metadata: { name: reason, namespace: one.metadata.namespace, resourceVersion: String(revision) }, reason, message,
    involvedObject: { kind: "Pod", namespace: one.metadata.namespace, name: "web-1" } });
  const wrong = event("FailedMount", 'MountVolume.SetUp failed for volume "v" : configmap "app" not found', 9);
  assert.deepEqual(storyOf(viewOf([one, event("Scheduled", "", 5), wrong]), one).at(-1),
    { key: "is_waiting", values: { why: `FailedMount: ${wrong.message}` }, atMs: null });
  assert.equal(storyOf(viewOf([one, wrong, event("Pulling", "", 12)]), one).at(-1)?.key, "is_pulling");
});

test("a placed pod says by what its node won", () => {
  const placed = pod("web-1", { nodeName: "n9" }, { phase: "Running" });
  const because = (/** @type {object} */ change) => {
    const view = { ...viewOf([placed]), decisions: [decision({ result: "scheduled", node: "n9", ...change })] };
    return storyOf(view, /** @type {any} */ (placed)).at(-2);
  };
  assert.deepEqual(because({ points: 479, best: 1, feasible: 3 }), { key: "placed_most", values: { node: "n9", points: 479, best: 1, feasible: 3 }, atMs: 4_000 });
  assert.equal(because({ points: 479, best: 2, feasible: 3 })?.key, "placed_lot");
  assert.equal(because({ feasible: 1 })?.key, "placed_only");
  assert.deepEqual(keys(viewOf([placed]), placed), ["made", "placed", "is_running"]);
});

test("every line of a story has its words", () => {
  for (const key of ["made", "queued", "untaken", "tried", "refused", "refused_why", "room", "placed", "placed_only", "placed_most", "placed_lot",
    "is_pulling", "is_waiting", "is_preparing", "is_running", "is_succeeded", "is_failed", "is_terminating"])
    assert.ok(/** @type {Record<string, string>} */ (EN)[`story_${key}`], key);
});
