// One hue for an owner, a priority or a plugin, the same for everybody: the server numbers them, the page follows.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { ownerGroup, ownerLook, pluginLook } from "../../static/js/lib/hues.js";

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
