// Why no scheduling cycle runs for a pod: nobody schedules, it asks for another scheduler, it has gates, or time stands.
import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, loadTexts } from "../../../static/js/lib/text.js";
import { idleHint } from "../../../static/js/stage/hints.js";
import { laneModels } from "../../../static/js/stage/lanes-model.js";
import { strangers, whyUndecided } from "../../../static/js/state/undecided.js";
import { node, pod, scheduler, viewOf } from "./fixtures.js";

await loadTexts("en", "page");

const CONFIG = { resource: "schedulerconfigs.clustersim.io", metadata: { name: "default" }, spec: {},
  status: { profiles: [{ schedulerName: "default-scheduler", plugins: [] }] } };
const EMPTY = { active: [], backoff: [], unschedulable: [], gated: [], waiting: [], binding: [], counts: {} };
const lease = (/** @type {string} */ holderIdentity) => ({
  resource: "leases.coordination.k8s.io", metadata: { name: "kube-scheduler", namespace: "kube-system" }, spec: { holderIdentity } });

/**
 * @param {any[]} objects
 * @param {any} one
 * @param {boolean} [paused]
 */
function why(objects, one, paused = false) {
  const view = { ...viewOf([CONFIG, ...objects]), clock: /** @type {any} */ ({ paused }) };
  const found = whyUndecided(view, one, "en");
  return found ? counted("en", found.key, found.values) : "";
}

test("a pod whose turn has not come has no other reason", () => assert.equal(why([scheduler({})], pod("web")), ""));

test("a pod that asks for a scheduler which is not there is told so, whatever else holds", () => {
  assert.equal(why([scheduler({})], pod("web", { schedulerName: "mine" }), true),
    "It asks for scheduler mine, and the session's is called default-scheduler: one from outside has to take it.");
});

test("while all schedulers have crashed nobody takes it, also while time is held", () => {
  const crashed = scheduler({ state: "Crashed", leading: false });
  assert.equal(why([crashed], pod("web"), true), "No scheduler runs: kube-scheduler-0 has crashed. It is tried once one runs again.");
  const standby = scheduler({ leading: false }, "kube-scheduler-1");
  assert.equal(why([crashed, standby, lease("kube-scheduler-0")], pod("web")),
    "No scheduler leads at the moment. It is tried once one has the lease.");
  assert.equal(why([crashed, lease("laptop_77")], pod("web")), "", "one from outside leads");
});

test("gates, held time and a node that was given are told", () => {
  assert.equal(why([scheduler({})], pod("web", { schedulingGates: [{ name: "quota" }] })),
    "It waits at its gate quota: no scheduling cycle runs before it is taken off.");
  assert.equal(why([scheduler({})], pod("web"), true), "Time is held: it is accepted and tried when time runs.");
  assert.match(why([scheduler({})], pod("web", { nodeName: "n1" })), /came with its node n1/);
});

test("an idle stage says that no scheduler runs, and to whom it is given how to mend that", () => {
  const view = viewOf([CONFIG, scheduler({ state: "Crashed", leading: false })]);
  const model = /** @type {any} */ ({ nodes: new Map([["n1", node("n1")]]), queue: EMPTY, unseen: [pod("web"), pod("far", { schedulerName: "mine" })] });
  const hint = (/** @type {any} */ me) => idleHint({ ...view, me, clock: /** @type {any} */ ({ paused: true }) }, model);
  assert.deepEqual(hint({ role: "teacher" }), { key: "idle.recover", values: { n: 1 } });
  assert.deepEqual(hint({ role: "student" }), { key: "idle.nobody", values: { n: 1 } });
});

test("a lane names the scheduler that nobody here is", () => {
  const asksOf = strangers(viewOf([CONFIG]));
  const [active] = laneModels(/** @type {any} */ (EMPTY), /** @type {any} */ ([pod("web"), pod("far", { schedulerName: "mine" })]), "", 0,
    { backoff: { initialMs: 1, maxMs: 1 }, sort: "PrioritySort", asksOf });
  assert.deepEqual(active?.rows.map(({ key, asks }) => [key, asks]), [["default/web", ""], ["default/far", "mine"]]);
});
