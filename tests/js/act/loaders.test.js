// What the page fetches beside the log: the decisions of the selected pod, and the trace of a cycle too large to carry it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { DecisionLoader } from "../../../static/js/act/decisions.js";
import { ElectionLoader } from "../../../static/js/act/election.js";
import { HandLoader } from "../../../static/js/act/hand.js";
import { ModelLoader } from "../../../static/js/act/model.js";
import { ApiError } from "../../../static/js/net/rest.js";
import { applyMessage, emptyView } from "../../../static/js/state/view.js";

const pod = { resource: "pods", metadata: { name: "web", namespace: "default", uid: "u-web", resourceVersion: "5" }, spec: {} };
const viewOf = (...objects) => applyMessage(emptyView(), { type: "list", revision: 9, objects, last: true });
const trace = (id, attempt) => ({ id, pod: "default/web", uid: "u-web", attempt, point: "Bind", result: {} });
const scheduler = (point, traced) => ({
  resource: "replicas.clustersim.io", metadata: { name: "kube-scheduler-0" }, spec: { component: "kube-scheduler" },
  status: { state: "Running", leading: true, cycle: {
    pod: "default/web", uid: "u-web", attempt: 2, point, startedAtMs: 0, profile: "default-scheduler", seenRevision: 8, traceId: "t-2",
    ...(traced ? { trace: traced } : {}),
  } },
});

/** Wait until a condition holds; the test's own timeout ends a wait in vain. */
async function until(holds) {
  while (!holds()) await new Promise((next) => setTimeout(next, 5));
}

test("the decisions of the selected pod are fetched, newest chosen, and another pod's forgotten", async () => {
  const asked = [];
  const loader = new DecisionLoader({ decisions: async (key) => (asked.push(key), [trace("t-1", 1), trace("t-0", 0)]) }, () => {});
  loader.follow(viewOf(pod), "default/web");
  assert.deepEqual([loader.state.pod, loader.state.loading], ["default/web", true]);
  await until(() => !loader.state.loading);
  assert.deepEqual(loader.state.traces.map(({ id }) => id), ["t-1", "t-0"]);
  assert.equal(loader.state.selectedTraceId, "t-1");
  loader.select("t-0");
  assert.equal(loader.state.selectedTraceId, "t-0");
  loader.follow(viewOf(pod), "");
  assert.deepEqual([loader.state.pod, loader.state.traces], ["", []]);
  assert.deepEqual(asked, ["default/web"]);
});

test("the cycle under way leads the attempts as far as it has gone", async () => {
  const loader = new DecisionLoader({ decisions: async () => [trace("t-1", 1)] }, () => {});
  loader.follow(viewOf(pod, scheduler("Filter", { feasible: ["n1"] })), "default/web");
  await until(() => !loader.state.loading);
  assert.deepEqual(loader.state.traces.map(({ id, point }) => [id, point]), [["t-2", "Filter"], ["t-1", "Bind"]]);
});

test("a pod that no cycle has taken is told as such", async () => {
  const loader = new DecisionLoader({ decisions: () => Promise.reject(new Error("404")) }, () => {});
  loader.follow(viewOf(pod), "default/web");
  await until(() => !loader.state.loading);
  assert.deepEqual(loader.state.traces, []);
});

test("a trace too large for the status is fetched once a point and enters the view by a message", async () => {
  const asked = [];
  let view = viewOf(pod, scheduler("Filter"));
  const loader = new HandLoader(
    { decision: async (id) => (asked.push(id), { point: "Filter", result: { feasible: ["n1"] }, explanation: { nominated: [] } }) },
    (message) => {
      view = applyMessage(view, message);
    },
  );
  loader.follow(view);
  loader.follow(view);
  await until(() => view.hand);
  assert.deepEqual(asked, ["t-2"]);
  assert.deepEqual(view.hand, { id: "t-2", point: "Filter", trace: { feasible: ["n1"], explanation: { nominated: [] } } });
  assert.equal(view.revision, 9, "what was fetched beside the log moves no revision");
});

test("a trace that its status carries is not fetched", () => {
  const loader = new HandLoader({ decision: () => assert.fail("nothing to ask for") }, () => {});
  loader.follow(viewOf(pod, scheduler("Filter", { feasible: [] })));
});

test("renewals from before are fetched when they are looked at, and again only where rows were missed", async () => {
  const asked = [];
  const told = [];
  const loader = new ElectionLoader({ timeline: async (query) => (asked.push(query), [{ rv: asked.length }]) }, () => told.push(loader.marks));
  let view = viewOf(pod);
  loader.follow(view, false);
  assert.equal(asked.length, 0, "nobody looks");
  loader.follow(view, true);
  await until(() => told.length === 1);
  assert.deepEqual([asked, told], [[{ lane: "leases", limit: 2000 }], [[{ rv: 1 }]]]);
  const event = (revision) => ({ revision, verb: "MODIFIED", simTimeMs: 0, actor: "a", resource: "pods", object: pod });
  view = applyMessage(view, { type: "events", from: 9, to: 12, events: [event(10), event(12)] });
  loader.follow(view, false);
  loader.follow(view, true);
  assert.equal(asked.length, 1, "what came was seen to come");
  view = applyMessage(view, { type: "list", revision: 40, objects: [pod], last: true });
  loader.follow(view, false);
  assert.equal(asked.length, 1);
  loader.follow(view, true);
  await until(() => told.length === 2);
  assert.equal(asked.length, 2, "a list tells no rows");
});

test("the model is not asked again of a pod that is gone, until one of its name comes", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let asked = 0;
  const model = async () => {
    asked += 1;
    throw new ApiError({ code: 404, message: "no pod" });
  };
  const loader = new ModelLoader({ model }, () => {});
  const minute = async () => {
    t.mock.timers.tick(60_000);
    for (let turn = 0; turn < 10; turn += 1) await null;
  };
  loader.follow(viewOf(pod), "default/web");
  await minute();
  assert.deepEqual([asked, loader.state.gone], [1, true]);
  const other = { ...pod, metadata: { ...pod.metadata, name: "other", uid: "u-other" } };
  loader.follow(viewOf(other), "default/web");
  await minute();
  assert.equal(asked, 1);
  loader.follow(viewOf(other, pod), "default/web");
  await minute();
  assert.equal(asked, 2);
});
