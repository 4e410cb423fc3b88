// What an extender answered, as the Decision panel tells it: what was left, why it failed, whether that was passed over.
import assert from "node:assert/strict";
import { test } from "node:test";

import { answerOf } from "../../../static/js/decision/kept.js";
import { loadTexts } from "../../../static/js/lib/text.js";

const call = { extender: "http://127.0.0.1:8888", verb: "filter", url: "http://127.0.0.1:8888/filter", durationMs: 1.25, nodesIn: 1_200, nodesOut: 3 };

test("what is left of the nodes is told, and where no preemption would help", async () => {
  await loadTexts("en", "stage");
  assert.equal(answerOf(call, "en"), "3 of 1,200 nodes left, after 1.3 ms.");
  const failed = { n1: "no", n2: "never" };
  assert.equal(answerOf({ ...call, failedAndUnresolvableNodes: failed }, "en"), "3 of 1,200 nodes left, after 1.3 ms. No preemption helps on n1 and n2.");
});

test("a call that was of no use says why", async () => {
  await loadTexts("en", "stage");
  const { nodesOut: _, ...broken } = { ...call, error: "connection refused" };
  assert.equal(answerOf(broken, "en"), "Failed after 1.3 ms: connection refused");
  assert.equal(answerOf({ ...broken, ignored: true }, "en"), "Failed after 1.3 ms and was passed over, as it is ignorable: connection refused");
});
