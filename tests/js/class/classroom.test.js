// The loader of polls and the sender of votes: one question at a time, nothing lost without a network, nothing shown as sent that is not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Classroom, RETRY_MS } from "../../../static/js/act/classroom.js";
import { ApiError } from "../../../static/js/net/rest.js";
import { emptyView } from "../../../static/js/state/view.js";
import { hasClass, opensLater, roleKey, sealedPod, standingPoll } from "../../../static/js/state/classroom.js";
import { lessonAt, openPoll } from "./fixtures.js";

const unreachable = () => { throw new ApiError({ kind: "Status", code: 0, reason: "Unreachable", message: "" }); };
const object = (name, state, change = {}) => ({
  resource: "polls.clustersim.io", metadata: { name, resourceVersion: "7" }, spec: { pod: "default/vip" }, status: { state, seals: true, openedMs: 1 }, ...change,
});
const viewOf = (polls, role = "student") => ({
  ...emptyView(), ready: true, me: { id: "1", role }, objects: new Map([["polls.clustersim.io", new Map(polls.map((one) => [one.metadata.name, one]))]]),
});

/** A classroom whose server is the given functions, and what it was asked. */
function classroom(server) {
  const asked = [];
  const later = [];
  let kept = null;
  const api = {
    poll: async (id) => (asked.push(`poll ${id}`), server.poll(id)),
    vote: async (id, vote, round) => (asked.push(JSON.stringify(vote)), server.vote?.(id, vote, round)),
    kept: () => kept, keep: (one) => void (kept = one),
  };
  const made = new Classroom(api, () => {}, (ms, act) => void later.push({ ms, act }));
  return { made, asked, later, kept: () => kept, forget: (one) => void (kept = one) };
}
const settled = () => new Promise((done) => setImmediate(done));

test("a poll is fetched once for each of its states, and again when its object changes", async () => {
  const { made, asked } = classroom({ poll: () => openPoll() });
  const view = viewOf([object("poll-3", "open")]);
  made.follow(view, "en", true);
  made.follow(view, "en", true);
  await settled();
  made.follow(view, "en", true);
  assert.deepEqual(asked, ["poll poll-3"]);
  made.follow(viewOf([object("poll-3", "closed", { metadata: { name: "poll-3", resourceVersion: "8" } })]), "en", true);
  await settled();
  assert.equal(asked.length, 2);
  made.follow(viewOf([]), "en", true);
  assert.equal(made.state.poll, null, "a poll that was taken back is gone from the page");
});

test("only whoever leads asks again for every vote; others are told the number", async () => {
  for (const [role, asks] of [["student", 1], ["teacher", 2]]) {
    const { made, asked } = classroom({ poll: () => openPoll() });
    const view = viewOf([object("poll-3", "open")], role);
    made.follow(view, "en", true);
    await settled();
    made.counted({ id: "poll-3", voted: 25, present: 32 });
    assert.equal(made.state.poll.voted, 25);
    made.follow(view, "en", true);
    await settled();
    assert.equal(asked.length, asks, role);
  }
});

test("a vote without an answer is kept, tried again, and sent as soon as the network is back", async () => {
  let works = false;
  const { made, asked, later, kept } = classroom({ poll: () => openPoll(), vote: () => works || unreachable() });
  const view = viewOf([object("poll-3", "open")]);
  made.follow(view, "en", true);
  await settled();
  made.pick("n1");
  made.vote();
  await settled();
  assert.deepEqual([made.state.kept.state, kept().picked, later.map(({ ms }) => ms)], ["waiting", ["n1"], [RETRY_MS]]);
  made.follow(view, "en", false);
  works = true;
  made.follow(view, "en", true);
  await settled();
  assert.deepEqual([made.state.kept.state, kept()], ["sent", null]);
  assert.deepEqual(asked.slice(1), ['{"choice":"n1"}', '{"choice":"n1"}']);
});

test("a page that was loaded anew takes up the vote that it had kept", async () => {
  const { made, asked, forget } = classroom({ poll: () => openPoll() });
  forget({ poll: "poll-3", round: 1, picked: ["n2"], because: "engine", state: "waiting", problem: "" });
  made.follow(viewOf([object("poll-3", "open")]), "en", true);
  await settled();
  assert.deepEqual([asked.at(-1), made.state.kept.state], ['{"choice":"n2","because":"engine"}', "sent"]);
});

