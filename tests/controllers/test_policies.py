"""Controllers, kubelets and schedulers under policies that forbid what they do: they try on, and nothing stops."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kinds.table import by_kind
from controllers.log.operations import Delete, Patch
from tests.tools.lab import Document, Lab, node, workload

NODES = [node("n1"), node("n2")]
GROUP = "admissionregistration.k8s.io"
EVERYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}


def _policy(rule: dict[str, Any], expression: str) -> list[Document]:
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": expression}]}
    binding = {"policyName": "no", "validationActions": ["Deny"]}
    version = f"{GROUP}/v1"
    named = {"apiVersion": version, "metadata": {"name": "no"}}
    return [
        {**named, "kind": "ValidatingAdmissionPolicy", "spec": spec},
        {**named, "kind": "ValidatingAdmissionPolicyBinding", "spec": binding},
    ]


def _webhook(rule: dict[str, Any]) -> list[Document]:
    hook = {
        "name": "check.team.example",
        "clientConfig": {"url": "https://a.example"},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    kind = "ValidatingWebhookConfiguration"
    return [{"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "no"}, "webhooks": [hook]}]


@pytest.mark.parametrize("forbid", [_policy(EVERYTHING, "false"), _webhook(EVERYTHING)], ids=["policy", "webhook"])
def test_where_everything_is_forbidden_components_go_on_trying(forbid: list[Document]) -> None:
    lab = Lab([*NODES, workload("Deployment", "web", 3), workload("StatefulSet", "db", 2)])
    lab.run(20)
    assert len(lab.list("pods")) == 5
    lab.create(*forbid)
    before = lab.rows()[-1].revision
    lab.run(120)
    assert {row.resource for row in lab.rows(before)} - {f"validatingadmissionpolicies.{GROUP}"} <= {
        "replicas.clustersim.io",
        "queues.clustersim.io",
    }
    for document in forbid:
        kind = by_kind(document["apiVersion"], document["kind"])
        lab.do(Delete(kind.resource, "", "no"))
    lab.create(workload("Deployment", "late", 2))
    lab.run(60)
    assert len([one for one in lab.list("pods") if one["metadata"]["name"].startswith("late")]) == 2
    assert all(one["status"]["phase"] == "Running" for one in lab.list("pods"))


def test_a_replicaset_whose_pods_a_policy_forbids_says_so() -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    by = "request.userInfo.username != 'system:serviceaccount:kube-system:replicaset-controller'"
    lab = Lab([*NODES, *_policy(rule, by), workload("ReplicaSet", "web", 3)])
    lab.run(10)
    assert lab.list("pods") == []
    (condition,) = lab.get("replicasets.apps", "web")["status"]["conditions"]
    assert condition["type"] == "ReplicaFailure"
    assert "ValidatingAdmissionPolicy 'no' with binding 'no' denied request: failed expression" in condition["message"]
    assert "FailedCreate" in lab.reasons("web")


def test_a_scheduler_whose_binding_a_policy_forbids_tries_elsewhere_later() -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
    lab = Lab([node("n1"), *_policy(rule, "object.target.name != 'n1'"), workload("ReplicaSet", "web", 1)])
    lab.run(30)
    (pod,) = lab.list("pods")
    assert not pod["spec"].get("nodeName")
    lab.create(node("n2"))
    lab.do(Patch("nodes", "", "n1", {"spec": {"unschedulable": True}}, "merge"))
    lab.run(120)
    (pod,) = lab.list("pods")
    assert pod["spec"]["nodeName"] == "n2"
