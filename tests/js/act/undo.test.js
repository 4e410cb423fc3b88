// Undoing one's own last action, against a small server of objects: what is taken back, and what is refused and why.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Deeds, DEEDS_MAX } from "../../../static/js/act/undo.js";
import { kindNamed } from "../../../static/js/lib/kinds.js";
import { SessionApi } from "../../../static/js/net/rest.js";
import { madeAgain } from "../../../static/js/state/undo.js";

const POD = kindNamed("Pod");
const NODE = kindNamed("Node");

/** @type {Map<string, any>} path → object */
let stored;
/** @type {SessionApi} */
let api;
/** @type {Deeds} */
let deeds;
let version = 0;
/** The status that the next write is refused with; 0: none is. */
let refuseWith = 0;

const answer = (/** @type {number} */ code, /** @type {unknown} */ body) =>
  new Response(JSON.stringify(body), { status: code, headers: { "Content-Type": "application/json" } });
const status = (/** @type {number} */ code) => answer(code, { kind: "Status", code, reason: String(code), message: `refused with ${code}` });

/** A server that keeps what it is given, merges patches and honours preconditions. */
function serve(/** @type {string} */ path, /** @type {any} */ { method, body }) {
  const sent = body ? JSON.parse(body) : null;
  if (method !== "GET" && refuseWith) return status(refuseWith);
  version += 1;
  if (path.endsWith("/import")) {
    const rows = sent.map((/** @type {any} */ row) => {
      if (row.action === "created") put(`/clusters/C/api/v1/namespaces/${row.namespace}/pods/${row.name}`, row);
      return row;
    });
    return answer(200, { results: rows });
  }
  if (method === "POST") return answer(201, put(`${path}/${sent.metadata.name}`, sent));
  const known = stored.get(path);
  if (!known) return status(404);
  if (method === "DELETE") {
    if (sent.preconditions && sent.preconditions.uid !== known.metadata.uid) return status(409);
    stored.delete(path);
  }
  if (method === "PATCH") {
    const wanted = sent.metadata?.resourceVersion;
    if (wanted && wanted !== known.metadata.resourceVersion) return status(409);
    merge(known, sent);
    known.metadata.resourceVersion = String(version);
  }
  return answer(200, structuredClone(known));
}

function put(/** @type {string} */ path, /** @type {any} */ document) {
  const made = structuredClone(document);
  made.metadata = { ...made.metadata, name: made.metadata?.name ?? made.name, uid: `u${version}`, resourceVersion: String(version) };
  stored.set(path, made);
  return structuredClone(made);
}

function merge(/** @type {any} */ into, /** @type {any} */ patch) {
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete into[key];
    else if (typeof value === "object" && !Array.isArray(value)) merge((into[key] ??= {}), value);
    else into[key] = value;
}

beforeEach(() => {
  stored = new Map();
  refuseWith = 0;
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ path, /** @type {any} */ options) => serve(path, options));
  api = new SessionApi("C");
  deeds = new Deeds(api, () => {});
});

