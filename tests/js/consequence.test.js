// What the page says before something is deleted.
import assert from "node:assert/strict";
import { test } from "node:test";

import { consequence } from "../../static/js/state/consequence.js";
import { applyMessage, emptyView } from "../../static/js/state/view.js";

const viewOf = (...objects) => applyMessage(emptyView(), { type: "list", revision: 9, objects, last: true });
const controller = (kind, name, uid) => [{ kind, name, uid, controller: true }];
const pod = (name, nodeName, ownerReferences, namespace = "default") =>
  ({ resource: "pods", metadata: { name, namespace, uid: `u-${name}`, ownerReferences }, spec: { nodeName } });
const set = (name, ownerReferences) =>
  ({ resource: "replicasets.apps", metadata: { name, namespace: "default", uid: `u-${name}`, ownerReferences } });

const VIEW = viewOf(
  { resource: "nodes", metadata: { name: "n1" } }, { resource: "nodes", metadata: { name: "n2" } }, { resource: "nodes", metadata: { name: "n3" } },
  pod("bare", "n1"), pod("web-1", "n1", controller("ReplicaSet", "web", "u-web")), pod("web-2", "n2", controller("ReplicaSet", "web", "u-web")),
  pod("other", "", undefined, "shop"),
  { resource: "deployments.apps", metadata: { name: "web", namespace: "default", uid: "u-deploy" } },
  set("web", controller("Deployment", "web", "u-deploy")), set("idle"),
);

const CASES = [
  ["a node takes the pods on it along", "nodes", "n1", "delete_node_many", { count: 2 }],
  ["one pod is counted as one", "nodes", "n2", "delete_node_one", { count: 1 }],
  ["an empty node takes nothing along", "nodes", "n3", "delete_plain", { count: 0 }],
  ["a Deployment takes the pods of its ReplicaSets along", "deployments.apps", "default/web", "delete_owner_many", { count: 2 }],
  ["a ReplicaSet without pods takes nothing along", "replicasets.apps", "default/idle", "delete_plain", { count: 0 }],
  ["a namespace takes all in it along", "namespaces", "shop", "delete_namespace_one", { count: 1 }],
  ["nothing makes a bare pod again", "pods", "default/bare", "delete_bare_pod", {}],
  ["an owned pod comes again", "pods", "default/web-1", "delete_owned_pod", { kind: "Deployment", owner: "web" }],
  ["what is gone already is deleted plainly", "services", "default/none", "delete_plain", { count: 0 }],
];

for (const [what, resource, key, text, values] of CASES)
  test(what, () => assert.deepEqual(consequence(VIEW, resource, key), { text, values }));
