// An idle stage says what to do next, to each person what that person may do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, loadTexts } from "../../../static/js/lib/text.js";
import { idleHint } from "../../../static/js/stage/hints.js";
import { statesOf } from "../../../static/js/stage/legend.js";

await loadTexts("en", "stage");

const QUEUE = { active: [], backoff: [], unschedulable: [], gated: [], waiting: [], binding: [], counts: {} };
const TEACHER = { role: "teacher", namespace: "" };

/** @param {any} change */
function hint({ lesson = false, me = TEACHER, clock = { paused: true, pace: 250 }, nodes = 3, queue = {}, unseen = 0 }) {
  const model = { nodes: new Map(Array.from({ length: nodes }, (_, at) => [`n${at}`, {}])), queue: { ...QUEUE, ...queue },
    unseen: Array.from({ length: unseen }, () => ({})) };
  const found = idleHint(/** @type {any} */ ({ me, clock, objects: new Map(lesson ? [["lessons.clustersim.io", new Map([["lesson", {}]])]] : []) }), /** @type {any} */ (model));
  return found && [found.key, counted("en", found.key, found.values)];
}

test("a cluster without nodes is told of by the field", () => assert.equal(hint({ nodes: 0 }), null));

test("pods that wait for time are told of with the key that makes it run", () => {
  assert.deepEqual(hint({ unseen: 1 }),
    ["idle.play", "1 pod waits. Time is held: press Space to play, or Point for one step."]);
  assert.equal(hint({ queue: { active: [{}], counts: { active: 60 } } })?.[1].slice(0, 13), "60 pods wait.");
  assert.equal(hint({ unseen: 1, me: { role: "student", namespace: "mei" } })?.[0], "idle.held");
});

test("pods that fit nowhere come before an invitation to make more", () => {
  assert.equal(hint({ queue: { unschedulable: [{}] } })?.[0], "idle.stuck");
});

test("otherwise people are told what they may do", () => {
  assert.equal(hint({})?.[0], "idle.make");
  assert.equal(hint({ clock: { paused: false, pace: 0 } })?.[0], "idle.pace");
  const student = { role: "student", namespace: "s-mei" };
  assert.equal(hint({ me: student, clock: { paused: false, pace: 0 } })?.[0], "idle.make", "the pace is not theirs to choose");
  assert.equal(hint({ me: { role: "viewer", namespace: "" } })?.[0], "idle.look");
});

test("in a lesson nobody is invited to make something, and what waits is told of all the same", () => {
  assert.equal(hint({ lesson: true }), null);
  assert.equal(hint({ lesson: true, unseen: 1 })?.[0], "idle.play");
});

test("the short legend names the states that some pod is in", () => {
  const pods = new Map([["a", { state: "running" }], ["b", { state: "victim" }], ["c", { state: "running" }]]);
  assert.deepEqual([...statesOf(/** @type {any} */ (pods))], ["running", "victim"]);
});
