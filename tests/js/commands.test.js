// The typed command line: what each verb is read into, and what a misread says.
import assert from "node:assert/strict";
import { test } from "node:test";

import { EXAMPLES, readCommand, VERBS } from "../../static/js/lib/commands.js";
import { complete } from "../../static/js/lib/complete.js";
import { changeTaints } from "../../static/js/lib/taints.js";

const read = (line) => readCommand(line, "default");
const brief = ({ target, kind, ...rest }) =>
  ({ ...rest, ...(kind ? { kind: kind.kind } : {}), ...(target ? { at: `${target.kind.kind} ${target.namespace}/${target.name}` } : {}) });

const CASES = [
  ["create node n9 --cpu 4 --memory=8Gi",
    { verb: "create", item: "node-medium", values: { cpu: "4", memory: "8Gi", name: "n9" } }],
  ["create node --size=gpu", { verb: "create", item: "node-gpu", values: {} }],
  ["create deployment web --image=nginx --replicas=3 -n shop",
    { verb: "create", item: "deployment", values: { image: "nginx", replicas: "3", name: "web", namespace: "shop" } }],
  ["kubectl run web --image=nginx",
    { verb: "create", item: "pod-medium", values: { image: "nginx", cpu: "", name: "web", namespace: "default" } }],
  ["get pod web", { verb: "get", at: "Pod default/web" }],
  ["get pod web -o yaml", { verb: "get", output: "yaml", at: "Pod default/web" }],
  ["get pods", { verb: "list", kind: "Pod", namespace: "default" }],
  ["get po -A", { verb: "list", kind: "Pod", namespace: null }],
  ["get --all-namespaces pods", { verb: "list", kind: "Pod", namespace: null }],
  ["get deploy -n shop", { verb: "list", kind: "Deployment", namespace: "shop" }],
  ["get no", { verb: "list", kind: "Node", namespace: "" }],
  ["describe node/n1", { verb: "describe", at: "Node /n1" }],
  ["edit ds logs", { verb: "edit", at: "DaemonSet default/logs" }],
  ["apply -f some.yaml", { verb: "apply" }],
  ["help", { verb: "help", about: "" }],
  ["help scale", { verb: "help", about: "scale" }],
  ["help dance", { verb: "help", about: "" }],
  ["undo", { verb: "undo" }],
  ["annotate node n1 clustersim.io/kubelet=off note-",
    { verb: "annotate", entries: { "clustersim.io/kubelet": "off", note: null }, at: "Node /n1" }],
  ["delete deploy/web -n shop", { verb: "delete", at: "Deployment shop/web" }],
  ["scale deployment web --replicas=5", { verb: "scale", replicas: 5, at: "Deployment default/web" }],
  ["scale rs/web 0", { verb: "scale", replicas: 0, at: "ReplicaSet default/web" }],
  ["cordon n9", { verb: "cordon", unschedulable: true, at: "Node /n9" }],
  ["uncordon node/n9", { verb: "cordon", unschedulable: false, at: "Node /n9" }],
  ["label node n9 disk=ssd spot-", { verb: "label", entries: { disk: "ssd", spot: null }, at: "Node /n9" }],
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
  ["delete", "command_target"],
  ["delete pod a b", "command_extra"],
  ["scale rs/web 1 2", "command_extra"],
  ["cordon n1 n2", "command_extra"],
  ["get unicorns", "command_kind"],
  ["annotate node n1", "command_annotations"],
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

test("every example is read as the verb that it is for", () => {
  for (const verb of VERBS) {
    const command = read(EXAMPLES[verb]);
    assert.equal(command.error, undefined, EXAMPLES[verb]);
    assert.ok(EXAMPLES[verb].startsWith(verb));
  }
});

const NAMES = { Pod: { default: ["web-1", "web-2", "api"], shop: ["cart"] }, Node: { "": ["n1", "n12"] }, Deployment: { default: ["web"] },
  Namespace: { "": ["default", "shop"] } };
const completed = (line) => complete(line, (kind, namespace) => NAMES[kind.kind]?.[namespace] ?? [], "default");

const COMPLETED = [
  ["de", "de", ["delete", "describe"]],
  ["del", "delete ", ["delete"]],
  ["kube", "kubectl ", ["kubectl"]],
  ["kubectl sc", "kubectl scale ", ["scale"]],
  ["get pod", "get pod ", ["pod"]],
  ["get no", "get nodes ", ["nodes"]],
  ["delete no", "delete node ", ["node"]],
  ["delete pod w", "delete pod web-", ["web-1", "web-2"]],
  ["delete po web-1", "delete po web-1 ", ["web-1"]],
  ["describe pod/a", "describe pod/api ", ["pod/api"]],
  ["get pod -n shop c", "get pod -n shop cart ", ["cart"]],
  ["get pods -n s", "get pods -n shop ", ["shop"]],
  ["cordon ", "cordon n1", ["n1", "n12"]],
  ["uncordon n12", "uncordon n12 ", ["n12"]],
  ["scale d", "scale deployment ", ["deployment"]],
  ["scale deployment web --", "scale deployment web --replicas=", ["--replicas="]],
  ["create dep", "create deployment ", ["deployment"]],
  ["create node --si", "create node --size=", ["--size="]],
  ["help ta", "help taint ", ["taint"]],
  ["get pod zzz", "get pod zzz", []],
  ["run web", "run web", []],
];
for (const [line, expected, choices] of COMPLETED)
  test(`Tab after "${line}"`, () => {
    const found = completed(line);
    assert.deepEqual([found.line, found.choices], [expected, choices]);
  });

test("the simulation's own kinds are typed by nobody", () => {
  assert.ok(!completed("get ").choices.some((choice) => /replicas$|clocks|queues/.test(choice)));
  assert.ok(completed("get ").choices.includes("pods"));
});
