// Time on the page: addresses, the view of another moment, the timeline's places. Pure, without a page.
import assert from "node:assert/strict";
import { test } from "node:test";

import { PastLoader } from "../../static/js/act/past.js";
import { isRefused } from "../../static/js/act/timetravel.js";
import { readAddress, writeAddress } from "../../static/js/lib/address.js";
import { viewAt } from "../../static/js/state/past.js";
import { rowsOf, sinceOf } from "../../static/js/state/since.js";
import { bookmarksOf, flagsBeside, itemsOf, placeOf, revisionAt, revisionOnStrip, stripOf, summed, ticksOf } from "../../static/js/state/timeline.js";
import { applyMessage, emptyView } from "../../static/js/state/view.js";
import { viewOf } from "./stage/fixtures.js";

const NOWHERE = { rv: 0, pod: "", node: "", attempt: 0, tab: "", dock: "" };

test("an address says what it was written from", () => {
  for (const address of [
    NOWHERE, { ...NOWHERE, rv: 812 }, { ...NOWHERE, pod: "s-mei/web-1", attempt: 3, tab: "yaml" },
    { ...NOWHERE, rv: 5, node: "n 1/ä&x=y" }, { ...NOWHERE, tab: "dock-timeline" },
    { ...NOWHERE, pod: "default/web", attempt: 2, tab: "yaml", dock: "streams" },
  ]) assert.deepEqual(readAddress(writeAddress(address)), address);
  assert.equal(writeAddress(NOWHERE), "");
  assert.equal(writeAddress({ ...NOWHERE, rv: 812, pod: "default/web-1", tab: "decision" }), "?rv=812&pod=default/web-1&tab=decision");
});

test("what an address says wrong is left out", () => {
  for (const search of ["?rv=-1", "?rv=x", "?rv=1e3", "?rv=99999999999999999", "?pod=web", "?pod=a/b/c", "?tab=<b>", "?attempt=2"])
    assert.deepEqual(readAddress(search), NOWHERE, search);
});

const pod = (name, revision) => ({ resource: "pods", metadata: { name, namespace: "default", resourceVersion: String(revision) } });
const clock = (simTimeMs) => ({
  resource: "clocks.clustersim.io", metadata: { name: "clock" }, status: { paused: false, rate: 2, simTimeMs, anchorUnixMs: 5 },
});
const bookmark = (name, revision) => ({ resource: "bookmarks.clustersim.io", metadata: { name }, spec: { name, revision, atMs: revision * 10 } });

function liveView() {
  const listed = applyMessage(emptyView(), {
    type: "list", revision: 90, last: true, objects: [pod("a", 10), pod("b", 80), clock(9000), bookmark("late", 88), bookmark("early", 20)],
  });
  return { ...listed, me: { role: "teacher", slug: "t" }, people: [{ slug: "t" }] };
}
const CHANGES = {
  from: 90, to: 40, simTimeMs: 4000, objects: [pod("a", 7), pod("old", 30), clock(3900)],
  gone: [{ resource: "pods", namespace: "default", name: "b" }, { resource: "bookmarks.clustersim.io", namespace: "", name: "late" }],
};

test("the view of another moment has what was there then, and nobody writes into it", () => {
  const live = liveView();
  const then = viewAt(live, CHANGES, live);
  assert.deepEqual([...then.objects.get("pods").keys()].sort(), ["default/a", "default/old"]);
  assert.equal(then.objects.get("pods").get("default/a").metadata.resourceVersion, "7");
  assert.deepEqual([then.revision, then.newestMs, then.me.past, then.rows.length], [40, 4000, true, 0]);
  assert.deepEqual([then.clock.paused, then.clock.simTimeMs, then.clock.rate], [true, 4000, 2], "its clock stands");
  assert.equal(then.people, live.people);
  assert.deepEqual(bookmarksOf(then.objects).map(({ name }) => name), ["early", "late"], "names given since are there");
  assert.equal(live.me.past, undefined);
  assert.equal(live.objects.get("pods").has("default/b"), true, "now is as it was");
});

test("while the past is shown what changes something is refused, and looking is not", () => {
  for (const type of ["create", "delete", "play", "step", "fault", "command", "judge"]) {
    assert.equal(isRefused({ type }, true), true, type);
    assert.equal(isRefused({ type }, false), false, type);
  }
  for (const type of ["select", "tab", "hold", "release", "forkHere", "bookmark", "copyAddress"]) assert.equal(isRefused({ type }, true), false, type);
});

