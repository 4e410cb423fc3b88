// What a click on the field finds: the pod that is seen there, and no pod that words lie over.
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { loadTexts } from "../../../static/js/lib/text.js";
import { MARGIN, makeField } from "../../../static/js/stage/field.js";
import { layoutNodes } from "../../../static/js/stage/levels.js";
import { modelMaker } from "../../../static/js/stage/model.js";
import { node, pod, viewOf } from "./fixtures.js";

before(async () => {
  await loadTexts("en", "stage");
  const body = { currentCSSZoom: 1 };
  const document = { body, documentElement: body, querySelector: () => null, createElement: () => canvasOf(5) };
  const drawn = class {
    addPath() {}
    scale() { return this; }
    translate() { return this; }
  };
  Object.assign(globalThis, { window: { devicePixelRatio: 1 }, document, Path2D: drawn, DOMMatrix: drawn });
});

/** A canvas that draws nothing, on which letters are as wide as asked. @param {number} letter */
function canvasOf(letter) {
  const context = new Proxy({ measureText: (/** @type {string} */ said) => ({ width: letter * said.length }) }, {
    get: (target, name) => target[/** @type {"measureText"} */ (name)] ?? (() => ({ addColorStop: () => {}, setTransform: () => {} })),
    set: () => true,
  });
  return { getContext: () => context, style: {}, width: 0, height: 0 };
}

const UI = { lang: "en", colourBy: "owner", selected: null };
const COLOURS = new Proxy({ key: "light", font: "sans" }, { get: (target, name) => target[/** @type {"key"} */ (name)] ?? (name === "owner" ? Array(8).fill("#000") : "#000") });

/** What the first pod's place on n1 is clicked for. @param {boolean} ready of the node @param {number} letter @param {number} count of nodes */
function clicked(ready, letter, count) {
  const names = Array.from({ length: count }, (_, index) => `n${index + 1}`);
  const nodes = names.map((name) => node(name));
  // The rows of devices leave its pods less room.
  Object.assign(nodes[0].status.allocatable, { "example.com/gpu": "2", "example.com/fpga": "1" });
  if (!ready) nodes[0].status.conditions = [{ type: "Ready", status: "Unknown", reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." }];
  const model = modelMaker()(viewOf([...nodes, pod("a", { nodeName: "n1" }, { phase: "Running" })]), UI);
  const layout = layoutNodes({ zones: [{ name: "", nodes: names }], width: 900, height: 500, zoom: 1 });
  const scroller = { clientWidth: 900, clientHeight: 500, scrollTop: 0, getBoundingClientRect: () => ({ left: 0, top: 0 }) };
  const field = makeField(scroller, canvasOf(letter));
  const input = { model, layout, scene: null, colours: COLOURS, lang: "en", nowMs: 0, selectedNode: "", selectedPod: "", selectedPodNode: "", focused: "", hovered: "", trial: null };
  field.paint(input);
  const box = layout.byName.get("n1");
  /** @type {Set<string>} */
  const found = new Set();
  for (let y = box.y + 1; y < box.y + box.h; y += 2) {
    const hit = field.hit(input, box.x + 14 + MARGIN, y + MARGIN);
    assert.equal(hit?.node.name, "n1");
    if (hit?.glyph) found.add(hit.glyph.key);
  }
  return [...found];
}

test("a pod that is seen is found, one that the words of its node cover is not", () => {
  for (const count of [8, 2]) assert.deepEqual(clicked(true, 5, count), ["default/a"], `${count} nodes`);
  assert.deepEqual(clicked(false, 30, 8), [], "words of many lines cover the row of pods");
});
