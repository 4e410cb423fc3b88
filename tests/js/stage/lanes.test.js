import assert from "node:assert/strict";
import { test } from "node:test";
import { eventNames, fitReasons } from "../../../static/js/lib/sentences.js";
import { loadTexts } from "../../../static/js/lib/text.js";
import { asAbove, groupKey, laneModels, movedWords, pageOf, rejection, unseenPods } from "../../../static/js/stage/lanes-model.js";
import { pod } from "./fixtures.js";

await loadTexts("en", "stage");

/** @import { PodSlim, QueueStatus } from "../../../static/js/lib/types.d.ts" */

/** @param {Partial<QueueStatus>} change @returns {QueueStatus} */
const queue = (change) => ({
  active: [], backoff: [], unschedulable: [], gated: [], waiting: [], binding: [], counts: {}, ...change,
});
/** @param {ReturnType<typeof laneModels>} lanes @param {string} name */
const lane = (lanes, name) => {
  const found = lanes.find((one) => one.name === name);
  assert.ok(found);
  return found;
};

test("the active lane stands in order of priority, the pod in hand on top and not counted", () => {
  const lanes = laneModels(queue({
    active: [{ pod: "a/low", uid: "1", priority: 0 }, { pod: "a/high", uid: "2", priority: 1000 }],
  }), [], "a/hand", 0);
  const active = lane(lanes, "active");
  assert.deepEqual(active.rows.map((row) => row.key), ["a/hand", "a/high", "a/low"]);
  assert.equal(active.count, 2);
});

test("a queue that another plugin orders stands in its order", () => {
  const active = [{ pod: "a/first", uid: "1", priority: 0 }, { pod: "a/second", uid: "2", priority: 1000 }];
  const configured = { backoff: { initialMs: 1000, maxMs: 60_000 }, sort: "FIFO" };
  assert.deepEqual(lane(laneModels(queue({ active }), [], "", 0, configured), "active").rows.map((row) => row.key),
    ["a/first", "a/second"]);
});

test("a pod that no queue has taken in yet waits in active, a gated one in gated", () => {
  const fresh = /** @type {PodSlim[]} */ ([pod("new"), pod("shut", { schedulingGates: [{ name: "quota" }] })]);
  const lanes = laneModels(queue({}), fresh, "", 0);
  assert.deepEqual(lane(lanes, "active").rows.map((row) => [row.key, row.state]), [["default/new", "unseen"]]);
  assert.deepEqual(lane(lanes, "gated").rows.map((row) => [row.key, row.message]), [["default/shut", "quota"]]);
});

test("more than eight pods become counts by group, and the lane says how many it has seen", () => {
  const active = Array.from({ length: 50 }, (_, index) => ({ pod: `a/p${index}`, uid: `${index}`, priority: index % 2 }));
  const one = lane(laneModels(queue({ active, counts: { active: 214 } }), [], "", 0), "active");
  assert.deepEqual(one.rows, []);
  assert.deepEqual(one.groups.map((group) => [group.values["n"], group.count]), [[1, 25], [0, 25]]);
  assert.equal(one.count, 214);
  assert.equal(one.listed, 50);
});

test("pods beyond the cut of the queue's lists are no new ones, pods written after the queue are", () => {
  const active = Array.from({ length: 50 }, (_, index) => ({ pod: `a/p${index}`, uid: `${index}`, priority: 0 }));
  const pending = /** @type {PodSlim[]} */ (["known", "late"].map((name, index) => {
    const made = pod(name);
    return { ...made, metadata: { ...made.metadata, resourceVersion: String(100 + 10 * index) } };
  }));
  const whole = queue({ active, counts: { active: 50 } });
  const cut = queue({ active, counts: { active: 214 } });
  const names = (/** @type {QueueStatus} */ of) => unseenPods(pending, of, new Set(), 105).map((one) => one.metadata.name);
  assert.deepEqual(names(whole), ["known", "late"]);
  assert.deepEqual(names(cut), ["late"]);
  assert.equal(lane(laneModels(cut, unseenPods(pending, cut, new Set(), 105), "", 0), "active").count, 215);
});

test("a pod in hand that the queue still lists is counted neither twice nor as waiting", () => {
  const one = lane(laneModels(queue({ active: [{ pod: "a/hand", uid: "1" }], counts: { active: 1 } }), [], "a/hand", 0), "active");
  assert.equal(one.count, 0);
  assert.deepEqual(one.rows.map((row) => row.state), ["hand"]);
});

