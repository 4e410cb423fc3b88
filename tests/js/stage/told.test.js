import assert from "node:assert/strict";
import { test } from "node:test";
import { POINTS } from "../../../static/js/lib/trace.js";
import { LINGER_MS, pointBudgetMs, profileOf, tell } from "../../../static/js/stage/told.js";
import { cycle, pod, scheduler, trace, viewOf } from "./fixtures.js";

/** @import { Clock, View } from "../../../static/js/lib/types.d.ts" */

/** @param {View} view @param {Partial<Clock>} change @returns {View} */
const withClock = (view, change) => ({
  ...view,
  clock: {
    paused: false, rate: 1, pace: 250, simTimeMs: 0, anchorUnixMs: 0, effectiveRate: 1, held: null, ...change,
  },
});
/** @param {Parameters<typeof cycle>[0]} change */
const holding = (change) => withClock(viewOf([scheduler({ cycle: cycle(change) })]), {});

test("a pod taken into hand and then reserved turns once each", () => {
  const { chosen: _chosen, lot: _lot, ...open } = trace();
  const first = tell(null, holding({ point: "PreFilter", trace: {} }), 0);
  assert.deepEqual(first.turns, [{ kind: "taken", pod: "default/web-1" }]);
  const second = tell(first.told, holding({ point: "Score", trace: open }), 100);
  assert.deepEqual(second.turns, []);
  const third = tell(second.told, holding({ point: "Reserve" }), 200);
  assert.deepEqual(third.turns, [{ kind: "reserved", pod: "default/web-1", node: "n3" }]);
  assert.deepEqual(tell(third.told, holding({ point: "Permit" }), 300).turns, []);
});

test("the time of a point counts from when it was first seen, not from later views of the same point", () => {
  const first = tell(null, holding({ point: "Score" }), 1000);
  assert.equal(tell(first.told, holding({ point: "Score" }), 1500).told?.sinceMs, 1000);
  assert.equal(tell(first.told, holding({ point: "Reserve" }), 1500).told?.sinceMs, 1500);
});

test("a cycle that was seen to its end stays until the next, and another attempt starts anew", () => {
  const told = tell(null, holding({ point: "Bind" }), 0).told;
  const idle = withClock(viewOf([scheduler({ cycle: null })]), {});
  const ended = tell(told, idle, 100).told;
  assert.equal(ended?.endedMs, 100);
  assert.equal(tell(ended, idle, 100 + 100 * LINGER_MS).told, ended);
  assert.equal(tell(ended, withClock(idle, { paused: true }), 200).told, ended);
  assert.deepEqual(tell(told, holding({ attempt: 2, point: "PreFilter", trace: {} }), 200).turns.map((turn) => turn.kind),
    ["taken"]);
});

test("a cycle whose end nobody saw leaves after its moment", () => {
  const told = tell(null, holding({ point: "Score" }), 0).told;
  const idle = withClock(viewOf([scheduler({ cycle: null })]), {});
  const ended = tell(told, idle, 100).told;
  assert.equal(ended?.endedMs, 100);
  assert.equal(tell(ended, idle, 100 + LINGER_MS + 1).told, null);
});

test("what is remembered makes way for a newer decision that was not seen, and for another time", () => {
  const told = tell(null, holding({ point: "Bind" }), 0).told;
  const idle = withClock(viewOf([scheduler({ cycle: null })]), {});
  const line = (/** @type {string} */ id, /** @type {number} */ revision) =>
    /** @type {View["decisions"][number]} */ (/** @type {unknown} */ ({ id, revision }));
  const later = { ...idle, revision: idle.revision + 5 };
  const own = { ...later, decisions: [line("u-web-1-1", later.revision)] };
  assert.ok(tell(told, own, 10).told);
  assert.equal(tell(told, { ...later, decisions: [...own.decisions, line("u-web-2-1", later.revision)] }, 10).told, null);
  assert.equal(tell(told, { ...later, me: /** @type {View["me"]} */ ({ role: "viewer", past: true }) }, 10).told, null);
  assert.equal(tell(told, { ...idle, revision: idle.revision - 1 }, 10).told, null);
});

