/** Where an error in an expression stands. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { offsetOf, placeOf } from "../../static/js/forms/expression_dialog.js";

test("a refusal names line, column and what is wrong", () => {
  assert.deepEqual(placeOf("Invalid value: line 2, column 13: undefined field 'x'"),
    { line: 2, column: 13, message: "undefined field 'x'" });
  assert.equal(placeOf("give a text of 1 to 2000 characters"), null);
});

test("a place is found in the text, whatever its letters take", () => {
  const at = (/** @type {string} */ text, /** @type {number} */ line, /** @type {number} */ column) =>
    offsetOf(text, { line, column, message: "" });
  assert.equal(at("true &&\n  foo()", 2, 3), 10);
  assert.equal(at("a == b", 1, 1), 0);
  assert.equal("'😀' == x".charAt(at("'😀' == x", 1, 8)), "x");
  assert.equal(at("a", 1, 9), 1);
});
