// What the palette's forms make of what is typed, and which field a server's complaint is put beside.
import assert from "node:assert/strict";
import { test } from "node:test";

import { amountOf, fieldOfPath, itemOf, ITEMS, readPairs, readTaints } from "../../static/js/lib/items.js";
import { lineInMessage } from "../../static/js/forms/yaml_editor.js";

const built = (id, values) => itemOf(id).build({ ...itemOf(id).defaults, ...values });

test("pairs: entries by comma or line, a value may hold =, none is an empty text", () => {
  assert.deepEqual(readPairs(" a=b ,c\nd = e=f,, "), { a: "b", c: "", d: "e=f" });
  assert.deepEqual(readPairs(undefined), {});
});

test("a field left empty says nothing; one filled in stands where the server reads it", () => {
  assert.deepEqual(built("pod-besteffort", { name: "p", namespace: "" }), {
    apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers: [{ name: "main", image: "nginx:1.27" }] },
  });
  const pod = built("pod-gpu", { name: "p", namespace: "ana", nodeSelector: "disk=ssd", tolerations: "a=b:NoSchedule,c:NoExecute" });
  assert.equal(pod.metadata.namespace, "ana");
  assert.deepEqual(pod.spec.containers[0].resources, {
    requests: { cpu: "500m", memory: "1Gi", "nvidia.com/gpu": "1" }, limits: { "nvidia.com/gpu": "1" },
  });
  assert.deepEqual(pod.spec.nodeSelector, { disk: "ssd" });
  assert.deepEqual(pod.spec.tolerations, [
    { key: "a", operator: "Equal", value: "b", effect: "NoSchedule" }, { key: "c", operator: "Exists", effect: "NoExecute" },
  ]);
});

test("a node's labels name its host and zone, and its allocatable is its capacity", () => {
  const node = built("node-small", { name: "n1", zone: "z1", labels: "disk=ssd", taints: "a=b:NoSchedule" });
  assert.deepEqual(node.metadata.labels, { "kubernetes.io/hostname": "n1", "topology.kubernetes.io/zone": "z1", disk: "ssd" });
  assert.deepEqual(node.spec.taints, readTaints("a=b:NoSchedule"));
  assert.deepEqual(node.status.capacity, { cpu: "2", memory: "4Gi", pods: "110" });
  assert.deepEqual(node.status.allocatable, node.status.capacity);
});

test("a workload selects the pods of its own template", () => {
  const { spec } = built("deployment", { name: "web", replicas: "5" });
  assert.equal(spec.replicas, 5);
  assert.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels);
});

for (const item of ITEMS)
  test(`${item.id} is a ${item.kind} by the name that was typed`, () => {
    const document = item.build({ ...item.defaults, name: "given" });
    assert.deepEqual([document.kind, document.metadata.name], [item.kind, "given"]);
    assert.equal(new Set(item.fields.map(({ name }) => name)).size, item.fields.length, "no field stands there twice");
  });

test("a complaint is put beside the field with the longest path that begins it", () => {
  const fields = itemOf("pod-gpu").fields;
  const nameFor = (path) => fieldOfPath(fields, path)?.name ?? null;
  assert.equal(nameFor("spec.containers[0].resources.requests.cpu"), "cpu");
  assert.equal(nameFor("spec.containers[0].resources.limits[nvidia.com/gpu]"), "gpu");
  assert.equal(nameFor("spec.containers[0].resources.limits.nvidia.com/gpu"), "gpu");
  assert.equal(nameFor("spec.tolerations[1].effect"), "tolerations");
  assert.equal(nameFor("metadata.labels[a b]"), "labels");
  assert.equal(nameFor("metadata.namesake"), null);
});

test("the line a parser's sentence names, from 0; -1 when it names none", () => {
  assert.equal(lineInMessage("the YAML cannot be read: line 3, column 5: mapping values"), 2);
  assert.equal(lineInMessage("the YAML holds several documents"), -1);
});

test("where no heading says of what a pod asks how much, the amount does", () => {
  const said = ITEMS.filter(({ group }) => group === "pods").map((item) => amountOf(item));
  assert.deepEqual(said, [
    "250m CPU", "500m CPU", "1 CPU", "1 GPU", "", "500m CPU", ":8080", "100m CPU", "100m CPU",
  ]);
});
