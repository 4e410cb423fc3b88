// Who holds a lock from outside the session, and until when: an unmodified kube-scheduler that runs beside it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Outsiders } from "../../../static/js/state/outsiders.js";
import { scheduler, viewOf } from "./fixtures.js";

const lease = (name, holderIdentity, renewTime = "2031-05-05T00:00:00Z", namespace = "kube-system") => ({
  resource: "leases.coordination.k8s.io", metadata: { name, namespace }, spec: { holderIdentity, leaseDurationSeconds: 15, renewTime },
});

test("who holds a lock and is none of the session's replicas comes from outside", () => {
  const view = viewOf([
    scheduler({}), lease("kube-controller-manager", "vm_77"), lease("kube-scheduler", "kube-scheduler-0"),
    lease("own", "vm_1234"), lease("given-up", ""), lease("n1", "n1", undefined, "kube-node-lease"),
  ]);
  assert.deepEqual(new Outsiders().of(view, 2_000), [
    { lock: "kube-controller-manager", holder: "vm_77", seenMs: 2_000, durationMs: 15_000 },
    { lock: "own", holder: "vm_1234", seenMs: 2_000, durationMs: 15_000 },
  ]);
});

test("its lease lasts from when it was seen renewed, whatever its own clock says", () => {
  const outsiders = new Outsiders();
  const at = (nowMs, renewed) => outsiders.of(viewOf([lease("own", "vm_1234", renewed)]), nowMs).map((one) => one.seenMs);
  assert.deepEqual(at(1_000, "2031-05-05T00:00:00Z"), [1_000]);
  assert.deepEqual(at(9_000, "2031-05-05T00:00:00Z"), [1_000]);
  assert.deepEqual(at(10_000, "2031-05-05T00:00:08Z"), [10_000]);
  assert.deepEqual(at(24_999, "2031-05-05T00:00:08Z"), [10_000]);
  assert.deepEqual(at(25_000, "2031-05-05T00:00:08Z"), [], "it is over");
  assert.deepEqual(at(4_000, "2031-05-05T00:00:08Z"), [4_000], "in a past that is held it is seen anew");
});
