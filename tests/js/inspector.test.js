// What the inspector offers while nothing is selected: the pod in hand, else the one that was decided last.
import assert from "node:assert/strict";
import { test } from "node:test";

import { offerOf } from "../../static/js/panels/inspector.js";
import { viewOf } from "./stage/fixtures.js";

const pod = (/** @type {string} */ name) => ({ resource: "pods", metadata: { name, namespace: "default", uid: `u-${name}` } });
const replica = (/** @type {object | null} */ cycle) => ({
  resource: "replicas.clustersim.io", metadata: { name: "kube-scheduler-0" }, spec: { component: "kube-scheduler" },
  status: { leading: true, state: "Running", cycle },
});
const line = (/** @type {string} */ name) => ({ id: name, revision: 1, simTimeMs: 0, pod: `default/${name}`, uid: `u-${name}`, attempt: 1, replica: "kube-scheduler-0" });

test("the pod in hand comes first, then the newest decision whose pod is still there, else nothing is offered", () => {
  const seen = (/** @type {any} */ objects, /** @type {any} */ decisions) => ({ ...viewOf(objects), decisions });
  assert.equal(offerOf(seen([], [])), null);
  assert.deepEqual(offerOf(seen([pod("a"), pod("b")], [line("a"), line("b"), line("gone")])), { key: "default/b", held: false });
  const held = replica({ pod: "default/a", uid: "u-a", attempt: 1, point: "Score", startedAtMs: 0, dueAtMs: 0 });
  assert.deepEqual(offerOf(seen([pod("a"), pod("b"), held], [line("b")])), { key: "default/a", held: true });
});
