// What panels and stage ask of a view.
import assert from "node:assert/strict";
import { test } from "node:test";

import { cpuMilli, formatAsked, formatCpu, formatMemory, formatRequests, memoryBytes, parseQuantity } from "../../static/js/lib/quantity.js";
import { fieldOfPath, itemOf, ITEMS } from "../../static/js/lib/items.js";
import { codeCharacters, formatCode } from "../../static/js/lib/code.js";
import { rateOfSlider, sliderOfRate } from "../../static/js/lib/rate.js";
import { numberedName, workloadName } from "../../static/js/state/names.js";
import { refusedCluster, refusedWrite } from "../../static/js/state/roles.js";
import {
  compareNames, cycleInHand, cycleUnderWay, leader, leaseSeen, nodes, ownerOf, podRequests, podState, podsByNode, queueOfLeader, zones,
} from "../../static/js/state/selectors.js";
import { eventsAbout, NEWEST_EVENTS_MAX, newestEvents } from "../../static/js/state/events.js";
import { applyMessage, emptyView } from "../../static/js/state/view.js";

function viewOf(...objects) {
  return applyMessage(emptyView(), { type: "list", revision: 9, objects, last: true });
}
function node(name, zone, extra = {}) {
  return {
    resource: "nodes", metadata: { name, labels: zone ? { "topology.kubernetes.io/zone": zone } : {} }, spec: {},
    status: { allocatable: { cpu: "4", memory: "8Gi", pods: "110", "nvidia.com/gpu": "2" }, conditions: [{ type: "Ready", status: "True" }] },
    ...extra,
  };
}
function pod(name, spec = {}, status = {}, metadata = {}) {
  return { resource: "pods", metadata: { name, namespace: "default", uid: `u-${name}`, ...metadata }, spec, status };
}
const requests = (cpu, memory) => [{ name: "c", resources: { requests: { cpu, memory } } }];

test("quantities are read as the API server reads them", () => {
  const cases = [["1", 1], ["1.5", 1.5], ["250m", 0.25], ["64Mi", 67108864], ["3k", 3000], ["1e3", 1000], [".5", 0.5], ["2", 2]];
  for (const [written, value] of cases) assert.equal(parseQuantity(written), value, written);
  for (const bad of ["", "abc", "1.5.2", "1KB", undefined, null]) assert.ok(Number.isNaN(parseQuantity(bad)), String(bad));
  assert.equal(cpuMilli("0.35"), 350);
  assert.equal(cpuMilli("1m"), 1);
  assert.equal(memoryBytes("0.5Gi"), 2 ** 29);
  assert.equal(formatCpu(250), "250m");
  assert.equal(formatCpu(2850), "2.85");
  assert.equal(formatMemory(3.4 * 2 ** 30), "3.4 Gi");
});

test("of what a pod does not ask for nothing is said", () => {
  assert.equal(formatRequests(500, 2 ** 29), "500m · 512 Mi");
  assert.equal(formatRequests(3000, 0), "3 CPU");
  assert.equal(formatRequests(0, 2 ** 30), "1 Gi");
  assert.equal(formatRequests(0, 0), "");
  assert.deepEqual([[500, 2 ** 29], [500, 0], [0, 0]].map(([cpu = 0, memory = 0]) => formatAsked({ cpuMilli: cpu, memoryBytes: memory })),
    ["500m cpu · 512 Mi", "500m cpu", ""]);
  assert.equal(formatAsked({ cpuMilli: 2000, memoryBytes: 0, extended: { "nvidia.com/gpu": 1, "example.com/lane": 0 } }), "2 cpu · 1\u00a0nvidia.com/gpu");
});

test("what the scheduler counts otherwise is taken as it is told: an impossible resize is held, not wished", () => {
  const wish = { containers: [{ name: "c", resources: { requests: { cpu: "64" } } }] };
  assert.equal(podRequests(pod("p", wish)).cpuMilli, 64_000);
  const { cpuMilli, memoryBytes, pods } = podRequests({ ...pod("p", wish), counts: { cpu: "500m", memory: "1024" } });
  assert.deepEqual([cpuMilli, memoryBytes, pods], [500, 1024, 1]);
});

