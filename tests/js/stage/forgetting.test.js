import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { foldRows } from "../../../static/js/state/view.js";
import { modelMaker } from "../../../static/js/stage/model.js";
import { node, pod, viewOf } from "./fixtures.js";

/** @import { Ui, View } from "../../../static/js/lib/types.d.ts" */

const UI = /** @type {Ui} */ (/** @type {unknown} */ ({ lang: "en", colourBy: "owner", selected: null }));

/** @returns {void} */
const collect = (setFlagsFromString("--expose-gc"), runInNewContext("gc"));

/** @param {View} view @param {number} revision @returns {View} */
const later = (view, revision) => {
  const object = pod("a", { nodeName: "n1" }, { phase: revision % 2 ? "Running" : "Pending" });
  return { ...view, objects: foldRows(view.objects, [{
    revision, verb: "MODIFIED", simTimeMs: 0, actor: "user:t", resource: object.resource, object,
  }]) };
};

test("what was drawn before is let go", async () => {
  const make = modelMaker();
  let view = viewOf([node("n1"), pod("a", { nodeName: "n1" })]);
  /** @type {WeakRef<object>[]} */
  const drawn = [];
  let newest = make(view, UI);
  for (let revision = 11; revision < 31; revision += 1) {
    drawn.push(new WeakRef(newest));
    view = later(view, revision);
    newest = make(view, UI);
  }
  // A reference that was just made lasts until the end of its turn.
  await new Promise((done) => setImmediate(done));
  collect();
  assert.ok(drawn.filter((model) => model.deref()).length <= 2);
  assert.equal(newest.say("default/a"), "a");
});
