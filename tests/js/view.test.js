// The folded view: the golden streams that the server's tests read too, and what must hold of any stream.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { DECISIONS_KEPT, EVENTS_KEPT, ROWS_KEPT, applyMessage, emptyView, foldRows, keyOf } from "../../static/js/state/view.js";

const GOLDEN = new URL("../golden/watch/", import.meta.url);
const files = readdirSync(GOLDEN).filter((name) => name.endsWith(".json"));

function plain(objects) {
  return Object.fromEntries([...objects].map(([resource, byKey]) => [resource, Object.fromEntries(byKey)]));
}

function pod(name, revision, nodeName) {
  return {
    resource: "pods",
    metadata: { name, namespace: "default", uid: `u-${name}`, resourceVersion: String(revision) },
    spec: nodeName ? { nodeName } : {},
    status: {},
  };
}

function row(revision, verb, object) {
  return { revision, verb, simTimeMs: revision * 100, actor: "session", resource: object.resource, object };
}

test("there are golden streams to replay", () => assert.ok(files.length >= 3));

for (const name of files) {
  const { frames, view } = JSON.parse(readFileSync(new URL(name, GOLDEN), "utf8"));
  test(`${name}: old view and messages give the fresh list`, () => {
    const folded = frames.reduce(applyMessage, emptyView());
    assert.equal(folded.revision, view.revision);
    assert.deepEqual(plain(folded.objects), view.objects);
    assert.equal(folded.gone, false);
    assert.equal(folded.ready, true);
  });
}

test("a frame that leaves a gap is not painted over: the view asks for a new place", () => {
  const listed = applyMessage(emptyView(), { type: "list", revision: 10, objects: [pod("a", 3)], last: true });
  const gapped = applyMessage(listed, { type: "events", from: 12, to: 13, events: [row(13, "DELETED", pod("a", 13))] });
  assert.equal(gapped.gone, true);
  assert.equal(gapped.revision, 10);
  assert.equal(gapped.objects, listed.objects);
});

test("until a list is whole the page keeps what it had", () => {
  const listed = applyMessage(emptyView(), { type: "list", revision: 10, objects: [pod("a", 3)], last: true });
  const gone = applyMessage(listed, { type: "gone" });
  const half = applyMessage(gone, { type: "list", revision: 40, objects: [pod("b", 33)], last: false });
  assert.deepEqual([...half.objects.get("pods").keys()], ["default/a"]);
  const whole = applyMessage(half, { type: "list", revision: 40, objects: [], last: true });
  assert.deepEqual([...whole.objects.get("pods").keys()], ["default/b"]);
});

test("a list cut off by a lost connection starts again from nothing", () => {
  const half = applyMessage(emptyView(), { type: "list", revision: 10, objects: [pod("stale", 3)], last: false });
  const hello = applyMessage(half, { type: "hello", epochMs: 0, release: "r", session: null, me: null, clock: null });
  const whole = applyMessage(hello, { type: "list", revision: 50, objects: [pod("b", 33)], last: true });
  assert.deepEqual([...whole.objects.get("pods").keys()], ["default/b"]);
});

test("resources that a batch does not touch keep their identity", () => {
  const objects = [pod("a", 3), { resource: "nodes", metadata: { name: "n1" } }];
  const before = applyMessage(emptyView(), { type: "list", revision: 10, objects, last: true });
  const after = applyMessage(before, { type: "events", from: 10, to: 11, events: [row(11, "MODIFIED", pod("a", 11, "n1"))] });
  assert.equal(after.objects.get("nodes"), before.objects.get("nodes"));
  assert.notEqual(after.objects.get("pods"), before.objects.get("pods"));
  assert.equal(before.objects.get("pods").get("default/a").spec.nodeName, undefined, "the old view is unchanged");
});

test("any split of a stream into frames gives the same view", () => {
  const rows = [];
  for (let revision = 1; revision <= 120; revision += 1) {
    const name = `p${(revision * 7) % 11}`;
    rows.push(row(revision, revision % 5 === 0 ? "DELETED" : "MODIFIED", pod(name, revision)));
  }
  const whole = plain(foldRows(new Map(), rows));
  for (const size of [1, 2, 7, 120]) {
    let view = applyMessage(emptyView(), { type: "list", revision: 0, objects: [], last: true });
    for (let at = 0; at < rows.length; at += size) {
      const events = rows.slice(at, at + size);
      view = applyMessage(view, { type: "events", from: at, to: events.at(-1).revision, events });
    }
    assert.deepEqual(plain(view.objects), whole);
  }
});

