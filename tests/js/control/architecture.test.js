// The architecture scene: which components there are, what a row of the log says was asked and who heard of it, where all stand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { edgeOf, layoutOf, nodesRoom } from "../../../static/js/architecture/layout.js";
import { exchangeOf, gathered, inTurn, isRead, partOf, partsOf, readOf, refusalOf, saidOf, watchesOf } from "../../../static/js/architecture/model.js";

const replica = (name, component, status = {}) => ({ metadata: { name }, spec: { component }, status });
const person = (slug, online = true) => ({ slug, name: slug.toUpperCase(), color: 3, online });
const row = (revision, actor, resource, object, verb = "ADDED") => ({ revision, simTimeMs: revision * 10, actor, verb, resource, object });
const SESSION = {
  replicas: [replica("kube-scheduler-0", "kube-scheduler", { leading: true }), replica("kube-scheduler-1", "kube-scheduler", { state: "Crashed" }),
    replica("kube-controller-manager-0", "kube-controller-manager")],
  nodes: ["n1", "n2", "n3"], people: [person("ana"), person("gone", false)], rows: [],
};
const TOLD = { watches: { "kube-scheduler-0": ["pods", "nodes"], "kube-controller-manager-0": ["pods"] }, proxies: ["n2"] };
const pod = (name, nodeName) => ({ metadata: { name, namespace: "default" }, spec: nodeName ? { nodeName } : {} });

test("every component has its part: who leads, who is down, whose proxy nobody uses", () => {
  const parts = partsOf(SESSION, TOLD, 5);
  assert.deepEqual(parts.map(({ id }) => id), ["kube-apiserver", "store", "kube-scheduler-0", "kube-scheduler-1", "kube-controller-manager-0",
    "user:ana", "kubelet/n1", "kube-proxy/n1", "kubelet/n2", "kube-proxy/n2", "kubelet/n3", "kube-proxy/n3", "cloud"]);
  const named = (id) => parts.find((part) => part.id === id);
  assert.deepEqual([named("kube-scheduler-0").leads, named("kube-scheduler-1").down, named("kube-scheduler-1").watches], [true, true, []]);
  assert.deepEqual([named("kube-proxy/n1").down, named("kube-proxy/n2").down, named("kube-proxy/n2").watches.includes("services")], [true, false, true]);
  // Who has left, and what laid the cluster out, are there while the log tells of them.
  const acted = partsOf({ ...SESSION, rows: [row(1, "session", "pods", pod("a")), row(2, "user:gone", "pods", pod("b"))] }, TOLD, 5);
  assert.ok(acted.some(({ id }) => id === "session") && acted.some(({ id }) => id === "user:gone"));
});

test("nodes that have no place share one", () => {
  const parts = partsOf(SESSION, TOLD, 2);
  assert.deepEqual(parts.filter(({ kind }) => kind === "kubelet").map(({ node }) => node), ["n1"]);
  assert.equal(parts.find(({ id }) => id === "more").name, "2");
  assert.equal(partOf("kubelet/n3", parts).id, "more");
  assert.equal(partOf("kubelet/n1", parts).id, "kubelet/n1");
  assert.equal(partOf("kube-controller-manager-0/replicaset", parts).id, "kube-controller-manager-0");
  assert.equal(partOf("nobody", parts), null);
  assert.deepEqual(exchangeOf(row(9, "kube-scheduler-0", "pods", pod("web", "n3"), "MODIFIED"), parts).heard,
    ["kube-scheduler-0", "kube-controller-manager-0", "more"]);
});

test("of a pod those hear that watch pods, and of the kubelets its node's alone", () => {
  const parts = partsOf(SESSION, TOLD, 5);
  const pending = exchangeOf(row(7, "kube-controller-manager-0/replicaset", "pods", pod("web-1")), parts);
  assert.deepEqual(pending.heard, ["kube-scheduler-0", "kube-controller-manager-0"]);
  assert.equal(saidOf(pending, "create"), "create pods/web-1");
  const bound = exchangeOf(row(8, "kube-scheduler-0", "pods", pod("web-1", "n2"), "MODIFIED"), parts);
  assert.deepEqual([bound.verb, bound.heard], ["write", ["kube-scheduler-0", "kube-controller-manager-0", "kubelet/n2"]]);
  const service = exchangeOf(row(9, "user:ana", "services", { metadata: { name: "web", namespace: "default" } }), parts);
  assert.deepEqual(service.heard, ["kube-proxy/n2"]);
  assert.deepEqual(exchangeOf(row(10, "kubelet/n3", "nodes", { metadata: { name: "n3" } }, "MODIFIED"), parts).heard,
    ["kube-scheduler-0", "kube-proxy/n2", "kubelet/n3"].sort((a, b) => parts.findIndex(({ id }) => id === a) - parts.findIndex(({ id }) => id === b)));
});

test("the simulator's own objects are left out; renewals and Events are told apart from what somebody asked for", () => {
  const parts = partsOf(SESSION, TOLD, 5);
  const lease = { metadata: { name: "kube-scheduler", namespace: "kube-system" } };
  assert.equal(exchangeOf(row(1, "kube-scheduler-0", "queues.clustersim.io", lease), parts), null);
  assert.deepEqual([exchangeOf(row(2, "kube-scheduler-0", "leases.coordination.k8s.io", lease, "MODIFIED"), parts)].map(({ breath, resource }) => [breath, resource]), [[true, "leases"]]);
  assert.equal(exchangeOf(row(3, "kube-scheduler-0", "leases.coordination.k8s.io", lease), parts).breath, false);
  assert.equal(exchangeOf(row(4, "kubelet/n1", "events", pod("e")), parts).aside, true);
});

