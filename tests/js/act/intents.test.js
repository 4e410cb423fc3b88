// The table of intents against a session API that writes down what it is asked: requests, changes of Ui, notices.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Actions } from "../../../static/js/act/actions.js";
import { createIntents } from "../../../static/js/act/intents.js";
import { ApiError } from "../../../static/js/net/rest.js";
import { loadTexts } from "../../../static/js/lib/text.js";
import { looksOn } from "../../../static/js/state/looks.js";
import { applyMessage, emptyView } from "../../../static/js/state/view.js";

await loadTexts("en", "page");
await loadTexts("en", "make");

const TEACHER = { role: "teacher", namespace: "", slug: "teacher" };

/** A world whose API answers from `answers` by method name (a value, or a function of the call) and records every call. */
function worldOf({ objects = [], answers = {}, me = TEACHER, deeds = null } = {}) {
  const calls = [];
  const api = new Proxy({}, {
    get: (_none, method) => async (...rest) => {
      calls.push([method, ...rest]);
      const answer = answers[method];
      return typeof answer === "function" ? answer(...rest) : (answer ?? { metadata: { name: "made" } });
    },
  });
  const view = { ...applyMessage(emptyView(), { type: "list", revision: 9, objects, last: true }), me };
  const world = { ui: { lang: "en", selected: null }, notices: [], inspector: [], chosen: [] };
  const dispatch = createIntents({
    actions: new Actions(api, () => view),
    decisions: { select: (id) => world.chosen.push(id) },
    view: () => view,
    ui: () => world.ui,
    setUi: (change) => {
      world.ui = { ...world.ui, ...change };
    },
    toast: (message, tone, _close, action) => {
      world.notices.push([tone, message]);
      if (action) world.offered = action;
    },
    inspector: { openTab: (tab) => world.inspector.push(tab), focus: () => world.inspector.push("focus") },
    deeds: () => deeds,
    code: "K7Q-M2X",
  });
  /** Dispatch and wait until what the intent began is done. */
  const does = async (intent) => {
    await dispatch(intent);
    return world;
  };
  return { does, calls, world, view };
}

const refuse = (message) => () => {
  throw new ApiError({ kind: "Status", code: 403, reason: "Forbidden", message });
};

test("who clicks twice before the first is heard of asks for two names; one that was refused is free again", async () => {
  const { does, calls } = worldOf();
  await Promise.all([1, 2].map(() => does({ type: "create", item: "pod-small" })));
  await Promise.all([1, 2].map(() => does({ type: "create", item: "deployment" })));
  const names = calls.filter(([method]) => method === "create").map(([, , object]) => object.metadata.name);
  assert.deepEqual(names, ["small-1", "small-2", "web", "api"]);

  const refused = worldOf({ answers: { create: refuse("no") } });
  await refused.does({ type: "create", item: "pod-small" });
  await refused.does({ type: "create", item: "pod-small" });
  assert.deepEqual(refused.calls.map(([, , object]) => object.metadata.name), ["small-1", "small-1"]);
});

test("selecting changes only this browser, turns the tab and takes the keyboard along when asked", async () => {
  const { does, calls } = worldOf();
  let { ui, inspector } = await does({ type: "select", resource: "pods", key: "default/web" });
  assert.deepEqual(ui.selected, { resource: "pods", key: "default/web" });
  assert.deepEqual(inspector, []);
  ({ inspector } = await does({ type: "select", resource: "pods", key: "default/web", tab: "yaml", focus: true }));
  assert.deepEqual(inspector, ["yaml", "focus"]);
  ({ ui } = await does({ type: "deselect" }));
  assert.equal(ui.selected, null);
  assert.deepEqual(calls, []);
});

test("play and pause ask for the clock's state, not for a change of it", async () => {
  const { does, calls } = worldOf();
  await does({ type: "play" });
  await does({ type: "pause" });
  await does({ type: "clock", rate: 10 });
  assert.deepEqual(calls, [["clock", { paused: false }], ["clock", { paused: true }], ["clock", { rate: 10 }]]);
});

test("a step that found nothing is a note, not a success", async () => {
  const nothing = worldOf({ answers: { step: { stepped: 0 } } });
  const { notices } = await nothing.does({ type: "step", by: "cycle" });
  assert.equal(notices.length, 1);
  assert.equal(notices[0][0], "note");
  const one = worldOf({ answers: { step: { stepped: 1 } } });
  assert.deepEqual((await one.does({ type: "step", by: "cycle", count: 1 })).notices, []);
  assert.deepEqual(one.calls, [["step", "cycle", 1]]);
});

