// At what others look: where the marks stand, who is left out, and what this browser tells, how often.
import assert from "node:assert/strict";
import { test } from "node:test";

import { LookTeller, TELL_EVERY_MS } from "../../static/js/act/looks.js";
import { isWall, lookersAt, lookOf, marksOn } from "../../static/js/state/looks.js";
import { applyMessage, emptyView } from "../../static/js/state/view.js";

const people = ["Teacher", "Mei K.", "Leo W."].map((name, at) => ({
  id: String(at + 1), name, role: at ? "student" : "teacher", slug: name, namespace: "default", color: at + 1, online: true,
}));
const pod = (name, nodeName) => ({ resource: "pods", metadata: { namespace: "default", name }, spec: { nodeName }, status: {} });

/** A view as one person has it, with what all of them look at. */
function viewOf(me, looks, { on = true } = {}) {
  const frames = [
    { type: "list", revision: 3, objects: [pod("web-1", "n2"), pod("web-2", undefined)], last: true },
    { type: "people", people },
    { type: "looks", on, looks: looks.map(([id, resource, key]) => ({ id, resource, key })) },
  ];
  return { ...frames.reduce(applyMessage, emptyView()), me: people[me - 1] };
}

const names = (map) => Object.fromEntries([...map].map(([key, found]) => [key, found.map(({ name }) => name)]));

test("marks stand on the node that somebody looks at or that their pod is on, else on the pod; one's own nowhere", () => {
  const view = viewOf(1, [["1", "nodes", "n1"], ["2", "nodes", "n2"], ["3", "pods", "default/web-1"]]);
  assert.deepEqual(names(marksOn(view).nodes), { n2: ["Mei K.", "Leo W."] });
  const waiting = viewOf(2, [["1", "pods", "default/web-2"], ["3", "pods", "default/gone"], ["9", "nodes", "n1"]]);
  assert.deepEqual(names(marksOn(waiting).nodes), {});
  assert.deepEqual(names(marksOn(waiting).pods), { "default/web-2": ["Teacher"] });
});

test("the inspector tells who else looks at the same", () => {
  const view = viewOf(2, [["1", "nodes", "n1"], ["2", "nodes", "n1"]]);
  assert.deepEqual(lookersAt(view, "nodes", "n1").map(({ name }) => name), ["Teacher"]);
  assert.deepEqual(lookersAt(view, "nodes", "n2"), []);
  assert.deepEqual(lookOf(view, people[0])?.key, "n1");
  assert.equal(lookOf(view, people[2]), null);
});

test("nobody is named on a wall", () => {
  const view = viewOf(1, []);
  assert.equal(isWall(view, { theme: "light" }), false);
  assert.equal(isWall(view, { theme: "projector" }), true);
  assert.equal(isWall({ ...view, me: { ...view.me, role: "viewer" } }, { theme: "dark" }), true);
});

/** A teller with a clock that stands until it is moved. */
function teller() {
  const sent = [];
  const due = [];
  let nowMs = 0;
  const one = new LookTeller(({ resource, key }) => sent.push(`${resource} ${key}`), {
    now: () => nowMs, after: (ms, act) => due.push({ atMs: nowMs + ms, act }),
  });
  const pass = (ms) => {
    nowMs += ms;
    for (const { act } of due.splice(0)) act();
  };
  return { one, sent, pass };
}

test("of many selections the newest is told, at most one in a while", () => {
  const { one, sent, pass } = teller();
  const view = viewOf(2, []);
  for (const key of ["n1", "n2", "n3"]) one.follow(view, { resource: "nodes", key }, true);
  assert.deepEqual(sent, ["nodes n1"]);
  pass(TELL_EVERY_MS);
  assert.deepEqual(sent, ["nodes n1", "nodes n3"]);
  pass(TELL_EVERY_MS);
  one.follow(view, { resource: "nodes", key: "n3" }, true);
  assert.equal(sent.length, 2, "nothing new, nothing told");
  one.follow(view, null, true);
  assert.deepEqual(sent.at(-1), " ");
});

test("nothing is told by who wants none, while the teacher has it off, and by a viewer", () => {
  const selected = { resource: "nodes", key: "n1" };
  for (const [view, shares] of [
    [viewOf(2, []), false], [viewOf(2, [], { on: false }), true],
    [{ ...viewOf(2, []), me: { ...people[1], role: "viewer" } }, true],
  ]) {
    const { one, sent } = teller();
    one.follow(view, selected, shares);
    assert.deepEqual(sent, [" "], "only that there is nothing");
  }
});

test("who is asked something tells nobody which node is looked at until the reveal: it may be the answer", () => {
  const poll = (state, spec = {}) => ({ resource: "polls.clustersim.io", metadata: { name: "poll-1", resourceVersion: "4" }, spec: { kind: "node", ...spec }, status: { state } });
  const asked = (me, ...more) => applyMessage(viewOf(me, []), { type: "list", revision: 4, objects: [pod("web-2"), poll(...more)], last: true });
  const tells = (view) => {
    const { one, sent } = teller();
    one.follow(view, { resource: "nodes", key: "n2" }, true);
    return sent.at(-1);
  };
  assert.deepEqual(["open", "closed", "revealed", "over"].map((state) => tells(asked(2, state))), [" ", " ", "nodes n2", "nodes n2"]);
  assert.equal(tells(asked(1, "open")), "nodes n2", "a teacher asks and does not vote");
  assert.equal(tells(asked(1, "open", { alone: true })), " ");
});

test("a new connection is told again", () => {
  const { one, sent, pass } = teller();
  one.follow(viewOf(2, []), { resource: "nodes", key: "n1" }, true);
  pass(TELL_EVERY_MS);
  one.forget();
  assert.deepEqual(sent, ["nodes n1", "nodes n1"]);
});
