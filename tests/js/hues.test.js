// One hue for an owner, a priority or a plugin, the same for everybody: the server numbers them, the page follows.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { ownerGroup, ownerLook, pluginLook } from "../../static/js/lib/hues.js";
import { hueOf } from "../../static/js/panels/inspector-head.js";
import { ownerlessNumbers } from "../../static/js/state/groups.js";
import { applyMessage, emptyView } from "../../static/js/state/view.js";

test("a pod's group is named as the server names it", () => {
  const cases = JSON.parse(readFileSync(new URL("../golden/groups.json", import.meta.url), "utf8"));
  assert.ok(cases.length > 3);
  for (const { what, pod, key, label } of cases) {
    const group = ownerGroup(pod);
    assert.deepEqual([group.key, group.label], [key, label], what);
  }
});

test("owners past the last hue repeat with a ring, plugins with a texture and begun elsewhere", () => {
  assert.deepEqual(ownerLook(6, "x"), { number: 6, hue: 6, ring: false });
  assert.deepEqual(ownerLook(7, "x"), { number: 7, hue: 0, ring: true });
  const numbers = { TaintToleration: 0, ImageLocality: 5, NodeAffinity: 6 };
  assert.deepEqual(pluginLook("ImageLocality", numbers), { hue: 5, again: false });
  assert.deepEqual(pluginLook("NodeAffinity", numbers), { hue: 2, again: true });
});

test("what the server has not numbered has the look of its name, wherever it is met", () => {
  assert.deepEqual(ownerLook(undefined, "Pod web"), ownerLook(undefined, "Pod web"));
  assert.deepEqual(pluginLook("Mine", {}), pluginLook("Mine", { TaintToleration: 0 }));
});

test("the palette's squares and the inspector's head have the hue that a pod has on the stage", () => {
  const pod = (name, owner, ownerReferences) => ({
    resource: "pods", metadata: { uid: name, name, namespace: "default", resourceVersion: "1", ownerReferences }, spec: {}, status: {}, hues: { owner, priority: 0, namespace: 0 },
  });
  const objects = [pod("gpu-3", 6), pod("web-1", 1, [{ kind: "ReplicaSet", name: "web", controller: true }]), pod("odd", undefined)];
  const view = applyMessage(emptyView(), { type: "list", revision: 9, objects, last: true });
  assert.deepEqual([...ownerlessNumbers(view)], [["Pod gpu", 6]]);
  assert.equal(hueOf(objects[0], view, { colourBy: "owner" }), " hue-7");
  assert.equal(hueOf(objects[0], view, { colourBy: "priority" }), " hue-1");
  assert.equal(hueOf({ resource: "nodes", metadata: { name: "n1" } }, view, { colourBy: "owner" }), "", "only pods are coloured");
});
