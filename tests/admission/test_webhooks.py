"""Webhooks: nobody is called, and what that means follows from the failurePolicy of the webhook."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.registry.marks import Marks
from tests.registry.registry_tool import Cluster, refusal

GROUP = "admissionregistration.k8s.io"
KINDS = {
    "mutatingwebhookconfigurations": "MutatingAdmissionWebhook",
    "validatingwebhookconfigurations": "ValidatingAdmissionWebhook",
}
HOOK: dict[str, Any] = {
    "name": "check.team.example",
    "clientConfig": {"service": {"namespace": "team", "name": "checker", "path": "/ask"}},
    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
WHY = (
    'failed calling webhook "check.team.example": failed to call webhook: Post '
    '"https://checker.team.svc:443/ask?timeout=10s": this cluster is simulated and calls nobody outside of itself'
)


def cluster_of(plural: str, **hook: Any) -> Cluster:
    cluster = Cluster()
    cluster.create(f"{plural}.{GROUP}", "team", {"webhooks": [{**HOOK, **hook}]})
    return cluster


@pytest.mark.parametrize("plural", KINDS)
def test_a_call_that_must_not_fail_refuses_as_upstream(plural: str) -> None:
    cluster = cluster_of(plural)
    refused = refusal(cluster.create, "configmaps", "a")
    assert refused.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"Internal error occurred: {WHY}",
        "reason": "InternalError",
        "details": {"causes": [{"message": WHY}]},
        "code": 500,
    }
    assert cluster.get("configmaps", "a") is None
    assert refusal(cluster.create, "configmaps", "a", dry_run=True).code == 500
    cluster.create("secrets", "a")


@pytest.mark.parametrize("plural", KINDS)
def test_a_call_that_may_fail_leaves_a_note(plural: str) -> None:
    cluster = cluster_of(plural, failurePolicy="Ignore", clientConfig={"url": "https://a.example/check"})
    marks = Marks(lambda: 0)
    cluster.create("configmaps", "a", marks=marks)
    (told,) = [mark.message for mark in marks.steps if mark.plugin == KINDS[plural]]
    kind = plural.removesuffix("webhookconfigurations")
    assert told.startswith(f"failed-open.{kind}.webhook.admission.k8s.io/round_0_index_0: failed calling webhook")
    assert '"https://a.example/check?timeout=10s"' in told
    assert cluster.warnings == []


@pytest.mark.parametrize("plural", KINDS)
def test_configurations_themselves_are_never_asked_about(plural: str) -> None:
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}
    cluster = cluster_of(plural, rules=[everything])
    assert refusal(cluster.create, "configmaps", "a").code == 500
    cluster.create(f"{plural}.{GROUP}", "second", {"webhooks": []})
    cluster.patch(f"{plural}.{GROUP}", "team", {"metadata": {"labels": {"a": "b"}}})
    cluster.delete(f"{plural}.{GROUP}", "team")
    cluster.create("configmaps", "a")


@pytest.mark.parametrize("plural", KINDS)
def test_selectors_and_conditions_say_who_is_asked_about(plural: str) -> None:
    cluster = cluster_of(plural, matchConditions=[{"name": "mine", "expression": "object.metadata.name == 'mine'"}])
    cluster.create("configmaps", "other")
    assert refusal(cluster.create, "configmaps", "mine").code == 500
    cluster = cluster_of(plural, objectSelector={"matchLabels": {"asked": "yes"}})
    cluster.create("configmaps", "other")
    assert refusal(cluster.create, "configmaps", "mine", {"metadata": {"labels": {"asked": "yes"}}}).code == 500
    cluster = cluster_of(plural, rules=[])
    cluster.create("configmaps", "other")


def test_a_condition_without_a_value_refuses_or_lets_pass() -> None:
    broken = [{"name": "broken", "expression": "object.data.missing == 'a'"}]
    cluster = cluster_of("validatingwebhookconfigurations", matchConditions=broken)
    refused = refusal(cluster.create, "configmaps", "a")
    assert refused.code == 403
    assert refused.message.endswith("resulted in error: no such key: data")
    cluster = cluster_of("validatingwebhookconfigurations", matchConditions=broken, failurePolicy="Ignore")
    cluster.create("configmaps", "a")


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("... [] bad expression", "compilation failed: ERROR: <input>:1:2: Syntax error: no viable alternative at"),
        ("object.metadata.name", "must evaluate to bool but got dyn"),
        ("params.a == 1", "compilation failed: ERROR: <input>:1:1: undeclared reference to 'params'"),
    ],
)
@pytest.mark.parametrize("plural", KINDS)
def test_conditions_that_do_not_compile_are_refused(plural: str, expression: str, why: str) -> None:
    refused = refusal(cluster_of, plural, matchConditions=[{"name": "a", "expression": expression}])
    (cause,) = refused.causes
    assert cause.field == "webhooks[0].matchConditions[0].expression"
    assert why in cause.message
