import assert from "node:assert/strict";
import { test } from "node:test";
import { isPending, outsideOf, podsBehind } from "../../static/js/state/services.js";
import { pod, viewOf } from "./stage/fixtures.js";

/**
 * @param {object} spec
 * @param {object} [status]
 */
const service = (spec, status = {}) => ({
  resource: "services", apiVersion: "v1", kind: "Service", metadata: { name: "web", namespace: "default" }, spec, status,
});

/**
 * @param {string} name
 * @param {string} ready
 * @param {object} [more]
 */
const labelled = (name, ready, more = {}) => {
  const made = pod(name);
  return {
    ...made, metadata: { ...made.metadata, labels: { app: "web", tier: "front" }, ...more },
    status: { ...made.status, phase: "Running", conditions: [{ type: "Ready", status: ready }] },
  };
};

test("behind a Service are the pods of its namespace that it selects and that have not ended", () => {
  const ended = labelled("over", "False");
  ended.status.phase = "Succeeded";
  const view = viewOf([
    labelled("one", "True"), labelled("two", "False"), labelled("far", "True", { namespace: "other" }), pod("plain"), ended,
  ]);
  const behind = podsBehind(view, service({ selector: { app: "web", tier: "front" } }));
  assert.deepEqual(behind.map(({ pod: one, ready }) => [one.metadata.name, ready]), [["one", true], ["two", false]]);
  assert.deepEqual(podsBehind(view, service({ selector: { app: "web", tier: "back" } })), []);
  assert.deepEqual(podsBehind(view, service({})), [], "one without a selector has its endpoints from elsewhere");
});

test("where a Service is reached from outside follows from its type", () => {
  const ingress = { loadBalancer: { ingress: [{ ip: "203.0.113.1" }, { hostname: "lb.example.com" }] } };
  const balanced = service({ type: "LoadBalancer", externalIPs: ["192.0.2.1"] }, ingress);
  assert.deepEqual(outsideOf(balanced), ["203.0.113.1", "lb.example.com", "192.0.2.1"]);
  assert.equal(isPending(balanced), false);
  assert.equal(isPending(service({ type: "LoadBalancer" })), true);
  assert.deepEqual(outsideOf(service({ type: "ClusterIP" }, ingress)), [], "what another type has left counts no more");
  assert.deepEqual(outsideOf(service({ type: "ExternalName", externalName: "example.com" })), ["example.com"]);
  assert.equal(isPending(service({ type: "ClusterIP" })), false);
});
