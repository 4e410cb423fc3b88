// Who somebody is on every screen: initials and look by the seat's number, whose a pod is, who did something.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { faceOf, initials } from "../../static/js/lib/faces.js";
import { refusalWords } from "../../static/js/lib/refusals.js";
import { loadTexts } from "../../static/js/lib/text.js";
import { modelMaker } from "../../static/js/stage/model.js";
import { search } from "../../static/js/state/search.js";
import { actorOf, fullKey, onlookers, saidKey, saidName, whose } from "../../static/js/state/people.js";
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

test("who holds a port, a victim, a pod that is gone: a student's is said with initials and namespace", async () => {
  await loadTexts("en", "stage");
  const view = viewOf([teacher, mei]);
  const say = (/** @type {string} */ key) => fullKey(view, key);
  assert.deepEqual(["s-mei-k/web-1", "default/web-1", "kube-system/dns"].map(say), ["MK web-1 · s-mei-k", "web-1", "kube-system/dns"]);
  const port = /** @type {const} */ ({ kind: "port", protocol: "TCP", ip: "", port: 80, holder: "s-mei-k/web-1" });
  assert.equal(refusalWords(port, "en", say), "TCP 80 is held by MK web-1 · s-mei-k");
  const pod = { resource: "pods", metadata: { namespace: "s-mei-k", name: "web-1", uid: "u" }, spec: {}, status: {} };
  const listed = applyMessage(view, /** @type {any} */ ({ type: "list", revision: 3, objects: [pod], last: true }));
  const model = modelMaker()(listed, /** @type {any} */ ({ lang: "en", colourBy: "owner", selected: null }));
  assert.equal(model.pods.get("s-mei-k/web-1")?.spoken, "MK web-1 · s-mei-k");
  assert.deepEqual(["s-mei-k/web-1", "s-mei-k/gone", "default/gone"].map(model.say),
    ["MK web-1 · s-mei-k", "MK gone · s-mei-k", "gone"]);
});

/** Where a key is cut to its name, and why no pod of a person loses its initials there. */
const CUTS = {
  "class/poll/model.js": "the wall and the class are told no names of people",
  "class/poll/told.js": "the wall and the class are told no names of people",
  "lib/openapi.js": "a pointer into a schema",
  "lib/refusals.js": "the key of a label",
  "rules/byhand_model.js": "the pods of a round, which are nobody's",
  "stage/card.js": "the key of a taint",
  "stage/clients.js": "a Service",
  "stage/lanes-model.js": "what a group is named after",
  "stage/node-model.js": "the name of a resource",
  "stage/page.js": "the owner of a lane's group",
  "stage/reasons.js": "the name of a resource",
  "stage/schedulers.js": "the key of a label",
};

test("nothing cuts a pod's key to its name but what says why", () => {
  const root = new URL("../../static/js/", import.meta.url);
  const cutting = readdirSync(root, { recursive: true }).map(String).filter((name) => name.endsWith(".js") && /split\("\/"\)\.pop\(\)|\bpod\.slice\([^)]*indexOf\("\/"\)/.test(
    readFileSync(new URL(name, root), "utf8")));
  assert.deepEqual(cutting.sort(), Object.keys(CUTS).sort());
});

test("who looks into one's own copy is told by name, and nowhere else", () => {
  const looker = { ...mei, id: "3", name: "Ms Weber", role: "viewer", slug: "ms-weber" };
  const ui = /** @type {any} */ ({ parent: { code: "AAABBB" } });
  const own = { ...viewOf([teacher, looker, { ...looker, id: "4", name: "gone", online: false }]), me: { id: "1", role: "teacher" } };
  assert.deepEqual(onlookers(/** @type {any} */ (own), ui), ["Ms Weber"]);
  assert.deepEqual(onlookers(/** @type {any} */ (own), { ...ui, parent: null }), [], "a class has its walls");
  assert.deepEqual(onlookers(/** @type {any} */ ({ ...own, me: { id: "2", role: "student" } }), ui), []);
});