test("no more log rows are kept than the page shows", () => {
  let view = applyMessage(emptyView(), { type: "list", revision: 0, objects: [], last: true });
  for (let revision = 1; revision <= ROWS_KEPT + 50; revision += 1)
    view = applyMessage(view, { type: "events", from: revision - 1, to: revision, events: [row(revision, "MODIFIED", pod("a", revision))] });
  assert.equal(view.rows.length, ROWS_KEPT);
  assert.equal(view.rows.at(-1).revision, ROWS_KEPT + 50);
});

test("keys carry the namespace only where there is one", () => {
  assert.equal(keyOf(pod("a", 1)), "default/a");
  assert.equal(keyOf({ metadata: { name: "n1" } }), "n1");
});

test("the view knows the time of the newest row", () => {
  let view = applyMessage(emptyView(), { type: "hello", newestMs: 250, session: null, clock: null });
  assert.equal(view.newestMs, 250);
  view = applyMessage(view, { type: "list", revision: 1, objects: [], last: true });
  const events = [row(2, "ADDED", pod("a", 2)), row(3, "ADDED", pod("b", 3))];
  view = applyMessage(view, { type: "events", from: 1, to: 3, events });
  assert.equal(view.newestMs, 300);
});

test("decisions come with their rows, each once: what is told again takes the place of what it was", () => {
  const line = (id, revision, result) => ({ id, revision, result, simTimeMs: 0, pod: "default/a", uid: "u", attempt: 1, replica: "r" });
  let view = applyMessage(emptyView(), { type: "list", revision: 10, objects: [], last: true });
  const frame = (from, to, ...decisions) =>
    ({ type: "events", from, to, events: [row(to, "ADDED", pod(`p${to}`, to))], decisions });
  view = applyMessage(view, frame(10, 11, line("a-1", 11, "scheduled"), line("b-1", 11, "unschedulable")));
  const before = view.decisions;
  view = applyMessage(view, { type: "events", from: 11, to: 12, events: [row(12, "ADDED", pod("p12", 12))] });
  assert.equal(view.decisions, before, "nothing new, nothing to draw");
  view = applyMessage(view, frame(12, 13, line("a-1", 13, "error")));
  assert.deepEqual(view.decisions.map((one) => [one.id, one.result]), [["a-1", "error"], ["b-1", "unschedulable"]]);
  assert.equal(applyMessage(view, frame(11, 13, line("a-1", 11, "scheduled"))), view, "seen already");
  const past = applyMessage(view, { type: "events", from: 13, to: 13, events: [], decisions: [line("old-1", 3, "scheduled")] });
  assert.deepEqual([past.revision, past.decisions.at(-1).id], [13, "old-1"], "what was before a list moves nothing else");
  const many = Array.from({ length: DECISIONS_KEPT + 5 }, (_, index) => line(`m-${index}`, 14, "scheduled"));
  view = applyMessage(view, frame(13, 14, ...many));
  assert.equal(view.decisions.length, DECISIONS_KEPT);
  assert.equal(view.decisions.at(-1).id, `m-${DECISIONS_KEPT + 4}`);
});

test("of an hour's traffic the newest Events are kept, as many as a fresh list brings, also those written again", () => {
  const event = (/** @type {number} */ revision, name = `e${revision}`) => ({ resource: "events", metadata: { name, namespace: "default", resourceVersion: String(revision) } });
  let view = { ...emptyView(), ready: true };
  let revision = 0;
  const tell = (/** @type {number} */ count) => {
    const events = Array.from({ length: count }, () => row(++revision, "ADDED", event(revision)));
    // The first one is repeated all the time: it is old in its place and new by what it says.
    events.push(row(++revision, "MODIFIED", event(revision, "e1")));
    view = applyMessage(view, { type: "events", from: view.revision, to: revision, events });
    return [...(view.objects.get("events")?.values() ?? [])].map(({ metadata }) => metadata.resourceVersion).map(Number);
  };
  tell(1);
  for (let times = 0; times < 100; times += 1) assert.ok(tell(100).length <= EVENTS_KEPT + 500);
  const kept = new Set(tell(600));
  assert.ok(kept.size >= EVENTS_KEPT);
  for (let one = revision - 650; one <= revision; one += 1) if (one !== revision - 601) assert.ok(kept.has(one), `${one} of ${revision}`);
  assert.ok(view.objects.get("events")?.has("default/e1"));
});
