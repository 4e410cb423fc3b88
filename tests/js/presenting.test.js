// What the teacher shows: how a page stands to it, what is told, what follows it, who leaves and comes back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Follower, TELL_EVERY_MS, Teller } from "../../static/js/presenting/leading.js";
import { isAsking, isGuided, isProjector, sceneOf, standingOf, stepsTo, stopped, toldOf } from "../../static/js/state/presenting.js";
import { saidName } from "../../static/js/state/people.js";
import { applyMessage, emptyView } from "../../static/js/state/view.js";

const NOTHING = { rv: 0, select: "", inspectorTab: "", part: 0, dockTab: "", zoom: 1, scene: "" };
const ME = { id: "2", name: "Mei", role: "student", slug: "mei", namespace: "s-mei", color: 2 };

/** A view with a presenter who shows something. */
const shown = (wanted, me = ME, at = 1) =>
  ({ ...applyMessage(emptyView(), { type: "presenting", view: wanted, by: "1", at }), me, ready: true });

test("who presents, who follows, who has left", () => {
  assert.equal(standingOf(shown(null), false), "free");
  assert.equal(standingOf(shown({}), false), "follows");
  assert.equal(standingOf(shown({}), true), "left");
  assert.equal(standingOf(shown({}, { ...ME, id: "1" }), false), "presents");
  assert.equal(standingOf(shown({}, { ...ME, role: "viewer" }), true), "follows", "a wall has no hand that leaves");
});

test("what is as it would be without is not told", () => {
  assert.deepEqual(toldOf(NOTHING), {});
  assert.deepEqual(toldOf({ ...NOTHING, inspectorTab: "yaml" }), {}, "no tab where nothing is selected");
  assert.deepEqual(
    toldOf({ rv: 7, select: "pods default/web-1", inspectorTab: "decision", part: 3.5, dockTab: "timeline", zoom: 3, scene: "decision" }),
    { rv: 7, select: "pods default/web-1", inspectorTab: "decision", part: 3.5, dockTab: "timeline", zoom: 3, scene: "decision" },
  );
});

test("a page does what it does not show yet, and nothing else", () => {
  assert.deepEqual(stepsTo(NOTHING, {}), []);
  const wanted = { rv: 7, select: "nodes n2", inspectorTab: "summary", dockTab: "election", zoom: 2 };
  assert.deepEqual(stepsTo(NOTHING, wanted), [
    { do: "hold", rv: 7 }, { do: "select", resource: "nodes", key: "n2", tab: "summary" }, { do: "dock", tab: "election" },
    { do: "zoom", zoom: 2 },
  ]);
  const now = { ...NOTHING, ...wanted };
  assert.deepEqual(stepsTo(now, wanted), []);
  assert.deepEqual(stepsTo(now, { ...wanted, inspectorTab: "yaml" }), [{ do: "select", resource: "nodes", key: "n2", tab: "yaml" }]);
  assert.deepEqual(stepsTo(now, { ...wanted, part: 1.25 }), [{ do: "part", part: 1.25 }], "what is read follows who reads it");
  assert.deepEqual(stepsTo(now, {}), [{ do: "release" }, { do: "deselect" }, { do: "dock", tab: "" }, { do: "zoom", zoom: 1 }]);
});

test("a wall shows what was chosen for it, else what was opened", () => {
  assert.equal(sceneOf({}), "stage");
  assert.equal(sceneOf({ select: "pods default/a", inspectorTab: "decision" }), "decision");
  assert.equal(sceneOf({ select: "pods default/a", inspectorTab: "yaml" }), "stage");
  assert.equal(sceneOf({ dockTab: "election", select: "pods default/a", inspectorTab: "decision" }), "election");
  assert.equal(sceneOf({ dockTab: "election", scene: "preemption" }), "preemption");
  const desk = { theme: "light", phone: false };
  assert.equal(isProjector(shown({}), desk, "follows"), false);
  assert.equal(isProjector(shown({}), { ...desk, theme: "projector" }, "follows"), true);
  assert.equal(isProjector(shown({}), { ...desk, theme: "projector" }, "presents"), false, "who presents keeps the controls");
  assert.equal(isProjector(shown({}, { ...ME, role: "viewer" }), desk, "follows"), true);
  assert.equal(isProjector(shown({}, { ...ME, role: "viewer" }), { ...desk, phone: true }, "follows"), false);
  const wall = shown({}, { ...ME, role: "viewer" });
  assert.deepEqual([isGuided(wall, desk, "free"), isGuided(wall, desk, "follows"), isGuided(wall, { ...desk, phone: true }, "free"), isGuided(shown({}), desk, "free")],
    [true, false, false, false], "a lesson says what a wall shows while nobody presents");
  const asked = new Map([["polls.clustersim.io", new Map([["p", { metadata: { name: "p", resourceVersion: "1" }, status: { state: "revealed" } }]])]]);
  assert.equal(isGuided({ ...wall, objects: asked }, desk, "free"), false, "a question and its answer come first");
  assert.deepEqual([isAsking({ ...wall, objects: asked }, desk), isAsking({ ...wall, objects: asked }, { ...desk, phone: true }), isAsking(wall, desk)],
    [true, false, false], "a question is for the last row, whoever presents");
});

