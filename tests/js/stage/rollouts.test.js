// Rolling updates, dying nodes and evictions as the stage shows them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { endReason, leavesAt, troubleOf } from "../../../static/js/state/eviction.js";
import { loadTexts } from "../../../static/js/lib/text.js";
import { modelMaker } from "../../../static/js/stage/model.js";
import { rolloutLine } from "../../../static/js/stage/rollouts.js";
import { left, troubleFate, troubleHead } from "../../../static/js/stage/trouble.js";
import { node, pod, viewOf } from "./fixtures.js";

/** @import { NodeSlim, PodSlim, Slim, Taint, Ui } from "../../../static/js/lib/types.d.ts" */

await loadTexts("en", "stage");
const UI = /** @type {Ui} */ (/** @type {unknown} */ ({ lang: "en", colourBy: "owner", selected: null }));
const EPOCH = Date.parse("2030-01-01T00:00:00Z");
const READY = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

/** @param {string} kind @param {string} name */
const owned = (kind, name) => [{ kind, name, uid: `u-${name}`, controller: true }];

/** @param {Record<string, any>} [spec] @param {Record<string, any>} [status] @returns {Slim} */
const deployment = (spec = {}, status = {}) => ({
  resource: "deployments.apps", metadata: { name: "web", namespace: "default" }, spec: { replicas: 3, ...spec }, status,
});

/** @param {string} name @param {string} revision @returns {Slim} */
const set = (name, revision) => ({
  resource: "replicasets.apps", spec: {}, status: {},
  metadata: { name, namespace: "default", ownerReferences: owned("Deployment", "web"),
    annotations: { "deployment.kubernetes.io/revision": revision } },
});

/** @param {string} name @param {string} owner @param {Record<string, any>} [status] @returns {Slim} */
const of = (name, owner, status = READY) => {
  const one = pod(name, { nodeName: "n1" }, status);
  return { ...one, metadata: { ...one.metadata, ownerReferences: owned("ReplicaSet", owner) } };
};

test("while a Deployment rolls, its old pods are told from its new ones", () => {
  const model = modelMaker()(viewOf([
    node("n1"), deployment(), set("web-1", "1"), set("web-2", "2"),
    of("a", "web-1"), of("b", "web-1"), of("c", "web-2"), of("d", "web-2", { phase: "Running" }),
  ]), UI);
  assert.deepEqual([...model.pods.values()].filter(({ old }) => old).map(({ name }) => name), ["a", "b"]);
  const [rollout] = model.rollouts;
  assert.deepEqual([rollout?.name, rollout?.revision, rollout?.wanted, rollout?.fresh, rollout?.ready, rollout?.old], ["web", "2", 3, 2, 1, 2]);
  assert.ok(rollout);
  assert.equal(rolloutLine(rollout, "en"), "2 of 3 new, 2 old; waits for 1 that is not ready");
});

test("a rollback makes the newer template the old one", () => {
  const model = modelMaker()(viewOf([node("n1"), deployment(), set("web-1", "3"), set("web-2", "2"), of("a", "web-1"), of("c", "web-2")]), UI);
  assert.deepEqual([...model.pods.values()].filter(({ old }) => old).map(({ name }) => name), ["c"]);
});

test("a Deployment of one template is no rolling update", () => {
  const model = modelMaker()(viewOf([node("n1"), deployment(), set("web-1", "1"), of("a", "web-1")]), UI);
  assert.deepEqual(model.rollouts, []);
});

test("a rolling update says that it is paused, or stuck", () => {
  const stands = (/** @type {Record<string, any>} */ spec, /** @type {Record<string, any>} */ status) => modelMaker()(viewOf([
    node("n1"), deployment(spec, status), set("web-1", "1"), set("web-2", "2"), of("a", "web-1"), of("c", "web-2"),
  ]), UI).rollouts[0]?.state;
  assert.equal(stands({}, {}), "going");
  assert.equal(stands({ paused: true }, {}), "paused");
  assert.equal(stands({}, { conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }] }), "stuck");
});

test("pods of StatefulSets and DaemonSets say by a label which template they are of", () => {
  /** @param {string} name @param {string} kind @param {string} owner @param {Record<string, string>} labels */
  const labelled = (name, kind, owner, labels) => {
    const one = pod(name, { nodeName: "n1" }, READY);
    return { ...one, metadata: { ...one.metadata, labels, ownerReferences: owned(kind, owner) } };
  };
  const model = modelMaker()(viewOf([
    node("n1"),
    { resource: "statefulsets.apps", metadata: { name: "db", namespace: "default" }, spec: { replicas: 2 }, status: { updateRevision: "db-2" } },
    { resource: "daemonsets.apps", metadata: { name: "log", namespace: "default", annotations: { "deprecated.daemonset.template.generation": "2" } },
      status: { desiredNumberScheduled: 2 } },
    labelled("db-0", "StatefulSet", "db", { "controller-revision-hash": "db-1" }),
    labelled("db-1", "StatefulSet", "db", { "controller-revision-hash": "db-2" }),
    labelled("log-a", "DaemonSet", "log", { "pod-template-generation": "1" }),
    labelled("log-b", "DaemonSet", "log", { "pod-template-generation": "2" }),
  ]), UI);
  assert.deepEqual(model.rollouts.map(({ kind, name, wanted, fresh, old }) => [kind, name, wanted, fresh, old]),
    [["StatefulSet", "db", 2, 1, 1], ["DaemonSet", "log", 2, 1, 1]]);
});

