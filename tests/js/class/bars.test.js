// The stage of a question as bars: to scale, the most important first, and only where CPU is all that decides.
import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf } from "../../../static/js/class/lesson/bars-model.js";
import { applyMessage, emptyView } from "../../../static/js/state/view.js";
import { lessonAt, openPoll } from "./fixtures.js";

const node = (name, change = {}) => ({
  resource: "nodes", metadata: { name }, spec: {}, status: { allocatable: { cpu: "4", memory: "16Gi", pods: "110" }, conditions: [{ type: "Ready", status: "True" }] }, ...change,
});
const pod = (name, nodeName, cpu, priority, change = {}) => ({
  resource: "pods", metadata: { namespace: "default", name, labels: { app: name } }, status: { phase: nodeName ? "Running" : "Pending" },
  spec: { nodeName, priority, containers: [{ name: "main", resources: { requests: cpu ? { cpu } : {} } }] }, ...change,
});
const SCENE = [
  node("n1"), node("n2"), pod("web", "n2", "1", 100), pod("db", "n2", "2", 20000), pod("cart", "n1", "500m", 0), pod("vip", undefined, "2", 10000),
  { resource: "poddisruptionbudgets.policy", metadata: { namespace: "default", name: "cart-pdb" }, spec: { selector: { matchLabels: { app: "cart" } } }, status: { disruptionsAllowed: 0 } },
];

function bars(objects = SCENE, { state = "open", held = "default/vip", picked = [] } = {}) {
  const view = applyMessage(emptyView(), { type: "list", revision: 9, objects, last: true });
  const poll = { ...openPoll(), pod: "default/vip", state };
  const lesson = { ...lessonAt("ask"), poll: poll.id };
  const kept = { poll: poll.id, round: 1, picked, because: "", state: "", problem: "" };
  const clock = held ? { held: { pod: held, point: "QueueSort", replica: "kube-scheduler-0" } } : { held: null };
  return barsOf({ ...view, clock: { ...view.clock, ...clock } }, { poll, lesson, kept }, "owner");
}

test("pods are as wide as what they ask for, the most important first; the vote and who is guarded are told", () => {
  const drawn = bars(SCENE, { picked: ["n2"] });
  assert.deepEqual([drawn.pod.name, drawn.pod.share, drawn.replica, drawn.cpu], ["vip", 0.5, "scheduler-0", 4000]);
  assert.deepEqual(drawn.nodes.map(({ name, used, voted }) => [name, used, voted]), [["n1", 500, false], ["n2", 3000, true]]);
  assert.deepEqual(drawn.nodes[1].pods.map(({ name, share, priority }) => [name, share, priority]), [["db", 0.5, 20000], ["web", 0.25, 100]]);
  assert.deepEqual(drawn.nodes.map(({ pods }) => pods.map(({ guard }) => guard)), [["cart-pdb"], ["", ""]]);
});

test("what bars of CPU would leave out is drawn by the stage itself", () => {
  const with_ = (...more) => bars([...SCENE, ...more]);
  assert.ok(bars());
  assert.equal(bars(SCENE, { state: "revealed" }), null, "the stage tells what the engine did");
  assert.equal(bars(SCENE, { held: "" }), null, "no pod is in hand");
  assert.equal(with_(pod("small", "n1", "", 0)), null, "a pod without requests has no width");
  assert.equal(with_(node("n3", { spec: { taints: [{ key: "gpu", effect: "NoSchedule" }] } })), null);
  assert.equal(with_(pod("leaving", "n1", "1", 0, { metadata: { namespace: "default", name: "leaving", deletionTimestamp: "2026-01-01T00:00:00Z" } })), null);
  assert.equal(with_(node("n3"), node("n4"), node("n5")), null, "five nodes have no room below one another");
  const thirsty = pod("big", "n1", "1", 0);
  thirsty.spec.containers[0].resources.requests.memory = "1Gi";
  assert.equal(with_(thirsty), null, "memory may decide");
});