test("a pod asks for its containers, or its largest init container, with sidecars and overhead", () => {
  const asks = (spec) => podRequests(pod("p", spec)).cpuMilli;
  assert.equal(asks({ containers: [...requests("250m"), ...requests("500m")] }), 750);
  assert.equal(asks({ containers: requests("250m"), initContainers: requests("1") }), 1000);
  assert.equal(asks({ containers: requests("250m"), initContainers: [{ ...requests("100m")[0], restartPolicy: "Always" }] }), 350);
  assert.equal(asks({ containers: requests("250m"), overhead: { cpu: "50m" } }), 300);
});

test("nodes stand in the order people count in and hold what their live pods request", () => {
  const view = viewOf(node("n10", "b"), node("n2", "a"), pod("x", { nodeName: "n2", containers: requests("1", "1Gi") }),
    pod("done", { nodeName: "n2", containers: requests("2") }, { phase: "Succeeded" }));
  const list = nodes(view);
  assert.deepEqual(list.map(({ name }) => name), ["n2", "n10"]);
  assert.equal(list[0].requested.cpuMilli, 1000);
  assert.equal(list[0].requested.pods, 1);
  assert.equal(list[0].allocatable.extended["nvidia.com/gpu"], 2);
  assert.equal(podsByNode(view).get("n2").length, 2);
  assert.ok(compareNames("n9", "n10") < 0);
});

test("an answer is remembered while nothing in its maps changed", () => {
  const view = viewOf(node("n1"));
  const later = applyMessage(view, { type: "events", from: 9, to: 10, events: [
    { revision: 10, verb: "ADDED", simTimeMs: 0, actor: "x", resource: "leases.coordination.k8s.io", object: { resource: "leases.coordination.k8s.io", metadata: { name: "l", namespace: "kube-system" } } }] });
  assert.equal(nodes(later), nodes(view));
});

test("zones come in order of name, nodes without one last", () => {
  assert.deepEqual(zones(viewOf(node("n1"), node("n2", "zone-b"), node("n3", "zone-a"))).map(({ name }) => name), ["zone-a", "zone-b", ""]);
});

const STATES = [
  ["queued", pod("p")],
  ["gated", pod("p", { schedulingGates: [{ name: "quota" }] })],
  ["nominated", pod("p", {}, { nominatedNodeName: "n1" })],
  ["bound", pod("p", { nodeName: "n1" }, { phase: "Pending" })],
  ["pulling", pod("p", { nodeName: "n1" }, { phase: "Pending", containerStatuses: [{ name: "c", state: { waiting: { reason: "ContainerCreating" } } }] })],
  ["running", pod("p", { nodeName: "n1" }, { phase: "Running" })],
  ["terminating", pod("p", { nodeName: "n1" }, { phase: "Running" }, { deletionTimestamp: "2030-01-01T00:00:00Z" })],
  ["failed", pod("p", {}, { phase: "Failed" })],
];
for (const [state, object] of STATES) test(`a pod is drawn ${state}`, () => assert.equal(podState(object), state));

test("an assumed pod is told from a queued one by the queue's word", () => {
  assert.equal(podState(pod("p"), new Set(["default/p"])), "assumed");
});

function replica(name, status) {
  return { resource: "replicas.clustersim.io", metadata: { name }, spec: { component: "kube-scheduler" }, status };
}
test("the leader is who says so and runs; its queue is the queue, its cycle the cycle", () => {
  const cycle = { pod: "default/p", uid: "u", point: "Filter" };
  const queue = { resource: "queues.clustersim.io", metadata: { name: "kube-scheduler-1" }, status: { active: [{ pod: "default/p", uid: "u" }], counts: { active: 1 } } };
  const view = viewOf(replica("kube-scheduler-0", { leading: true, state: "Crashed", cycle }), replica("kube-scheduler-1", { leading: true, state: "Running" }), queue);
  assert.equal(leader(view, "kube-scheduler").metadata.name, "kube-scheduler-1");
  assert.equal(queueOfLeader(view).active.length, 1);
  assert.deepEqual(queueOfLeader(view).backoff, []);
  const bound = viewOf(replica("kube-scheduler-1", { leading: true, state: "Running" }), queue,
    { resource: "pods", metadata: { namespace: "default", name: "p" }, spec: { nodeName: "n1" } });
  assert.deepEqual([queueOfLeader(bound).active, queueOfLeader(bound).counts], [[], { active: 0 }], "who has a node waits for none");
  assert.equal(cycleUnderWay(view), null, "a crashed replica holds no cycle");
  assert.equal(leader(viewOf(replica("kube-scheduler-0", { leading: false })), "kube-scheduler"), null);
});