test("a refusal is said in the server's words", async () => {
  const { does } = worldOf({ answers: { clock: refuse("the clock is the teacher's") } });
  assert.deepEqual((await does({ type: "play" })).notices, [["bad", "the clock is the teacher's"]]);
});

test("no answer at all is said in the page's words", async () => {
  const lost = () => {
    throw new ApiError({ kind: "Status", code: 0, reason: "Unreachable", message: "fetch failed" });
  };
  const { notices } = await worldOf({ answers: { judge: lost } }).does({ type: "judge", uid: "u", plugin: "P", verdict: "allow" });
  assert.equal(notices[0][0], "bad");
  assert.doesNotMatch(notices[0][1], /fetch/);
});

test("a click of the palette creates the item under a free name and says so", async () => {
  const objects = [{ resource: "nodes", metadata: { name: "n1" } }];
  const { does, calls } = worldOf({ objects, answers: { create: (_kind, document) => document } });
  const { notices } = await does({ type: "create", item: "node-small" });
  const [[, kind, document]] = calls;
  assert.deepEqual([kind.kind, document.metadata.name], ["Node", "n2"]);
  assert.deepEqual(notices, [["done", "Node n2 created"]]);
});

test("a name that was taken meanwhile gives way to the next, a name that was asked for does not", async () => {
  const taken = (_kind, document) => {
    if (document.metadata.name === "n1") throw new ApiError({ kind: "Status", code: 409, reason: "AlreadyExists", message: "n1 exists" });
    return document;
  };
  const clicked = worldOf({ answers: { create: taken } });
  assert.deepEqual((await clicked.does({ type: "create", item: "node-small" })).notices, [["done", "Node n2 created"]]);
  const typed = worldOf({ answers: { create: taken } });
  assert.deepEqual((await typed.does({ type: "command", line: "create node n1" })).notices, [["bad", "n1 exists"]]);
});

test("a typed command is read, done, and what it got is selected", async () => {
  const { does, calls } = worldOf({ objects: [{ resource: "nodes", metadata: { name: "n1" }, spec: {} }] });
  await does({ type: "command", line: "kubectl cordon n1" });
  assert.equal(calls[0][0], "patch");
  assert.deepEqual(calls[0].slice(2), ["", "n1", { spec: { unschedulable: true } }]);
  assert.deepEqual((await does({ type: "command", line: "get pod web" })).ui.selected, { resource: "pods", key: "default/web" });
  const { notices } = await does({ type: "command", line: "dance pod web" });
  assert.equal(notices.at(-1)[0], "bad");
  const said = notices.length;
  const { ui } = await does({ type: "command", line: "dance pod web", typed: true });
  assert.deepEqual([ui.command.id, ui.command.line, notices.length], [1, "dance pod web", said], "a typed line is told of where it stands");
  assert.match(ui.command.error, /^“dance” is not one of: get, /);
  assert.equal(calls.length, 2, "what was misread asked nothing");
});

test("a fault and a verdict on a waiting pod ask their own routes", async () => {
  const { does, calls } = worldOf();
  await does({ type: "fault", identity: "kube-scheduler-0", kind: "crash" });
  await does({ type: "fault", identity: "kube-scheduler-0", kind: "rate", rate: 0.5 });
  await does({ type: "judge", uid: "u-1", plugin: "Gang", verdict: "reject" });
  assert.deepEqual(calls, [["fault", "kube-scheduler-0", { kind: "crash" }], ["fault", "kube-scheduler-0", { kind: "rate", rate: 0.5 }], ["judge", "u-1", "Gang", "reject"]]);
});

test("language and theme are Ui that the next page load knows; an attempt is chosen among the decisions", async () => {
  const written = [];
  globalThis.document = { set cookie(text) { written.push(text.split(";")[0]); } };
  const { does } = worldOf();
  await does({ type: "lang", lang: "zh-hans" });
  await does({ type: "theme", theme: "dark" });
  await does({ type: "colourBy", by: "person" });
  const { ui, chosen } = await does({ type: "selectTrace", id: "t-1" });
  assert.deepEqual([ui.lang, ui.theme, ui.colourBy, chosen], ["zh-hans", "dark", "person", ["t-1"]]);
  assert.deepEqual(written, ["django_language=zh-hans", "clustersim_theme=dark"]);
});

