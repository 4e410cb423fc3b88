// What the API server tab tells of a request: its way, what was changed, who else wrote, what a quota lacked.
import assert from "node:assert/strict";
import { test } from "node:test";

import { afterwards, changesOf, conflictOf, durationOf, markedPiece, objectOf, quotaOf, saidBy, STAGES, toneOf, wayOf } from "../../../static/js/control/requests-model.js";

const step = (name, plugin, result = "ok", message = undefined, ms = 1) => ({ step: name, plugin, ms, result, message });
const request = (fields) => ({
  id: "web-1", user: "teacher", verb: "create", path: "/api/v1/namespaces/default/pods", key: "/registry/pods/default/web", code: 201,
  message: "", simTime: 1, rvAsked: "", rvBefore: "", rvAfter: "118", steps: [], ...fields,
});

test("every stage is told, in the order of a real API server, and what it changed", () => {
  const way = wayOf(request({ steps: [
    step("authentication"), step("authorization"), step("registry", "decode"), step("mutating", "Priority", "changed", "priority 0, PreemptLowerPriority"),
    step("mutating", "LimitRanger"), step("registry", "strategy"), step("validating", "PodSecurity"), step("store"), step("store", "commit"),
  ] }));
  assert.deepEqual(way.map(({ name }) => name), STAGES);
  assert.deepEqual(way.map(({ state }) => state), ["ok", "ok", "ok", "changed", "ok", "ok", "skipped", "ok"]);
  assert.deepEqual(way.map(({ steps }) => steps.length), [1, 1, 1, 2, 1, 1, 0, 2]);
  assert.equal(way[7].ms, 2);
  assert.deepEqual(changesOf(way[3].steps[0]), ["priority 0", "PreemptLowerPriority"]);
  assert.deepEqual(changesOf(way[3].steps[1]), []);
});

test("what was added has a plus; what was changed or is gone says so itself", () => {
  const pieces = changesOf(step("registry", "decode", "changed", "spec.dnsPolicy: ClusterFirst, ~ spec.replicas: 3, − spec.paused, … 7"));
  assert.deepEqual(pieces.map(markedPiece), ["+ spec.dnsPolicy: ClusterFirst", "~ spec.replicas: 3", "− spec.paused", "… 7"]);
});

test("the way ends where it was refused; a stage before it that has no step is none of this kind of request", () => {
  const refused = request({ code: 403, steps: [step("authentication"), step("authorization"), step("validating", "X", "refused", "no")] });
  assert.deepEqual(wayOf(refused).map(({ state }) => state), ["ok", "ok", "skipped", "skipped", "skipped", "refused", "unreached", "unreached"]);
  assert.equal(durationOf(refused), 3);
  assert.deepEqual([toneOf(201), toneOf(403)], ["good", "bad"]);
});

test("a request names its object by its path, or by the key that it was stored under", () => {
  const named = (path, key) => objectOf(request({ path, key }));
  assert.deepEqual(named("/api/v1/namespaces/default/pods", "/registry/pods/default/web"), { resource: "pods", key: "default/web", name: "web" });
  assert.deepEqual(named("/api/v1/namespaces/a/pods/web/binding", "/registry/pods/a/web"), { resource: "pods", key: "a/web", name: "web/binding" });
  assert.deepEqual(named("/apis/apps/v1/namespaces/a/deployments/shop/scale", ""), { resource: "deployments.apps", key: "a/shop", name: "shop/scale" });
  assert.deepEqual(named("/api/v1/nodes", "/registry/minions/n9"), { resource: "nodes", key: "n9", name: "n9" });
  assert.deepEqual(named("/api/v1/namespaces/team", "/registry/namespaces/team"), { resource: "namespaces", key: "team", name: "team" });
  // Refused before anybody knew a name: the list is all that it was about.
  assert.deepEqual(named("/api/v1/namespaces/default/pods", ""), { resource: "", key: "", name: "pods" });
  assert.deepEqual(named("/api/v1/nodes", "/registry/minions"), { resource: "", key: "", name: "nodes" });
  assert.equal(named("/apis/example.org/v1/things/a", "/registry/things/a").resource, "");
});

test("a refused write knows the other writer, and its own next try", () => {
  const put = (fields) => request({ verb: "update", path: "/api/v1/namespaces/default/pods/web", code: 200, ...fields });
  const loser = put({ id: "3", user: "jon", code: 409, rvAsked: "119", rvBefore: "121", rvAfter: "" });
  const winner = put({ id: "2", user: "ana", rvAsked: "119", rvBefore: "119", rvAfter: "121" });
  const again = put({ id: "4", user: "jon", rvAsked: "121", rvBefore: "121", rvAfter: "122" });
  const other = put({ id: "5", user: "jon", key: "/registry/pods/default/other", rvAsked: "130", rvBefore: "130", rvAfter: "131" });
  assert.deepEqual(conflictOf(loser, [other, again, loser, winner], []), {
    loser, winner: { actor: "user:ana", verb: "update", asked: "119", stored: "121" }, again,
  });
  // The other one was a component: the log says which.
  const row = { revision: 121, actor: "kubelet/n1" };
  const lost = conflictOf(loser, [loser], [row]);
  assert.deepEqual([lost.winner.actor, lost.winner.stored, lost.again], ["kubelet/n1", "121", null]);
  assert.equal(conflictOf(loser, [loser], []).winner.actor, "");
  // Neither what exists already nor a write without a resourceVersion has two writers.
  assert.equal(conflictOf(request({ code: 409, rvBefore: "118", rvAfter: "" }), [], []), null);
  assert.equal(conflictOf(winner, [loser, winner], []), null);
});

test("a quota's refusal is told in amounts", () => {
  const message = 'pods "web-2" is forbidden: exceeded quota: class-quota, requested: pods=1,requests.cpu=500m, used: pods=3,requests.cpu=1800m, limited: pods=3,requests.cpu=2';
  const { quota, rows } = quotaOf(message);
  assert.equal(quota, "class-quota");
  assert.deepEqual(rows.map(({ resource, requested, used, limited }) => [resource, requested, used, limited]),
    [["pods", "1", "3", "3"], ["requests.cpu", "500m", "1800m", "2"]]);
  assert.deepEqual(rows.map(({ free }) => Math.round(free * 1000) / 1000), [0, 0.2]);
  assert.deepEqual(rows.map(({ usedShare, limitShare }) => [usedShare, limitShare].map((one) => Math.round(one * 100))), [[75, 75], [78, 87]]);
  assert.equal(quotaOf("pods is forbidden"), null);
});

test("what the cluster made of a request are the next changes of its object", () => {
  const row = (revision, name, resource = "pods") => ({ revision, resource, object: { metadata: { name, namespace: "default" } } });
  const rows = [row(118, "web"), row(119, "other"), row(120, "web"), row(121, "web", "events"), row(122, "web"), row(123, "web")];
  assert.deepEqual(afterwards(request({}), rows, 2).map(({ revision }) => revision), [120, 122]);
  assert.deepEqual(afterwards(request({ code: 403, rvAfter: "" }), rows, 2), []);
});

test("who somebody is and who lets them is told piece by piece; why somebody may not is a sentence", () => {
  assert.deepEqual(saidBy(step("authentication", undefined, "ok", "teacher, clustersim:teacher, system:authenticated")),
    ["teacher", "clustersim:teacher", "system:authenticated"]);
  assert.deepEqual(saidBy(step("authorization", undefined, "refused", "no, never")), []);
});
