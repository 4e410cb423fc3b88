// The typed command line: what each verb is read into, and what a misread says.
import assert from "node:assert/strict";
import { test } from "node:test";

import { readCommand } from "../../static/js/lib/commands.js";
import { changeTaints } from "../../static/js/lib/taints.js";

const read = (line) => readCommand(line, "default");
const brief = ({ target, ...rest }) =>
  ({ ...rest, ...(target ? { at: `${target.kind.kind} ${target.namespace}/${target.name}` } : {}) });

const CASES = [
  ["create node n9 --cpu 4 --memory=8Gi",
    { verb: "create", item: "node-medium", values: { cpu: "4", memory: "8Gi", name: "n9" } }],
  ["create node --size=gpu", { verb: "create", item: "node-gpu", values: {} }],
  ["create deployment web --image=nginx --replicas=3 -n shop",
    { verb: "create", item: "deployment", values: { image: "nginx", replicas: "3", name: "web", namespace: "shop" } }],
  ["kubectl run web --image=nginx",
    { verb: "create", item: "pod-medium", values: { image: "nginx", cpu: "", name: "web", namespace: "default" } }],
  ["get pod web", { verb: "get", at: "Pod default/web" }],
  ["delete deploy/web -n shop", { verb: "delete", at: "Deployment shop/web" }],
  ["scale deployment web --replicas=5", { verb: "scale", replicas: 5, at: "Deployment default/web" }],
  ["scale rs/web 0", { verb: "scale", replicas: 0, at: "ReplicaSet default/web" }],
  ["cordon n9", { verb: "cordon", unschedulable: true, at: "Node /n9" }],
  ["uncordon node/n9", { verb: "cordon", unschedulable: false, at: "Node /n9" }],
  ["label node n9 disk=ssd spot-", { verb: "label", labels: { disk: "ssd", spot: null }, at: "Node /n9" }],
  ["taint node n9 spot=true:PreferNoSchedule gpu-",
    { verb: "taint", add: [{ key: "spot", value: "true", effect: "PreferNoSchedule" }],
      remove: [{ key: "gpu", effect: "" }], at: "Node /n9" }],
  ["taint no n9 dedicated:NoExecute",
    { verb: "taint", add: [{ key: "dedicated", effect: "NoExecute" }], remove: [], at: "Node /n9" }],
];
for (const [line, expected] of CASES) test(line, () => assert.deepEqual(brief(read(line)), expected));

const MISREAD = [
  ["explode n1", "command_verb"],
  ["", "command_verb"],
  ["get unicorn x", "command_kind"],
  ["delete pod", "command_name"],
  ["scale deploy web", "command_replicas"],
  ["scale deploy web many", "command_replicas"],
  ["label node n1", "command_labels"],
  ["taint node n1", "command_taints"],
  ["create lease x", "command_create"],
];
for (const [line, error] of MISREAD) test(`"${line}" is refused with a next step`, () => assert.equal(read(line).error, error));

test("a taint of the same key and effect is replaced, a removal takes every effect of its key", () => {
  const taints = [{ key: "a", value: "1", effect: "NoSchedule" }, { key: "a", effect: "NoExecute" }, { key: "b", effect: "NoSchedule" }];
  assert.deepEqual(changeTaints(taints, [{ key: "a", value: "2", effect: "NoSchedule" }], [{ key: "b", effect: "" }]),
    [{ key: "a", effect: "NoExecute" }, { key: "a", value: "2", effect: "NoSchedule" }]);
  assert.deepEqual(changeTaints(taints, [], [{ key: "a", effect: "NoExecute" }]).length, 2);
});