test("who presents tells a change at once, and of many the last", () => {
  const told = [];
  let now = 0;
  const later = [];
  const teller = new Teller((view) => told.push(view), { now: () => now, after: (ms, act) => later.push({ ms, act }) });
  teller.follow(NOTHING, true);
  assert.deepEqual(told, [], "to begin tells by itself");
  teller.follow({ ...NOTHING, select: "nodes n1" }, true);
  assert.deepEqual(told, [{ select: "nodes n1" }]);
  for (const rv of [5, 6, 7]) teller.follow({ ...NOTHING, rv }, true);
  assert.equal(told.length, 1);
  assert.equal(later.length, 1);
  now += TELL_EVERY_MS;
  later[0].act();
  assert.deepEqual(told[1], { rv: 7 });
  teller.follow({ ...NOTHING, rv: 7 }, true);
  assert.equal(told.length, 2);
  teller.follow({ ...NOTHING, rv: 9 }, false);
  teller.follow({ ...NOTHING, rv: 9 }, true);
  assert.equal(told.length, 2, "a page that begins to present anew has told it with that");
});

test("who follows does each thing once, may look elsewhere meanwhile, leaves and comes back", () => {
  const taken = [];
  const follower = new Follower({ shown: () => NOTHING, take: (step) => taken.push(step.do) });
  const view = shown({ select: "nodes n1" });
  follower.follow({ ...view, ready: false });
  assert.deepEqual(taken, [], "there is nothing to show it in yet");
  follower.follow(view);
  follower.follow({ ...view, revision: 9 });
  assert.deepEqual(taken, ["select"]);
  follower.leave();
  follower.follow(shown({ rv: 3 }));
  assert.deepEqual(taken, ["select"]);
  follower.back();
  follower.follow(shown({ rv: 3 }));
  assert.deepEqual(taken, ["select", "hold"]);
  follower.leave();
  follower.follow(shown(null));
  follower.follow(shown({ zoom: 2 }));
  assert.deepEqual(taken, ["select", "hold", "zoom"], "who presents anew is followed by all");
});

test("when presenting ends the dock is as its person had it, unless they have turned to something else", () => {
  const page = { ...NOTHING, dockTab: "events" };
  const follower = new Follower({ shown: () => page, take: (step) => { if (step.do === "dock") page.dockTab = step.tab; } });
  follower.follow(shown({ dockTab: "election" }));
  assert.equal(page.dockTab, "election");
  follower.follow(shown({ dockTab: "timeline" }));
  follower.follow(shown(null));
  assert.equal(page.dockTab, "events");
  follower.follow(shown({ dockTab: "election" }));
  page.dockTab = "log";
  follower.follow(shown(null));
  assert.equal(page.dockTab, "log");
  follower.follow(shown({ dockTab: "election" }));
  follower.leave();
  follower.follow(shown(null));
  assert.equal(page.dockTab, "election", "who has left looks at what is there of their own will");
});

test("a frozen class and who is muted are told why", () => {
  const view = shown(null);
  const people = [{ ...ME, online: true }];
  assert.equal(stopped({ ...view, people }), "");
  assert.equal(stopped({ ...view, people: [{ ...ME, online: true, muted: true }] }), "muted");
  const frozen = applyMessage(view, { type: "class", frozen: true, names: true, handed: { 2: 7 }, wall: "", home: "", yours: true });
  assert.equal(frozen.wallNames, true);
  assert.equal(frozen.handed, 7, "when this person's own copy was handed out");
  assert.equal(stopped(frozen), "frozen");
  assert.equal(stopped({ ...frozen, me: { ...ME, role: "teacher" } }), "");
});

test("a wall without names tells no namespace either", () => {
  const people = [{ ...ME, name: "#2", nameless: true, online: true }];
  assert.equal(saidName({ ...emptyView(), people }, "s-mei", "web-1"), "#2 web-1");
  assert.equal(saidName({ ...emptyView(), people: [{ ...ME, online: true }] }, "s-mei", "web-1"), "ME web-1 · s-mei");
});
