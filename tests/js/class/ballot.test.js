// What the ballot says at each moment of a poll, and what came of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { countsOf, percent } from "../../../static/js/class/poll/counts.js";
import { ballotOf, isRight } from "../../../static/js/class/poll/model.js";
import { answerTitle, classLine, whyLines } from "../../../static/js/class/poll/told.js";
import { keptFor } from "../../../static/js/state/votes.js";
import { openPoll, revealedPoll, scoredPoll } from "./fixtures.js";

const ballot = (poll, kept = keptFor(poll, null), more = {}) =>
  ballotOf({ poll, kept, unixMs: 23_000, seat: "seat-4", lang: "en", votes: true, alone: false, ...more });

test("before the vote the button says what it will do, or what is missing", () => {
  const poll = openPoll();
  const none = ballot(poll);
  assert.deepEqual([none.button.key, none.ready, none.seconds, none.chip.key], ["vote.choose", false, 37, "vote.round_1"]);
  assert.ok(Math.abs(none.share - 37 / 60) < 1e-9);
  const some = ballot(poll, { ...keptFor(poll, null), picked: ["n1"] });
  assert.deepEqual([some.button, some.ready], [{ key: "vote.for", values: { name: "n1" } }, true]);
  assert.deepEqual(some.reasons, [], "because comes with the vote");
  assert.deepEqual(some.options.map(({ key, picked }) => [key, picked]), [["1", true], ["2", false], ["3", false], ["4", false]]);
});

test("a vote that is in says so, for how long it can be changed, and asks for the reason", () => {
  const poll = openPoll();
  const sent = ballot(poll, { ...keptFor(poll, null), picked: ["n1"], because: "engine", state: "sent" });
  assert.equal(sent.button, null);
  assert.deepEqual(sent.status, [{ key: "vote.in", values: { name: "n1" } }, { key: "vote.change_for", values: { seconds: 37 } }]);
  assert.deepEqual(sent.reasons.find(({ picked }) => picked).id, "engine");
  assert.equal(sent.reasons.at(-1).id, "other");
});

test("the reasons stand in an order of the seat's own, the same again for the same seat", () => {
  const poll = openPoll();
  const kept = { ...keptFor(poll, null), picked: ["n1"], state: "sent" };
  const order = (seat) => ballot(poll, kept, { seat }).reasons.map(({ id }) => id).join();
  assert.equal(order("seat-1"), order("seat-1"));
  assert.ok(new Set(["a", "b", "c", "d", "e", "f"].map(order)).size > 1);
});

test("a vote without network is kept and said as not sent", () => {
  const poll = openPoll();
  const waiting = ballot(poll, { ...keptFor(poll, null), picked: ["n2"], state: "waiting" });
  assert.deepEqual([waiting.tone, waiting.status[0].key, waiting.status[1].key], ["wait", "vote.waiting", "vote.waiting_hint"]);
  const late = ballot(openPoll({ state: "closed" }), { ...keptFor(poll, null), picked: ["n2"], state: "", problem: "late" });
  assert.deepEqual([late.tone, late.status[0].key], ["bad", "vote.late"]);
});

test("an empty ring closes the ballot before the server has said so", () => {
  const over = ballot(openPoll(), undefined, { unixMs: 60_001 });
  assert.deepEqual([over.state, over.locked, over.button, over.status[0].key], ["closed", true, null, "vote.missed"]);
});

test("a projector and whoever leads see the ballot and cannot vote", () => {
  const watching = ballot(openPoll(), null, { votes: false });
  assert.deepEqual([watching.locked, watching.button], [true, null]);
});

test("after the reveal the right answer is marked and the own votes with their rounds", () => {
  const told = ballot(revealedPoll());
  const marks = Object.fromEntries(told.options.map(({ id, right, chosen, votes }) => [id, { right, chosen, votes }]));
  assert.deepEqual(marks.n2, { right: true, chosen: true, votes: [2] });
  assert.deepEqual(marks.n1, { right: false, chosen: false, votes: [1] });
  assert.deepEqual(told.status, [{ key: "vote.right", values: { name: "n2" } }, { key: "vote.you_changed", values: { from: "n1" } }]);
});

