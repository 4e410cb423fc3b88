// The story of an election as the dock tells it, from what replicas and the log told in real runs.
import assert from "node:assert/strict";
import { test } from "node:test";

import { gapsOf, storyOf, whyOf, windowsOf } from "../../../static/js/election/model.js";
import { ElectionRecorder, RENEWALS_MAX } from "../../../static/js/election/recorder.js";
import { followsWords } from "../../../static/js/election/strip.js";
import { loadTexts } from "../../../static/js/lib/text.js";
import { applyMessage, emptyView } from "../../../static/js/state/view.js";

const [S0, S1] = ["kube-scheduler-0", "kube-scheduler-1"];
const attempt = (atMs, branch, holder, seenMs, values = {}) =>
  ({ atMs, branch, leading: false, conflict: false, holder, seenMs, expiresMs: seenMs + 15_000, ...values });
const told = (identity, values = {}) =>
  ({ identity, component: "kube-scheduler", beliefs: [], tries: [], refusals: [], faults: [], ...values });
const every2s = (who, from, to) => Array.from({ length: (to - from) / 2000 + 1 }, (_, index) => ({ revision: from + index, t: from + 2000 * index, who }));

const CRASH = {
  told: [
    told(S1, { beliefs: [{ fromMs: 35_781, toMs: null }], tries: [attempt(0, "held", S0, 0), attempt(23_745, "held", S0, 19_422), attempt(35_781, "acquire-expired", S0, 19_422)] }),
    told(S0, { beliefs: [{ fromMs: 0, toMs: 17_300 }], tries: [attempt(0, "create", "", 0)], faults: [{ id: 1, kind: "crash", rate: null, fromMs: 17_300, toMs: null }] }),
  ],
  renewals: [...every2s(S0, 0, 16_000), ...every2s(S1, 35_781, 39_781)],
  writes: [{ revision: 9, t: 12_000, who: S0 }, { revision: 99, t: 38_000, who: S1 }],
};

test("a crash leaves nobody leading until the lease is over for who waits, by its own look", () => {
  const story = storyOf(CRASH, 40_000);
  assert.deepEqual(story.rows.map((row) => row.identity), [S0, S1], "in order of name");
  assert.deepEqual(story.gaps, [{ fromMs: 17_300, toMs: 35_781, open: false, before: S0, after: S1 }]);
  assert.deepEqual(story.windows, []);
  const [sight] = story.rows[1].sights;
  assert.deepEqual([sight.seenMs, sight.expiresMs, sight.branch, story.rows[1].sights.length], [19_422, 34_422, "acquire-expired", 1]);
  assert.deepEqual(whyOf(story, story.gaps[0]), {
    key: "election.why.died",
    values: { old: S0, taker: S1, seconds: 18.481, seenMs: 19_422, expiresMs: 34_422, rate: 1 },
  });
  assert.deepEqual(story.lease, [
    { holder: S0, fromMs: 0, toMs: 35_781, open: false }, { holder: S1, fromMs: 35_781, toMs: 40_000, open: true },
  ], "the lock names the dead one until another writes it");
});

test("a moment of the past tells nothing of what came later", () => {
  const story = storyOf(CRASH, 25_000);
  assert.deepEqual(story.gaps, [{ fromMs: 17_300, toMs: 25_000, open: true, before: S0, after: "" }]);
  assert.deepEqual(story.rows[1].beliefs, []);
  assert.equal(whyOf(story, story.gaps[0]).key, "election.why.waits");
  assert.equal(whyOf(story, story.gaps[0]).values.expiresMs, 34_422);
  const before = storyOf(CRASH, 10_000);
  assert.deepEqual([before.gaps, before.rows[0].beliefs], [[], [{ fromMs: 0, toMs: 10_000, open: true }]]);
});

