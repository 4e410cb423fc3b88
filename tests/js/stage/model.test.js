import assert from "node:assert/strict";
import { test } from "node:test";
import { foldRows } from "../../../static/js/state/view.js";
import { usedShare } from "../../../static/js/state/usage.js";
import { modelMaker, shortName } from "../../../static/js/stage/model.js";
import { cycle, node, pod, scheduler, viewOf } from "./fixtures.js";

/** @import { Slim, Ui, View } from "../../../static/js/lib/types.d.ts" */

const UI = /** @type {Ui} */ (/** @type {unknown} */ ({ lang: "en", colourBy: "owner", selected: null }));

/** @param {View} view @param {readonly Slim[]} objects @returns {View} */
const after = (view, objects) => ({
  ...view,
  objects: foldRows(view.objects, objects.map((object, index) => ({
    revision: 11 + index, verb: "MODIFIED", simTimeMs: 0, actor: "user:t", resource: object.resource, object,
  }))),
});

test("a node shows what its pods request and hold", () => {
  const model = modelMaker()(viewOf([node("n1"), pod("a", { nodeName: "n1" }, { phase: "Running" })]), UI);
  const n1 = model.nodes.get("n1");
  assert.equal(n1?.cpuUsed, 500);
  assert.equal(n1?.memoryUsed, 2 ** 30);
  assert.equal(n1?.size, "4 CPU · 8 Gi");
  assert.deepEqual(n1?.glyphs.map((glyph) => [glyph.key, glyph.state]), [["default/a", "running"]]);
});

test("a finished pod is shown but no longer counted", () => {
  const model = modelMaker()(viewOf([node("n1"), pod("a", { nodeName: "n1" }, { phase: "Succeeded" })]), UI);
  assert.equal(model.nodes.get("n1")?.cpuUsed, 0);
  assert.equal(model.nodes.get("n1")?.glyphs.length, 1);
});

test("from Reserve on a pod is assumed on its node, before it has a nodeName", () => {
  const objects = [node("n1"), node("n3"), pod("web-1")];
  const before = modelMaker()(viewOf([...objects, scheduler({ cycle: cycle({ point: "Score" }) })]), UI);
  assert.equal(before.nodes.get("n3")?.glyphs.length, 0);
  assert.deepEqual(before.unseen, [], "the pod in hand waits in no lane");
  const model = modelMaker()(viewOf([...objects, scheduler({ cycle: cycle({ point: "Reserve" }) })]), UI);
  assert.deepEqual(model.nodes.get("n3")?.glyphs.map((glyph) => glyph.state), ["assumed"]);
  assert.equal(model.nodes.get("n3")?.cpuUsed, 500);
});

test("a node whose pods did not change keeps its identity, so that its tile is not painted again", () => {
  const make = modelMaker();
  const view = viewOf([node("n1"), node("n2"), pod("a", { nodeName: "n1" }), pod("b", { nodeName: "n2" })]);
  const one = make(view, UI);
  const two = make(after(view, [pod("b", { nodeName: "n2" }, { phase: "Running" })]), UI);
  assert.equal(two.nodes.get("n1"), one.nodes.get("n1"));
  assert.notEqual(two.nodes.get("n2"), one.nodes.get("n2"));
});

test("owners keep their hue when others come and go, and only those with pods are in the legend", () => {
  const make = modelMaker();
  const view = viewOf([node("n1"), pod("web-1", { nodeName: "n1" }), pod("api-1", { nodeName: "n1" })]);
  const hues = new Map(make(view, UI).groups.map((group) => [group.label, group.hue]));
  const later = make(after(view, [pod("cart-1", { nodeName: "n1" })]), UI);
  assert.equal(later.groups.find((group) => group.label === "api")?.hue, hues.get("api"));
  assert.equal(later.groups.length, 3);
});