test("what was deleted is told with the way back, which says what it undid", async () => {
  const undo = async () => ({ key: "undo.done_deleted", values: { kind: "Pod", name: "web" }, tone: "done" });
  const { does, world } = worldOf({ deeds: { undo } });
  await does({ type: "command", line: "delete pod web" });
  assert.equal(world.offered.label, "Undo");
  await does({ type: "undo" });
  assert.deepEqual(world.notices.at(-1), ["done", "Undone: Pod web is made again as it was asked for; what went with it is not"]);
  const refusing = worldOf({ deeds: { undo: refuse("the class is frozen") } });
  assert.deepEqual((await refusing.does({ type: "undo" })).notices, [["bad", "the class is frozen"]]);
  assert.deepEqual((await worldOf().does({ type: "undo" })).notices, [], "before the desk is there, nothing was remembered");
});

test("who may not delete a node is told so, and not asked first about the pods that would go with it", async () => {
  const node = { kind: "Node", metadata: { name: "n1", uid: "u-n1", resourceVersion: "3" }, spec: {} };
  const pod = { kind: "Pod", metadata: { name: "web", namespace: "default", uid: "u-web", resourceVersion: "4" }, spec: { nodeName: "n1" } };
  const objects = [["nodes", node], ["pods", pod]].map(([resource, object]) => ({ resource, ...object }));
  const me = { role: "student", namespace: "s-mei", slug: "mei" };
  const { does, calls, world } = worldOf({ objects, me, answers: { delete: refuse("nodes are the teacher's") } });
  await does({ type: "command", line: "delete node n1" });
  assert.deepEqual(calls.map(([method]) => method).filter((method) => method === "delete"), ["delete"]);
  assert.deepEqual(world.notices, [["bad", "nodes are the teacher's"]]);
});

test("a node is made in the zone that it was let go over", async () => {
  const { does, calls } = worldOf();
  await does({ type: "create", item: "node-small", values: { zone: "zone-b" } });
  assert.equal(calls[0][2].metadata.labels["topology.kubernetes.io/zone"], "zone-b");
});

test("what was typed is answered at the line: a table as kubectl prints it, help, the object that is meant", async () => {
  const table = {
    columnDefinitions: [{ name: "Name" }, { name: "Ready" }, { name: "IP", priority: 1 }],
    rows: [{ cells: ["web", "1/1", "10.0.0.1"], object: { metadata: { name: "web", namespace: "default" } } }],
  };
  const { does, calls } = worldOf({ answers: { table } });
  let { ui, inspector } = await does({ type: "command", line: "get pods", typed: true });
  assert.deepEqual(ui.command.output, { kind: "table", resource: "pods", columns: ["Name", "Ready"], name: 0, total: 1,
    rows: [{ key: "default/web", cells: ["web", "1/1"] }] });
  assert.deepEqual([calls[0][0], calls[0][1].kind, calls[0][2]], ["table", "Pod", "default"]);
  ({ ui } = await does({ type: "command", line: "get pods -A", typed: true }));
  assert.deepEqual([calls[1][2], ui.command.id], [null, 2]);
  assert.deepEqual([ui.command.output.columns, ui.command.output.rows[0].cells], [["Namespace", "Name", "Ready"], ["default", "web", "1/1"]]);
  ({ ui } = await does({ type: "command", line: "help scale", typed: true }));
  assert.deepEqual(ui.command.output.rows, [{ example: "scale deployment web --replicas=5", about: "says how many pods a workload has" }]);
  ({ ui, inspector } = await does({ type: "command", line: "describe node n1", typed: true }));
  assert.deepEqual([ui.selected, inspector, ui.command.error], [{ resource: "nodes", key: "n1" }, ["summary"], ""]);
});

test("a refusal stands at the line that was typed", async () => {
  const { does } = worldOf({ answers: { patch: refuse("nodes \"n1\" is forbidden") } });
  const { ui, notices } = await does({ type: "command", line: "cordon n1", typed: true });
  assert.deepEqual([ui.command.error, ui.command.line, notices], ["nodes \"n1\" is forbidden", "cordon n1", []]);
});

test("the switch of everybody's looks stands as it was set until the session tells of it, and goes back where it is refused", async () => {
  const told = [];
  const { does, world, view } = worldOf({ answers: { switchLooks: () => told.push(looksOn(view, world.ui)) } });
  assert.equal(looksOn(view, { looksAsked: null }), true);
  await does({ type: "switchLooks", on: false });
  assert.deepEqual([told, looksOn(view, world.ui)], [[false], false], "asked, and answered before the session has told");
  const later = (on) => applyMessage(view, { type: "looks", on, looks: [] });
  assert.deepEqual([later(false), later(true)].map((now) => looksOn(now, world.ui)), [false, true], "what is told counts");
  const refused = worldOf({ answers: { switchLooks: refuse("only a teacher") } });
  await refused.does({ type: "switchLooks", on: false });
  assert.deepEqual([looksOn(refused.view, refused.world.ui), refused.world.notices], [true, [["bad", "only a teacher"]]]);
});
