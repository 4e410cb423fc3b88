// The bar of an option: pods of a node as parts of its CPU, in the hues that they have on the stage.
import assert from "node:assert/strict";
import { test } from "node:test";

import { factsLine, partsOf } from "../../../static/js/class/poll/facts.js";
import { loadTexts } from "../../../static/js/lib/text.js";
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

test("parts stand in the order in which the priorities are told", () => {
  const more = applyMessage(view, { type: "list", revision: 9, objects: [node, pod("a", { owner: 1 }), { ...pod("z", { owner: 2 }), spec: { ...pod("z", {}).spec, priority: 900, containers: [{ name: "main", resources: { requests: { cpu: "1" } } }] } }], last: true });
  assert.deepEqual(partsOf("n1", facts, more, "owner").map(({ share }) => share), [0.25, 0.5]);
});

test("a budget that allows no disruption is a fact of the node", async () => {
  await Promise.all([loadTexts("en", "vote"), loadTexts("zh-hans", "vote")]);
  assert.equal(factsLine({ priorities: [20000, 0], guarded: 1 }, "en"), "priorities 20,000 · 0 · 1 pod under a PDB");
  assert.match(factsLine({ priorities: [20000, 0], guarded: 2 }, "zh-hans"), /2 个 Pod 受 PDB 保护$/);
});

test("another way of colouring is another bar, and an option that is no node has none", () => {
  assert.notDeepEqual(partsOf("n1", facts, view, "owner"), partsOf("n1", facts, view, "priority"));
  assert.equal(partsOf("none", facts, view, "owner"), null);
});