test("waking events are named once each, as resource and action", () => {
  assert.deepEqual(eventNames(["*", "NodeAdd|NodeTaint", "NodeAdd", "AssignedPodDelete", "UnschedulablePodPodScaleDown"]),
    ["Node/Add", "Node/Taint", "Pod/Delete", "Pod/ScaleDown"]);
  assert.deepEqual(eventNames(["AssignedPodDelete|PodScaleDown", "NodeNodeTaint", "CSINodeAdd|Update", "PersistentVolumeClaimAdd|Update",
    "CSIDriverUpdate", "CSIStorageCapacityAdd|Update", "UnschedulablePodUpdate", "NodeAdd|Delete|Update"]), [
    "Pod/Delete", "Pod/ScaleDown", "Node/Taint", "CSINode/Add", "CSINode/Update", "PersistentVolumeClaim/Add", "PersistentVolumeClaim/Update",
    "CSIDriver/Update", "CSIStorageCapacity/Add", "CSIStorageCapacity/Update", "Pod/Update", "Node/Add", "Node/Delete", "Node/Update",
  ]);
  assert.deepEqual(eventNames(["BackoffComplete", "UnschedulableTimeout"]), ["BackoffComplete", "UnschedulableTimeout"]);
});

test("a pod says what moved it, unless that goes without saying", () => {
  const active = ["UnschedulablePodAdd", "UnschedulablePodPodTolerations", "BackoffComplete", undefined].map((movedBy, index) =>
    ({ pod: `a/p${index}`, uid: `${index}`, priority: 9 - index, ...(movedBy ? { movedBy } : {}) }));
  const one = lane(laneModels(queue({ active }), [], "", 0), "active");
  assert.deepEqual(one.rows.map((row) => row.movedBy), ["", "UnschedulablePodPodTolerations", "BackoffComplete", ""]);
  assert.deepEqual(movedWords("UnschedulablePodPodTolerations"), { key: "lane.moved", event: "Pod/Tolerations" });
  assert.deepEqual(movedWords("NodeAdd"), { key: "lane.moved", event: "Node/Add" });
  assert.deepEqual(movedWords("BackoffComplete"), { key: "lane.moved.BackoffComplete", event: "" });
});

test("where grouping would tell nothing, names stand instead, page by page", () => {
  const active = Array.from({ length: 17 }, (_, index) => ({ pod: `a/p${index}`, uid: `${index}`, priority: 0 }));
  const one = lane(laneModels(queue({ active }), [], "", 0), "active");
  assert.deepEqual([one.rows.length, one.groups.length, one.listed, one.count], [17, 0, 17, 17]);
  assert.deepEqual(pageOf(one, { page: 2, open: "" }).items.map((row) => "key" in row && row.key), ["a/p16"], "page by page");
});

test("backoff is that of the scheduler's configuration, and a row at Permit has each plugin's timer", () => {
  const backoff = [1, 2, 4].map((attempts) => ({ pod: `a/p${attempts}`, uid: `${attempts}`, attempts, readyAtMs: 5000 }));
  const lanes = laneModels(queue({ backoff }), [], "", 0, {
    backoff: { initialMs: 3000, maxMs: 12000 }, sort: "PrioritySort",
  });
  assert.deepEqual(lane(lanes, "backoff").rows.map((row) => row.spanMs), [3000, 6000, 12000]);
  const plugins = [{ name: "One", untilMs: 9000 }, { name: "Two", untilMs: 7000 }];
  const held = laneModels(queue({ waiting: [{ pod: "a/w", uid: "u", node: "n", plugins }] }), [], "", 0);
  const [row] = lane(held, "permit").rows;
  assert.deepEqual([row.uid, row.readyAtMs, row.holds], ["u", 7000, plugins]);
});

test("backoff doubles from one second to ten, and groups by the time left", () => {
  const backoff = [1, 2, 3, 6].map((attempts) => ({ pod: `a/p${attempts}`, uid: `${attempts}`, attempts, readyAtMs: 5000 }));
  assert.deepEqual(lane(laneModels(queue({ backoff }), [], "", 0), "backoff").rows.map((row) => row.spanMs),
    [1000, 2000, 4000, 10000]);
  const many = Array.from({ length: 9 }, (_, index) => ({ pod: `a/b${index}`, uid: `b${index}`, readyAtMs: 500 + index * 1000 }));
  const groups = lane(laneModels(queue({ backoff: many }), [], "", 0), "backoff").groups;
  assert.deepEqual(groups.map((group) => group.count), [1, 4, 4]);
});

test("a FitError is taken apart into its counted reasons, the preemption's tail left out", () => {
  const message = "0/12 nodes are available: 1 node(s) were unschedulable, 2 node(s) had untolerated taint {gpu: true}, "
    + "9 Insufficient cpu. no new claims to deallocate, preemption: 0/12 nodes are available: 3 Preemption is not "
    + "helpful for scheduling, 9 No preemption victims found for incoming pod.";
  assert.deepEqual(fitReasons(message), {
    nodes: 12,
    reasons: [
      { count: 1, reason: "node(s) were unschedulable" },
      { count: 2, reason: "node(s) had untolerated taint {gpu: true}" },
      { count: 9, reason: "Insufficient cpu" },
    ],
  });
  assert.deepEqual(fitReasons("0/2 nodes are available: 2 Too many pods."), {
    nodes: 2, reasons: [{ count: 2, reason: "Too many pods" }],
  });
  for (const said of ["still not schedulable", "deallocation of ResourceClaim completed"])
    assert.deepEqual(fitReasons(`0/2 nodes are available: 2 cannot allocate all claims. ${said}, preemption: 0/2 nodes are available: 2 x.`), {
      nodes: 2, reasons: [{ count: 2, reason: "cannot allocate all claims" }],
    });
  assert.deepEqual(fitReasons("no nodes available to schedule pods"), { nodes: 0, reasons: [] });
  const lines = ["a): PodFitsHostPorts", "b): Insufficient CPU", "c): PodFitsHostPorts"].map((rest) => `fit failure on node (${rest}`);
  assert.deepEqual(fitReasons(`pod (web) failed to fit in any node\n${lines.join("\n")}\nfit failure on 4 more nodes\n`), {
    nodes: 7, reasons: [{ count: 2, reason: "PodFitsHostPorts" }, { count: 1, reason: "Insufficient CPU" }],
  });
});

