// Two seats of one name: the later one is shown to who teaches beside the first.
import assert from "node:assert/strict";
import { test } from "node:test";

import { twinOf } from "../../static/js/state/twins.js";

const seat = (id, name) => ({ id, name, role: "student", slug: id, namespace: id, color: Number(id), online: true });

test("a later seat of a name has the first as its twin, however it is written", () => {
  const [ann, bob, again, third] = [seat("1", "Ann"), seat("2", "Bob"), seat("3", "ann"), seat("4", "ＡＮＮ")];
  const all = [ann, bob, again, third];
  assert.deepEqual(all.map((one) => twinOf(one, all)?.id), [undefined, undefined, "1", "1"]);
});
