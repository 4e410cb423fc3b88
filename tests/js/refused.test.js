// What the server refuses is said in the page's language, and stays as it is where the server did not name the sentence.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { inWord, inWords } from "../../static/js/net/refused.js";

const CASES = JSON.parse(readFileSync(new URL("../golden/refused.json", import.meta.url), "utf8"));
/** @param {object} more */
const status = (more) => ({ kind: "Status", code: 409, reason: "Conflict", message: "in English", ...more });

for (const { what, status: more, told } of CASES) {
  test(what, async () => assert.equal((await inWords(status(more), "zh-Hans")).message, told));
}

test("in English it stays as the server said it", async () => {
  for (const { status: more } of CASES) assert.equal((await inWords(status(more), "en")).message, more.message);
});

test("each cause is said in the page's language for the field that it is about", async () => {
  const { status: more } = CASES.find((one) => one.status.details);
  const { details } = await inWords(status(more), "zh-Hans");
  assert.deepEqual(details.causes.map((cause) => cause.message), ["请填 1 到 120 个字符", "Invalid value: 1"]);
});

test("what is wrong with a lesson is said in the page's language, too", async () => {
  const said = { key: "package.unknownField", values: { hint: { key: "package.meant", values: { close: "until" } } } };
  const english = "unknown field: did you mean until?";
  assert.equal(await inWord(english, said, "zh-Hans"), "没有这个字段：是不是 until？");
  assert.equal(await inWord(english, said, "en"), english);
  assert.equal(await inWord("true", undefined, "zh-Hans"), "true");
});