test("a cycle of a crashed replica is not told", () => {
  const view = withClock(viewOf([scheduler({ state: "Crashed", cycle: cycle() })]), {});
  assert.equal(tell(null, view, 0).told, null);
});

test("a refusal is said once", () => {
  const refused = { feasible: [], fitError: "0/1 nodes are available: 1 Insufficient cpu." };
  const first = tell(null, holding({ point: "Filter", trace: { feasible: [] } }), 0);
  const second = tell(first.told, holding({ point: "PostFilter", trace: refused }), 1);
  assert.deepEqual(second.turns.map((turn) => turn.kind), ["refused"]);
  assert.deepEqual(tell(second.told, holding({ point: "PostFilter", trace: refused }), 2).turns, []);
});

test("the time for an animation is the pace at the real rate, endless while held", () => {
  const view = viewOf([]);
  assert.equal(pointBudgetMs(withClock(view, { pace: 250, rate: 2, effectiveRate: 2 })), 125);
  assert.equal(pointBudgetMs(withClock(view, { paused: true })), Infinity);
  assert.equal(pointBudgetMs(withClock(view, { pace: 0 })), Infinity);
});

test("weights and counts come from the profile of the cycle", () => {
  const view = viewOf([{
    resource: "schedulerconfigs.clustersim.io", metadata: { name: "default" },
    status: { profiles: [{ schedulerName: "default-scheduler", plugins: [
      { name: "TaintToleration", weight: 3, points: ["filter", "score"] }, { name: "NodeName", points: ["filter"] },
    ] }] },
  }]);
  assert.deepEqual(profileOf(view, "default-scheduler"), {
    weights: { TaintToleration: 3 }, counts: { Filter: 2, Score: 1 }, points: POINTS, sort: "PrioritySort",
    filters: [],
  });
});

test("a profile says which points its era has, and who orders its queue", () => {
  const order = [["queueSort", "FIFO"], ["filter", "A"], ["postFilter", "A"], ["preemption", "A"], ["score", "A"]];
  const view = viewOf([{
    resource: "schedulerconfigs.clustersim.io", metadata: { name: "default" }, spec: { era: "framework-1.18" },
    status: { profiles: [{ schedulerName: "default-scheduler", plugins: [],
      order: order.map(([point, plugin]) => ({ point, plugins: [plugin] })) }] },
  }]);
  const { points, sort, filters } = profileOf(view, "default-scheduler");
  assert.deepEqual(points, ["QueueSort", "Filter", "PostFilter", "PreScore", "Score"], "under today's names, in their order");
  assert.equal(sort, "FIFO");
  assert.deepEqual(filters, ["A"]);
});

test("held time tells what it holds: a cycle that ended inside a step leaves the stage at once", () => {
  const paused = { paused: true };
  const told = tell(null, withClock(holding({ point: "Filter" }), paused), 0).told;
  assert.equal(told?.cycle.point, "Filter");
  const idle = withClock(viewOf([scheduler({ cycle: null })]), paused);
  assert.equal(tell(told, idle, 10).told, null);
});

test("a cycle whose trace is on the way is not over", () => {
  const paused = { paused: true };
  const told = tell(null, withClock(holding({ point: "Filter" }), paused), 0).told;
  const { trace: _trace, ...bare } = cycle({ point: "Score" });
  const waits = withClock(viewOf([scheduler({ cycle: bare })]), paused);
  assert.equal(tell(told, waits, 10).told, told);
});

test("a cycle that a poll had sealed leaves the stage when no cycle is in hand any more", () => {
  const { traceId: _id, trace: _trace, ...sealed } = cycle({ point: "QueueSort" });
  const held = tell(null, viewOf([pod("web-1"), scheduler({ cycle: sealed })]), 0);
  assert.equal(held.told?.cycle.point, "QueueSort");
  const view = viewOf([pod("web-1"), scheduler({ cycle: null })]);
  assert.equal(tell(held.told, { ...view, clock: { ...view.clock, paused: true } }, 100).told, null);
});
