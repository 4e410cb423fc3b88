// A what-if's change is sent as the Kubernetes API takes it, and what it did is taken back as it was.
import assert from "node:assert/strict";
import { test } from "node:test";

import { inverseOf, lookOf, namespaceOf, resized } from "../../../static/js/lib/changes.js";

test("the way back holds what was there, and takes away what was not", () => {
  const node = { metadata: { labels: { a: "1", b: "2" } }, spec: { unschedulable: true, taints: [{ key: "gpu" }] } };
  assert.deepEqual(inverseOf({ metadata: { labels: { a: null, c: "3" } }, spec: { taints: null } }, node), {
    metadata: { labels: { a: "1", c: null } }, spec: { taints: [{ key: "gpu" }] },
  });
  assert.deepEqual(inverseOf({ spec: { unschedulable: null } }, { metadata: {} }), { spec: { unschedulable: null } });
});

test("a pod asks for less as a whole: its first container for all of it", () => {
  const pod = { spec: { containers: [
    { name: "a", resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "2Gi" } } },
    { name: "b", resources: { requests: { cpu: "500m" } } },
    { name: "c" },
  ] } };
  assert.deepEqual(resized(pod, { cpu: "250m" }).spec.containers.map((one) => one.resources), [
    { requests: { cpu: "250m", memory: "1Gi" }, limits: { cpu: "250m", memory: "2Gi" } },
    { requests: { cpu: "0" } },
    undefined,
  ]);
});

test("whose namespace a change writes in says who may make it", () => {
  const patch = { kind: "Node", name: "n1", patch: { spec: { taints: null } } };
  assert.equal(namespaceOf({ request: { cpu: "1" } }, "s-mei"), "s-mei");
  assert.equal(namespaceOf({ patch }, "s-mei"), "");
  assert.equal(namespaceOf({ remove: { kind: "Pod", namespace: "shop", name: "web" } }, "s-mei"), "shop");
  assert.equal(namespaceOf({ add: { kind: "Node", metadata: { name: "n" } } }, "s-mei"), "");
});

test("what takes something away looks so", () => {
  assert.deepEqual(lookOf({ remove: { kind: "Pod", name: "web" } }), { icon: "close", harms: true });
  assert.equal(lookOf({ request: { cpu: "1" } }).harms, false);
});
