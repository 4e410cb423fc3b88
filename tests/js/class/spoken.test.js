// What a screen reader hears of a poll: its question, that the vote is in, the time that is left, the second round, the answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ballotOf } from "../../../static/js/class/poll/model.js";
import { Speaker } from "../../../static/js/class/poll/spoken.js";
import { loadTexts } from "../../../static/js/lib/text.js";
import { keptFor } from "../../../static/js/state/votes.js";
import { openPoll } from "./fixtures.js";

await loadTexts("en", "vote");
await loadTexts("zh-hans", "vote");

/** A listener to one page's poll. */
function listener() {
  const speaker = new Speaker();
  return (poll, { kept = keptFor(poll, null), leftMs = 60_000, lang = "en" } = {}) => {
    const timed = { ...poll, limit: 60, endsUnixMs: 100_000 };
    return speaker.next(poll.id, ballotOf({ poll: timed, kept, unixMs: 100_000 - leftMs, seat: "1", lang, votes: true, alone: false, deciding: false }), lang);
  };
}

test("a poll is heard from its question to its answer, each thing once", () => {
  const hear = listener();
  const first = openPoll();
  assert.match(hear(first), /^Vote 1 of 2.*Which node will it choose for vip\?$/);
  assert.equal(hear(first, { leftMs: 59_000 }), "", "nothing is repeated");
  assert.match(hear(first, { leftMs: 29_900 }), /30 s/);
  assert.equal(hear(first, { leftMs: 29_100 }), "");
  const voted = { ...first, mine: { 1: { choice: "n1" } } };
  assert.match(hear(voted, { leftMs: 20_000 }), /Your vote is in: n1$/);
  assert.match(hear(voted, { leftMs: 9_800 }), /10 s/);
  assert.match(hear(voted, { leftMs: 4_000 }), /4 s/);
  assert.match(hear({ ...voted, state: "closed" }, { leftMs: 0 }), /Your vote: n1/);
  const again = { ...voted, round: 2 };
  assert.match(hear(again), /^Vote 2 of 2.*Which node will it choose for vip\?$/);
  assert.match(hear(again, { leftMs: 10_000 }), /10 s/, "the second round's time is told too");
  const told = { ...again, state: "revealed", answer: { right: ["n2"], chosen: "n2" } };
  assert.match(hear(told, { leftMs: 0 }), /n2.*You said n1/);
  assert.equal(hear(told, { leftMs: 0 }), "");
});

test("a page in 简体中文 says it so", () => {
  const hear = listener();
  assert.match(hear(openPoll(), { lang: "zh-hans" }), /[一-鿿]/);
});
