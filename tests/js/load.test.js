import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuWith, loadsOf } from "../../static/js/state/load.js";
import { usageOf } from "../../static/js/state/usage.js";
import { node, pod, viewOf } from "./stage/fixtures.js";

const service = {
  resource: "services", apiVersion: "v1", kind: "Service", metadata: { name: "web", namespace: "default" },
  spec: { selector: { app: "web" }, clusterIP: "10.96.0.9" }, status: {},
};

/**
 * @param {string} name
 * @param {object} [usage]
 * @param {string} [ready]
 */
const serving = (name, usage = {}, ready = "True") => {
  const made = pod(name);
  return {
    ...made, metadata: { ...made.metadata, labels: { app: "web" } }, usage: { cpu: 4, memory: 1, perRequest: 20, ...usage },
    status: { ...made.status, phase: "Running", conditions: [{ type: "Ready", status: ready }] },
  };
};

/** @param {{host: string, rate: number}[]} sends */
const generator = (...sends) => ({ ...pod("load"), sends });

/** @param {object[]} objects */
const loads = (...objects) => {
  const view = viewOf(/** @type {any} */ (objects));
  return Object.fromEntries([.../** @type {Map<string, any>} */ (view.objects.get("pods")).values()]
    .map((one) => [one.metadata.name, Math.round(loadsOf(view).get(one.metadata.uid) ?? 0)]));
};

test("requests of a pod's loop are spread over who is ready, and cost what the pod says", () => {
  assert.deepEqual(
    loads(service, serving("a"), serving("b", { perRequest: 100 }), serving("c", {}, "False"), generator({ host: "web", rate: 10 })),
    { a: 100, b: 500, c: 0, load: 0 },
  );
});

test("names lead as they do in the cluster, and addresses", () => {
  for (const [host, milli] of /** @type {[string, number][]} */ ([
    ["web", 20], ["web.default", 20], ["web.default.svc", 20], ["web.default.svc.cluster.local", 20], ["10.96.0.9", 20],
    ["a.web.default.svc", 20], ["a.web.default", 0], ["web.shop", 0], ["web.default.com", 0], ["other", 0], ["10.96.0.8", 0],
  ])) assert.equal(loads(service, serving("a"), generator({ host, rate: 1 }))["a"], milli, host);
});

test("a client counts while it sends, as far as it is answered", () => {
  const client = (/** @type {object} */ status) => ({
    resource: "clients.clustersim.io", metadata: { name: "c" }, spec: { namespace: "default", target: "http://web:80/", rate: 8 }, status,
  });
  assert.equal(loads(service, serving("a"), client({ state: "Sending", success: 0.5 }))["a"], 80);
  assert.equal(loads(service, serving("a"), client({ state: "Done", success: 1 }))["a"], 0);
});

test("a limit caps what a pod uses, and a node uses what its pods do", () => {
  const limited = serving("a", { most: 50 });
  const all = new Map([[limited.metadata.uid, 300]]);
  assert.equal(cpuWith(/** @type {any} */ (limited), all), 50);
  assert.equal(cpuWith(/** @type {any} */ (serving("a")), all), 304);
  const one = { ...node("n1"), usage: { cpu: 60, memory: 0 } };
  assert.equal(usageOf(/** @type {any} */ (one), [/** @type {any} */ (limited), null], all)?.cpu, 110);
});
