// What a trial starts from is what decided, and it asks for what differs from that alone.
import assert from "node:assert/strict";
import { test } from "node:test";

import { aloneOf, askedBy, UNCHANGED, changesOf, lead, pluginsOf } from "../../../static/js/whatif/model.js";

const node = { resource: "nodes", metadata: { name: "n1", labels: { zone: "a", "kubernetes.io/hostname": "n1" } },
  spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }, { key: "gpu", effect: "NoSchedule" }] },
  status: { allocatable: { cpu: "4" } } };
const config = { resource: "schedulerconfigs.clustersim.io", metadata: { name: "default" }, status: { profiles: [
  { schedulerName: "default-scheduler", plugins: [
    { name: "NodeName", weight: 0, points: ["filter"] },
    { name: "TaintToleration", weight: 3, points: ["filter", "score"] },
    { name: "ImageLocality", weight: 1, points: ["score"] },
  ] },
] } };
const view = { objects: new Map([
  ["nodes", new Map([["n1", node]])],
  ["schedulerconfigs.clustersim.io", new Map([["default", config]])],
]) };
const trace = { profile: "default-scheduler", result: { scores: { nodes: ["n1", "n2"], total: [250, 207], plugins: {
  TaintToleration: { normalized: [0, 100], weighted: [0, 200] }, ImageLocality: { normalized: [0, 0], weighted: [0, 0] },
} } } };

test("a weight is what counted when it was decided, not what counts now", () => {
  assert.deepEqual(pluginsOf(view, trace), [
    { name: "NodeName", weight: 0 }, { name: "TaintToleration", weight: 2 }, { name: "ImageLocality", weight: 1 },
  ]);
});

test("only what differs is asked", () => {
  const plugins = pluginsOf(view, trace);
  assert.deepEqual(changesOf(UNCHANGED, plugins, view), []);
  assert.deepEqual(
    changesOf({ ...UNCHANGED, weights: { TaintToleration: 2, ImageLocality: 0 }, disable: "NodeName", cpu: "2" }, plugins, view),
    [{ weight: { plugin: "ImageLocality", weight: 0 } }, { disable: "NodeName" }, { request: { cpu: "2" } }],
  );
});

test("another era has plugins of its own", () => {
  assert.deepEqual(changesOf({ ...UNCHANGED, weights: { ImageLocality: 0 }, disable: "NodeName", era: "round-robin" }, pluginsOf(view, trace), view),
    [{ scheduler: { era: "round-robin" } }]);
});

test("a node more is like one that is there, without what its condition put on it", () => {
  const [{ add }] = changesOf({ ...UNCHANGED, like: "n1" }, [], view);
  assert.deepEqual(add.metadata, { name: "one-more-1", labels: { zone: "a", "kubernetes.io/hostname": "one-more-1" } });
  assert.deepEqual(add.spec, { taints: [{ key: "gpu", effect: "NoSchedule" }] });
  assert.deepEqual(add.status.allocatable, { cpu: "4" });
});

test("who won by how much", () => {
  assert.equal(lead(trace), 43);
  assert.equal(lead({ result: {} }), null);
});

test("another request is measured by what the pod asks for", () => {
  const pod = (...containers) => ({ spec: { containers } });
  assert.deepEqual(askedBy(pod({ resources: { requests: { cpu: "2", memory: "64Mi" } } })), { cpu: "2", memory: "64Mi" });
  assert.deepEqual(askedBy(pod({})), { cpu: "500m", memory: "1Gi" });
  assert.deepEqual(askedBy(pod({ resources: { requests: { cpu: "2" } } }, {})), { cpu: "500m", memory: "1Gi" }, "two containers have no one request");
});

test("a weight that moves most is hottest, one that moves none is cold, and a plugin that was never asked has no cells", () => {
  const told = { plugins: [
    { plugin: "TaintToleration", decided: 40, elsewhere: [12, 9, 3, 0, 1, 1] },
    { plugin: "ImageLocality", decided: 38, elsewhere: [0, 0, 0, 0, 0, 3] },
  ] };
  assert.deepEqual(aloneOf(told, "TaintToleration").map(({ heat }) => heat), [5, 4, 2, 0, 1, 1]);
  assert.deepEqual(aloneOf(told, "ImageLocality")[5], { elsewhere: 3, decided: 38, heat: 2 });
  assert.deepEqual(aloneOf(told, "NodeName"), []);
  const few = { plugins: [{ plugin: "TaintToleration", decided: 40, elsewhere: [1, 0, 0, 0, 0, 0] }] };
  assert.equal(aloneOf(few, "TaintToleration")[0].heat, 1, "one decision of forty is no fire");
  assert.deepEqual(aloneOf({ decided: 40, plugins: [] }, "TaintToleration").map(({ elsewhere, decided }) => [elsewhere, decided]),
    Array(6).fill([0, 40]), "forty pods that fitted nowhere would have fitted nowhere");
  assert.deepEqual(aloneOf({ decided: 0, plugins: [] }, "TaintToleration"), []);
});
