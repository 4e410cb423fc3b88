/** Words on tiles: what is too wide is cut, and a node's name keeps what tells it from its sisters. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ending, fit, podEnding } from "../../../static/js/stage/pen.js";

/** A pen whose letters are one pixel wide. */
const pen = /** @type {any} */ ({ context: { font: "1px test", measureText: (/** @type {string} */ text) => ({ width: text.length }) } });

test("a name that is cut keeps its end, as far as there is room", () => {
  assert.equal(fit(pen, "plain-12", 8, "12"), "plain-12");
  assert.equal(fit(pen, "plain-12", 6, "12"), "pla…12");
  assert.equal(fit(pen, "plain-12", 4, "12"), "p…12");
  assert.equal(fit(pen, "plain-12", 3, "12"), "pl…");
  assert.equal(fit(pen, "plain-12", 1, "12"), "");
  assert.equal(fit(pen, "plain-12", 6), "plain…");
});

test("only a short last part is an end", () => {
  assert.deepEqual(["plain-12", "n1", "worker-a", "ip-10-0-0-1.eu-west.internal", "x-"].map(ending), ["12", "", "a", "", ""]);
});

test("a pod keeps the letters that its owner has drawn for it", () => {
  assert.deepEqual(["filler-that-goes-on-4skqf", "web-12", "alone", "web-database"].map(podEnding), ["4skqf", "12", "", ""]);
});