const pod = (/** @type {string} */ name, more = {}) =>
  ({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default", labels: { app: name } }, spec: { containers: [] }, ...more });
const node = (/** @type {string} */ name) => ({ apiVersion: "v1", kind: "Node", metadata: { name }, spec: { taints: [] }, status: {} });
const at = (/** @type {string} */ name) => stored.get(`/clusters/C/api/v1/namespaces/default/pods/${name}`);
const nodeAt = (/** @type {string} */ name) => stored.get(`/clusters/C/api/v1/nodes/${name}`);

test("what was created is deleted again", async () => {
  await api.create(POD, pod("a"), "default");
  assert.deepEqual(deeds.next, { did: "created", kind: "Pod", name: "a", count: 1 });
  assert.deepEqual((await deeds.undo()).key, "undo.done_created");
  assert.equal(at("a"), undefined);
  assert.equal(deeds.next, null, "undoing is nothing that could be undone");
  assert.deepEqual((await deeds.undo()).key, "undo.nothing");
});

test("what was taken back is done again, and taken back again", async () => {
  await api.create(POD, pod("a"), "default");
  assert.equal(deeds.again, null);
  await deeds.undo();
  assert.deepEqual(deeds.again, { did: "created", kind: "Pod", name: "a", count: 1 });
  assert.deepEqual(await deeds.redo(), { key: "redo.done_created", values: { kind: "Pod", name: "a", count: 1 }, tone: "done" });
  assert.deepEqual(at("a").metadata.labels, { app: "a" });
  assert.equal(deeds.again, null);
  assert.equal((await deeds.redo()).key, "redo.nothing");
  assert.equal((await deeds.undo()).key, "undo.done_created");
  assert.equal(at("a"), undefined);
});

test("a deletion and a change are done again", async () => {
  await api.create(NODE, node("n1"), "");
  await api.patch(NODE, "", "n1", { spec: { taints: [{ key: "a" }] } });
  await deeds.undo();
  assert.deepEqual(nodeAt("n1").spec.taints, []);
  assert.equal((await deeds.redo()).key, "redo.done_changed");
  assert.deepEqual(nodeAt("n1").spec.taints, [{ key: "a" }]);
  await api.delete(NODE, "", "n1");
  await deeds.undo();
  assert.ok(nodeAt("n1"));
  assert.equal((await deeds.redo()).key, "redo.done_deleted");
  assert.equal(nodeAt("n1"), undefined);
});

test("what was taken back is done again only as long as nothing else was done", async () => {
  await api.create(POD, pod("a"), "default");
  await deeds.undo();
  await api.create(POD, pod("b"), "default");
  assert.equal(deeds.again, null);
  assert.equal((await deeds.redo()).key, "redo.nothing");
  assert.equal(at("a"), undefined);
});

test("what somebody else has put in the place meanwhile stays", async () => {
  put("/clusters/C/api/v1/namespaces/default/pods/a", pod("a"));
  await api.delete(POD, "default", "a");
  await deeds.undo();
  at("a").metadata.uid = "another";
  assert.equal((await deeds.redo()).key, "undo.other");
  assert.ok(at("a"), "it is not deleted for who deleted the one before");
});

test("what somebody else put in its place stays", async () => {
  await api.create(POD, pod("a"), "default");
  stored.clear();
  put("/clusters/C/api/v1/namespaces/default/pods/a", { ...pod("a"), metadata: { name: "a" } });
  at("a").metadata.uid = "another";
  assert.equal((await deeds.undo()).key, "undo.other");
  assert.ok(at("a"));
});

test("what is gone already is said to be gone", async () => {
  await api.create(POD, pod("a"), "default");
  stored.clear();
  assert.deepEqual(await deeds.undo(), { key: "undo.gone", values: { kind: "Pod", name: "a" }, tone: "note", keep: false });
  assert.equal(deeds.next, null);
});

test("what was deleted is made again as it was asked for", async () => {
  put("/clusters/C/api/v1/namespaces/default/pods/a",
    pod("a", { spec: { nodeName: "n1", priority: 7, containers: [{ name: "c" }] }, status: { phase: "Running" } }));
  const { uid } = at("a").metadata;
  await api.delete(POD, "default", "a");
  assert.equal(at("a"), undefined);
  assert.equal((await deeds.undo()).key, "undo.done_deleted");
  assert.deepEqual(at("a").spec, { priority: 7, containers: [{ name: "c" }] }, "the scheduler decides anew");
  assert.equal(at("a").status, undefined);
  assert.notEqual(at("a").metadata.uid, uid);
  assert.deepEqual(at("a").metadata.labels, { app: "a" });
});

test("while what was deleted still ends, it can be undone later", async () => {
  put("/clusters/C/api/v1/namespaces/default/pods/a", pod("a"));
  const ending = at("a");
  await api.delete(POD, "default", "a");
  stored.set("/clusters/C/api/v1/namespaces/default/pods/a", ending);
  assert.equal((await deeds.undo()).key, "undo.leaving");
  stored.clear();
  assert.equal((await deeds.undo()).key, "undo.done_deleted");
  assert.ok(at("a"));
});

test("a pod that its ReplicaSet replaces is not made twice", async () => {
  put("/clusters/C/api/v1/namespaces/default/pods/a", {
    ...pod("a"), metadata: { name: "a", ownerReferences: [{ kind: "ReplicaSet", name: "web", controller: true, uid: "r" }] },
  });
  await api.delete(POD, "default", "a");
  const { key, values } = await deeds.undo();
  assert.deepEqual([key, values.owner], ["undo.owned", "ReplicaSet web"]);
  assert.equal(at("a"), undefined);
});

test("a change goes back where nobody changed it since, and leaves alone what others changed beside it", async () => {
  await api.create(NODE, node("n1"), "");
  await api.patch(NODE, "", "n1", { metadata: { labels: { disk: "ssd" } }, spec: { unschedulable: true } });
  const one = nodeAt("n1");
  Object.assign(one.metadata, { resourceVersion: "other", annotations: { by: "somebody" } });
  one.status = { phase: "beating" };
  const said = await deeds.undo();
  assert.equal(said.key, "undo.done_changed");
  assert.deepEqual(said.values.paths, "spec.unschedulable, metadata.labels");
  assert.deepEqual([nodeAt("n1").metadata.labels, nodeAt("n1").spec], [undefined, { taints: [] }]);
  assert.deepEqual([nodeAt("n1").metadata.annotations, nodeAt("n1").status], [{ by: "somebody" }, { phase: "beating" }]);
});

test("a change that somebody changed again is theirs", async () => {
  await api.create(NODE, node("n1"), "");
  await api.patch(NODE, "", "n1", { spec: { taints: [{ key: "a" }] } });
  nodeAt("n1").spec.taints = [{ key: "b" }];
  const { key, values } = await deeds.undo();
  assert.deepEqual([key, values.paths], ["undo.changed", "spec.taints"]);
  assert.deepEqual(nodeAt("n1").spec.taints, [{ key: "b" }]);
});

test("a write that changed nothing is nothing to undo, nor is one that was refused", async () => {
  await api.create(NODE, node("n1"), "");
  await api.patch(NODE, "", "n1", { spec: { taints: [] } });
  assert.equal(deeds.next?.did, "created");
  refuseWith = 403;
  await assert.rejects(() => api.create(NODE, node("n2"), ""), /refused with 403/);
  assert.equal(deeds.next?.name, "n1");
  await assert.rejects(() => deeds.undo(), /refused with 403/, "roles hold for the way back too");
  assert.equal(deeds.next?.name, "n1", "and it can be tried again");
});

test("a file's objects go again, the last first; what was there before stays", async () => {
  const row = (/** @type {string} */ name, /** @type {string} */ action) => ({ kind: "Pod", namespace: "default", name, action });
  await api.importText(JSON.stringify([row("a", "created"), row("b", "configured"), row("c", "created")]), "application/json");
  assert.deepEqual(deeds.next, { did: "imported", kind: "", name: "", count: 2 });
  stored.delete("/clusters/C/api/v1/namespaces/default/pods/c");
  assert.deepEqual(await deeds.undo(), { key: "undo.done_imported_part", values: { count: 1, changed: 1 }, tone: "done", keep: false });
  assert.equal(stored.size, 0);
  assert.deepEqual(await deeds.redo(), { key: "redo.done_imported", values: { kind: "", name: "", count: 2 }, tone: "done" });
  assert.ok(at("a"), "what the file had made, and is not gone by itself");
  assert.equal(at("c"), undefined);
  assert.equal((await deeds.undo()).key, "undo.done_imported_part");
  assert.equal(stored.size, 0);
});

test("deeds are undone one after another, the newest first, and only so many are kept", async () => {
  for (let number = 0; number < DEEDS_MAX + 5; number += 1) await api.create(POD, pod(`p${number}`), "default");
  for (let number = 0; number < DEEDS_MAX; number += 1) await deeds.undo();
  assert.deepEqual([...stored.values()].map(({ metadata }) => metadata.name), ["p0", "p1", "p2", "p3", "p4"]);
  assert.equal((await deeds.undo()).key, "undo.nothing");
});

test("what components filled in is left out; what a person wrote is kept", () => {
  const claim = { kind: "PersistentVolumeClaim", spec: { volumeName: "v", storageClassName: "" }, status: {},
    metadata: { name: "c", uid: "u", annotations: { "pv.kubernetes.io/bind-completed": "yes", mine: "1" } } };
  assert.deepEqual(madeAgain(claim), { kind: "PersistentVolumeClaim", spec: { storageClassName: "" },
    metadata: { name: "c", annotations: { mine: "1" } } });
  const template = { metadata: { labels: { app: "x", "batch.kubernetes.io/controller-uid": "u", "job-name": "j" } } };
  const job = { kind: "Job", metadata: { name: "j" }, spec: { selector: { matchLabels: {} }, template } };
  assert.deepEqual(madeAgain(job).spec, { template: { metadata: { labels: { app: "x" } } } });
  assert.deepEqual(madeAgain({ ...job, spec: { ...job.spec, manualSelector: true } }).spec.selector, { matchLabels: {} });
});
