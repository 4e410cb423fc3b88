"""The status of ValidatingAdmissionPolicies: which expressions do not fit the types of the rules."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Patch
from tests.tools.lab import Lab

POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"
DEPLOYMENTS = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments"]}


def status(*rules: dict[str, Any], rule: dict[str, Any] = DEPLOYMENTS, **spec: Any) -> dict[str, Any]:
    whole = {"matchConstraints": {"resourceRules": [rule]}, "validations": list(rules), **spec}
    lab = Lab()
    lab.create(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "few"},
            "spec": whole,
        }
    )
    lab.run(5)
    found: dict[str, Any] = lab.get(POLICIES, "few", "")["status"]
    return found


@pytest.mark.parametrize(
    "source",
    [
        "object.spec.replicas > 1",
        "has(object.spec.replicas) && object.spec.replicas > 1",
        "object.metadata.labels.all(k, k != 'a') && object.metadata.generation == 1",
        "object.metadata.creationTimestamp > timestamp('2026-01-01T00:00:00Z')",
        "object.spec.template.spec.containers.all(c, c.image.startsWith('a') && c.nothing == 1)",
        "object.spec.strategy.rollingUpdate.maxSurge == 1 || object.spec.strategy.rollingUpdate.maxSurge == '25%'",
        "oldObject == null || object.spec.paused == oldObject.spec.paused",
    ],
)  # fmt: skip
def test_what_fits_is_told_as_checked_without_warnings(source: str) -> None:
    assert status({"expression": source}) == {"observedGeneration": 1, "typeChecking": {}}


def test_what_does_not_fit_is_told_where_it_stands() -> None:
    found = status(
        {
            "expression": "object.spec.replicas > '1'",
            "messageExpression": "'wants more, got ' + object.spec.replicas",
        },
        {"expression": "object.spec.maxRetries < 10"},
        {"expression": "variables.many > 'a'"},
        variables=[{"name": "many", "expression": "object.spec.replicas"}],
    )
    head = "apps/v1, Kind=Deployment: ERROR: <input>:1:"
    assert found["typeChecking"]["expressionWarnings"] == [
        {
            "fieldRef": "spec.validations[0].expression",
            "warning": f"{head}22: found no matching overload for '_>_' applied to '(int, string)'\n"
            f" | object.spec.replicas > '1'\n | {'.' * 21}^\n",
        },
        {
            "fieldRef": "spec.validations[0].messageExpression",
            "warning": f"{head}20: found no matching overload for '_+_' applied to '(string, int)'\n"
            f" | 'wants more, got ' + object.spec.replicas\n | {'.' * 19}^\n",
        },
        {
            "fieldRef": "spec.validations[1].expression",
            "warning": f"{head}12: undefined field 'maxRetries'\n | object.spec.maxRetries < 10\n | {'.' * 11}^\n",
        },
        {
            "fieldRef": "spec.validations[2].expression",
            "warning": f"{head}16: found no matching overload for '_>_' applied to '(int, string)'\n"
            f" | variables.many > 'a'\n | {'.' * 15}^\n",
        },
    ]


def test_several_kinds_are_told_in_their_order_and_wildcards_not_at_all() -> None:
    several = {**DEPLOYMENTS, "resources": ["replicasets", "deployments", "deployments/scale", "nothing"]}
    (one,) = status({"expression": "object.spec.nope == 1"}, rule=several)["typeChecking"]["expressionWarnings"]
    assert [line.partition(": ERROR")[0] for line in one["warning"].split("\n") if "ERROR" in line] == [
        "apps/v1, Kind=Deployment",
        "apps/v1, Kind=ReplicaSet",
    ]
    everything = {**DEPLOYMENTS, "apiGroups": ["*"]}
    assert status({"expression": "object.spec.nope == 1"}, rule=everything)["typeChecking"] == {}


def test_parameters_are_typed_too() -> None:
    found = status({"expression": "params.data.most == 1"}, paramKind={"apiVersion": "v1", "kind": "ConfigMap"})
    (one,) = found["typeChecking"]["expressionWarnings"]
    assert "found no matching overload for '_==_' applied to '(string, int)'" in one["warning"]


def test_a_change_of_the_rules_is_checked_again_and_a_status_is_not() -> None:
    lab = Lab()
    spec = {"matchConstraints": {"resourceRules": [DEPLOYMENTS]}, "validations": [{"expression": "object.nope == 1"}]}
    version = "admissionregistration.k8s.io/v1"
    policy = {"apiVersion": version, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "few"}, "spec": spec}
    lab.create(policy)
    lab.run(5)
    assert lab.get(POLICIES, "few", "")["status"]["typeChecking"]["expressionWarnings"]
    changed = {"spec": {"validations": [{"expression": "object.spec.replicas == 1"}]}}
    lab.do(Patch(POLICIES, "", "few", changed, "merge"))
    lab.run(5)
    assert lab.get(POLICIES, "few", "")["status"] == {"observedGeneration": 2, "typeChecking": {}}
    before = lab.rows()[-1].revision
    lab.run(30)
    assert [row for row in lab.rows(before) if row.resource == POLICIES] == []
