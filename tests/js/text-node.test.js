import assert from "node:assert/strict";
import test from "node:test";
import { setText } from "../../static/js/dom/dom.js";

/** An element as far as `setText` knows one; it counts what is put in the place of its children. */
function holder(/** @type {{nodeType: number, nodeValue: string}[]} */ ...children) {
  const one = {
    children, replaced: 0,
    get firstChild() { return this.children[0] ?? null; },
    get lastChild() { return this.children.at(-1) ?? null; },
    get textContent() { return this.children.map((child) => child.nodeValue).join(""); },
    set textContent(/** @type {string} */ value) {
      this.replaced += 1;
      this.children = value ? [{ nodeType: 3, nodeValue: value }] : [];
    },
  };
  return /** @type {typeof one & Element} */ (/** @type {unknown} */ (one));
}

const text = (/** @type {string} */ value) => ({ nodeType: 3, nodeValue: value });

test("a text that is alone is written into, and stays the node that it was", () => {
  const node = text("12:00:00.1");
  const clock = holder(node);
  setText(clock, "12:00:00.2");
  assert.equal(clock.firstChild, node);
  assert.equal(node.nodeValue, "12:00:00.2");
  assert.equal(clock.replaced, 0);
});

test("what is empty, or holds more than a text, is filled anew; what is the same is left alone", () => {
  const empty = holder();
  setText(empty, "a");
  assert.deepEqual([empty.textContent, empty.replaced], ["a", 1]);
  const mixed = holder(text("a"), { nodeType: 1, nodeValue: "b" });
  setText(mixed, "c");
  assert.deepEqual([mixed.textContent, mixed.replaced], ["c", 1]);
  setText(mixed, "");
  assert.deepEqual([mixed.firstChild, mixed.replaced], [null, 2]);
  setText(mixed, "");
  assert.equal(mixed.replaced, 2);
});