test("labels come in the page's language, and in the other one where there is no such", () => {
  assert.equal(ballotOf({ poll: openPoll(), kept: null, unixMs: 0, seat: "", lang: "zh-hans", votes: true, alone: false }).options[3].label, "都不选，继续等待");
  assert.equal(ballot(openPoll({ question: { en: "Which?" } }), undefined, { lang: "zh-hans" }).question, "Which?");
});

test("every member of the tie set is right, and the lot's winner is the chosen one", () => {
  const poll = scoredPoll();
  const { bars, right, total } = countsOf(poll, "en");
  assert.deepEqual(bars.filter((bar) => bar.right).map(({ id, chosen }) => [id, chosen]), [["n2", true], ["n6", false]]);
  assert.deepEqual([right, total], [[8, 20], [30, 30]]);
  assert.equal(percent(bars[1].firstShare), "43 %");
  assert.deepEqual(classLine(poll, "en").title.values, { from: "27 %", to: "67 %" });
  assert.deepEqual(classLine(poll, "en").of.values, { first: 8, before: 30, second: 20, after: 30 });
});

test("of victims only the whole set is right", () => {
  const poll = revealedPoll({ kind: "victims", answer: { right: ["default/web", "default/api"], alternatives: [["default/web", "default/api"]], chosen: "default/web,default/api" } });
  assert.equal(isRight(poll, ["default/api", "default/web"]), true);
  assert.equal(isRight(poll, ["default/api"]), false);
});

test("a preemption is told by the criterion that decided and why the favourite went out", () => {
  const poll = revealedPoll({ counts: { 1: { n1: 20, n2: 8 }, 2: { n2: 28 } }, votes: { 1: 28, 2: 28 } });
  const { lines } = whyLines(poll, "en");
  assert.deepEqual(lines, [
    { key: "vote.victims", values: { pods: "web, batch-a, batch-b" } },
    { key: "vote.decided_by", values: { criterion: "highestPriority" } },
    { key: "vote.struck", values: { name: "n1", criterion: "highestPriority" } },
  ]);
  assert.deepEqual(whyLines(poll, "zh-hans").lines[0].values, { pods: "web、batch-a、batch-b" }, "as Chinese lists");
  assert.deepEqual(answerTitle(poll, "en"), { key: "vote.chose", values: { name: "n2" } });
});

test("points are told with the tie, the lot and by how much the favourite lost", () => {
  assert.deepEqual(whyLines(scoredPoll(), "en").lines, [
    { key: "vote.tied", values: { nodes: "n2, n6", points: "691", name: "n2" } },
    { key: "vote.lost_by", values: { name: "n4", points: "3" } },
  ]);
});

test("who places in turn compared nothing: the node was not the only one", () => {
  const poll = scoredPoll();
  poll.answer = { ...poll.answer, tie: [], explain: { total: {}, feasible: ["n2"], failed: {} } };
  assert.deepEqual(whyLines(poll, "en").lines[0], { key: "vote.unscored", values: { name: "n2" } });
  poll.answer.explain.failed = { n4: { plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"] } };
  assert.deepEqual(whyLines(poll, "en").lines[0], { key: "vote.only", values: { name: "n2" } });
});

test("a favourite that was never possible is told with the filter's own reason, and no node with its sentence", () => {
  const poll = scoredPoll();
  poll.counts["1"] = { n11: 9, n2: 1 };
  assert.deepEqual(whyLines(poll, "en").lines[1], { key: "vote.never", values: { name: "n11", reason: "node(s) had untolerated taint {gpu: true}" } });
  const nowhere = revealedPoll({ answer: { right: ["none"], chosen: null, explain: { message: "0/3 nodes are available." } } });
  assert.deepEqual([answerTitle(nowhere, "en").key, whyLines(nowhere, "en").quote], ["vote.chose_none", "0/3 nodes are available."]);
});

test("a statement that came true is right, and nobody chose it; a node is chosen", () => {
  const choice = revealedPoll({ kind: "choice", answer: { right: ["n2"], chosen: "n2" } });
  const marks = (poll) => countsOf(poll, "en").bars.filter(({ came }) => came).map(({ id }) => id);
  assert.deepEqual(marks(choice), ["n2"]);
  assert.deepEqual(marks(revealedPoll()), []);
});

test("how many have voted is said until the answer is told: its bars count both votes", () => {
  assert.deepEqual(ballot(openPoll()).count, { voted: 24, present: 32 });
  assert.equal(ballot(revealedPoll()).count, null);
});
