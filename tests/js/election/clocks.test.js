// Each replica by its own clock: what a slow one counts, and that nothing of true time is claimed of it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { shortened } from "../../../static/js/election/charts.js";
import { byOwnClocks, countedBy } from "../../../static/js/election/clocks.js";

const rate = (value, fromMs, toMs = null) => ({ id: 1, kind: "rate", rate: value, fromMs, toMs });

test("a clock counts true until its rate changes, and keeps what it has lost", () => {
  const counted = countedBy([rate(0.5, 10_000, 30_000), { id: 2, kind: "crash", rate: null, fromMs: 0, toMs: 5_000 }]);
  assert.deepEqual([0, 10_000, 20_000, 30_000, 40_000].map(counted), [0, 10_000, 15_000, 20_000, 30_000]);
  assert.equal(countedBy([])(7_000), 7_000);
  assert.equal(countedBy([rate(2, null)])(7_000), 14_000);
});

test("rows are told by their own clocks; windows in which two led are of true time alone", () => {
  const span = (fromMs, toMs) => ({ fromMs, toMs, open: false });
  const row = {
    identity: "kube-scheduler-0", outside: false, index: 0, beliefs: [span(0, 30_000)], renewals: [{ revision: 1, t: 20_000, who: "kube-scheduler-0" }],
    lost: [{ atMs: 20_000 }], refused: [], gaveUp: [{ atMs: 30_000 }], sights: [{ holder: "x", seenMs: 10_000, expiresMs: 30_000, atMs: 20_000, branch: "held" }],
    reads: [{ t: 30_000, holder: "x" }], faults: [rate(0.5, 10_000)],
  };
  const true_ = { ...row, identity: "kube-scheduler-1", index: 1, faults: [] };
  const story = { toMs: 40_000, rows: [row, true_], lease: [{ ...span(0, 40_000), holder: "x" }], windows: [{ ...span(1, 2), who: [] }], gaps: [{ ...span(1, 2), before: "", after: "" }], writes: [] };
  const own = byOwnClocks(story);
  assert.deepEqual(own.rows[0].beliefs, [span(0, 20_000)]);
  assert.deepEqual([own.rows[0].renewals[0].t, own.rows[0].lost[0].atMs, own.rows[0].gaveUp[0].atMs, own.rows[0].reads[0].t], [15_000, 15_000, 20_000, 20_000]);
  assert.deepEqual([own.rows[0].sights[0].seenMs, own.rows[0].sights[0].expiresMs], [10_000, 20_000]);
  assert.deepEqual(own.rows[0].faults[0].toMs, null);
  assert.deepEqual([own.rows[1].beliefs, own.lease, own.windows, own.gaps], [true_.beliefs, story.lease, [], []]);
});

test("a long name keeps what tells it from its sisters", () => {
  assert.deepEqual(["kube-scheduler-0", "kube-controller-manager-2", "a-machine-with-a-long-name_1234"].map(shortened),
    ["kube-scheduler-0", "controller-manager-2", "a-machine-with-a-long…"]);
});
