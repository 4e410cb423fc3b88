"""What upstream's end-to-end tests of admission, certificates and Services' addresses do (test/e2e, v1.34)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tools.room import Room
from tests.tools.upstreamapi import APPS, changed, does, names

GROUP = "/apis/admissionregistration.k8s.io/v1"
CSR = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
NETWORKING = "/apis/networking.k8s.io/v1"
GOLDEN = Path(__file__).parents[1] / "golden" / "kinds" / "certificatesigningrequests.json"
POLICY = "[sig-api-machinery] ValidatingAdmissionPolicy [Privileged:ClusterAdmin] should"
WEBHOOK = "[sig-api-machinery] AdmissionWebhook [Privileged:ClusterAdmin] should"


def workload(name: str, replicas: int) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "nginx", "image": "nginx"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"metadata": {"name": name}, "spec": spec}


def policy(room: Room, *rules: dict[str, str], **spec: Any) -> None:
    """Write a policy of Deployments in namespaces with the label `e2e`, and its binding."""
    changed(room, "/api/v1/namespaces/default", {"metadata": {"labels": {"e2e": "true"}}})
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments"]}
    chosen = {"namespaceSelector": {"matchLabels": {"e2e": "true"}}}
    whole = {"matchConstraints": {"resourceRules": [rule], **chosen}, "validations": list(rules), **spec}
    room.made(f"{GROUP}/validatingadmissionpolicies", {"metadata": {"name": "e2e.policy.example.com"}, "spec": whole})
    binding = {"policyName": "e2e.policy.example.com", "matchResources": chosen, "validationActions": ["Deny"]}
    room.made(f"{GROUP}/validatingadmissionpolicybindings", {"metadata": {"name": "e2e"}, "spec": binding})


@does(f"{POLICY} validate against a Deployment [Conformance]")
def test_a_policy_validates_a_deployment(room: Room) -> None:
    told = "'wants replicas > 1, got ' + object.spec.replicas"
    policy(
        room,
        {"expression": "object.spec.replicas > 1", "messageExpression": told},
        {"expression": "namespaceObject.metadata.name == 'default'", "message": "Internal error!"},
    )
    status, refused = room.ask("POST", f"{APPS}/deployments", workload("marker", 1))
    assert (status, refused["reason"]) == (422, "Invalid")
    room.made(f"{APPS}/deployments", workload("replicated", 2))
    room.made(f"{APPS}/replicasets", workload("non-replicated", 1))


@does(f"{POLICY} allow expressions to refer variables. [Conformance]")
def test_a_policy_has_variables(room: Room) -> None:
    variables = [
        {"name": "replicas", "expression": "object.spec.replicas"},
        {"name": "oddReplicas", "expression": "variables.replicas % 2 == 1"},
    ]
    policy(room, {"expression": "variables.replicas > 1"}, {"expression": "variables.oddReplicas"}, variables=variables)
    for replicas in (1, 2):
        assert room.ask("POST", f"{APPS}/deployments", workload("marker", replicas))[1]["reason"] == "Invalid"
    room.made(f"{APPS}/deployments", workload("replicated", 3))


@does(f"{POLICY} type check validation expressions")
def test_the_types_of_a_policy_are_checked(room: Room) -> None:
    told = "'wants replicas > 1, got ' + object.spec.replicas"
    policy(room, {"expression": "object.spec.replicas > '1'", "messageExpression": told})
    room.run(5)
    found = room.ask("GET", f"{GROUP}/validatingadmissionpolicies/e2e.policy.example.com")[1]
    first, second = found["status"]["typeChecking"]["expressionWarnings"]
    assert first["fieldRef"] == "spec.validations[0].expression"
    assert "found no matching overload for '_>_' applied to '(int, string)'" in first["warning"]
    assert second["fieldRef"] == "spec.validations[0].messageExpression"
    assert "found no matching overload for '_+_' applied to '(string, int)'" in second["warning"]


def hooked(conditions: list[dict[str, str]]) -> dict[str, Any]:
    hook = {
        "name": "check.team.example",
        "clientConfig": {"service": {"namespace": "team", "name": "checker"}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "matchConditions": conditions,
    }
    return {"metadata": {"name": "e2e"}, "webhooks": [hook]}


@does(
    f"{WEBHOOK} be able to create and update mutating webhook configurations with match conditions [Conformance]",
    f"{WEBHOOK} be able to create and update validating webhook configurations with match conditions [Conformance]",
    f"{WEBHOOK} reject mutating webhook configurations with invalid match conditions [Conformance]",
    f"{WEBHOOK} reject validating webhook configurations with invalid match conditions [Conformance]",
)
@pytest.mark.parametrize("plural", ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"])
def test_match_conditions_of_webhooks(room: Room, plural: str) -> None:
    one = {"name": "expression-1", "expression": "object.metadata.namespace == 'production'"}
    two = {"name": "expression-2", "expression": "object.metadata.namespace == 'staging'"}
    made = room.made(f"{GROUP}/{plural}", hooked([one]))
    assert made["webhooks"][0]["matchConditions"] == [one]
    made["webhooks"][0]["matchConditions"] = [one, two]
    status, written = room.ask("PUT", f"{GROUP}/{plural}/e2e", made)
    assert (status, written["webhooks"][0]["matchConditions"]) == (200, [one, two])
    assert room.ask("DELETE", f"{GROUP}/{plural}/e2e")[0] == 200
    bad = {"name": "invalid-expression-1", "expression": "... [] bad expression"}
    status, refused = room.ask("POST", f"{GROUP}/{plural}", hooked([bad]))
    assert status == 422
    assert "compilation failed" in refused["message"]


@does(f"{WEBHOOK} include webhook resources in discovery documents [Conformance]")
def test_webhooks_are_discovered(room: Room) -> None:
    groups = {one["name"]: one for one in room.ask("GET", "/apis")[1]["groups"]}
    assert [one["version"] for one in groups["admissionregistration.k8s.io"]["versions"]] == ["v1"]
    assert room.ask("GET", "/apis/admissionregistration.k8s.io")[1]["name"] == "admissionregistration.k8s.io"
    served = {one["name"] for one in room.ask("GET", GROUP)[1]["resources"]}
    assert {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} <= served


@does("[sig-auth] Certificates API [Privileged:ClusterAdmin] should support CSR API operations [Conformance]")
def test_operations_of_certificate_requests(room: Room) -> None:
    served = {one["name"] for one in room.ask("GET", "/apis/certificates.k8s.io/v1")[1]["resources"]}
    parts = {"certificatesigningrequests/approval", "certificatesigningrequests/status"}
    assert {"certificatesigningrequests", *parts} <= served
    spec = json.loads(GOLDEN.read_text())["sent"]["spec"]
    for name in ("one", "two", "three"):
        made = room.made(CSR, {"metadata": {"name": name}, "spec": spec})
        assert made["spec"]["expirationSeconds"] == 3600
    assert names(room, CSR, fieldSelector="spec.signerName=example.com/web") == ["one", "three", "two"]
    assert names(room, CSR, fieldSelector="spec.signerName=example.com/other") == []
    path = f"{CSR}/one"
    patched = changed(room, path, {"metadata": {"annotations": {"patched": "true"}}})
    patched["metadata"]["annotations"]["updated"] = "true"
    assert room.ask("PUT", path, patched)[1]["metadata"]["annotations"]["updated"] == "true"
    shown = room.ask("GET", f"{path}/approval")[1]
    assert (shown["kind"], shown["metadata"]["uid"]) == ("CertificateSigningRequest", patched["metadata"]["uid"])
    condition = {"type": "ApprovalPatch", "status": "True", "reason": "e2e"}
    patch = {"metadata": {"annotations": {"patchedapproval": "true"}}, "status": {"conditions": [condition]}}
    answer = room.answer("PATCH", f"{path}/approval", patch, **{"content-type": "application/merge-patch+json"})
    assert answer.status == 200, answer.body
    approval = room.ask("GET", path)[1]
    assert [one["type"] for one in approval["status"]["conditions"]] == ["ApprovalPatch"]
    assert approval["metadata"]["annotations"]["patchedapproval"] == "true"
    approval["status"]["conditions"].append({"type": "Approved", "status": "True", "reason": "E2E"})
    status, approved = room.ask("PUT", f"{path}/approval", approval)
    assert (status, [one["type"] for one in approved["status"]["conditions"]]) == (200, ["ApprovalPatch", "Approved"])
    approved["status"]["conditions"].append({"type": "StatusUpdate", "status": "True", "reason": "E2E"})
    status, written = room.ask("PUT", f"{path}/status", approved)
    assert (status, len(written["status"]["conditions"])) == (200, 3)
    assert room.ask("DELETE", path)[0] == 200
    assert room.ask("GET", path)[0] == 404
    assert room.ask("DELETE", CSR, fieldSelector="spec.signerName=example.com/web")[0] == 200
    assert names(room, CSR) == []


@does("[sig-network] ServiceCIDR and IPAddress API should support ServiceCIDR API operations [Conformance]")
def test_the_range_of_the_services_is_told(room: Room) -> None:
    found = room.ask("GET", f"{NETWORKING}/servicecidrs/kubernetes")[1]
    shown = room.ask("GET", f"{NETWORKING}/servicecidrs/kubernetes/status")[1]
    assert (shown["kind"], shown["metadata"]["uid"]) == ("ServiceCIDR", found["metadata"]["uid"])
    assert found["spec"]["cidrs"] == ["10.96.0.0/16"]
    assert [(one["type"], one["status"]) for one in found["status"]["conditions"]] == [("Ready", "True")]
    assert names(room, f"{NETWORKING}/servicecidrs") == ["kubernetes"]


@does("[sig-network] ServiceCIDR and IPAddress API should support IPAddress API operations [Conformance]")
def test_operations_of_addresses(room: Room) -> None:
    path = f"{NETWORKING}/ipaddresses"
    parent = {"group": "mygroup", "resource": "myresources", "namespace": "foo", "name": "bar"}
    for name, kind in (("255.255.255.255", "broadcast"), ("fe80::42:1dff:fe84:f9e2", "link-local")):
        room.made(path, {"metadata": {"name": name, "labels": {"type": kind}}, "spec": {"parentRef": parent}})
    one = f"{path}/255.255.255.255"
    patched = changed(room, one, {"metadata": {"annotations": {"patched": "true"}}})
    patched["metadata"]["annotations"]["updated"] = "true"
    assert room.ask("PUT", one, patched)[1]["metadata"]["annotations"] == {"patched": "true", "updated": "true"} | {
        key: value for key, value in patched["metadata"]["annotations"].items() if key.startswith("clustersim.io/")
    }
    assert names(room, path, labelSelector="type=broadcast") == ["255.255.255.255"]
    assert room.ask("DELETE", one)[0] == 200
    assert room.ask("DELETE", path, labelSelector="type=link-local")[0] == 200
    assert names(room, path, labelSelector="type=link-local") == []
