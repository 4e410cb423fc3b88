// Which files are a real cluster with a pod that waits.
import assert from "node:assert/strict";
import { test } from "node:test";

import { isCluster } from "../../static/js/lib/clusterfile.js";

const node = (change = {}) => ({ kind: "Node", metadata: { name: "n", uid: "n" }, ...change });
const pod = (change = {}, spec = {}) => ({ kind: "Pod", metadata: { name: "p", uid: "p" }, spec, status: { phase: "Pending" }, ...change });
const file = (...items) => JSON.stringify({ apiVersion: "v1", kind: "List", items });

test("nodes and a pod that waits are a cluster", () => {
  assert.equal(isCluster(file(node(), pod())), true);
  assert.equal(isCluster(`  \n${file(pod({}, { nodeName: "n" }), pod(), node())}`), true);
});

test("everything else is a file to be applied, or none", () => {
  const cases = [
    "", "apiVersion: v1", "{", "[]", "{}", "null", file(), file(node()), file(pod()), file(null, 3),
    file(node(), pod({}, { nodeName: "n" })), file(node(), pod({ status: { phase: "Succeeded" } })),
    file(node(), pod({ metadata: { uid: "p", deletionTimestamp: "2026-01-01T00:00:00Z" } })),
    file(node({ metadata: { name: "n" } }), pod({ metadata: { name: "p" } })),
  ];
  for (const text of cases) assert.equal(isCluster(text), false, text);
});