test("what is tapped while a vote is on its way follows it", async () => {
  /** @type {() => void} */
  let answer = () => {};
  const { made, asked } = classroom({ poll: () => openPoll(), vote: () => new Promise((done) => (answer = done)) });
  made.follow(viewOf([object("poll-3", "open")]), "en", true);
  await settled();
  made.pick("n1");
  made.vote();
  made.because("engine");
  await settled();
  answer();
  await settled();
  answer();
  await settled();
  assert.deepEqual(asked.slice(1), ['{"choice":"n1"}', '{"choice":"n1","because":"engine"}']);
  assert.equal(made.state.kept.state, "sent");
});

test("Enter upon a vote that is in sends nothing anew", async () => {
  const { made, asked } = classroom({ poll: () => openPoll() });
  made.follow(viewOf([object("poll-3", "open")]), "en", true);
  await settled();
  made.pick("n1");
  made.vote();
  await settled();
  made.vote();
  assert.deepEqual(asked.slice(1), ['{"choice":"n1"}']);
});

test("a vote that waits for the network is one of the round in which it was chosen", async () => {
  const rounds = [];
  let open = openPoll();
  const { made, later } = classroom({ poll: () => open, vote: (id, vote, round) => {
    rounds.push(round);
    throw new ApiError({ kind: "Status", code: rounds.length > 1 ? 409 : 0, reason: "", message: "the round is over" });
  } });
  made.follow(viewOf([object("poll-3", "open")]), "en", true);
  await settled();
  made.pick("n1");
  made.vote();
  await settled();
  assert.equal(made.state.kept.state, "waiting");
  open = openPoll({ round: 2 });
  later.at(-1).act();
  await settled();
  assert.deepEqual(rounds, [1, 1]);
  made.hold(open);
  assert.deepEqual(made.state.kept, { poll: "poll-3", round: 2, picked: [], because: "", state: "", problem: "late" });
});

test("a refusal is said and is not a vote", async () => {
  const refuse = () => { throw new ApiError({ kind: "Status", code: 409, reason: "Conflict", message: "the round is over" }); };
  const { made } = classroom({ poll: () => openPoll(), vote: refuse });
  made.follow(viewOf([object("poll-3", "open")]), "en", true);
  await settled();
  made.pick("n1");
  made.vote();
  await settled();
  assert.deepEqual([made.state.kept.state, made.state.kept.problem], ["", "the round is over"]);
});

test("a poll under way is shown before one that was revealed, and none once it is over", () => {
  assert.equal(standingPoll(viewOf([object("a", "revealed", { status: { state: "revealed", openedMs: 9 } }), object("b", "closed")])).metadata.name, "b");
  assert.equal(hasClass(viewOf([object("a", "over")])), false);
  assert.equal(standingPoll(viewOf([object("a", "revealed")])).metadata.name, "a");
});

test("a pod is sealed from everybody but whoever leads, and from a learner alone too, until the reveal", () => {
  assert.equal(sealedPod(viewOf([object("a", "open")])), "default/vip");
  assert.equal(sealedPod(viewOf([object("a", "opening")])), "default/vip", "before its answers are there");
  assert.equal(opensLater(viewOf([object("a", "closed")])), true);
  assert.equal(opensLater(viewOf([object("a", "revealed")])), false);
  const scene = (/** @type {boolean} */ asks) => new Map([["lessons.clustersim.io", new Map([["lesson", /** @type {any} */ ({ metadata: { name: "lesson" }, spec: { phase: "scene", asks } })]])]]);
  assert.equal(opensLater({ ...viewOf([]), objects: scene(true) }), true, "it is about to be asked about");
  assert.equal(opensLater({ ...viewOf([]), objects: scene(false) }), false);
  assert.equal(opensLater({ ...viewOf([], "teacher"), objects: scene(true) }), false);
  assert.equal(sealedPod(viewOf([object("a", "open")], "teacher")), "");
  assert.equal(sealedPod(viewOf([object("a", "open", { spec: { pod: "default/vip", alone: true } })], "teacher")), "default/vip");
  assert.equal(sealedPod(viewOf([object("a", "revealed")])), "");
});

