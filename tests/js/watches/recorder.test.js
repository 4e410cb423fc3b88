// What the components watch: counts become moments, states are told by the worst, and nobody asks without a reason.
import assert from "node:assert/strict";
import { test } from "node:test";

import { FETCH_EVERY_MS, WatchesLoader } from "../../../static/js/act/watches.js";
import { isUnderWay, stateOf } from "../../../static/js/state/watches.js";
import { applyMessage, emptyView } from "../../../static/js/state/view.js";
import { lanesTable, momentsTable, stretches } from "../../../static/js/watches/charts.js";
import { MOMENTS_MAX, WatchRecorder } from "../../../static/js/watches/recorder.js";

const watch = (values = {}, pods = {}) => ({
  name: "kube-scheduler-0", count: 1, running: true, connected: true, lateMs: 0, revision: 10, lag: 0, gones: 0, relistAtMs: null, pollMs: 0,
  resources: [{ resource: "pods", rows: 3, revision: 9, lag: 0, lists: 1, listedObjects: 2, watchEvents: 20, ...pods }], ...values,
});
const told = (atMs, ...watches) => ({ atMs, revision: 10, watches });

test("counts become what happened between two moments; what was before the first is not known", () => {
  const recorder = new WatchRecorder();
  recorder.learn(told(1_000, watch()));
  recorder.learn(told(2_000, watch({ lag: 4 }, { watchEvents: 27 })));
  recorder.learn(told(2_000, watch({}, { watchEvents: 99 })));
  recorder.learn(told(3_000, watch({ gones: 1, relistAtMs: 4_000 }, { watchEvents: 27 })));
  recorder.learn(told(5_000, watch({ gones: 1 }, { watchEvents: 28, lists: 2 })));
  const { moments } = recorder.lanes.get("kube-scheduler-0");
  assert.deepEqual(moments.map(({ t, lists, events, gones, lag, state }) => [t, lists, events, gones, lag, state]), [
    [1_000, 0, 0, 0, 0, "level"], [2_000, 0, 7, 0, 4, "behind"], [3_000, 0, 0, 1, 0, "relists"], [5_000, 1, 1, 0, 0, "level"],
  ]);
  assert.deepEqual(stretches(moments, 6_000).map(({ state, from, to }) => [state, from, to]), [
    ["level", 1_000, 2_000], ["behind", 2_000, 3_000], ["relists", 3_000, 5_000], ["level", 5_000, 6_000],
  ]);
  const lanes = [...recorder.lanes.values()];
  assert.deepEqual(lanesTable(lanes, { lang: "en", toMs: 5_000 }).rows[0].slice(2), [10, 0, 2, 28, 1], "what was counted before the page looked is told, too");
  assert.deepEqual(lanesTable(lanes, { lang: "en", toMs: 2_500 }).rows[0].slice(2), [10, 4, 1, 27, 0], "a held moment tells nothing later");
  assert.equal(momentsTable(lanes, { lang: "en", fromMs: 1_500, toMs: 4_000, time: String }).rows.length, 2);
});

test("a process that began anew counts from none", () => {
  const recorder = new WatchRecorder();
  recorder.learn(told(1_000, watch()));
  recorder.learn(told(2_000, watch({ running: false, resources: [] })));
  recorder.learn(told(3_000, watch({}, { watchEvents: 2 })));
  const { moments } = recorder.lanes.get("kube-scheduler-0");
  assert.deepEqual(moments.map(({ lists, events, state }) => [lists, events, state]), [[0, 0, "level"], [0, 0, "down"], [1, 2, "level"]]);
});

