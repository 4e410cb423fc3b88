// What the fault dialog sends: the kind, and of its fields those that somebody filled.
import assert from "node:assert/strict";
import { test } from "node:test";

import { bodyOf } from "../../static/js/forms/fault_dialog.js";
import { FAULTS } from "../../static/js/lib/faults.js";

const named = (kind) => FAULTS.find((fault) => fault.kind === kind);

test("a fault sends the fields that it knows, as numbers, and leaves out what stands empty", () => {
  const read = (name) => ({ seconds: " 30 ", rate: "0.1" })[name];
  assert.deepEqual(bodyOf(named("partition"), read), { kind: "partition", seconds: 30 });
  assert.deepEqual(bodyOf(named("rate"), read), { kind: "rate", rate: 0.1, seconds: 30 });
  assert.deepEqual(bodyOf(named("release"), read), { kind: "release" });
  assert.deepEqual(bodyOf(named("crash"), () => ""), { kind: "crash" });
});

test("what a fault needs has a value to begin with", () => {
  for (const { kind, needs, usual } of FAULTS)
    for (const field of needs) assert.ok(Number.isFinite(usual[field]), `${kind}: ${field}`);
});