test("zones are in order of name and nodes without a zone come last", () => {
  const bare = node("n0");
  bare.metadata.labels = {};
  const model = modelMaker()(viewOf([bare, node("n10", "zone-b"), node("n2", "zone-b"), node("n1", "zone-a")]), UI);
  assert.deepEqual(model.zones.map((zone) => [zone.name, [...zone.nodes]]),
    [["zone-a", ["n1"]], ["zone-b", ["n2", "n10"]], ["", ["n0"]]]);
});

test("a Deployment's pod is called without the hash of its ReplicaSet", () => {
  const one = pod("web-7d9f8c5b6d-x2k4q");
  one.metadata.labels = { "pod-template-hash": "7d9f8c5b6d" };
  assert.equal(shortName(one), "web-x2k4q");
  assert.equal(shortName(pod("plain")), "plain");
});

test("a nominated pod stands as a ghost on its node and takes nothing of it, in every era", () => {
  const waits = pod("vip", {}, { phase: "Pending", nominatedNodeName: "n1" });
  const model = modelMaker()(viewOf([node("n1"), node("n2"), pod("a", { nodeName: "n1" }, { phase: "Running" }), waits]), UI);
  const n1 = model.nodes.get("n1");
  assert.deepEqual(n1?.glyphs.map((glyph) => [glyph.name, glyph.state, glyph.ghost]),
    [["a", "running", false], ["vip", "nominated", true]]);
  assert.deepEqual([n1?.podCount, n1?.cpuUsed, model.zones[0]?.pods], [1, 500, 1]);
  assert.equal(model.pods.get("default/vip")?.ghost, false, "in its lane it is no ghost");
});

test("zones of old clusters are zones", () => {
  const old = node("n1");
  const labels = { "failure-domain.beta.kubernetes.io/zone": "east" };
  const model = modelMaker()(viewOf([{ ...old, metadata: { ...old.metadata, labels } }]), UI);
  assert.deepEqual(model.zones.map((zone) => zone.name), ["east"]);
});

test("a hue is the server's: who comes first on this page changes nothing", () => {
  const hued = (/** @type {string} */ name, /** @type {number} */ owner) => ({ ...pod(name, { nodeName: "n1" }), hues: { owner } });
  const one = modelMaker()(viewOf([node("n1"), hued("web-1", 0), hued("api-1", 8)]), UI);
  const two = modelMaker()(viewOf([node("n1"), hued("api-1", 8), hued("web-1", 0)]), UI);
  assert.deepEqual(one.groups, two.groups);
  assert.deepEqual(one.groups.map((group) => [group.label, group.hue, group.ring]), [["web", 0, false], ["api", 1, true]]);
});

test("two groups of one name say their kind", () => {
  const owned = pod("web-abcde", { nodeName: "n1" });
  const ownerReferences = [{ kind: "DaemonSet", name: "web", uid: "d", controller: true }];
  const daemon = { ...owned, metadata: { ...owned.metadata, uid: "u-d", ownerReferences } };
  const model = modelMaker()(viewOf([node("n1"), pod("web-1", { nodeName: "n1" }), daemon]), UI);
  assert.deepEqual(model.groups.map((group) => group.label).sort(), ["web (DaemonSet)", "web (Pod)"]);
});

test("a student's pods carry initials and namespace on the stage, as soon as it is known who they are", () => {
  const model = modelMaker();
  const mine = pod("web-1", { nodeName: "n1" });
  mine.metadata.namespace = "s-mei";
  mine["hues"] = { owner: 0, namespace: 8 };
  const view = viewOf([node("n1"), mine]);
  assert.equal(model(view, UI).pods.get("s-mei/web-1")?.label, "web-1");
  const mei = { id: "2", name: "Mei K.", role: "student", slug: "mei", namespace: "s-mei", color: 9, online: true };
  const known = /** @type {View} */ ({ ...view, people: [mei] });
  assert.equal(model(known, UI).pods.get("s-mei/web-1")?.label, "MK web-1 · s-mei");
  const away = /** @type {View} */ ({ ...view, people: [{ ...mei, online: false }] });
  assert.equal(model(away, UI).pods.get("s-mei/web-1"), model(known, UI).pods.get("s-mei/web-1"));
  const [byPerson] = model(known, { ...UI, colourBy: "person" }).groups;
  assert.deepEqual([byPerson?.label, byPerson?.hue, byPerson?.ring], ["Mei K.", 1, true]);
  const [byNamespace] = model(known, { ...UI, colourBy: "namespace" }).groups;
  assert.deepEqual([byNamespace?.label, byNamespace?.hue, byNamespace?.ring], ["MK s-mei", 1, true]);
});