test("a cycle whose status is too small for its trace is shown once the trace has come", () => {
  const cycle = { pod: "default/p", uid: "u", point: "Filter", traceId: "u-1" };
  const view = viewOf(replica("kube-scheduler-0", { leading: true, state: "Running", cycle }));
  assert.equal(cycleInHand(view).cycle, cycle);
  assert.equal(cycleUnderWay(view), null);
  const traced = { ...view, hand: { id: "u-1", point: "Filter", trace: { feasible: ["n1"] } } };
  assert.deepEqual(cycleUnderWay(traced).cycle.trace.feasible, ["n1"]);
  assert.equal(cycleUnderWay(traced).cycle, cycleUnderWay(traced).cycle, "the same answer while nothing changed");
  assert.equal(cycleUnderWay({ ...view, hand: { id: "u-0", point: "Filter", trace: {} } }), null, "another cycle's trace is not this one's");
});

test("a lease counts from its last renewal, wherever that is told", () => {
  const told = { holder: "kube-scheduler-0", renewedAtMs: 2000, observedAtMs: 2000, durationMs: 15000 };
  const one = replica("kube-scheduler-0", { leading: true, lease: told });
  const lease = (holder, second) => ({
    resource: "leases.coordination.k8s.io", metadata: { name: "kube-scheduler", namespace: "kube-system" },
    spec: { holderIdentity: holder, renewTime: `1970-01-01T00:00:${second}.000000Z` },
  });
  assert.equal(leaseSeen(viewOf(one, lease("kube-scheduler-0", "10")), one).renewedAtMs, 10_000);
  assert.equal(leaseSeen(viewOf(one, lease("kube-scheduler-1", "10")), one).renewedAtMs, 2000, "another holder's renewal is not this one's");
  assert.equal(leaseSeen(viewOf(one), one).observedAtMs, 2000);
  assert.equal(leaseSeen(viewOf(), replica("kube-scheduler-1", {})), null);
});

test("a pod's owner is the Deployment above its ReplicaSet", () => {
  const owners = (kind, name) => [{ kind, name, uid: "o", controller: true }];
  const set = { resource: "replicasets.apps", metadata: { name: "web-1", namespace: "default", ownerReferences: owners("Deployment", "web") } };
  const owned = pod("web-1-x", {}, {}, { ownerReferences: owners("ReplicaSet", "web-1") });
  assert.deepEqual(ownerOf(viewOf(set, owned), owned), { kind: "Deployment", name: "web" });
  assert.deepEqual(ownerOf(viewOf(owned), owned), { kind: "ReplicaSet", name: "web-1" });
});

test("events about an object are told by uid, newest first", () => {
  const event = (name, version, uid) => ({ resource: "events", metadata: { name, namespace: "default", resourceVersion: version }, involvedObject: { name: "p", namespace: "default", uid } });
  const view = viewOf(event("a", "9", "u-p"), event("b", "11", "u-p"), event("c", "10", "an-earlier-p"));
  assert.deepEqual(eventsAbout(view, pod("p")).map((one) => one.metadata.name), ["b", "a"]);
});

test("of many events the newest are kept, in order, whichever way they came", () => {
  const event = (revision) => ({ resource: "events", metadata: { name: `e${revision}`, namespace: "default", resourceVersion: String(revision) } });
  const revisions = Array.from({ length: 2000 }, (_, index) => ((index * 7919) % 2000) + 1);
  const newest = newestEvents(viewOf(...revisions.map(event)));
  assert.deepEqual(newest.map((one) => Number(one.metadata.resourceVersion)),
    Array.from({ length: NEWEST_EVENTS_MAX }, (_, index) => 2000 - index));
});

