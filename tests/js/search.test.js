// What the search box finds and what Enter takes: what exists first; creating is never the first choice.
import assert from "node:assert/strict";
import { test } from "node:test";

import { firstChoice, search } from "../../static/js/state/search.js";
import { fullName, itemOf } from "../../static/js/lib/items.js";
import { refusedItem } from "../../static/js/state/roles.js";
import { loadTexts } from "../../static/js/lib/text.js";
import { applyMessage, emptyView } from "../../static/js/state/view.js";

await loadTexts("en", "page");
await loadTexts("zh-hans");

const TEACHER = { role: "teacher", namespace: "" };
const STUDENT = { role: "student", namespace: "s-mei" };

function viewOf(me, ...objects) {
  return { ...applyMessage(emptyView(), { type: "list", revision: 9, objects, last: true }), me };
}
const pod = (name, namespace = "default") => ({ resource: "pods", metadata: { name, namespace } });
const node = (name) => ({ resource: "nodes", metadata: { name } });
const names = (found) => found.objects.map(({ name }) => name);
const ids = (found) => found.items.map(({ id }) => id);

test("a pod named hi is what Enter selects, not the high-priority pod that could be made", () => {
  const found = search(viewOf(TEACHER, pod("hi"), pod("history"), pod("chi")), "en", "hi");
  assert.deepEqual(names(found), ["hi", "history", "chi"]);
  assert.equal(firstChoice(found), 0);
  assert.ok(ids(found).includes("pod-high-priority"), "what could be created is still offered, apart");
});

test("where nothing has the name, nothing is chosen for the person", () => {
  const found = search(viewOf(TEACHER, pod("web")), "en", "hi");
  assert.deepEqual(names(found), []);
  assert.ok(found.items.length > 0);
  assert.equal(firstChoice(found), -1);
});

test("the very name comes first, then its beginnings, then the rest, pods before other kinds, in counting order", () => {
  const view = viewOf(TEACHER, node("web"), pod("a-web"), pod("web-10"), pod("web-2"), pod("web"));
  assert.deepEqual(search(view, "en", "web").objects.map(({ resource, name }) => `${resource} ${name}`),
    ["pods web", "nodes web", "pods web-2", "pods web-10", "pods a-web"]);
});

test("with many items to create, what exists still fills its own rows", () => {
  const found = search(viewOf(TEACHER, ...Array.from({ length: 30 }, (_, index) => pod(`pod-${index}`))), "en", "pod");
  assert.equal(found.objects.length, 9);
  assert.equal(found.objects[0].name, "pod-0");
  assert.equal(found.items.length, 5);
});

test("a key with a slash finds the object in that namespace alone", () => {
  const view = viewOf(TEACHER, pod("web", "shop"), pod("web", "default"));
  assert.deepEqual(search(view, "en", "shop/web").objects.map(({ key }) => key), ["shop/web"]);
});

test("items are found by the beginning of a word, in the language of the page, and signs are only signs", () => {
  const view = viewOf(TEACHER);
  assert.deepEqual(ids(search(view, "en", "deploy")), ["deployment"]);
  assert.deepEqual(ids(search(view, "en", "ploy")), []);
  assert.ok(ids(search(view, "zh-hans", "小")).includes("node-small"));
  assert.deepEqual(search(view, "en", "(.*"), { objects: [], items: [] });
  assert.deepEqual(search(view, "en", "   "), { objects: [], items: [] });
});

test("events are not found by name, and what a person may not create is not offered", () => {
  const event = { resource: "events", metadata: { name: "web.1", namespace: "default" } };
  assert.deepEqual(names(search(viewOf(TEACHER, event), "en", "web")), []);
  assert.deepEqual(ids(search(viewOf(STUDENT), "en", "node")), []);
  assert.deepEqual(ids(search(viewOf({ role: "viewer", namespace: "" }), "en", "pod")), []);
});

test("the high-priority pod needs its class, which only a teacher's click makes", () => {
  const item = itemOf("pod-high-priority");
  const present = { resource: "priorityclasses.scheduling.k8s.io", metadata: { name: "high-priority" } };
  assert.equal(refusedItem(viewOf(TEACHER), item), null);
  assert.equal(refusedItem(viewOf(STUDENT), item)?.key, "reason_no_class");
  assert.equal(refusedItem(viewOf(STUDENT, present), item), null);
  assert.equal(refusedItem(viewOf(null), item)?.key, "reason_connecting");
});

test("an item is named as one says it", () => {
  assert.equal(fullName(itemOf("node-small"), "en"), "Node, Small");
  assert.equal(fullName(itemOf("deployment"), "en"), "Deployment");
});
