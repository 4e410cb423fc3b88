// What a lesson's step shows: its author's picture once when a part begins, and nothing that its person did not give away.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Guide, partOf, stepsFor } from "../../../static/js/state/guide.js";
import { lessonAt } from "./fixtures.js";

const NOTHING = { rv: 0, select: "", inspectorTab: "", dockTab: "", zoom: 1 };

/** A page that a guide leads, and what it did. */
function page(shown = NOTHING) {
  const done = [];
  const made = { shown: () => shown, take: (step) => void done.push(step), scene: (scene) => void done.push(scene) };
  return { guide: new Guide(made), done, show: (now) => void (shown = { ...NOTHING, ...now }) };
}
const at = (phase, view, change = {}) => {
  const lesson = lessonAt(phase, change);
  return { ...lesson, step: { ...lesson.step, view } };
};

test("only what a step names is changed", () => {
  assert.deepEqual(stepsFor({ ...NOTHING, select: "nodes n1", dockTab: "events" }, {}, {}), []);
  assert.deepEqual(stepsFor(NOTHING, { select: "pods default/vip", inspectorTab: "decision", dockTab: "model" }, {}),
    [{ do: "select", resource: "pods", key: "default/vip", tab: "decision" }, { do: "dock", tab: "model" }]);
  assert.deepEqual(stepsFor({ ...NOTHING, select: "nodes n1", dockTab: "model" }, { select: "nodes n1", dockTab: "model" }, {}), []);
});

test("the dock that a lesson opened is folded where a step needs none, another one stays", () => {
  assert.deepEqual(stepsFor({ ...NOTHING, dockTab: "model" }, {}, { dockTab: "model" }), [{ do: "dock", tab: "" }]);
  assert.deepEqual(stepsFor({ ...NOTHING, dockTab: "events" }, {}, { dockTab: "model" }), []);
});

test("what a lesson selected is let go where a step is about nothing, another choice stays", () => {
  const { guide, done, show } = page();
  guide.follow(at("reveal", { select: "pods default/web", scene: "decision" }), true);
  show({ select: "pods default/web" });
  guide.follow(at("scene", { scene: "stage" }), true);
  assert.deepEqual(done.slice(2), [{ do: "deselect" }, "stage"], "the next step's cluster has no such pod");
  assert.deepEqual(stepsFor({ ...NOTHING, select: "nodes n1" }, {}, { select: "pods default/web" }), []);
});

test("a part is shown once, and again from the reveal on", () => {
  const { guide, done, show } = page();
  guide.follow(at("scene", { select: "nodes n1", scene: "stage" }), true);
  guide.follow(at("ask", { select: "nodes n1", scene: "stage" }), true);
  assert.deepEqual(done, [{ do: "select", resource: "nodes", key: "n1", tab: "" }, "stage"]);
  show({ select: "nodes n3" });
  guide.follow(at("wait", { select: "nodes n1" }), true);
  assert.equal(done.length, 2, "what somebody looks at meanwhile stays");
  guide.follow(at("reveal", { select: "pods default/vip", scene: "decision" }), true);
  guide.follow(at("so", { select: "pods default/vip" }), true);
  assert.deepEqual(done.slice(2), [{ do: "select", resource: "pods", key: "default/vip", tab: "" }, "decision"]);
});

test("at its end a lesson leaves the wall to itself", () => {
  const { guide, done } = page();
  guide.follow(at("so", { scene: "election" }), true);
  guide.follow({ ...at("so", {}), step: null }, true);
  assert.deepEqual(done, ["election", ""]);
});

test("nothing is shown while a scene is being set, to who follows somebody, and to who came with an address", () => {
  const { guide, done } = page();
  guide.follow(at("scene", { select: "nodes n1" }, { script: { state: "playing", done: 0, of: 2, message: "" } }), true);
  assert.deepEqual(done, []);
  guide.follow(at("scene", { select: "nodes n1" }), false);
  assert.deepEqual(done, []);
  const came = page({ ...NOTHING, select: "pods default/web" });
  came.guide.follow(at("reveal", { select: "nodes n1" }), true);
  assert.deepEqual(came.done, []);
  assert.equal(partOf({ ...lessonAt("so"), step: null }), "");
});
