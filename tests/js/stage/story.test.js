import assert from "node:assert/strict";
import { test } from "node:test";
import { DIM_TOTAL_MS } from "../../../static/js/stage/cycle.js";
import { makeStory } from "../../../static/js/stage/story.js";
import { LINGER_MS, lastOf } from "../../../static/js/stage/told.js";
import { cycle, node, pod, scheduler, trace, viewOf } from "./fixtures.js";

/** @import { Clock, TraceResult, Ui, View } from "../../../static/js/lib/types.d.ts" */

const UI = /** @type {Ui} */ (/** @type {unknown} */ ({
  lang: "en", colourBy: "owner", selected: null, reducedMotion: false, nowMs: 5_000, decisions: { pod: "", traces: [], selectedTraceId: "", pinned: "", loading: false },
}));
const NODES = ["n1", "n2", "n3", "n4"].map((name) => node(name));

/** @param {object | null} status of the scheduler @param {Partial<Clock>} [clock] @returns {View} */
const view = (status, clock = {}) => ({
  ...viewOf([...NODES, pod("web-1"), scheduler({ cycle: status })]),
  clock: { paused: false, rate: 1, pace: 250, simTimeMs: 0, anchorUnixMs: 0, effectiveRate: 1, held: null, ...clock },
});

test("a picture moves until its animation has ended, and says so once", () => {
  const story = makeStory();
  story.take(view(cycle({ point: "Filter" })), UI, 0);
  story.advance(10);
  assert.ok(story.scene()?.moving);
  const changes = [DIM_TOTAL_MS, DIM_TOTAL_MS + 300, DIM_TOTAL_MS + 600].map((ms) => story.advance(ms));
  assert.deepEqual(changes.filter(Boolean).length, 1);
  assert.equal(story.scene()?.moving, false);
  assert.equal(story.scene()?.nodes.get("n2")?.dim, 1);
});

test("above ten seconds a second, and where motion is reduced, a picture is at its end at once", () => {
  for (const [clock, ui] of /** @type {const} */ ([[{ rate: 50, effectiveRate: 50 }, UI], [{}, { ...UI, reducedMotion: true }]])) {
    const story = makeStory();
    story.take(view(cycle({ point: "Filter" }), clock), ui, 0);
    assert.equal(story.sceneAt(1)?.moving, false);
  }
  const held = makeStory();
  held.take(view(cycle({ point: "Filter" }), { rate: 50, paused: true }), UI, 0);
  assert.equal(held.sceneAt(1)?.moving, true, "a step of held time is animated at any rate");
});

test("a cycle that is over stays in the picture, dimmed after its moment", () => {
  const story = makeStory();
  story.take(view(cycle({ point: "PostBind" })), UI, 0);
  story.advance(1);
  const full = story.scene()?.nodes.get("n2")?.dim ?? 0;
  story.take(view(null), UI, 100);
  assert.equal(story.advance(200), false);
  assert.equal(story.scene()?.over, false);
  assert.equal(story.advance(100 + LINGER_MS + 1), true);
  assert.equal(story.scene()?.over, true);
  assert.equal(story.scene()?.nodes.get("n3")?.winner, true);
  assert.ok((story.scene()?.nodes.get("n2")?.dim ?? 1) < full);
  assert.equal(story.advance(100 + LINGER_MS + 2), false, "it fades once");
  story.take(view(cycle({ uid: "u-web-2", traceId: "u-web-2-1", point: "Filter" })), UI, 5_000);
  story.advance(5_001);
  assert.equal(story.scene()?.over, false);
});

test("a cycle whose end was not seen leaves the picture after its moment", () => {
  const story = makeStory();
  story.take(view(cycle({ point: "Score" })), UI, 0);
  story.advance(1);
  story.take(view(null), UI, 100);
  story.advance(200);
  assert.ok(story.scene());
  assert.equal(story.advance(100 + LINGER_MS + 1), true);
  assert.equal(story.scene(), null);
});

test("countdowns stand still in held time", () => {
  const story = makeStory();
  story.take(view(null, { paused: true }), UI, 0);
  assert.equal(story.simNow(), UI.nowMs);
});

