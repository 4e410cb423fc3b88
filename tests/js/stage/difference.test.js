// Then and now on the same nodes: what came, changed and went since a held moment.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadTexts } from "../../../static/js/lib/text.js";
import { afterShown } from "../../../static/js/state/past.js";
import { differenceMaker, differenceOf, differenceWords, laterShare } from "../../../static/js/stage/difference.js";
import { wrap } from "../../../static/js/stage/pen.js";
import { modelMaker } from "../../../static/js/stage/model.js";
import { node, pod, viewOf } from "./fixtures.js";

/** @import { Slim, Ui } from "../../../static/js/lib/types.d.ts" */

await loadTexts("en", "stage");
const UI = /** @type {Ui} */ (/** @type {unknown} */ ({ lang: "en", colourBy: "owner", selected: null }));
const model = (/** @type {Slim[]} */ ...objects) => modelMaker()(viewOf(objects), UI);
const running = (/** @type {string} */ name, /** @type {string} */ on) => pod(name, { nodeName: on }, { phase: "Running" });

const then = model(node("n1"), node("n2"), running("a", "n1"), pod("b", { nodeName: "n1" }), running("c", "n2"));
const now = model(node("n1"), node("n3"), running("a", "n1"), running("b", "n1"), running("d", "n3"), running("e", "n1"));
const both = differenceOf(then, now);

test("each pod says what became of it, on the node where it was or came to", () => {
  assert.deepEqual(both.nodes.get("n1")?.glyphs.map(({ name, mark }) => [name, mark]), [["a", "same"], ["b", "changed"], ["e", "came"]]);
  assert.deepEqual(both.nodes.get("n2")?.glyphs.map(({ name, mark }) => [name, mark]), [["c", "gone"]]);
  assert.deepEqual(both.nodes.get("n3")?.glyphs.map(({ name, mark }) => [name, mark]), [["d", "came"]]);
});

test("nodes of both are there, in order, with what they were and are taken by", () => {
  assert.deepEqual([...both.nodes.keys()], ["n1", "n2", "n3"]);
  const n1 = both.nodes.get("n1");
  assert.deepEqual([n1?.cpuUsed, n1?.difference?.cpuUsed, n1?.difference?.node], [1000, 1500, ""]);
  assert.ok(n1);
  assert.deepEqual([laterShare(n1, "cpu"), laterShare(n1, "pods")], [1500 / 4000, null]);
  assert.deepEqual([both.nodes.get("n2")?.difference?.node, both.nodes.get("n3")?.difference?.node], ["gone", "came"]);
});

test("a pod that was made again under its name came, and the one before is gone", () => {
  const again = { ...running("a", "n1"), metadata: { ...running("a", "n1").metadata, uid: "another" } };
  const glyphs = differenceOf(model(node("n1"), running("a", "n1")), model(node("n1"), again)).nodes.get("n1")?.glyphs;
  assert.deepEqual(glyphs?.map(({ mark }) => mark), ["gone", "came"]);
});

test("the words name only what happened", () => {
  const nothing = { node: /** @type {const} */ (""), came: 0, changed: 0, gone: 0, cpuUsed: 0, memoryUsed: 0 };
  assert.equal(differenceWords(nothing, "en"), "");
  assert.equal(differenceWords({ ...nothing, came: 2, gone: 1 }, "en"), "2 came, 1 gone");
  assert.equal(differenceWords({ ...nothing, node: "gone" }, "en"), "this node is gone");
});

test("the difference of the same two is the same picture, and one key leads through the three", () => {
  const make = differenceMaker();
  assert.equal(make(then, now), make(then, now));
  assert.notEqual(make(then, then), make(then, now));
  assert.deepEqual([afterShown("then"), afterShown("difference"), afterShown("now")], ["difference", "now", "then"]);
});

test("words in Chinese keep the space before a number where lines are broken", () => {
  const pen = /** @type {any} */ ({ context: { font: "", measureText: (/** @type {string} */ words) => ({ width: words.length * 10 }) } });
  assert.deepEqual(wrap(pen, "新增 1, 消失 2", 1000, 2), ["新增 1, 消失 2"]);
  assert.deepEqual(wrap(pen, "新增 1, 消失 2", 70, 2), ["新增 1, 消", "失 2"]);
});
