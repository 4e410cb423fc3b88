// Refused nodes by reason, and which are lit for whom.
import assert from "node:assert/strict";
import { test } from "node:test";

import { reasonsOf } from "../../../static/js/decision/reasons.js";
import { litOf } from "../../../static/js/stage/lit.js";

const no = (plugin, ...reasons) => ({ code: "Unschedulable", plugin, reasons });

test("each reason counts its nodes, the most frequent first; who lacks two things stands under both", () => {
  const firstFail = {
    n10: no("NodeResourcesFit", "Insufficient cpu", "Insufficient memory"), n2: no("NodeResourcesFit", "Insufficient cpu"),
    n3: no("TaintToleration", "node(s) had untolerated taint {gpu: true}"), n4: no("Mine"), n5: no("Other", "Insufficient cpu"),
  };
  assert.deepEqual(reasonsOf({ firstFail }).map(({ count, reason, plugin, nodes }) => [count, reason, plugin, nodes.join()]), [
    [2, "Insufficient cpu", "NodeResourcesFit", "n2,n10"], [1, "Insufficient cpu", "Other", "n5"],
    [1, "Insufficient memory", "NodeResourcesFit", "n10"], [1, "Mine", "Mine", "n4"],
    [1, "node(s) had untolerated taint {gpu: true}", "TaintToleration", "n3"],
  ]);
  assert.deepEqual(reasonsOf({}), []);
});

test("nodes are lit while the attempt is shown that refused them", () => {
  const lit = { pod: "default/a", attempt: "u-1", reason: "x", nodes: new Set(["n1"]) };
  const ui = { lit, selected: { resource: "pods", key: "default/a" }, decisions: { selectedTraceId: "u-1" } };
  assert.equal(litOf(ui), lit);
  assert.equal(litOf({ ...ui, decisions: { selectedTraceId: "u-2" } }), null);
  assert.equal(litOf({ ...ui, selected: { resource: "pods", key: "default/b" } }), null);
  assert.equal(litOf({ ...ui, selected: null }), null);
});
