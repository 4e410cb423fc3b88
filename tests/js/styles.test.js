// A style sheet with an open brace is read to its end as part of one rule: everything after it is lost without a word.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const FOLDER = new URL("../../static/css/", import.meta.url);

for (const name of readdirSync(FOLDER).filter((one) => one.endsWith(".css")))
  test(`every rule of ${name} is closed`, () => {
    const source = readFileSync(new URL(name, FOLDER), "utf8").replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "));
    /** @type {string[]} */
    const open = [];
    for (const [, before, brace] of source.matchAll(/([^{};]*)([{};])/g)) {
      if (brace === "}") assert.notEqual(open.pop(), undefined, `${name}: a brace too many after ${before.trim()}`);
      if (brace === "{") open.push(before.trim());
    }
    assert.deepEqual(open, [], `${name}: not closed`);
  });