test("generated names are the next free ones", () => {
  const view = viewOf(node("n1"), node("n12"), node("gpu3"), { resource: "deployments.apps", metadata: { name: "web", namespace: "default" } });
  assert.equal(numberedName(view, "nodes", "", "n"), "n13");
  assert.equal(numberedName(view, "pods", "default", "small-"), "small-1");
  assert.equal(workloadName(view, "deployments.apps", "default"), "api");
  assert.equal(workloadName(view, "deployments.apps", "s-mei"), "web");
});

test("roles: who is told no, and why", () => {
  const me = (role) => ({ role, namespace: "s-mei" });
  assert.equal(refusedCluster(me("teacher")), null);
  assert.equal(refusedCluster(me("student")), "reason_teacher_only");
  assert.equal(refusedWrite(me("student"), "s-mei"), null);
  assert.equal(refusedWrite(me("student"), "default"), "reason_other_namespace");
  assert.equal(refusedWrite(me("student"), ""), "reason_teacher_only");
  assert.equal(refusedWrite(me("viewer"), "s-mei"), "reason_viewer");
  assert.equal(refusedWrite(null, "default"), "reason_connecting");
});

test("every palette item builds a document of its kind with the name given", () => {
  for (const item of ITEMS) {
    const built = item.build({ ...item.defaults, name: "x1", namespace: "default" });
    assert.equal(built.kind, item.kind);
    assert.equal(built.metadata.name, "x1");
  }
  const gpu = itemOf("pod-gpu").build({ ...itemOf("pod-gpu").defaults, name: "g" });
  assert.equal(gpu.spec.containers[0].resources.limits["nvidia.com/gpu"], "1");
  const apart = itemOf("pod-affinity").build({ ...itemOf("pod-affinity").defaults, name: "a" });
  const [term] = apart.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  assert.deepEqual(term.labelSelector.matchLabels, apart.metadata.labels);
  const port = itemOf("pod-hostport").build({ ...itemOf("pod-hostport").defaults, name: "h", hostPort: "90" });
  assert.deepEqual(port.spec.containers[0].ports, [{ containerPort: 90, hostPort: 90 }]);
  const zoned = itemOf("persistentvolume").build({ name: "v", size: "1Gi", zone: "b" });
  assert.deepEqual(zoned.metadata.labels, { "topology.kubernetes.io/zone": "b" });
  const claim = itemOf("persistentvolumeclaim").build({ name: "c", size: "1Gi", zone: "b" });
  assert.deepEqual(claim.spec.selector.matchLabels, zoned.metadata.labels);
  assert.equal(itemOf("pod-besteffort").build({ name: "b" }).spec.containers[0].resources, undefined);
});

test("a server's field path finds the form field it is about", () => {
  const { fields } = itemOf("pod-small");
  assert.equal(fieldOfPath(fields, "spec.containers[0].resources.requests.cpu").name, "cpu");
  assert.equal(fieldOfPath(fields, "spec.containers[0].resources.requests[cpu]").name, "cpu");
  assert.equal(fieldOfPath(fields, "spec.containers[0].resources.limits[nvidia.com/gpu]").name, "gpu");
  assert.equal(fieldOfPath(fields, "spec.containers[1].image"), null);
  assert.equal(fieldOfPath(fields, "metadata.name").name, "name");
  assert.equal(fieldOfPath(fields, "metadata.names"), null);
  assert.equal(fieldOfPath(fields, "spec.tolerations[0].effect").name, "tolerations");
});

test("join codes are read with or without dash, in either case", () => {
  assert.equal(formatCode("k7q m2x"), "K7Q-M2X");
  assert.equal(formatCode("K7QM2"), null);
  assert.equal(codeCharacters("k7q-m2x9999"), "K7QM2X");
});

test("the rate slider goes from a tenth to a hundred and back", () => {
  for (const rate of [0.1, 0.5, 1, 10, 100]) assert.equal(rateOfSlider(sliderOfRate(rate)), rate);
  assert.equal(rateOfSlider(9), 100);
});
