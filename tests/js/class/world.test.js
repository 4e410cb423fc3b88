// What stands on the wall below a question that is not about a node: the few nodes with what each carries, never a verdict.
import assert from "node:assert/strict";
import { test } from "node:test";
import { leading } from "../../../static/js/class/poll/told.js";
import { worldOf } from "../../../static/js/class/poll/world.js";
import { loadTexts } from "../../../static/js/lib/text.js";
import { applyMessage, emptyView } from "../../../static/js/state/view.js";
import { openPoll } from "./fixtures.js";

await Promise.all([loadTexts("en", "vote"), loadTexts("zh-hans", "vote")]);

const node = (name, spec = {}) => ({
  resource: "nodes", kind: "Node", metadata: { name, uid: name, resourceVersion: "1" }, spec,
  status: { allocatable: { cpu: "4", memory: "8Gi", "nvidia.com/gpu": "1" }, conditions: [{ type: "Ready", status: "True" }] },
});
const pod = (name, nodeName, cpu, priority = 0) => ({
  resource: "pods", kind: "Pod", metadata: { name, namespace: "default", uid: name, resourceVersion: "1" },
  spec: { nodeName, priority, containers: [{ name: "main", resources: { requests: { cpu } } }] }, status: { phase: "Running" }, hues: { owner: 2 },
});
const viewOf = (...objects) => applyMessage(emptyView(), { type: "list", revision: 9, objects, last: true });
const poll = openPoll({ kind: "choice" });
const lesson = (scene = "stage") => ({ poll: poll.id, step: { view: { scene } } });
const world = (view, asked = poll, told = lesson(), lang = "en") => worldOf(view, { poll: asked, lesson: told }, { colourBy: "owner", lang });

test("each node tells what is requested of it, its taints and its pods, the most important first", () => {
  const taint = { taints: [{ key: "gpu", effect: "NoSchedule" }, { key: "gpu", effect: "NoExecute" }] };
  const found = world(viewOf(node("n1"), node("n2", taint), pod("low", "n1", "1"), pod("high", "n1", "2", 500), pod("narrow", "n2", "400m"), pod("crumb", "n2", "100m")));
  assert.deepEqual(found.map(({ name, facts }) => [name, facts]), [
    ["n1", ["3 of 4 CPU · 0 of 1 nvidia.com/gpu requested"]], ["n2", ["500m of 4 CPU · 0 of 1 nvidia.com/gpu requested", "taint gpu"]],
  ]);
  assert.deepEqual(found[0].pods.map(({ name, share }) => [name, share]), [["high 500", 0.5], ["low 0", 0.25]]);
  assert.deepEqual(found[1].pods.map(({ name }) => name), ["narrow", ""], "no room for a priority; a sliver has none for a name");
  assert.equal(world(viewOf(node("n1"), pod("a", "n1", "1")), poll, lesson(), "zh-hans")[0].facts[0], "已请求 1 / 4 CPU · 0 / 1 nvidia.com/gpu");
});

test("nothing stands there where the step shows something else, where answers are nodes, or where there is too much or nothing", () => {
  const few = viewOf(node("n1"), pod("a", "n1", "1"));
  assert.ok(world(few));
  assert.equal(world(few, poll, lesson("election")), null);
  assert.equal(world(few, poll, null), null);
  assert.equal(world(few, openPoll({ kind: "node" })), null);
  assert.equal(world(viewOf(node("n1"), node("n2"))), null);
  assert.equal(world(viewOf(...[1, 2, 3, 4, 5].map((n) => node(`n${n}`)), pod("a", "n1", "1"))), null);
});

test("of a reveal the first paragraph is told, with what is listed before it", () => {
  const [list, first, second] = [{ kind: "li", parts: [] }, { kind: "p", parts: [{ text: "1" }] }, { kind: "p", parts: [{ text: "2" }] }];
  assert.deepEqual(leading([list, list, first, second]), [list, list, first]);
  assert.deepEqual(leading([list]), [list]);
  assert.deepEqual(leading([]), []);
});
