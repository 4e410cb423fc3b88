// The pods of a card: each is named as long as there is a place for its name, in one column or in two.
import assert from "node:assert/strict";
import { test } from "node:test";
import { podRowAt, podsArea, requestsOf, toldIn } from "../../../static/js/stage/card.js";
import { waitOf } from "../../../static/js/state/waits.js";

/** @import { NodeModel } from "../../../static/js/stage/model.js" */
/** @import { TileState } from "../../../static/js/stage/tile-parts.js" */

/** @param {number} count */
const node = (count) => /** @type {NodeModel} */ (/** @type {unknown} */ ({
  name: "n1", cpuUsed: 0, cpuMilli: 4000, memoryUsed: 0, memoryBytes: 1, podCount: count, podsMax: 110, extended: [], trouble: null,
  glyphs: Array.from({ length: count }, (_, index) => ({ key: `default/p${index}` })),
}));
const still = /** @type {TileState} */ (/** @type {unknown} */ ({ scene: null, cycle: null, trial: null, selected: false, focused: false, hovered: false }));
const box = (/** @type {number} */ w, /** @type {number} */ h) => ({ name: "n1", x: 0, y: 0, w, h });

test("pods that have no row of their own stand in a second column, and are found there", () => {
  const card = box(314, 167);
  const area = podsArea(card, node(4), still);
  assert.deepEqual([area.rows, area.columns], [3, 2]);
  const at = (/** @type {number} */ x, /** @type {number} */ row) => podRowAt(node(4).glyphs, area, x, area.y + 20 * row + 5)?.key;
  assert.deepEqual([at(40, 0), at(40, 2), at(200, 0), at(200, 1)], ["default/p0", "default/p2", "default/p3", undefined]);
});

test("of more pods than both columns name the last place says how many, and few keep the whole width", () => {
  const area = podsArea(box(314, 167), node(8), still);
  const keys = Array.from({ length: 6 }, (_, place) =>
    podRowAt(node(8).glyphs, area, place < 3 ? 40 : 200, area.y + 20 * (place % 3) + 5)?.key);
  assert.deepEqual(keys, ["default/p0", "default/p1", "default/p2", "default/p3", "default/p4", undefined]);
  assert.equal(podsArea(box(314, 167), node(3), still).columns, 1);
  assert.equal(podsArea(box(230, 167), node(4), still).columns, 1, "two columns would cut the names");
});

test("a pod whose container cannot run says why in its row, and one that is being made that it is", () => {
  const pen = /** @type {any} */ ({ lang: "en", nowMs: 0 });
  const row = (/** @type {string} */ phase, /** @type {object} */ state) => requestsOf(pen, /** @type {any} */ ({
    state: phase === "Running" ? "running" : "pulling", cpuMilli: 500, memoryBytes: 0, endsAtMs: null,
    waits: waitOf(/** @type {any} */ ({ metadata: { name: "p" }, spec: { nodeName: "n1" }, status: { phase, containerStatuses: [{ name: "c", state }] } })),
  }))[0];
  assert.equal(row("Running", { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s" } }), "CrashLoopBackOff");
  assert.equal(row("Pending", { waiting: { reason: "CreateContainerConfigError" } }), "CreateContainerConfigError");
  assert.equal(row("Pending", { waiting: { reason: "ContainerCreating" } }), "state.pulling");
  assert.equal(row("Running", { running: {} }), "500m CPU");
});

test("of a reason that is too long for its row the beginning is told, of what a pod asks for nothing", () => {
  const pen = /** @type {any} */ ({ lang: "en", nowMs: 0, context: { font: "12px", measureText: (/** @type {string} */ words) => ({ width: 6 * words.length }) } });
  const waits = { reason: "CreateContainerConfigError" };
  const glyph = (/** @type {object} */ more) => /** @type {any} */ ({ state: "running", cpuMilli: 500, memoryBytes: 2 ** 20, endsAtMs: null, ...more });
  assert.equal(toldIn(pen, glyph({ waits }), 200), "CreateContainerConfigError");
  assert.equal(toldIn(pen, glyph({ waits }), 100), "CreateContainer…");
  assert.equal(toldIn(pen, glyph({ waits }), 50), "");
  assert.deepEqual([200, 60, 30].map((room) => toldIn(pen, glyph({}), room)), ["500m · 1 Mi", "500m CPU", ""]);
});
