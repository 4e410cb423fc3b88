// The newest decision is asked for once, by a page that was opened while time stood.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LastLoader } from "../../../static/js/act/last.js";
import { emptyView } from "../../../static/js/state/view.js";

const line = { id: "u-1", pod: "default/web-1", revision: 4 };
const view = (/** @type {object} */ change) => /** @type {any} */ ({ ...emptyView(), ready: true, clock: { paused: true }, decisions: [line], ...change });

/** @param {object[]} views */
async function asked(...views) {
  /** @type {string[]} */
  const wanted = [];
  /** @type {unknown[]} */
  const told = [];
  const loader = new LastLoader({ decision: async (/** @type {string} */ id) => {
    wanted.push(id);
    return { id, result: {} };
  } }, (trace) => told.push(trace));
  for (const one of views) loader.follow(/** @type {any} */ (one));
  await new Promise((done) => setImmediate(done));
  assert.equal(told.length, wanted.length);
  return wanted;
}

test("it waits for the list and its decisions, and asks once", async () => {
  const newer = { ...line, id: "u-2" };
  assert.deepEqual(await asked(view({ ready: false }), view({ decisions: [] }), view({}), view({ decisions: [line, newer] })), ["u-1"]);
});

test("while time runs there is nothing to remember: what comes is seen", async () => {
  assert.deepEqual(await asked(view({ clock: { paused: false } }), view({})), []);
});