const FULL = "0/3 nodes are available: 2 Insufficient cpu, 1 node(s) had untolerated taint {gpu: true}. preemption: none.";

test("pods that wait for a change are grouped by owner and the reason of most nodes, and a group opens to its names", () => {
  const unschedulable = Array.from({ length: 60 }, (_, index) => ({
    pod: `a/${index < 40 ? "fill" : "train"}-${index}`, uid: `${index}`, priority: 0, plugins: ["NodeResourcesFit"],
    message: index < 40 ? FULL : "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
  }));
  const one = lane(laneModels(queue({ unschedulable: unschedulable.slice(0, 50), counts: { unschedulable: 60 } }), [], "", 0), "unschedulable");
  assert.deepEqual(one.groups.map(({ label, values, count }) => [label, values, count]), [
    ["reason", { owner: "fill", reason: "Insufficient cpu" }, 40], ["reason", { owner: "train", reason: "Insufficient nvidia.com/gpu" }, 10],
  ]);
  assert.deepEqual([one.listed, one.count], [50, 60], "an unfinished list says so");
  const [fill] = one.groups;
  assert.ok(fill);
  const open = pageOf(one, { page: 1, open: groupKey(fill) });
  assert.deepEqual([open.pages, open.page, open.items.length, open.open?.count], [5, 1, 9, 40]);
  assert.deepEqual(open.items.slice(0, 2).map((item) => ("key" in item ? item.key : "group")), ["group", "a/fill-8"]);
  assert.equal(pageOf(one, { page: 99, open: "" }).page, 0, "a page that is no longer there is the last one");
});

test("a group of one is that pod, by its name", () => {
  const stuck = (/** @type {string} */ key, /** @type {string} */ reason) => ({ pod: key, since: 0, attempt: 1, plugins: ["NodeResourcesFit"], message: `0/3 nodes are available: 3 ${reason}.` });
  const rows = [...Array.from({ length: 8 }, (_, at) => stuck(`a/fill-${at}`, "Insufficient cpu")), stuck("a/fill-big", "Insufficient memory")];
  const one = lane(laneModels(queue({ unschedulable: rows }), [], "", 0, { backoff: { initialMs: 1_000, maxMs: 10_000 }, sort: "PrioritySort", ownerOf: () => "fill" }), "unschedulable");
  assert.deepEqual(one.groups.map(({ values, count }) => [values["owner"], count]), [["fill", 8], ["fill-big", 1]]);
});

test("above fifty pods of one priority the groups say whose they are, and the pod in hand is on every page", () => {
  const active = Array.from({ length: 50 }, (_, index) => ({ pod: `a/p${index % 20}x${index}-1`, uid: `${index}`, priority: 0 }));
  const one = lane(laneModels(queue({ active, counts: { active: 80 } }), [], "a/hand", 0), "active");
  assert.equal(one.groups.length, 50);
  for (const page of [0, 6]) assert.equal(pageOf(one, { page, open: "" }).items[0], one.rows[0]);
  const named = laneModels(queue({ active, counts: { active: 80 } }), [], "", 0,
    { backoff: { initialMs: 1, maxMs: 1 }, sort: "PrioritySort", ownerOf: () => "fill" });
  assert.deepEqual(lane(named, "active").groups.map(({ label, values, count }) => [label, values["owner"], count]), [["owner", "fill", 50]]);
});

test("a pod whose rejection is sealed says nothing of it, not half a sentence", () => {
  assert.equal(rejection({ plugin: "", message: "" }, "en"), "");
  assert.equal(rejection({ plugin: "NodeResourcesFit", message: "0/3 nodes are available: 3 Insufficient cpu." }, "en"), "3/3 Insufficient cpu.");
});

test("what the row above says already is not said again, and another reason is", () => {
  const row = (/** @type {string} */ key, message = "0/3 nodes are available: 3 Insufficient cpu.", wakes = ["Pod/Delete"]) =>
    /** @type {any} */ ({ key, plugin: "NodeResourcesFit", message, wakes });
  const shown = [row("a"), row("b"), row("c"), row("d", "0/3 nodes are available: 3 node(s) were unschedulable."), row("e"), row("f", undefined, ["Node/Add"])];
  assert.deepEqual([...asAbove(shown)], ["b", "c"]);
  assert.deepEqual([...asAbove([row("a", ""), row("b", "")])], [], "nothing was said");
});
