// The page's languages: what `<html lang>` says of each, and back.
import assert from "node:assert/strict";
import { test } from "node:test";

import { LANGUAGES, langOf, tagOf } from "../../static/js/lib/languages.js";

test("every language has a tag of its own that leads back to it; an unknown tag is English", () => {
  for (const { lang, tag } of LANGUAGES) assert.equal(langOf(tagOf(lang)), lang, tag);
  assert.equal(tagOf("zh-hans"), "zh-Hans");
  assert.equal(langOf("fr"), "en");
});