test("every extended resource of a node is counted, under the short name that people say", () => {
  const machine = node("n1");
  const status = { ...machine.status, allocatable: { cpu: "4", memory: "8Gi", pods: "110", "nvidia.com/gpu": "2", "example.com/fpga": "1", "example.com/none": "0" } };
  const asks = { containers: [{ name: "c", resources: { requests: { "nvidia.com/gpu": "1" } } }], nodeName: "n1" };
  const model = modelMaker()(viewOf([{ ...machine, status }, pod("a", asks, { phase: "Running" }), pod("b", asks, { phase: "Succeeded" })]), UI);
  assert.deepEqual(model.nodes.get("n1")?.extended, [
    { resource: "example.com/fpga", name: "fpga", used: 0, max: 1 }, { resource: "nvidia.com/gpu", name: "gpu", used: 1, max: 2 },
  ]);
  assert.equal(model.nodes.get("n1")?.size, "4 CPU · 2 GPU");
  assert.deepEqual(modelMaker()(viewOf([node("n2")]), UI).nodes.get("n2")?.extended, []);
});

test("what a node uses is what its running pods use, and the node itself; of a silent one nobody tells", () => {
  const uses = { ...pod("web-1", { nodeName: "n1" }, { phase: "Running" }), usage: { cpu: 200, memory: 2 ** 30 } };
  const n1 = { ...node("n1"), usage: { cpu: 60, memory: 2 ** 28 } };
  const told = modelMaker()(viewOf([n1, uses, pod("waits", { nodeName: "n1" })]), UI).nodes.get("n1");
  assert.ok(told);
  assert.deepEqual(told.usage, { cpu: 260, memory: 2 ** 30 + 2 ** 28 });
  assert.equal(usedShare(told, "cpu"), 260 / 4000);
  assert.equal(usedShare(told, "memory"), (2 ** 30 + 2 ** 28) / 2 ** 33);
  assert.equal(usedShare(told, "pods"), null);
  const silent = { ...n1, status: { ...n1.status, conditions: [{ type: "Ready", status: "Unknown" }] } };
  assert.equal(modelMaker()(viewOf([silent, uses]), UI).nodes.get("n1")?.usage, null);
});

test("a pod whose volumes are not there is drawn anew when its node says so, and again when that is over", () => {
  const make = modelMaker();
  const view = viewOf([node("n1"), pod("a", { nodeName: "n1" }, {
    phase: "Pending", containerStatuses: [{ name: "c", state: { waiting: { reason: "ContainerCreating" } } }] })]);
  assert.equal(make(view, UI).pods.get("default/a")?.waits, null);
  const event = (/** @type {string} */ reason, /** @type {string} */ revision) => /** @type {Slim} */ ({
    resource: "events", metadata: { name: reason, namespace: "default", resourceVersion: revision }, reason, message: "why",
    involvedObject: { kind: "Pod", namespace: "default", name: "a" } });
  const wrong = after(view, [event("FailedMount", "11")]);
  assert.equal(make(wrong, UI).nodes.get("n1")?.glyphs[0]?.waits?.reason, "FailedMount");
  const mended = after(wrong, [event("Pulling", "12")]);
  assert.equal(make(mended, UI).nodes.get("n1")?.glyphs[0]?.waits, null);
});
