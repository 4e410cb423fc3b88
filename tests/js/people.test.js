// Who somebody is on every screen: initials and look by the seat's number, whose a pod is, who did something.
import assert from "node:assert/strict";
import { test } from "node:test";

import { faceOf, initials } from "../../static/js/lib/faces.js";
import { search } from "../../static/js/state/search.js";
import { actorOf, saidKey, saidName, whose } from "../../static/js/state/people.js";
import { applyMessage, emptyView } from "../../static/js/state/view.js";

const mei = { id: "2", name: "Mei K.", role: "student", slug: "mei-k", namespace: "s-mei-k", color: 2, online: true };
const teacher = { id: "1", name: "Teacher", role: "teacher", slug: "teacher", namespace: "default", color: 1, online: true };

/** @param {object[]} people */
const viewOf = (people) => applyMessage(emptyView(), /** @type {any} */ ({ type: "people", people }));

test("initials are two letters at most, one where the name is Chinese", () => {
  assert.deepEqual(["Mei K.", "leo", "Ada King Lovelace", "梅 子", "  ", "É"].map(initials), ["MK", "LE", "AL", "梅", "?", "É"]);
});

test("the eighth seat has the first hue again, with a ring", () => {
  assert.deepEqual([1, 7, 8, 14, 15].map((color) => faceOf({ color })), [
    { hue: 1, ring: false }, { hue: 7, ring: false }, { hue: 1, ring: true }, { hue: 7, ring: true }, { hue: 1, ring: true },
  ]);
});

test("what lies in a student's namespace is said with their initials, everything else by its name", () => {
  const view = viewOf([teacher, mei]);
  assert.equal(saidName(view, "s-mei-k", "web-1"), "MK web-1 · s-mei-k");
  assert.equal(saidKey(view, "s-mei-k/web-1"), "MK web-1 · s-mei-k");
  assert.equal(saidKey(view, "default/web-1"), "web-1");
  assert.equal(saidName(view, "default", "web-1"), "web-1");
  assert.equal(saidName(view, undefined, "n1"), "n1");
});

test("somebody who left is still known by what they did", () => {
  const view = viewOf([teacher, { ...mei, online: false, left: true }]);
  assert.equal(whose(view, "s-mei-k")?.name, "Mei K.");
  assert.equal(actorOf(view, "user:mei-k")?.name, "Mei K.");
  assert.equal(actorOf(view, "kube-scheduler-0"), null);
  assert.equal(actorOf(view, "user:nobody"), null);
});

test("search tells thirty pods called web-1 apart", () => {
  const object = { resource: "pods", metadata: { namespace: "s-mei-k", name: "web-1" } };
  const listed = applyMessage(viewOf([teacher, mei]), /** @type {any} */ ({ type: "list", revision: 3, objects: [object], last: true }));
  assert.equal(search(listed, "en", "web").objects[0]?.name, "MK web-1 · s-mei-k");
});