test("who steps down is followed without a wait for the lease's end", () => {
  const story = storyOf({
    told: [
      told(S0, { beliefs: [{ fromMs: 0, toMs: 17_300 }], tries: [attempt(17_300, "release", S0, 16_000, { leading: true })] }),
      told(S1, { beliefs: [{ fromMs: 19_422, toMs: null }], tries: [attempt(19_422, "acquire-released", "", 19_422)] }),
    ],
    renewals: [...every2s(S0, 0, 16_000), { revision: 9, t: 17_300, who: S0 }, ...every2s(S1, 19_422, 21_422)],
    writes: [],
  }, 22_000);
  assert.equal(whyOf(story, story.gaps[0]).key, "election.why.released");
  assert.deepEqual(story.lease.map(({ holder, toMs }) => [holder, toMs]), [[S0, 17_300], [S1, 22_000]]);
});

test("a slow clock makes two leaders: the window, its refused writes, and the lease as the slow one sees it", () => {
  const story = storyOf({
    told: [
      told(S0, {
        beliefs: [{ fromMs: 0, toMs: 104_300 }],
        tries: [attempt(64_300, "renew-optimistic-refused", S0, 44_300, { leading: true, conflict: true, expiresMs: 194_300 }),
          attempt(64_300, "held", S1, 64_300, { leading: true, expiresMs: 214_300 })],
        faults: [{ id: 1, kind: "rate", rate: 0.1, fromMs: 17_300, toMs: null }],
        refusals: [{ atMs: 66_000, message: "pod p is already assigned" }],
      }),
      told(S1, { beliefs: [{ fromMs: 63_730, toMs: null }], tries: [attempt(29_424, "held", S0, 27_022), attempt(49_267, "held", S0, 46_260), attempt(63_730, "acquire-expired", S0, 46_260)] }),
    ],
    renewals: [{ revision: 1, t: 26_300, who: S0 }, { revision: 2, t: 46_100, who: S0 }, { revision: 3, t: 63_730, who: S1 }],
    writes: [],
  }, 120_000);
  assert.deepEqual(story.windows, [{ fromMs: 63_730, toMs: 104_300, open: false, who: [S0, S1] }]);
  assert.equal(whyOf(story, story.windows[0]).key, "election.why.slow");
  assert.equal(whyOf(story, story.windows[0]).values.rate, 0.1);
  assert.deepEqual(story.rows[1].sights.map((one) => one.seenMs), [46_260], "what was renewed after all is over for nobody");
  assert.deepEqual([story.rows[0].refused.length, story.rows[0].reads], [1, [{ t: 64_300, holder: S1 }]]);
  assert.deepEqual(story.writes, [{ t: 66_000, who: S0, message: "pod p is already assigned" }]);
});

test("a leader that is cut off loses its renewals, then leadership", () => {
  const lost = [18_000, 20_000, 22_000].map((t) => attempt(t, "get-failed", S0, 16_000, { leading: true }));
  const story = storyOf({
    told: [
      told(S0, { beliefs: [{ fromMs: 0, toMs: 28_000 }], tries: [...lost, attempt(28_000, "deadline", S0, 16_000, { leading: true })] }),
      told(S1, { beliefs: [{ fromMs: 35_781, toMs: null }], tries: [attempt(35_781, "acquire-expired", S0, 19_422)] }),
    ],
    renewals: every2s(S0, 0, 16_000), writes: [],
  }, 40_000);
  assert.equal(story.rows[0].lost.length, 3, "giving up is no lost write");
  assert.equal(whyOf(story, story.gaps[0]).key, "election.why.cut");
});

test("beliefs that touch are no window, and three that overlap are told by who they were", () => {
  const row = (identity, ...beliefs) => ({ identity, beliefs: beliefs.map(([fromMs, toMs, open = false]) => ({ fromMs, toMs, open })) });
  assert.deepEqual(windowsOf([row("a", [0, 5]), row("b", [5, 9])]), []);
  assert.deepEqual(windowsOf([row("a", [0, 9, true]), row("b", [2, 9, true]), row("c", [4, 6])]).map((one) => [one.fromMs, one.toMs, one.who.join(""), one.open]),
    [[2, 4, "ab", false], [4, 6, "abc", false], [6, 9, "ab", true]]);
  assert.deepEqual(gapsOf([row("a", [0, 3], [8, 9, true]), row("b", [2, 5])], 9).map((one) => [one.fromMs, one.toMs, one.before]), [[5, 8, "b"]]);
});

