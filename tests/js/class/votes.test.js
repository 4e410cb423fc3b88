// A vote: what is picked, what is kept until it can be sent, what the server's word changes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { keptFor, pick, voteOf } from "../../../static/js/state/votes.js";
import { openPoll } from "./fixtures.js";

const fresh = keptFor(openPoll(), null);

test("a first tap chooses and sends nothing; one on a vote that is in changes it at once", () => {
  const first = pick(openPoll(), fresh, "n1");
  assert.deepEqual([first.kept.picked, first.send], [["n1"], false]);
  const sent = { ...first.kept, state: "sent", because: "engine" };
  const changed = pick(openPoll(), sent, "n2");
  assert.deepEqual([changed.kept.picked, changed.kept.state, changed.send], [["n2"], "sending", true]);
  assert.deepEqual(voteOf(openPoll(), changed.kept), { choice: "n2", because: "engine" });
  assert.equal(pick(openPoll(), sent, "n1").send, false, "the same answer again is no change");
});

test("nothing can be picked once the vote is closed", () => {
  assert.deepEqual(pick(openPoll({ state: "closed" }), fresh, "n1"), { kept: fresh, send: false });
});

test("of victims several may be picked, and nobody stands alone", () => {
  const poll = openPoll({ kind: "victims" });
  let kept = pick(poll, fresh, "n1").kept;
  kept = pick(poll, kept, "n2").kept;
  assert.deepEqual(voteOf(poll, kept), { choice: ["n1", "n2"] });
  assert.deepEqual(pick(poll, kept, "n1").kept.picked, ["n2"]);
  assert.deepEqual(pick(poll, kept, "none").kept.picked, ["none"]);
  assert.deepEqual(pick(poll, { ...kept, picked: ["none"] }, "n1").kept.picked, ["n1"]);
});

test("the server's word is what counts, but for a vote that it has not got", () => {
  const mine = { 1: { choice: "n3", because: "engine" } };
  assert.deepEqual(keptFor(openPoll({ mine }), fresh), { poll: "poll-3", round: 1, picked: ["n3"], because: "engine", state: "sent", problem: "" });
  const waiting = { ...fresh, picked: ["n2"], state: "waiting" };
  assert.equal(keptFor(openPoll({ mine }), waiting), waiting, "a change that could not be sent is still kept");
  assert.equal(keptFor(openPoll({ state: "closed" }), waiting).problem, "late", "it is never shown as sent");
  assert.deepEqual(keptFor(openPoll({ state: "closed", mine }), waiting).picked, ["n3"]);
});

test("the second vote starts on the own first one and is not sent by itself", () => {
  const second = keptFor(openPoll({ round: 2, mine: { 1: { choice: "n1", because: "engine" } } }), { ...fresh, picked: ["n1"], state: "sent" });
  assert.deepEqual([second.round, second.picked, second.state, second.because], [2, ["n1"], "", ""]);
});

test("another poll forgets what was picked in the last one", () => {
  assert.deepEqual(keptFor(openPoll({ id: "poll-4" }), { ...fresh, picked: ["n1"], state: "sent" }).picked, []);
});
