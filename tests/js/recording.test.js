// A recorded session answers as its server did: objects at any revision, what differs, marks, decisions. Pure.
import assert from "node:assert/strict";
import { test } from "node:test";

import { answerTo } from "../../static/js/recording/answers.js";
import { Recording } from "../../static/js/recording/recording.js";
import { viewAt } from "../../static/js/state/past.js";
import { applyMessage, emptyView } from "../../static/js/state/view.js";

const pod = (name, revision, phase) => ({
  resource: "pods", metadata: { name, namespace: "default", uid: name, resourceVersion: String(revision) }, status: { phase },
});
const row = (revision, verb, object) => ({ revision, verb, simTimeMs: revision * 1_000, actor: "user:t", resource: "pods", object });
const mark = (rv, lane) => ({ rv, simTime: rv, lane, kind: "Pod", verb: "ADDED", object: "default/a", actor: "user:t", text: "" });

const ROWS = [
  row(11, "ADDED", pod("a", 11, "Pending")), row(12, "MODIFIED", pod("a", 12, "Running")), row(14, "DELETED", pod("old", 14, "Running")),
  row(15, "ADDED", pod("b", 15, "Pending")), row(17, "DELETED", pod("a", 17, "Running")), row(18, "ADDED", pod("a", 18, "Pending")),
];
const RECORDED = {
  hello: { type: "hello" }, info: { code: "K7Q-M2X" }, base: 10, baseMs: 10_000, rows: ROWS, people: [],
  objects: [pod("old", 3, "Running"), pod("kept", 4, "Running")],
  marks: { en: [11, 12, 14, 15, 17, 18].map((rv) => mark(rv, rv < 15 ? "pods" : "people")) },
  lines: [], traces: [{ id: "a-2", uid: "a", pod: "default/a" }, { id: "a-1", uid: "a", pod: "default/a" }, { id: "b-1", uid: "b", pod: "default/b" }],
};
const recording = new Recording(RECORDED);

const ask = (address, method = "GET") => answerTo(recording, method, address, "only reading", "not here");

/** What a page has folded when the log stands at a revision. */
function folded(revision) {
  const listed = applyMessage(emptyView(), { type: "list", revision: RECORDED.base, objects: RECORDED.objects, last: true });
  const events = ROWS.filter((one) => one.revision <= revision);
  return applyMessage(listed, { type: "events", from: RECORDED.base, to: revision, events });
}
const told = (objects) => objects.map(({ metadata, status }) => [metadata.name, metadata.resourceVersion, status.phase]).sort();
const held = (view) => told([...(view.objects.get("pods")?.values() ?? [])]);

test("at every revision there is what a page has folded by then", () => {
  for (let revision = 10; revision <= 18; revision += 1)
    assert.deepEqual(told(recording.objectsAt(revision)), held(folded(revision)), `revision ${revision}`);
});

test("changes lead from any moment to any other", () => {
  for (let there = 10; there <= 18; there += 1)
    for (let here = 10; here <= 18; here += 1)
      assert.deepEqual(held(viewAt(folded(there), recording.changes(there, here), folded(18))), held(folded(here)), `${there} to ${here}`);
});

test("the way back leads through what a page had folded at each moment", () => {
  const { moments, fromMs, toMs } = ask("/api/sessions/K7Q-M2X/before/18?seconds=6&moments=6").body;
  assert.deepEqual([fromMs, toMs], [12_000, 18_000]);
  assert.deepEqual(moments.map(({ simTimeMs, to }) => [simTimeMs, to]), [[17_000, 17], [16_000, 15], [15_000, 15], [14_000, 14], [13_000, 12], [12_000, 12]]);
  let view = folded(18);
  for (const moment of moments) {
    view = viewAt(view, moment, folded(18));
    assert.deepEqual(held(view), held(folded(moment.to)), `revision ${moment.to}`);
  }
  assert.equal(ask("/api/sessions/K7Q-M2X/before/9").status, 410);
});

test("marks are told within their limit, by lane and stretch, and counted whole", () => {
  assert.deepEqual(recording.timeline({ limit: 2 }).map(({ rv }) => rv), [11, 18]);
  assert.deepEqual(recording.timeline({ limit: 9, from: 12, to: 15, lane: "pods" }).map(({ rv }) => rv), [12, 14]);
  const { lanes, compacted, fromTime, toTime } = recording.counts(4);
  assert.deepEqual([lanes.pods.reduce((a, b) => a + b), lanes.people.reduce((a, b) => a + b)], [3, 3]);
  assert.deepEqual([compacted, fromTime, toTime], [10, 11, 18]);
});

test("requests are answered as the session API answers them", () => {
  assert.equal(ask("/api/sessions/K7Q-M2X").body.code, "K7Q-M2X");
  assert.deepEqual(ask("/api/sessions/K7Q-M2X/changes/12/15").body.objects.map(({ metadata }) => metadata.name), ["b"]);
  assert.equal(ask("/api/sessions/K7Q-M2X/changes/9/15").status, 410);
  assert.equal(ask("/api/sessions/K7Q-M2X/changes/12/99").status, 410);
  assert.deepEqual(ask("/api/sessions/K7Q-M2X/decisions?pod=default%2Fa").body.map(({ id }) => id), ["a-2", "a-1"]);
  assert.deepEqual(ask("/api/sessions/K7Q-M2X/decisions?uid=b&limit=100").body.map(({ id }) => id), ["b-1"]);
  assert.equal(ask("/api/sessions/K7Q-M2X/decisions/a-2").body.id, "a-2");
  assert.equal(ask("/api/sessions/K7Q-M2X/decisions/z-1").status, 404);
  assert.equal(ask("/api/sessions/K7Q-M2X/timeline?limit=600&language=zh-hans").body.length, 6);
});

test("nothing is written, and what a file does not hold is said to be elsewhere", () => {
  assert.deepEqual([ask("/api/sessions/K7Q-M2X/fork", "POST").status, ask("/api/sessions/K7Q-M2X/fork", "POST").body.message], [403, "only reading"]);
  for (const path of ["/api/sessions/K7Q-M2X/model?pod=a", "/clusters/K7Q-M2X/api/v1/pods", "/api/lessons"]) {
    const { status, body } = ask(path);
    assert.deepEqual([status, body.kind, body.message], [404, "Status", "not here"]);
  }
});
