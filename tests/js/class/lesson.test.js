// A lesson's step: the strip, the phases, what is told when, and what a learner alone has to do first.
import assert from "node:assert/strict";
import { test } from "node:test";
import { aloneNext, endsOf, goesOn, guardsOf, minutesOf, otherDeeds, stepOf, whereOf } from "../../../static/js/class/lesson/model.js";
import { leadOf } from "../../../static/js/class/remote/model.js";
import { applyMessage, emptyView } from "../../../static/js/state/view.js";
import { lessonAt, openPoll, revealedPoll } from "./fixtures.js";

test("steps are done, current or ahead, and so are the phases of the step", () => {
  const { steps, phases } = stepOf(lessonAt("ask"));
  assert.deepEqual(steps.map(({ n, reach }) => [n, reach]), [[1, "done"], [2, "done"], [3, "current"], [4, "ahead"], [5, "ahead"], [6, "ahead"]]);
  assert.deepEqual(phases.map(({ phase, reach }) => `${phase} ${reach}`), ["scene done", "ask current", "wait ahead", "reveal ahead", "so ahead"]);
});

test("the scene is told until the reveal, what it came to after it, and the conclusion last", () => {
  assert.equal(stepOf(lessonAt("wait")).prose.length, 4);
  assert.deepEqual(stepOf(lessonAt("wait")).so, []);
  assert.match(stepOf(lessonAt("reveal")).prose[0].parts[0].text, /First criterion/);
  assert.deepEqual(stepOf(lessonAt("reveal")).so, [], "the conclusion has a phase of its own");
  assert.equal(stepOf(lessonAt("so")).so.length, 1);
  const short = lessonAt("reveal");
  short.step.phases = ["scene", "ask", "reveal"];
  assert.equal(stepOf(short).so.length, 1, "a step without that phase concludes with its reveal");
});

test("a hint is told once it was given, and not beside the reveal", () => {
  const hinted = lessonAt("ask");
  hinted.step.hint = [{ kind: "p", parts: [{ text: "Which would you ask first?" }] }];
  assert.equal(stepOf(hinted).hint.length, 1);
  assert.ok(!otherDeeds(hinted).some(({ id }) => id === "hint"));
  assert.ok(otherDeeds(lessonAt("ask")).some(({ id }) => id === "hint"));
});

test("a wait runs, is reached, or is missed and can be made so", () => {
  const wait = (state) => stepOf(lessonAt("wait", { wait: { until: "", seconds: 20, state, makeItSo: true } })).wait;
  assert.deepEqual(["running", "reached", "timeout", "failed"].map((state) => wait(state).state), ["running", "reached", "missed", "missed"]);
  assert.ok(otherDeeds(lessonAt("wait")).some(({ id }) => id === "makeItSo"));
  assert.ok(!otherDeeds(lessonAt("ask")).some(({ id }) => id === "makeItSo"));
});

test("a learner alone answers and says why before the engine does", () => {
  const lesson = lessonAt("ask", { alone: true, next: { do: "reveal", label: "Reveal" } });
  const poll = openPoll();
  const kept = { poll: "poll-3", round: 1, picked: ["n1"], because: "", state: "", problem: "" };
  assert.equal(aloneNext({ lesson, poll, kept }).missing, "lesson.vote_first");
  assert.equal(aloneNext({ lesson, poll, kept: { ...kept, state: "sent" } }).missing, "lesson.why_first");
  assert.equal(aloneNext({ lesson, poll, kept: { ...kept, state: "sent", because: "other" } }).main.id, "reveal");
  assert.equal(aloneNext({ lesson: lessonAt("so", { alone: true }), poll: null, kept: null }).main.id, "next");
});

test("the remote's one action is the lesson's next unless a question is open, and the rest is one tap away", () => {
  const asks = leadOf({ poll: openPoll(), lesson: lessonAt("ask"), lang: "en" });
  const ids = ({ main, others, tools }) => [main.id, others.map(({ id }) => id), tools.map(({ id }) => id)];
  assert.deepEqual(ids(asks), ["close", ["reveal"], ["hint", "skip", "class", "restart"]]);
  const waits = leadOf({ poll: null, lesson: lessonAt("wait"), lang: "en" });
  assert.deepEqual(ids(waits), ["next", [], ["makeItSo", "skip", "copies", "class", "restart"]]);
  assert.equal(minutesOf(lessonAt("ask", { minutesLeft: -2 })), 0);
});

test("copies and the rule that votes believed are within reach once the answer is told", () => {
  const tools = (poll) => leadOf({ poll, lesson: null, lang: "en" }).tools.map(({ id }) => id);
  assert.deepEqual(tools(openPoll()), ["class"], "while a vote seals the pod nothing of it is handed out");
  const poll = { ...openPoll(), state: "revealed", answer: { right: ["n2"], chosen: "n2" } };
  assert.deepEqual(tools(poll), ["copies", "class"]);
  assert.deepEqual(tools({ ...poll, answer: { ...poll.answer, explain: { decision: "7" } } }), ["world", "copies", "class"]);
});