test("what a decision came to is one sentence", () => {
  const said = (/** @type {object} */ change) => lastOf(cycle({ point: "PostBind", trace: { ...trace(), ...change } }), "web-1");
  assert.deepEqual(said({}), ["last.lot", { pod: "web-1", node: "n3", points: 391, n: 2 }]);
  const scores = /** @type {NonNullable<TraceResult["scores"]>} */ (trace().scores);
  assert.deepEqual(said({ scores: { ...scores, total: [380, 391, 350] }, best: ["n3"] }),
    ["last.by", { pod: "web-1", node: "n3", points: 391, lead: 11 }]);
  assert.deepEqual(lastOf(cycle({ trace: { feasible: ["n3"], chosen: "n3" } }), "web-1"), ["last.only", { pod: "web-1", node: "n3" }]);
  const alone = { feasible: ["n3"], chosen: "n3" };
  assert.equal(lastOf(cycle({ trace: { ...alone, usedNominatedNode: true } }), "web-1")[0], "last.nominated", "others may have fitted: they were not asked");
  assert.equal(lastOf(cycle({ trace: alone, era: "round-robin" }), "web-1")[0], "last.turn");
  assert.deepEqual(lastOf(cycle({ trace: { feasible: [], fitError: "0/1 nodes are available" } }), "web-1"),
    ["last.refused", { pod: "web-1" }]);
  assert.deepEqual(lastOf(cycle({ trace: { feasible: [], fitError: "0/1", preemption: { nominatedNode: "n2" } } }), "web-1"),
    ["last.preempts", { pod: "web-1", node: "n2" }]);
});

test("an attempt that somebody has chosen is told in place of what happens, and that goes on behind it", () => {
  const past = /** @type {any} */ ({
    id: "u-web-9-1", pod: "default/web-9", uid: "u-web-9", attempt: 1, point: "Bind", replica: "kube-scheduler-0", simTime: 2,
    profile: "default-scheduler", seenRevision: 2, revision: 2, result: { ...trace(), chosen: "n1" },
  });
  const chosen = { ...UI, decisions: { ...UI.decisions, pod: "default/web-9", traces: [past], pinned: "u-web-9-1" } };
  const story = makeStory();
  story.take(view(cycle({ point: "Filter" })), chosen, 0);
  story.advance(1);
  const shown = story.scene();
  assert.deepEqual([shown?.pod, shown?.recalled, shown?.over, shown?.moving], ["default/web-9", true, false, false]);
  assert.equal(shown?.nodes.get("n1")?.winner, true);
  assert.equal(shown?.nodes.get("n4")?.total, 350);
  assert.equal(story.live()?.cycle.pod, "default/web-1", "the living one is still known");
  const ended = story.take(view(cycle({ point: "Reserve" })), chosen, 100);
  assert.deepEqual(ended.turns.map((turn) => turn.kind), ["reserved"], "and still said aloud");
  story.take(view(cycle({ point: "Reserve" })), UI, 200);
  story.advance(201);
  assert.deepEqual([story.scene()?.pod, story.scene()?.recalled], ["default/web-1", false]);
});

test("a page that is opened while time stands remembers the newest decision, until there is another", () => {
  const last = /** @type {any} */ ({ id: "u-web-9-1", pod: "default/web-9", uid: "u-web-9", attempt: 1, point: "Bind",
    replica: "kube-scheduler-0", simTime: 2, profile: "p", seenRevision: 2, revision: 2, result: { ...trace(), chosen: "n1" } });
  const line = /** @type {any} */ ({ id: "u-web-9-1", revision: 2, pod: "default/web-9" });
  const idle = { ...view(null, { paused: true }), decisions: [line] };
  const story = makeStory();
  story.take(idle, { ...UI, last }, 0);
  story.advance(1);
  const shown = story.scene();
  assert.deepEqual([shown?.pod, shown?.over, shown?.recalled, shown?.nodes.get("n1")?.winner], ["default/web-9", true, false, true]);
  story.take({ ...idle, revision: 20, decisions: [line, { ...line, id: "u-web-10-1", revision: 12 }] }, { ...UI, last }, 5_000);
  story.advance(5_001);
  assert.equal(story.scene(), null);
});

