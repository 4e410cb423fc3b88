// The bar of an option: pods of a node as parts of its CPU, in the hues that they have on the stage.
import assert from "node:assert/strict";
import { test } from "node:test";

import { partsOf } from "../../../static/js/class/poll/facts.js";
import { groupOf } from "../../../static/js/state/groups.js";
import { applyMessage, emptyView } from "../../../static/js/state/view.js";

const container = { name: "main", resources: { requests: { cpu: "2" } } };
const pod = (name, hues) => ({
  resource: "pods", kind: "Pod", metadata: { name, namespace: "default", uid: name, resourceVersion: "1" },
  spec: { nodeName: "n1", priority: 5, containers: [container] }, status: { phase: "Running" }, hues,
});
const node = { resource: "nodes", kind: "Node", metadata: { name: "n1", uid: "n1", resourceVersion: "1" }, spec: {}, status: { allocatable: { cpu: "4" } } };
const view = applyMessage(emptyView(), { type: "list", revision: 9, objects: [node, pod("a", { owner: 6, priority: 1 }), pod("b", { owner: 9, priority: 1 })], last: true });
const facts = { allocatable: { cpu: 4000 } };

for (const by of ["owner", "priority", "namespace"])
  test(`coloured by ${by} they are as on the stage`, () => {
    const [a, b] = partsOf("n1", facts, view, by);
    const drawn = ["a", "b"].map((name) => groupOf(view, view.objects.get("pods").get(`default/${name}`), by).hue);
    assert.deepEqual([a.hue, b.hue], drawn);
    assert.equal(a.share, 0.5);
  });

test("another way of colouring is another bar, and an option that is no node has none", () => {
  assert.notDeepEqual(partsOf("n1", facts, view, "owner"), partsOf("n1", facts, view, "priority"));
  assert.equal(partsOf("none", facts, view, "owner"), null);
});