test("what was to be written down stands together once a lesson is over, and not before", () => {
  const so = [{ kind: "p", parts: [{ text: "First the budget." }] }];
  const steps = [{ id: "a", title: "A", minutes: 5, minimum: true, done: true, current: false, so }, { id: "b", title: "B", minutes: 5, minimum: false, done: false, current: false }];
  const over = lessonAt("so", { step: null, next: null, steps });
  assert.deepEqual(endsOf(over), [{ id: "a", title: "A", so }]);
  assert.deepEqual(endsOf(lessonAt("so", { steps })), []);
  assert.deepEqual(leadOf({ poll: null, lesson: over, lang: "en" }).tools.map(({ id }) => id), ["copies", "class", "homework"]);
});

test("a lesson that is over has no step; a learner alone is asked once more by the exit ticket", () => {
  const over = lessonAt("so", { alone: true, step: null, next: null, hasTicket: true });
  assert.equal(stepOf(over), null);
  assert.equal(aloneNext({ lesson: over, poll: null, kept: null }).main.id, "ticket");
  assert.equal(aloneNext({ lesson: { ...over, ticket: true }, poll: null, kept: null }).main, null, "the ticket is not asked again by itself");
  assert.deepEqual(otherDeeds(over), []);
});

test("while a scene is being set nobody goes on, and how far it is stands there", () => {
  const playing = lessonAt("scene", { script: { state: "playing", done: 2, of: 5, message: "" } });
  assert.deepEqual(stepOf(playing).playing, { done: 2, of: 5 });
  assert.equal(leadOf({ poll: null, lesson: playing, lang: "en" }).main, null);
  const failed = lessonAt("scene", { script: { state: "failed", done: 2, of: 5, message: "steps[2].scene.do[1]: no such node" } });
  assert.match(stepOf(failed).failed, /no such node/);
});

test("where a lesson stands is told by number, or by the lesson whose exit ticket is asked again", () => {
  const lesson = lessonAt("scene");
  assert.deepEqual(whereOf(lesson), { key: "lesson.where", values: { n: 3, of: 6, minutes: lesson.step.minutes } });
  const again = lessonAt("scene", { again: { step: lesson.step.id, title: "Life of a pod" } });
  assert.deepEqual(whereOf(again), { key: "lesson.again", values: { title: "Life of a pod", minutes: lesson.step.minutes } });
  assert.equal(whereOf(lessonAt("scene", { again: { step: "ticket", title: "Life of a pod" } })).key, "lesson.where", "later steps are numbered");
});

test("once the answer is told the remote steps through the worlds under rules, and takes off the wall what hangs there", () => {
  const told = { answer: { right: ["n2"], chosen: "n2", explain: { decision: "x-1" } } };
  const tools = (change, onWall = "") => leadOf({ poll: revealedPoll({ ...told, ...change }), lesson: null, lang: "en", onWall }).tools;
  const ids = (change, onWall) => tools(change, onWall).map(({ id }) => id);
  assert.deepEqual(ids({}), ["world", "copies", "class"]);
  assert.deepEqual(ids({ rule: "fewest-victims", rules: ["lowest-first", "fewest-victims"] }), ["worldNext", "worldPlay", "worldClose", "copies", "class"]);
  assert.deepEqual(tools({ rule: "fewest-victims", rules: ["lowest-first", "fewest-victims"] })[0].hint.values, { n: 2, of: 2 });
  assert.deepEqual(ids({ rule: "fewest-victims", rules: ["fewest-victims"] }), ["worldPlay", "worldClose", "copies", "class"], "one alone has no next");
  assert.equal(ids({}, "K7QM2X")[0], "wallDown");
});

test("budgets are told with how many disruptions they allow, those of other namespaces not", () => {
  const pdb = (namespace, name, disruptionsAllowed) => ({ resource: "poddisruptionbudgets.policy", metadata: { namespace, name }, spec: {}, status: { disruptionsAllowed } });
  const view = applyMessage(emptyView(), { type: "list", revision: 3, objects: [pdb("default", "cart-pdb", 0), pdb("other", "web-pdb", 1)], last: true });
  assert.deepEqual(guardsOf(view, "default"), [{ name: "cart-pdb", allowed: 0 }]);
  assert.deepEqual(guardsOf(emptyView(), "default"), []);
});

test("at the end of a lesson a student of the class goes on to the exit ticket, and nobody else", () => {
  const student = { role: "student" };
  const over = { ...lessonAt("so"), step: null, hasTicket: true };
  assert.equal(goesOn(over, student), true);
  for (const [lesson, me] of [[lessonAt("so"), student], [{ ...over, hasTicket: false }, student], [{ ...over, ticket: true }, student],
    [over, { role: "teacher" }], [over, { role: "viewer" }], [over, { ...student, past: true }]]) assert.equal(goesOn(lesson, me), false);
  assert.equal(goesOn(lessonAt("ask", { alone: true }), { role: "teacher" }), true);
});