const lessonObject = (version = "1") => ({ resource: "lessons.clustersim.io", metadata: { name: "lesson", resourceVersion: version }, spec: {} });
const inLesson = (version) => ({ ...viewOf([], "teacher"), objects: new Map([["lessons.clustersim.io", new Map([["lesson", lessonObject(version)]])]]) });

/** A classroom in a lesson that stands where `now` says; what was led. */
function led(now) {
  const deeds = [];
  const { made } = classroom({});
  made.api.lesson = async (_lang, step) => ({ ...now.lesson, shown: step ? { id: step, title: step } : null });
  made.api.lead = async (body) => void deeds.push(body);
  return { made, deeds };
}

test("what took longer than the answer is revealed when it has come about, by the page that asked for it alone", async () => {
  const now = { lesson: lessonAt("wait") };
  const { made, deeds } = led(now);
  const other = led(now);
  made.revealing = "which-node";
  for (const [version, state] of [["1", "running"], ["2", "reached"]]) {
    now.lesson = lessonAt("wait", { wait: { until: null, seconds: 20, state, makeItSo: true } });
    made.follow(inLesson(version), "en", true);
    other.made.follow(inLesson(version), "en", true);
    await settled();
  }
  assert.deepEqual(deeds, [{ do: "next" }]);
  assert.deepEqual(other.deeds, []);
  now.lesson = lessonAt("reveal");
  made.follow(inLesson("3"), "en", true);
  await settled();
  assert.equal(made.revealing, "");
});

test("a step that is done is read again until the class goes on", async () => {
  const now = { lesson: lessonAt("ask") };
  const { made } = led(now);
  made.follow(inLesson("1"), "en", true);
  await settled();
  await made.look("step-1");
  assert.equal(made.state.looked.id, "step-1");
  made.follow(inLesson("2"), "en", true);
  await settled();
  assert.equal(made.state.looked.id, "step-1", "another phase of the same step leaves it open");
  now.lesson = { ...lessonAt("scene"), step: { ...lessonAt("scene").step, id: "pdb" } };
  made.follow(inLesson("3"), "en", true);
  await settled();
  assert.equal(made.state.looked, null);
});

test("a lesson that cannot be read is said, and read again when the log goes on", async () => {
  const now = { lesson: lessonAt("ask") };
  const { made } = led(now);
  const read = made.api.lesson;
  made.api.lesson = async () => { throw new ApiError({ kind: "Status", code: 410, reason: "Gone", message: "not installed any more" }); };
  made.follow(inLesson("1"), "en", true);
  await settled();
  assert.deepEqual([made.state.lesson, made.state.unread], [null, "not installed any more"]);
  made.api.lesson = read;
  made.follow(inLesson("2"), "en", true);
  await settled();
  assert.deepEqual([made.state.lesson.id, made.state.unread], ["preemption", ""]);
});

test("touching what the question is about chooses it, until one has voted", async () => {
  const { made } = classroom({ poll: () => openPoll() });
  made.follow(viewOf([object("poll-3", "open")]), "en", true);
  await settled();
  made.touched("pods", "default/vip");
  made.touched("nodes", "n9");
  assert.deepEqual(made.state.kept.picked, []);
  made.touched("nodes", "n2");
  assert.deepEqual(made.state.kept.picked, ["n2"]);
  made.set({ kept: { ...made.state.kept, state: "sent" } });
  made.touched("nodes", "n1");
  assert.deepEqual(made.state.kept.picked, ["n2"]);
});

test("who opened a lesson to learn alone is no teacher, and everybody else is who they are", () => {
  const lesson = (alone) => ({ ...emptyView(), objects: new Map([["lessons.clustersim.io", new Map([["lesson", { resource: "lessons.clustersim.io", metadata: { name: "lesson" }, spec: { alone } }]])]]) });
  assert.deepEqual([roleKey(lesson(true), "teacher"), roleKey(lesson(true), "viewer")], ["role_alone", "role_viewer"]);
  assert.deepEqual([roleKey(lesson(false), "teacher"), roleKey(emptyView(), "teacher")], ["role_teacher", "role_teacher"]);
});