test("an attempt without a node is recalled with every refusal, one that is under way or no longer kept is not", () => {
  const base = { pod: "default/web-1", uid: "u-web-1", attempt: 1, replica: "kube-scheduler-0", simTime: 2, profile: "p",
    seenRevision: 2, revision: 2 };
  const refused = /** @type {any} */ ({ ...base, id: "a", point: "Filter", result: { ...trace(), chosen: undefined,
    feasible: [], scores: undefined, best: undefined, lot: undefined, fitError: "0/4 nodes are available: 4 Insufficient cpu." } });
  const compacted = /** @type {any} */ ({ ...base, id: "b", point: "Bind", result: {}, detail: "compacted" });
  const hand = /** @type {any} */ ({ ...base, id: "u-web-1-1", point: "Filter", result: trace() });
  const sceneOf = (/** @type {string} */ pinned) => {
    const story = makeStory();
    story.take(view(cycle({ point: "Filter" })),
      { ...UI, decisions: { ...UI.decisions, traces: [refused, compacted, hand], pinned } }, 0);
    story.advance(1);
    return story.scene();
  };
  assert.equal(sceneOf("a")?.recalled, true);
  assert.equal(sceneOf("a")?.nodes.get("n2")?.reason, "Insufficient cpu");
  for (const id of ["b", "u-web-1-1", "gone"]) assert.equal(sceneOf(id)?.recalled, false, id);
});

test("a preemption stays on the stage until another decision, can be stepped through and left", () => {
  const preempts = cycle({ point: "PostFilter", trace: { feasible: [], firstFail: {}, preemption: {
    nominatedNode: "n1", victims: ["default/web-2"], candidates: { n1: { victims: ["default/web-2"], numPDBViolations: 0 } },
  } } });
  const story = makeStory();
  story.take(view(preempts, { paused: true }), UI, 0);
  story.advance(1);
  assert.equal(story.wide(), true);
  assert.equal(story.scene()?.eviction?.frame, 1);
  story.setFrame(3);
  assert.equal(story.advance(2), true, "what stands in words follows");
  assert.equal(story.scene()?.eviction?.frame, 3);
  story.take(view(null, { paused: true }), UI, 100);
  story.advance(101);
  assert.equal(story.scene()?.over, true);
  assert.equal(story.wide(), true, "grace runs while it is remembered");
  story.leave();
  assert.equal(story.wide(), false);
  story.take(view(cycle({ uid: "u-web-2", traceId: "u-web-2-1", point: "Filter" })), UI, 200);
  story.advance(201);
  assert.equal(story.scene()?.eviction, null);
});

test("at rest the nodes show the attempt that the inspector explains; what begins to happen takes its place", () => {
  const story = makeStory();
  const other = /** @type {any} */ ({ id: "t-9", pod: "default/vip", attempt: 2, simTime: 3, replica: "kube-scheduler-0", revision: 4, result: trace() });
  const decisions = { pod: "default/vip", traces: [other], selectedTraceId: "t-9", pinned: "", loading: false };
  const read = /** @type {Ui} */ ({ ...UI, selected: { resource: "pods", key: "default/vip" }, decisions });
  story.take(view(cycle({ point: "PostBind" })), UI, 0);
  story.take(view(null), read, 100);
  assert.equal(story.told()?.cycle.pod, "default/web-1", "the newest decision is looked at first");
  story.take(view(null), read, 10_000);
  assert.deepEqual([story.told()?.cycle.traceId, story.told()?.explained], ["t-9", true]);
  // Back to what happens now, from an attempt that was chosen: it stays so while the pod is selected.
  const pinned = { ...read, decisions: { ...decisions, pinned: "t-9" } };
  story.take(view(null), pinned, 10_020);
  story.take(view(null), read, 10_040);
  assert.equal(story.told()?.cycle.pod, "default/web-1");
  story.take(view(null), { ...read, selected: null }, 10_060);
  story.take(view(null), read, 10_080);
  assert.equal(story.told()?.cycle.traceId, "t-9");
  story.take(view(null), { ...read, selected: null }, 10_100);
  assert.equal(story.told()?.cycle.pod, "default/web-1");
  story.take(view(cycle({ point: "Filter" })), read, 20_000);
  assert.equal(story.told()?.cycle.pod, "default/web-1");
  const held = { ...view(null), me: /** @type {any} */ ({ past: true }) };
  story.take(held, read, 40_000);
  assert.notEqual(story.told()?.cycle.traceId, "t-9", "a held moment has its own");
});
