// The amounts behind a no are said in words and drawn as a ghost that ends beyond the node.
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { amountOf, ghostOf, refusalSentence, refusalWords, tileSentence } from "../../static/js/lib/refusals.js";
import { loadTexts } from "../../static/js/lib/text.js";

before(async () => {
  await loadTexts("en", "stage");
  await loadTexts("zh-hans");
});

const cpu = { kind: "resource", resource: "cpu", asked: 900, free: 250, missing: 650, size: 4000 };

test("amounts are written in the unit of their resource", () => {
  assert.equal(amountOf("cpu", 2850, "en"), "2.85");
  assert.equal(amountOf("memory", 2 ** 29, "en"), "512 Mi");
  assert.equal(amountOf("nvidia.com/gpu", 2, "en"), "2");
  assert.equal(amountOf("cpu", -250, "en"), "−250m");
});

test("every kind of detail has its sentence in both languages", () => {
  const label = { kind: "label", source: "nodeSelector", term: 0, key: "disk", operator: "In", values: ["ssd"], value: "hdd" };
  const spread = {
    kind: "spread", topologyKey: "topology.kubernetes.io/zone", value: "east", matching: 2, fewest: 0, skew: 3, maxSkew: 1,
    domains: 2, minDomains: 1,
  };
  const near = { kind: "podAffinity", rule: "affinity", topologyKey: "zone", value: "east", matching: 0 };
  const wanted = { kind: "volume", claim: "data", class: "local", volume: "", asked: 10 * 2 ** 30, largest: 2 * 2 ** 30 };
  const said = [
    [cpu, "cpu: needs 900m, 250m free"],
    [{ ...cpu, free: -2750, missing: 3650 }, "cpu: needs 900m, 0 free"],
    [{ kind: "taint", key: "gpu", value: "yes", effect: "NoSchedule" }, "does not tolerate gpu=yes:NoSchedule"],
    [label, "disk is hdd, wanted: disk=ssd"],
    [{ ...label, values: ["nvme", "ssd"] }, "disk is hdd, wanted: disk in (nvme, ssd)"],
    [{ ...label, operator: "NotIn", values: ["hdd"] }, "disk is hdd, wanted: disk!=hdd"],
    [{ ...label, operator: "NotIn", values: ["hdd", "tape"] }, "disk is hdd, wanted: disk notin (hdd, tape)"],
    [{ ...label, operator: "DoesNotExist", values: [] }, "disk is hdd, wanted: !disk"],
    [{ ...label, operator: "Gt", value: "4", key: "cores", values: ["8"] }, "cores is 4, wanted: cores>8"],
    [{ ...label, value: null, operator: "Exists", values: [] }, "no label disk"],
    [{ ...label, error: "must be a number" }, "nodeSelector cannot be read: must be a number"],
    [{ kind: "name", asked: "n9" }, "the pod asks for node n9"],
    [{ kind: "port", protocol: "TCP", ip: "0.0.0.0", port: 80, holder: "default/web" }, "TCP 80 is held by default/web"],
    [spread, "zone=east has 2, the emptiest 0: skew 3, at most 1"],
    [{ ...spread, value: null, skew: null }, "no label topology.kubernetes.io/zone"],
    [near, "0 of the wanted pods in zone=east"],
    [{ ...near, rule: "antiAffinity", matching: 1 }, "1 unwanted pod in zone=east"],
    [{ ...near, rule: "existing", matching: 2 }, "2 pods in zone=east keep it away"],
    [{ ...cpu, resource: "attachable-volumes-csi-ebs.csi.aws.com", asked: 1, free: 0 }, "volumes of ebs.csi.aws.com: needs 1, 0 free"],
    [{ ...cpu, resource: "attachable-volumes-gce-pd", asked: 3, free: 1 }, "volumes of gce-pd: needs 3, 1 free"],
    [{ kind: "devices", claim: "train", request: "gpu", class: "gpu", asked: 2, there: 4, fitting: 3, free: 1 },
      "request gpu of claim train asks for 2 devices of class gpu: of 4 here 3 fit, 1 is free"],
    [{ kind: "devices", claim: "train", request: "gpu/all", class: "gpu", asked: null, there: 4, fitting: 1, free: 0 },
      "request gpu/all of claim train asks for all devices of class gpu: of 4 here 1 fits, 0 are free"],
    [{ kind: "devices", claim: "train", request: "gpu", class: "gpu", asked: 2, there: 0, fitting: 0, free: 0 },
      "request gpu of claim train asks for devices of class gpu, and the node reaches none"],
    [{ kind: "held", source: "disk", name: "d", holder: "default/web" }, "the disk of volume d is held by default/web"],
    [{ kind: "held", source: "claim", name: "data", holder: "default/web" },
      "claim data is in use by default/web, and one pod at a time may use it"],
    [wanted, "claim data needs 10 Gi of class local, the largest free volume has 2 Gi"],
    [{ ...wanted, largest: null }, "claim data needs 10 Gi of class local: no free volume is reached, and none is made"],
    [{ ...wanted, volume: "pv-1" }, "claim data asks for volume pv-1, which it does not have"],
  ];
  for (const [detail, words] of said) {
    assert.equal(refusalWords(detail, "en"), words);
    assert.doesNotMatch(refusalWords(detail, "zh-hans"), /refusal\.|\{/);
    const inHand = Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== null));
    assert.equal(refusalWords(inHand, "en"), words, "a cycle in hand is told without nulls");
  }
  assert.equal(refusalSentence([cpu, { ...cpu, resource: "pods", asked: 1, free: 0 }], "en"),
    "cpu: needs 900m, 250m free; pods: needs 1, 0 free");
  assert.equal(refusalSentence([cpu, { ...cpu, resource: "pods", asked: 1, free: 0 }], "zh-hans").split("；").length, 2, "as Chinese is written");
  assert.equal(tileSentence([{ kind: "taint", key: "gpu", value: "", effect: "NoSchedule" }, cpu], "en"),
    "cpu: needs 900m, 250m free");
  assert.equal(tileSentence([cpu], "en", undefined, "Insufficient cpu"), "needs 900m, 250m free", "the reason has named it");
  assert.equal(tileSentence([cpu, { ...cpu, resource: "pods", asked: 1, free: 0 }], "en", undefined, "Insufficient cpu"),
    "cpu: needs 900m, 250m free; pods: needs 1, 0 free", "two are told apart");
});

test("a ghost begins where the taken ends, passes the end of the node, and is cut at the end of the bar", () => {
  const { used, ghost, end, cut } = ghostOf(cpu);
  assert.deepEqual([used, end, cut], [0.75 * 3750 / 4000, 0.75, false]);
  assert.ok(ghost > end && ghost - used > 0);
  assert.deepEqual(ghostOf({ asked: 64_000, free: 4000, size: 4000 }), { used: 0, ghost: 1, end: 0.75, cut: true });
  assert.deepEqual(ghostOf({ asked: 1, free: 0, size: 0 }), { used: 0, ghost: 0.75, end: 0, cut: false });
});
