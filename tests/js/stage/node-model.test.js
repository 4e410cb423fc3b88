// What is made anew of a few changed pods must be what would be made of all of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { foldRows } from "../../../static/js/state/view.js";
import { modelMaker } from "../../../static/js/stage/model.js";
import { cycle, node, pod, scheduler, viewOf } from "./fixtures.js";

/** @import { Slim, Ui, View } from "../../../static/js/lib/types.d.ts" */

const UI = /** @type {Ui} */ (/** @type {unknown} */ ({ lang: "en", colourBy: "owner", selected: null }));

/** @param {View} view @param {"MODIFIED" | "DELETED"} verb @param {readonly Slim[]} objects @returns {View} */
const after = (view, verb, objects) => ({
  ...view,
  objects: foldRows(view.objects, objects.map((object, index) => ({
    revision: 11 + index, verb, simTimeMs: 0, actor: "user:t", resource: object.resource, object,
  }))),
});

/** @param {import("../../../static/js/stage/model.js").Model} model */
const picture = ({ nodes, zones, pods, groups, unseen, rollouts }) => ({
  nodes: [...nodes], zones, pods: [...pods], groups, unseen: unseen.map(({ metadata }) => metadata.name), rollouts,
});

test("after any run of changes the model is the one that a page opened now would make", () => {
  // A little congruential generator: the same changes each time.
  let seed = 7;
  const below = (/** @type {number} */ n) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % n;
  const any = (/** @type {string} */ prefix, /** @type {number} */ n) => `${prefix}${below(n)}`;
  const drawn = (/** @type {string} */ name) => {
    const phase = ["Pending", "Running", "Succeeded"][below(3)];
    return below(5) ? pod(name, { nodeName: any("n", 6) }, { phase }) : pod(name, {}, { phase: "Pending", nominatedNodeName: below(2) ? any("n", 6) : "" });
  };
  const steps = [
    (/** @type {View} */ view) => after(view, "MODIFIED", [0, 1, 2].map(() => drawn(any("web-", 30)))),
    (/** @type {View} */ view) => after(view, "DELETED", [pod(any("web-", 30))]),
    (/** @type {View} */ view) => after(view, "MODIFIED", [node(any("n", 6), any("zone-", 2))]),
    (/** @type {View} */ view) => after(view, "DELETED", [node(any("n", 6))]),
    (/** @type {View} */ view) => after(view, "MODIFIED", [scheduler(below(2) ? {}
      : { cycle: cycle({ pod: `default/${any("web-", 30)}`, point: below(2) ? "Reserve" : "Score" }) })]),
  ];
  const make = modelMaker();
  let view = viewOf([node("n0"), node("n1"), node("n2"), pod("web-1", { nodeName: "n1" }), scheduler({})]);
  for (let step = 0; step < 400; step += 1) {
    view = /** @type {(view: View) => View} */ (steps[below(steps.length)])(view);
    assert.deepEqual(picture(make(view, UI)), picture(modelMaker()(view, UI)), `after ${step} changes`);
  }
});

test("of ten thousand pods one that changed makes one glyph and one node anew", () => {
  const make = modelMaker();
  const nodes = Array.from({ length: 100 }, (_, index) => node(`n${index}`));
  const pods = Array.from({ length: 10_000 }, (_, index) => pod(`p-${index}`, { nodeName: `n${index % 100}` }, { phase: "Running" }));
  const view = viewOf([...nodes, ...pods]);
  const before = make(view, UI);
  assert.equal(before.fresh.length, 10_000);
  const now = make(after(view, "MODIFIED", [pod("p-7", { nodeName: "n7" }, { phase: "Failed" })]), UI);
  assert.deepEqual(now.fresh.map(({ key }) => key), ["default/p-7"]);
  assert.deepEqual([...now.nodes].filter(([name, one]) => one !== before.nodes.get(name)).map(([name]) => name), ["n7"]);
});
