// What the server refuses is said in the page's language, and stays as it is where the server did not name the sentence.
import assert from "node:assert/strict";
import { test } from "node:test";

import { inWord, inWords } from "../../static/js/net/refused.js";

const status = (more) => ({ kind: "Status", code: 409, reason: "Conflict", message: "in English", ...more });

test("a named sentence is said in the page's language, with its values", async () => {
  const told = status({ said: { key: "session.unknown", values: { code: "ABC-DEF" } } });
  assert.equal((await inWords(told, "zh-Hans")).message, "没有课堂码为 ABC-DEF 的课堂：请再核对一次");
  assert.equal((await inWords(told, "en")).message, "in English");
});

test("a value may be a sentence itself", async () => {
  const why = { key: "opening.phraseMissing", values: {} };
  const told = status({ said: { key: "opening.phrase", values: { why } } });
  assert.equal((await inWords(told, "zh-Hans")).message, "通行短语没有填写");
});

test("each field says what is wrong with it, and all of them stand in the message", async () => {
  const told = status({ code: 422, details: { causes: [
    { field: "title", message: "give a text", said: { key: "give.textTo", values: { longest: 120 } } },
    { field: "seed", message: "Invalid value: 1", reason: "FieldValueInvalid" },
  ] } });
  const { message, details } = await inWords(told, "zh-Hans");
  assert.equal(message, "title：请填 1 到 120 个字符；seed：Invalid value: 1");
  assert.deepEqual(details.causes.map((cause) => cause.message), ["请填 1 到 120 个字符", "Invalid value: 1"]);
});

test("what is not named, or not known here, stays as the server said it", async () => {
  const upstream = status({ message: 'pods "a" not found' });
  assert.equal(await inWords(upstream, "zh-Hans"), upstream);
  const newer = status({ said: { key: "of.a.later.release", values: {} } });
  assert.equal((await inWords(newer, "zh-Hans")).message, "in English");
});

test("what is wrong with a lesson is said in the page's language, too", async () => {
  const said = { key: "package.unknownField", values: { hint: { key: "package.meant", values: { close: "until" } } } };
  const english = "unknown field: did you mean until?";
  assert.equal(await inWord(english, said, "zh-Hans"), "没有这个字段：是不是 until？");
  assert.equal(await inWord(english, said, "en"), english);
  assert.equal(await inWord("true", undefined, "zh-Hans"), "true");
});