test("the worst that is the matter is told, and only what ends by itself is asked for again", () => {
  const states = [{}, { lag: 3 }, { lag: null }, { lateMs: 500, lag: 2 }, { connected: false, lag: 5 }, { relistAtMs: 9, connected: false }, { running: false }, { pollMs: 1_000, lag: 3 }];
  assert.deepEqual(states.map((one) => stateOf(watch(one))), ["level", "behind", "behind", "late", "cut", "relists", "down", "polls"]);
  assert.deepEqual(states.map((one) => isUnderWay([watch(one)])), [false, true, true, true, false, true, false, true]);
  assert.equal(isUnderWay([watch({ lateMs: 500 })]), false, "late, and nothing is on its way");
});

test("a watch from outside has its own lane as long as it stands, named after whose it is and what it selects", () => {
  const recorder = new WatchRecorder();
  const outside = (name, namespace) => watch({ name, client: { user: "ana", name: "Ana", agent: "kubectl", namespace } }, { lists: 0 });
  recorder.learn(told(1_000, watch(), outside("watch-1", "default"), outside("watch-2", null)));
  const rows = () => lanesTable([...recorder.lanes.values()], { lang: "en", toMs: 9_000 }).rows.map((row) => row[0]);
  assert.deepEqual(rows(), ["kube-scheduler-0", "kubectl Ana: pods -n default", "kubectl Ana: pods"]);
  recorder.learn(told(2_000, outside("watch-2", null)));
  assert.deepEqual(rows(), ["kube-scheduler-0", "kubectl Ana: pods"], "a component that is away is not forgotten");
});

test("memory is bounded", () => {
  const recorder = new WatchRecorder();
  for (let t = 1; t < MOMENTS_MAX + 50; t += 1) recorder.learn(told(t, watch()));
  recorder.learn(told(MOMENTS_MAX + 60, watch({ gones: 2 }, { watchEvents: 25 })));
  for (let t = 1; t < MOMENTS_MAX + 50; t += 1) recorder.learn(told(MOMENTS_MAX + 60 + t, watch({ gones: 2 }, { watchEvents: 25 })));
  const lane = recorder.lanes.get("kube-scheduler-0");
  assert.equal(lane.moments.length, MOMENTS_MAX);
  assert.deepEqual(lane.before, { lists: 1, events: 25, gones: 2 }, "what is forgotten moment by moment is still counted");
});

test("the page asks when something has changed that somebody watches, and not for renewals", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let asked = 0;
  const answers = [[watch()], [watch({ lag: 2 })], [watch()]];
  const loader = new WatchesLoader({ watches: async () => answers[asked++] ?? [watch()] }, () => {});
  const event = (revision, resource) => ({ revision, verb: "MODIFIED", simTimeMs: 0, actor: "a", resource, object: { resource, metadata: { name: "x" } } });
  let view = applyMessage(emptyView(), { type: "list", revision: 9, objects: [], last: true });
  const follow = async (nowMs, open = true) => {
    loader.askedAtMs = -Infinity;
    loader.follow(view, nowMs, open);
    context.mock.timers.tick(FETCH_EVERY_MS);
    await new Promise((next) => setImmediate(next));
    return asked;
  };
  assert.equal(await follow(100, false), 0);
  assert.equal(await follow(100), 1);
  assert.equal(await follow(1_100), 1, "nothing has changed");
  view = applyMessage(view, { type: "events", from: 9, to: 10, events: [event(10, "leases.coordination.k8s.io")] });
  assert.equal(await follow(2_100), 1, "a renewal is heard by nobody");
  view = applyMessage(view, { type: "events", from: 10, to: 11, events: [event(11, "pods")] });
  assert.equal(await follow(3_100), 2);
  assert.equal(await follow(3_100), 2, "the clock stands");
  assert.equal(await follow(4_100), 3, "somebody is behind, and will hear it without a row");
  assert.equal(await follow(5_100), 3);
  loader.askedAtMs = -Infinity;
  loader.follow(view, 5_100, true, 1);
  context.mock.timers.tick(FETCH_EVERY_MS);
  await new Promise((next) => setImmediate(next));
  assert.equal(asked, 4, "a watch from outside began, of which no row tells");
});