test("what came at once runs together, one after the other along each arrow, what matters first", () => {
  const parts = partsOf(SESSION, TOLD, 5);
  const made = [1, 2, 3].map((n) => exchangeOf(row(n, "kube-controller-manager-0/replicaset", "pods", pod(`web-${n}`)), parts));
  const told = exchangeOf(row(4, "kube-controller-manager-0/replicaset", "events", pod("e")), parts);
  const set = exchangeOf(row(5, "kube-controller-manager-0/replicaset", "replicasets.apps", pod("web"), "MODIFIED"), parts);
  const together = gathered([...made, told, set]);
  assert.deepEqual(together.map((one) => saidOf(one, one.verb)), ["create pods ×3", "create events/e", "write replicasets/web"]);
  assert.equal(together[0].revision, 3);
  assert.equal(made[0].count, 1, "what came in is left as it was");
  assert.deepEqual(inTurn(together, 2).map(({ resource }) => resource), ["pods", "replicasets"]);
});

test("a refused request comes as far as the API server", () => {
  const request = { id: "web-1", user: "ana", verb: "post", path: "/api/v1/namespaces/default/pods", code: 422, simTime: 2.5 };
  const refused = refusalOf(request, "deployments.apps", "web");
  assert.deepEqual([refused.actor, refused.verb, refused.resource, refused.code, refused.revision, refused.heard, refused.simTimeMs],
    ["user:ana", "create", "deployments", 422, 0, [], 2500]);
  assert.equal(refusalOf({ ...request, verb: "delete" }, "pods", "a").verb, "delete");
  assert.equal(refusalOf({ ...request, verb: "patch" }, "pods", "a").verb, "write");
});

test("a replica watches what its copies are filled by watching", () => {
  const listers = [{ resource: "pods", rows: 1 }, { resource: "pods", mode: "watch" }, { resource: "nodes", mode: "poll" }, { resource: "services", mode: "watch" }];
  assert.deepEqual(watchesOf({ inside: { listers } }), ["pods", "services"]);
  assert.deepEqual(watchesOf({ inside: null }), []);
});

for (const [width, height] of [[690, 380], [640, 330], [1100, 600]])
  test(`nothing lies over anything else or outside at ${width} × ${height}`, () => {
    const people = ["ana", "bo", "cy"].map((slug) => person(slug));
    const parts = partsOf({ ...SESSION, people, nodes: Array.from({ length: 9 }, (_, index) => `n${index}`), rows: [row(1, "session", "pods", pod("a"))] }, TOLD, nodesRoom(width));
    const boxes = [...layoutOf(parts, width, height, 12)].filter(([id]) => !id.startsWith("node/"));
    assert.equal(boxes.length, parts.length);
    for (const [id, { x, y, width: w, height: h }] of boxes) {
      assert.ok(x - w / 2 >= 0 && x + w / 2 <= width && y - h / 2 >= 0 && y + h / 2 <= height, `${id} is inside`);
      for (const [other, box] of boxes)
        if (other !== id) assert.ok(Math.abs(box.x - x) >= (box.width + w) / 2 || Math.abs(box.y - y) >= (box.height + h) / 2, `${id} and ${other}`);
    }
  });

test("names of replicas have room: three of each stand in two rows", () => {
  const replicas = ["kube-scheduler", "kube-controller-manager"].flatMap((component) => [0, 1, 2].map((at) =>
    ({ resource: "replicas.clustersim.io", metadata: { name: `${component}-${at}` }, spec: { component }, status: {} })));
  const parts = partsOf({ ...SESSION, replicas }, TOLD, nodesRoom(690));
  const boxes = layoutOf(parts, 690, 300, 12);
  const tops = replicas.map(({ metadata }) => boxes.get(metadata.name));
  for (const box of tops) assert.ok(box && box.width >= 16 * 12, String(box?.width));
  assert.equal(new Set(tops.map((box) => box?.y)).size, 2);
  const server = boxes.get("kube-apiserver");
  assert.ok(server && tops.every((box) => box && box.y + box.height / 2 < server.y - server.height / 2));
});

test("an arrow goes from border to border, its way back beside it", () => {
  const [a, b] = [{ x: 50, y: 50, width: 40, height: 20 }, { x: 250, y: 50, width: 60, height: 40 }];
  assert.deepEqual(edgeOf(a, b, 0), { x1: 70, y1: 50, x2: 220, y2: 50 });
  assert.deepEqual(edgeOf(a, b, 4), { x1: 70, y1: 46, x2: 220, y2: 46 });
  assert.deepEqual(edgeOf(b, a, 4), { x1: 220, y1: 54, x2: 70, y2: 54 });
});

test("a read comes as far as the API server, of one object or of a list; many of one kind are one arrow", () => {
  const read = (id, verb, resource, name) => readOf({ id, user: "ana", verb }, { resource, name, atMs: 500 });
  const one = read(7, "get", "deployments.apps", "web");
  assert.deepEqual([one.actor, one.revision, one.code, one.heard, isRead(one), saidOf(one, "get")], ["user:ana", 0, 0, [], true, "get deployments/web"]);
  assert.equal(saidOf(read(8, "list", "pods", ""), "list"), "list pods");
  assert.equal(isRead(refusalOf({ id: "x", simTime: 1, user: "ana", code: 403, verb: "delete" }, "pods", "a")), false);
  assert.deepEqual(gathered([1, 2, 3].map((id) => read(id, "watch", "pods", ""))).map((each) => saidOf(each, each.verb)), ["watch pods ×3"]);
});
