// The cards of Home: order, words, languages, how far this browser has come, and the one primary way on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { across, cardsOf, primaryOf } from "../../../static/js/class/home/model.js";

const line = (id, number, more = {}) => ({
  id, number, title: { en: id, zh: `${id}课` }, idea: { en: "First who dies." }, minutes: 30, minimumMinutes: 20, steps: 6, minimumSteps: 4,
  document: 1, languages: ["en", "zh"], ...more,
});

test("cards stand by number, own packages after them", () => {
  const cards = cardsOf([line("own", undefined), line("b", 2), line("a", 1)], {}, "en");
  assert.deepEqual(cards.map(({ id }) => id), ["a", "b", "own"]);
  assert.deepEqual([cards[0].whole, cards[0].short], [{ minutes: 30, steps: 6 }, { minutes: 20, steps: 4 }]);
});

test("words are those of the page, and the bold language is what one would get", () => {
  const [card] = cardsOf([line("a", 1)], {}, "zh-hans");
  assert.deepEqual([card.title, card.idea], ["a课", "First who dies."]);
  assert.deepEqual(card.languages, [{ name: "EN", now: false }, { name: "中文", now: true }]);
  const [english] = cardsOf([line("a", 1, { languages: ["en"] })], {}, "zh-hans");
  assert.deepEqual(english.languages, [{ name: "EN", now: true }]);
});

test("a lesson under way has a segment a step; one that is done has none", () => {
  const progress = { a: { code: "ABC-DEF", step: 3, of: 6, done: false, atMs: 5 }, b: { code: "ABC-DEG", step: 6, of: 6, done: true, atMs: 9 } };
  const cards = cardsOf([line("a", 1), line("b", 2), line("c", 3)], progress, "en");
  assert.deepEqual(cards[0].segments, ["done", "done", "current", "ahead", "ahead", "ahead"]);
  assert.deepEqual(cards.slice(1).map(({ segments }) => segments.length), [0, 0]);
  assert.equal(primaryOf(cards), "a", "what is done is not what one goes on with");
  assert.equal(primaryOf(cardsOf([line("c", 3)], progress, "en")), "");
});

test("what asks for more than there is stays within a card's picture", () => {
  assert.equal(across(4, [2, 4]), 4);
  assert.equal(across(4, [3, 5]), 5);
  assert.equal(across(4), 4);
});
