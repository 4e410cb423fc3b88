// The teacher's side of a poll: a private picture, advice by the share that is right, and one action that follows from it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { adviceWords, leadOf } from "../../../static/js/class/remote/model.js";
import { loadTexts, text } from "../../../static/js/lib/text.js";
import { openPoll, revealedPoll } from "./fixtures.js";

const lead = (change, lesson = null) => leadOf({ poll: openPoll({ expected: [["n2"]], ...change }), lesson, lang: "en" });

test("fewer than five votes make no picture and no advice", () => {
  const { picture, advice, main } = lead({ counts: { 1: { n1: 2, n2: 2 } } });
  assert.deepEqual([picture, advice.kind, main.id], [false, "few", "close"]);
  assert.deepEqual(adviceWords(advice).hint.values, { votes: 4 });
});

for (const [counts, kind] of [
  [{ n1: 8, n2: 2 }, "hint"], [{ n1: 7, n2: 3 }, "talk"], [{ n1: 3, n2: 7 }, "talk"], [{ n1: 2, n2: 8 }, "reveal"],
]) test(`${counts.n2} right of 10: ${kind}`, () => {
  assert.equal(lead({ counts: { 1: counts } }).advice.kind, kind);
});

test("the server's advice is the one that is shown, and the main action follows it", () => {
  const talk = lead({ counts: { 1: { n1: 11, n2: 13, n3: 6, none: 1 } }, advice: "talk" });
  assert.deepEqual([talk.main.id, talk.main.label.key, talk.others.map(({ id }) => id)], ["close", "lead.talk", ["reveal"]]);
  assert.equal(adviceWords(talk.advice).title.values.share, "42 %");
  assert.equal(lead({ counts: { 1: { n2: 9, n1: 1 } }, advice: "reveal" }).main.id, "reveal");
});

test("where nobody can tell yet what is right, the advice says so and names no share", async () => {
  await Promise.all([loadTexts("en", "class"), loadTexts("zh-hans", "class")]);
  const blind = (kind) => adviceWords(leadOf({ poll: openPoll({ counts: { 1: { n1: 5, n2: 4 } }, advice: kind }), lesson: null, lang: "en" }).advice);
  for (const kind of ["talk", "reveal"]) for (const lang of ["en", "zh-hans"]) {
    const { title, hint } = blind(kind);
    assert.equal(title.key, `lead.agree_${kind}`);
    assert.match(text(lang, hint.key, hint.values), /^9 /);
  }
});

test("of victims those votes are right that name all of them", () => {
  const { advice } = leadOf({ poll: openPoll({ kind: "victims", expected: [["a", "b"]], counts: { 1: { a: 6, b: 6 } }, votes: { 1: 10 }, rightCounts: { 1: 4 } }), lesson: null, lang: "en" });
  assert.deepEqual([advice.kind, advice.share], ["talk", 0.4]);
});

test("after the first vote the second one begins, after the second the reveal", () => {
  assert.deepEqual([lead({ state: "closed" }).main.id, lead({ state: "closed" }).others.map(({ id }) => id)], ["reopen", ["reveal"]]);
  assert.deepEqual([lead({ round: 2 }).main.id, lead({ round: 2 }).advice], ["reveal", null]);
  assert.equal(lead({ round: 2, state: "closed" }).main.id, "reveal");
});

test("after the reveal a lesson goes on by its own words, without one the question ends", () => {
  assert.equal(leadOf({ poll: revealedPoll(), lesson: null, lang: "en" }).main.id, "done");
  const lesson = { of: 6, step: { index: 2 }, next: { do: "next", label: "Next: PDB is no shield" } };
  assert.deepEqual(leadOf({ poll: revealedPoll(), lesson, lang: "en" }).main.label, { key: "lead.named", values: { label: "Next: PDB is no shield" } });
});

test("who was right is known to the teacher alone before the reveal", () => {
  const { counts } = lead({ counts: { 1: { n1: 11, n2: 13, n3: 6 } } });
  assert.deepEqual(counts.bars.filter(({ right }) => right).map(({ id }) => id), ["n2"]);
  const blind = leadOf({ poll: openPoll({ counts: { 1: { n1: 11, n2: 13 } } }), lesson: null, lang: "en" });
  assert.ok(Number.isNaN(blind.counts.rightShare[0]));
});
