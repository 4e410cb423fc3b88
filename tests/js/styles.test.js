// Every style sheet closes what it opens: after a brace that is missing nothing in the file is in force, and nobody is told.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../static/css/", import.meta.url);

for (const name of readdirSync(ROOT).filter((one) => one.endsWith(".css")))
  test(`${name} closes what it opens`, () => {
    const code = readFileSync(new URL(name, ROOT), "utf8").replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "));
    let depth = 0;
    code.split("\n").forEach((line, index) => {
      // A rule that begins at the left edge is in no other.
      if (/^[.#:@a-z]/i.test(line)) assert.equal(depth, 0, `line ${index + 1} begins within another rule`);
      for (const sign of line) depth += sign === "{" ? 1 : sign === "}" ? -1 : 0;
      assert.ok(depth >= 0, `line ${index + 1} closes more than is open`);
    });
    assert.equal(depth, 0);
  });