const LEASES = "leases.coordination.k8s.io";
function replica(name, status) {
  return { resource: "replicas.clustersim.io", metadata: { name }, spec: { component: "kube-scheduler" }, status };
}
function viewOf(objects) {
  const hello = { type: "hello", epochMs: 0, newestMs: 0, release: "r", session: null, me: null, clock: null };
  return applyMessage(applyMessage(emptyView(), hello), { type: "list", revision: 5, objects, last: true });
}
const row = (revision, simTimeMs, actor, object) => ({ revision, verb: "MODIFIED", simTimeMs, actor, resource: object.resource, object });
const lease = { resource: LEASES, metadata: { name: "kube-scheduler", namespace: "kube-system" }, spec: {} };

test("rows of the socket become renewals, writes and what replicas told; a history fetched joins once", () => {
  const recorder = new ElectionRecorder();
  let view = viewOf([replica(S0, { beliefs: [{ fromMs: 0 }] }), replica("kube-controller-manager-0", {})]);
  recorder.take(view, { nowMs: 3_000, past: { revision: 0 } });
  assert.deepEqual(recorder.told.get(S0).beliefs, [{ fromMs: 0, toMs: null }], "a status has no member for what is not over");
  const pod = { resource: "pods", metadata: { name: "p", namespace: "default" } };
  view = applyMessage(view, { type: "events", from: 5, to: 9, events: [
    row(6, 4_000, S0, lease), row(7, 4_100, "kube-controller-manager-0/replicaset", pod), row(8, 4_200, "user:ann", pod),
    row(9, 5_000, "session", replica(S0, { beliefs: [{ fromMs: 0, toMs: 4_900 }], faults: [{ id: 2, kind: "crash" }] })),
  ] });
  recorder.take(view, { nowMs: 9_000, past: { revision: 0 } });
  recorder.take(view, { nowMs: 9_000, past: { revision: 0 } });
  recorder.learn([{ rv: 3, simTime: 2, actor: S0 }, { rv: 6, simTime: 4, actor: S0 }]);
  assert.deepEqual(recorder.renewals, [{ revision: 3, t: 2_000, who: S0 }, { revision: 6, t: 4_000, who: S0 }]);
  assert.deepEqual(recorder.writes, [{ revision: 7, t: 4_100, who: "kube-controller-manager-0" }]);
  const known = recorder.told.get(S0);
  assert.deepEqual([known.beliefs, known.faults], [[{ fromMs: 0, toMs: 4_900 }], [{ id: 2, kind: "crash", rate: null, fromMs: 5_000, toMs: null }]]);
  // A held past shows what was so then; what is known since stays.
  recorder.take(viewOf([replica(S0, { beliefs: [{ fromMs: 0, toMs: null }] })]), { nowMs: 3_000, past: { revision: 5 } });
  assert.deepEqual(recorder.told.get(S0).beliefs, [{ fromMs: 0, toMs: 4_900 }]);
  assert.equal(recorder.told.get(S0).faults[0].toMs, null, "that moment ends no fault");
});

test("a page that is opened late does not take its opening for the fault's beginning", () => {
  const recorder = new ElectionRecorder();
  const slow = { faults: [{ id: 1, kind: "rate", rate: 0.5 }] };
  const dead = { beliefs: [{ fromMs: 0, toMs: 4_900 }], faults: [{ id: 2, kind: "crash" }] };
  recorder.take(viewOf([replica(S0, dead), replica(S1, slow)]), { nowMs: 60_000, past: { revision: 0 } });
  assert.equal(recorder.told.get(S0).faults[0].fromMs, 4_900, "a leader that crashed led until then");
  assert.equal(recorder.told.get(S1).faults[0].fromMs, null);
  recorder.take(viewOf([replica(S0, dead), replica(S1, { faults: [...slow.faults, { id: 3, kind: "skew" }] })]), { nowMs: 70_000, past: { revision: 0 } });
  assert.deepEqual(recorder.told.get(S1).faults.map((one) => one.fromMs), [null, 70_000]);
});