/** A server that answers when it is told to. */
function slowServer() {
  const waiting = [];
  const asked = [];
  return {
    asked, waiting,
    changes: (there, here) => new Promise((resolve, reject) => {
      asked.push([there, here]);
      waiting.push({ reject, answer: () => resolve({ from: there, to: here, simTimeMs: here * 100, objects: [], gone: [] }) });
    }),
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("of many wishes in a row the newest is fetched, from the moment that is shown", async () => {
  const api = slowServer();
  const live = liveView();
  const loader = new PastLoader(api, () => live, () => {}, (problem) => assert.fail(String(problem)));
  void loader.hold(50);
  for (const revision of [49, 48, 47]) void loader.hold(revision);
  api.waiting[0].answer();
  await settled();
  api.waiting[1].answer();
  await settled();
  assert.deepEqual(api.asked, [[90, 50], [50, 47]]);
  assert.deepEqual(loader.state, { revision: 47, shown: 47, playing: 0 });
  void loader.hold(9999);
  assert.deepEqual(api.asked[2], [47, 90], "nothing is later than now");
  loader.release();
  api.waiting[2].answer();
  await settled();
  assert.equal(loader.view, null, "who went back to now stays there");
});

test("a moment that is no longer kept is said, and the page is at now", async () => {
  const api = slowServer();
  const live = liveView();
  const lost = [];
  const loader = new PastLoader(api, () => live, () => {}, (problem) => lost.push(problem));
  void loader.hold(2);
  api.waiting[0].reject(new Error("gone"));
  await settled();
  assert.deepEqual([lost.length, loader.view, loader.state.revision], [1, null, 0]);
});

const mark = (rv, simTime, lane = "pods") => ({ rv, simTime, lane, kind: "Pod", verb: "ADDED", object: "default/a", actor: "x", text: "t" });
const TIMELINE = {
  spanMs: 0, from: 1, to: 30, fromMs: 0, toMs: 10_000, countedFromMs: 0, countedToMs: 9_999, newest: 33, newestMs: 10_000, compacted: 0,
  marks: [mark(3, 0.5), mark(4, 0.6), mark(9, 4.2), mark(12, 4.3, "nodes"), mark(20, 8.1), mark(21, 8.2)],
  counts: { pods: [2, 0, 0, 0, 1, 0, 0, 0, 7, 0], nodes: [0, 0, 0, 0, 1, 0, 0, 0, 0, 0], leases: [0, 3] },
};

test("marks are drawn one by one where they are few, and counted where they are many", () => {
  const pods = itemsOf(TIMELINE, "pods");
  assert.deepEqual(pods.map(({ count, rv }) => [count, rv]), [[1, 3], [1, 4], [1, 9], [7, 21]]);
  assert.deepEqual(pods.map(({ at }) => at), [0.05, 0.06, 0.42, 0.85]);
  assert.deepEqual(itemsOf(TIMELINE, "leases").map(({ count, rv, mark: one }) => [count, rv, one]), [[3, 0, null]]);
  assert.deepEqual(itemsOf(TIMELINE, "people"), []);
  const near = { ...TIMELINE, fromMs: 4_000, toMs: 5_000 };
  assert.deepEqual(itemsOf(near, "pods").map(({ rv }) => rv), [9], "what lies outside of the window is not drawn");
});

test("the strip has a bar for each part of all that is kept, the window in it, and leads to any moment of it", () => {
  assert.deepEqual(summed(TIMELINE.counts), [2, 3, 0, 0, 2, 0, 0, 0, 7, 0]);
  const state = { ...TIMELINE, fromMs: 5_000, toMs: 10_000, compacted: 2, whole: { fromMs: 0, toMs: 20_000, counts: [1, 0, 4], marks: TIMELINE.marks } };
  assert.deepEqual(stripOf(state), { bars: [0.5, 0, 1], from: 0.25, to: 0.5 });
  assert.deepEqual([0, 0.22, 0.409, 0.6].map((share) => revisionOnStrip(state, share)), [3, 12, 20, 33]);
});

test("a lease in other hands is shown among renewals", () => {
  const lease = (rv, simTime, actor) => ({ ...mark(rv, simTime, "leases"), verb: "MODIFIED", object: "kube-system/kube-scheduler", actor });
  const marks = [lease(1, 0.1, "a"), lease(2, 0.2, "a"), lease(5, 4.1, "a"), lease(6, 4.2, "b"), lease(7, 4.3, "b"), lease(9, 8.1, "b")];
  const items = itemsOf({ ...TIMELINE, marks, counts: { leases: [2, 0, 0, 0, 3, 0, 0, 0, 1, 0] } }, "leases");
  assert.deepEqual(items.map(({ rv, count, renewal }) => [rv, count, renewal]), [[1, 1, true], [2, 1, true], [6, 3, false], [9, 1, true]]);
});

test("what one person did in a part of the time is one face; what several did is a number", () => {
  const did = (/** @type {number} */ rv, /** @type {number} */ simTime, /** @type {string} */ actor) => ({ ...TIMELINE.marks[0], rv, simTime, actor, lane: "people" });
  const marks = [did(1, 0.1, "user:ana"), did(2, 0.5, "user:ana"), did(3, 1.1, "user:ana"), did(4, 1.5, "user:jon")];
  const items = itemsOf({ ...TIMELINE, fromMs: 0, toMs: 9_999, countedFromMs: 0, countedToMs: 9_999, marks, counts: { people: [2, 2, 0, 0, 0, 0, 0, 0, 0, 0] } }, "people");
  assert.deepEqual(items.map(({ count, rv, mark }) => [count, rv, mark?.actor ?? null]), [[2, 2, "user:ana"], [2, 4, null]]);
  assert.ok(Math.abs(items[1].at - items[0].at - 0.1) < 0.001, "a part of the time apart");
});

test("a place on the timeline is a moment, and back", () => {
  assert.equal(placeOf(TIMELINE, 2_500), 0.25);
  assert.deepEqual([0, 500, 4_299, 4_300, 9_000, 10_000].map((ms) => revisionAt(TIMELINE, ms)), [1, 3, 9, 12, 21, 33]);
});

test("ticks are full steps of time, and few", () => {
  for (const [fromMs, toMs] of [[0, 1_000], [350, 10_350], [0, 360_000], [5_000, 7_205_000]]) {
    const ticks = ticksOf({ fromMs, toMs });
    assert.ok(ticks.length >= 3 && ticks.length <= 11, `${ticks.length} in ${toMs - fromMs}`);
    assert.ok(ticks.every((ms) => ms >= fromMs && ms <= toMs));
  }
});

test("what changed since a moment is counted so that then plus came minus gone is now", () => {
  const seen = (/** @type {Record<string, any>[]} */ pods) => viewOf(/** @type {any} */ ([...pods, ...["n1", "n2"].map((name) => ({ resource: "nodes", metadata: { name } }))]));
  const at = (/** @type {string} */ name, /** @type {string} */ nodeName, phase = "Running") =>
    ({ resource: "pods", metadata: { name, namespace: "default", uid: `u-${name}` }, spec: { nodeName }, status: { phase } });
  const found = sinceOf(seen([at("a", "n1"), at("b", "n1"), at("c", "", "Pending")]), seen([at("a", "n1"), at("c", "n2"), at("d", "n2"), at("e", "lost")]));
  assert.deepEqual(found, { then: 2, came: 2, changed: 0, gone: 1, now: 3 });
  assert.equal(found.then + found.came - found.gone, found.now);
  const held = seen([at("a", "n1")]);
  const larger = { ...at("a", "n1"), spec: { nodeName: "n1", containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] } };
  assert.equal(sinceOf(held, seen([larger])).changed, 1, "as large as it is drawn");
  assert.equal(sinceOf(held, held), sinceOf(held, held), "worked out once for the frames of a page that is held");
});

test("what one cause changed within ten seconds is one row, and renewals are none", () => {
  const mark = (/** @type {number} */ rv, /** @type {number} */ simTime, /** @type {Record<string, string>} */ more) =>
    ({ rv, simTime, lane: "pods", kind: "Pod", verb: "MODIFIED", object: "", actor: "kube-scheduler-0", text: `change ${rv}`, ...more });
  const rows = rowsOf(/** @type {any} */ ([
    mark(1, 0, {}), mark(2, 1, { lane: "leases", kind: "Lease" }), mark(3, 2, { lane: "nodes", kind: "Node", verb: "DELETED", actor: "user:mei" }),
    mark(4, 3, {}), mark(5, 9, {}), mark(6, 12, {}),
  ]));
  assert.deepEqual(rows.map(({ first, more }) => [first.rv, more]), [[1, 2], [3, 0], [6, 0]]);
});

test("no moment's name covers the next one: each has the room until it, and what is late stands before its moment", () => {
  const told = (/** @type {number[]} */ ...places) => flagsBeside(places).map(({ late, room }) => [late, Math.round(room * 100)]);
  assert.deepEqual(told(0.2, 0.25, 0.7), [[false, 5], [false, 45], [false, 30]]);
  assert.deepEqual(told(0.9, 0.95), [[true, 90], [true, 5]]);
  assert.deepEqual(told(0.6, 0.9), [[false, 15], [true, 15]], "what is between two that stand towards each other is shared");
  assert.deepEqual(told(), []);
});