test("a node keeps its identity when only the status of a workload moves on", () => {
  const make = modelMaker();
  const view = viewOf([node("n1"), deployment(), set("web-1", "1"), of("a", "web-1")]);
  const before = make(view, UI);
  const moved = { ...view, objects: new Map([...view.objects, ["deployments.apps", new Map([["default/web", deployment({}, { readyReplicas: 2 })]])]]) };
  assert.equal(make(moved, UI), before, "nothing that is drawn has changed");
  const rolled = { ...view, objects: new Map([...view.objects, ["replicasets.apps", new Map([["default/web-1", set("web-1", "1")], ["default/web-2", set("web-2", "2")]])]]) };
  assert.notEqual(make(rolled, UI).nodes.get("n1"), before.nodes.get("n1"), "its pod is of an old template now");
});

/** @type {Taint} */
const UNREACHABLE = { key: "node.kubernetes.io/unreachable", effect: "NoExecute", timeAdded: "2030-01-01T00:01:00Z" };
/** @param {Record<string, any>[]} tolerations @returns {PodSlim} */
const tolerant = (...tolerations) => /** @type {PodSlim} */ (pod("a", { nodeName: "n1", tolerations }, READY));
const FIVE = { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 };

test("a pod leaves when the seconds that it tolerates are over, at once, or never", () => {
  assert.equal(leavesAt(tolerant(FIVE), [UNREACHABLE], EPOCH), 360_000);
  assert.equal(leavesAt(tolerant(), [UNREACHABLE], EPOCH), 0, "nothing tolerates it");
  assert.equal(leavesAt(tolerant({ operator: "Exists" }), [UNREACHABLE], EPOCH), Infinity, "everything is tolerated, for ever");
  assert.equal(leavesAt(tolerant(FIVE), [{ ...UNREACHABLE, effect: "NoSchedule" }], EPOCH), null, "nothing pushes it");
  assert.equal(leavesAt(tolerant(FIVE, { operator: "Exists", tolerationSeconds: 10 }), [UNREACHABLE], EPOCH), 70_000, "the shortest of those that match");
  assert.equal(leavesAt(tolerant({ key: "gpu", value: "a", effect: "NoExecute" }), [{ key: "gpu", value: "b", effect: "NoExecute" }], EPOCH), 0, "another value");
});

test("a dead node says since when, and when its pods have to leave", () => {
  const dead = /** @type {NodeSlim} */ ({ ...node("n1"), spec: { taints: [UNREACHABLE] }, status: { conditions: [
    { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown", lastTransitionTime: "2030-01-01T00:01:00Z" }] } });
  const ending = tolerant(FIVE);
  const trouble = troubleOf(dead, [tolerant(FIVE), tolerant(FIVE), tolerant({ operator: "Exists" }),
    { ...ending, metadata: { ...ending.metadata, deletionTimestamp: "2030-01-01T00:02:00Z" } }], EPOCH);
  assert.ok(trouble);
  assert.equal(troubleHead(trouble, 125_000, "en"), "Unknown, silent 1:05");
  assert.equal(troubleFate(trouble, 125_000, EPOCH, "en"), "2 pods leave in 3:55; 1 ends when it is back; 1 may stay");
  assert.equal(troubleFate(trouble, null, EPOCH, "en"), "2 pods leave at 00:06:00; 1 ends when it is back; 1 may stay");
  assert.equal(troubleFate(trouble, 400_000, EPOCH, "en"), "2 pods leave now; 1 ends when it is back; 1 may stay");
});

test("a silent kubelet is told before its node is Unknown, pressure while the node is Ready, and a well node says nothing", () => {
  const well = /** @type {NodeSlim} */ (node("n1"));
  assert.equal(troubleOf(well, [tolerant(FIVE)], EPOCH), null);
  const silent = troubleOf({ ...well, metadata: { ...well.metadata, annotations: {
    "clustersim.io/kubelet": "off", "clustersim.io/kubelet-off-since": "2030-01-01T00:00:10Z" } } }, [], EPOCH);
  assert.ok(silent);
  assert.equal(troubleHead(silent, 30_000, "en"), "kubelet silent 0:20");
  const pressed = troubleOf({ ...well, status: { conditions: [{ type: "Ready", status: "True" }, { type: "MemoryPressure", status: "True" }] } }, [], EPOCH);
  assert.ok(pressed);
  assert.equal(troubleHead(pressed, 0, "en"), "MemoryPressure: evicts pods");
});

test("why a pod ends is told in the words of who ended it", () => {
  assert.equal(endReason(/** @type {PodSlim} */ (pod("a", {}, { phase: "Failed", reason: "Evicted" }))), "Evicted");
  assert.equal(endReason(/** @type {PodSlim} */ (pod("a", {}, { phase: "Running", conditions: [
    { type: "DisruptionTarget", status: "True", reason: "DeletionByTaintManager" }] }))), "DeletionByTaintManager");
  assert.equal(endReason(/** @type {PodSlim} */ (pod("a", {}, READY))), "");
});

test("what is left is told in minutes and seconds", () => {
  assert.deepEqual([left(0), left(-5), left(7_001), left(247_000)], ["0:00", "0:00", "0:08", "4:07"]);
});