test("memory is bounded", () => {
  const recorder = new ElectionRecorder();
  let view = viewOf([replica(S0, {})]);
  recorder.take(view, { nowMs: 0, past: { revision: 0 } });
  for (let from = 5; from < 2 * RENEWALS_MAX; from += 100) {
    const events = Array.from({ length: 100 }, (_, index) => row(from + index + 1, from + index, S0, lease));
    view = applyMessage(view, { type: "events", from, to: from + 100, events });
    recorder.take(view, { nowMs: from, past: { revision: 0 } });
  }
  assert.ok(recorder.renewals.length <= RENEWALS_MAX);
  assert.equal(recorder.renewals.at(-1).t, view.newestMs);
});

test("who comes from outside and takes the lock leads as far as its renewals tell", () => {
  const outside = "vm_69f4c388-55e8-4cf8-873a-e3ea955962ac";
  const theirs = every2s(outside, 33_000, 61_000).map((one) => ({ ...one, lock: "kube-scheduler" }));
  const known = {
    told: [told(S0, { beliefs: [{ fromMs: 0, toMs: 17_300 }, { fromMs: 78_000, toMs: null }] })],
    renewals: [...every2s(S0, 0, 16_000), ...theirs, ...every2s(S0, 78_000, 80_000)],
    writes: [],
  };
  const story = storyOf(known, 80_000);
  assert.deepEqual(story.rows.map(({ identity, index }) => [identity, index]), [[S0, 0], [outside, 1]]);
  assert.deepEqual(story.rows.map((one) => one.outside), [false, true]);
  assert.deepEqual(story.rows[1].beliefs, [{ fromMs: 33_000, toMs: 61_000, open: false }]);
  assert.deepEqual(story.lease.map(({ holder, fromMs, toMs }) => [holder, fromMs, toMs]), [
    [S0, 0, 33_000], [outside, 33_000, 78_000], [S0, 78_000, 80_000],
  ]);
  assert.deepEqual(story.gaps.map(({ before, after }) => [before, after]), [[S0, outside], [outside, S0]]);
  assert.equal(storyOf(known, 62_000).rows[1].beliefs[0].open, true);
  const managers = known.told.map((one) => ({ ...one, identity: "kube-controller-manager-0", component: "kube-controller-manager" }));
  assert.deepEqual(storyOf({ ...known, told: managers }, 80_000).rows.map((row) => row.identity), ["kube-controller-manager-0"], "another lock");
});

test("a lock that is written from outside tells whom it names", () => {
  const recorder = new ElectionRecorder();
  let view = viewOf([replica(S0, {})]);
  recorder.take(view, { nowMs: 0, past: { revision: 0 } });
  const held = (name, holderIdentity, namespace = "kube-system") =>
    ({ resource: "leases.coordination.k8s.io", metadata: { name, namespace }, spec: { holderIdentity } });
  view = applyMessage(view, { type: "events", from: 5, to: 9, events: [
    row(6, 4_000, "user:sched", held("kube-scheduler", "vm_1")), row(7, 4_100, "user:ann", held("kube-scheduler", "")),
    row(8, 4_200, "user:ann", held("mine", "vm_1", "default")), row(9, 4_300, "user:ann", held("kube-scheduler", S0)),
  ] });
  recorder.take(view, { nowMs: 9_000, past: { revision: 0 } });
  assert.deepEqual(recorder.renewals, [{ revision: 6, t: 4_000, who: "vm_1", lock: "kube-scheduler" }]);
});

test("one that neither leads nor sees an end says what it does: follows somebody, or tries for a lease that is free or unseen", async () => {
  await loadTexts("en", "election");
  assert.equal(followsWords("en", { holder: "kube-scheduler-1" }, 2), "follows kube-scheduler-1");
  assert.equal(followsWords("en", { holder: "" }, 2), "sees a lease that nobody holds, tries for it every 2 s");
  assert.equal(followsWords("en", null, 1.5), "has seen no lease yet, tries for it every 1.5 s");
});
