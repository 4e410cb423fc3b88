/** The body of a request for another scheduler, and what is written before one asks. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { expressionsOf } from "../../static/js/forms/expression_dialog.js";
import { bodyOf, writtenOf } from "../../static/js/forms/scheduler_dialog.js";

test("nothing written asks for the era as it comes", () => {
  assert.equal(bodyOf("round-robin", " \n"), "era: round-robin\n");
});

test("a configuration stands below its field, line by line", () => {
  assert.equal(bodyOf("v1.34", "profiles:\n- schedulerName: a\n"),
    "era: v1.34\nconfiguration:\n  profiles:\n  - schedulerName: a\n  ");
});

test("the algorithm provider reads a Policy, or the name of a provider", () => {
  assert.equal(bodyOf("algorithm-provider", "kind: Policy"), "era: algorithm-provider\npolicy:\n  kind: Policy");
  assert.equal(bodyOf("algorithm-provider", "provider: X\n"), "era: algorithm-provider\nprovider: X\n");
});

test("a document's own first line is no part of the body", () => {
  assert.equal(bodyOf("v1.34", "---\nparallelism: 4"), "era: v1.34\nconfiguration:\n  parallelism: 4");
});

test("what was asked for is written as it would be asked for again", () => {
  const none = { era: "v1.34", configuration: null, policy: null, provider: null, eras: [] };
  assert.equal(writtenOf(none), "");
  assert.match(writtenOf({ ...none, configuration: { parallelism: 4 } }), /^parallelism: 4/);
  assert.match(writtenOf({ ...none, policy: { kind: "Policy" } }), /^kind: Policy/);
  assert.match(writtenOf({ ...none, provider: "X" }), /^provider: X/);
});

test("where nothing was asked for, what runs is written out: its plugins in their order, with weights", () => {
  const none = { era: "v1.34", configuration: null, policy: null, provider: null, eras: [] };
  const profiles = [{ schedulerName: "default-scheduler", plugins: [{ name: "NodeName", weight: 0 }, { name: "TaintToleration", weight: 3 }] }];
  assert.equal(writtenOf({ ...none, profiles, podInitialBackoffSeconds: 1, podMaxBackoffSeconds: 10 }), `\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 10
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: NodeName
      - name: TaintToleration
        weight: 3
      disabled:
      - name: "*"
`);
  assert.equal(writtenOf({ ...none, era: "algorithm-provider", profiles }), "provider: DefaultProvider\n");
  assert.equal(writtenOf({ ...none, era: "round-robin", profiles }), "", "an era that reads no configuration has none");
});

test("the expressions that run now are where one begins to try", () => {
  const config = (args) => ({ configuration: { profiles: [{ pluginConfig: [{ name: "Other" }, { name: "CEL", args }] }] } });
  const filters = [{ name: "a", expression: "true" }, { name: "b", expression: "false" }];
  assert.deepEqual(expressionsOf(config({ filters, scores: [{ expression: "7" }] })), { filter: "true", score: "7" });
  assert.deepEqual(expressionsOf(config({ filters })), { filter: "true", score: "" });
  assert.deepEqual(expressionsOf({ configuration: null }), { filter: "", score: "" });
});
