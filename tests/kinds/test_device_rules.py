"""Rules of claims of devices, of what drivers offer, of flows and of admission policies, in upstream's words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.registry_tool import Cluster, refusal

CLAIMS = "resourceclaims.resource.k8s.io"
SLICES = "resourceslices.resource.k8s.io"
SCHEMAS = "flowschemas.flowcontrol.apiserver.k8s.io"
LEVELS = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"
BINDINGS = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
CLASSES = "volumeattributesclasses.storage.k8s.io"
ONE = {"deviceClassName": "gpu"}
SLICE = {"driver": "a.example.dev", "nodeName": "n", "pool": {"name": "n", "resourceSliceCount": 1}}
RULE = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["*"]}


def claim(*requests: dict[str, Any], **devices: Any) -> dict[str, Any]:
    return {"spec": {"devices": {"requests": list(requests), **devices}}}


def schema(**rule: Any) -> dict[str, Any]:
    return {"spec": {"priorityLevelConfiguration": {"name": "slow"}, "rules": [rule]}}


WHERE = "spec.devices.requests[0]"
NAME = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
CASES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    (CLAIMS, claim({"name": "a"}), [
        (WHERE, "Required value: exactly one of `exactly` or `firstAvailable` is required")
    ]),
    (CLAIMS, claim({"name": "a", "exactly": {}}), [(f"{WHERE}.exactly.deviceClassName", "Required value")]),
    (CLAIMS, claim({"name": "a", "exactly": {**ONE, "allocationMode": "All", "count": 2}}), [
        (f"{WHERE}.exactly.count", "Invalid value: 2: must not be specified when allocationMode is 'All'")
    ]),
    (CLAIMS, claim({"name": "a", "exactly": {**ONE, "allocationMode": "Some"}}), [
        (f"{WHERE}.exactly.allocationMode", 'Unsupported value: "Some": supported values: "All", "ExactCount"')
    ]),
    (CLAIMS, claim({"name": "a", "exactly": ONE}, {"name": "a", "exactly": ONE}), [
        ("spec.devices.requests[1].name", 'Duplicate value: "a"')
    ]),
    (CLAIMS, claim({"name": "a", "exactly": ONE}, constraints=[{"requests": ["b"], "matchAttribute": "x.y/z"}]), [
        ("spec.devices.constraints[0].requests[0]", f'Invalid value: "b": {NAME}')
    ]),
    (SLICES, {"spec": {**SLICE, "nodeName": None}}, [
        (
            "spec",
            "Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` "
            "is required",
        )
    ]),
    (SLICES, {"spec": {**SLICE, "pool": {"name": "n"}}}, [
        ("spec.pool.resourceSliceCount", "Invalid value: 0: must be greater than zero")
    ]),
    (SLICES, {"spec": {**SLICE, "devices": [{"name": "d", "attributes": {"v": {"version": "1"}}}]}}, [
        (
            "spec.devices[0].attributes[v].version",
            'Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
        )
    ]),
    (SLICES, {"spec": {**SLICE, "devices": [{"name": "d", "attributes": {"v": {"int": 1, "string": "s"}}}]}}, [
        (
            "spec.devices[0].attributes[v]",
            'Invalid value: {"IntValue":1,"BoolValue":null,"StringValue":"s","VersionValue":null}: '
            "exactly one value must be specified",
        )
    ]),
    (SCHEMAS, schema(), [
        ("spec.rules[0].subjects", "Required value: subjects must contain at least one value"),
        (
            "spec.rules[0]",
            "Required value: at least one of resourceRules and nonResourceRules has to be non-empty",
        ),
    ]),
    (SCHEMAS, schema(subjects=[{"kind": "User"}], resourceRules=[RULE]), [
        ("spec.rules[0].subjects[0].user", "Required value: user is required when subject kind is 'User'")
    ]),
    (LEVELS, {"spec": {"type": "x"}}, [
        ("spec.type", 'Unsupported value: "x": supported values: "Exempt", "Limited"')
    ]),
    (LEVELS, {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue"}}}}, [
        (
            "spec.limited.limitResponse.queuing",
            "Required value: must not be empty if limited.limitResponse.type is Limited",
        )
    ]),
    (POLICIES, {"spec": {"validations": [{"expression": "true"}]}}, [("spec.matchConstraints", "Required value")]),
    (BINDINGS, {"spec": {"policyName": "p", "validationActions": ["Shout"]}}, [
        ("spec.validationActions[0]", 'Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"')
    ]),
    (CLASSES, {"parameters": {"a": "b"}}, [("driverName", "Required value")]),
]  # fmt: skip


@pytest.mark.parametrize(("resource", "body", "causes"), CASES)
def test_what_is_refused(resource: str, body: dict[str, Any], causes: list[tuple[str, str]]) -> None:
    error = refusal(Cluster().create, resource, "web", body)
    assert error.code == 422
    assert [(cause.field, cause.message) for cause in error.causes] == causes


def test_a_claim_stays_as_it_was_asked_for() -> None:
    cluster = Cluster()
    made = cluster.create(CLAIMS, "web", claim({"name": "a", "exactly": ONE}), explains=True)
    assert made["spec"]["devices"]["requests"][0]["exactly"]["count"] == 1
    assert cluster.warnings == [
        "resource.k8s.io/v1 ResourceClaim is stored, but no controller of this cluster acts on it"
    ]
    refused = refusal(
        cluster.patch, CLAIMS, "web", {"spec": {"devices": {"requests": [{"name": "b", "exactly": ONE}]}}}
    )
    assert [(cause.field, cause.message.rpartition(": ")[2]) for cause in refused.causes] == [
        ("spec", "field is immutable")
    ]


def test_a_kind_without_status_that_nothing_acts_on_says_so() -> None:
    cluster = Cluster()
    cluster.create("runtimeclasses.node.k8s.io", "web", {"handler": "runc"}, explains=True)
    assert cluster.warnings == ["node.k8s.io/v1 RuntimeClass is stored, but no controller of this cluster acts on it"]
    cluster.create("controllerrevisions.apps", "web", {"data": {}}, explains=True)
    assert cluster.warnings == []


def test_what_stays_is_told_between_the_two_looks_at_a_claim() -> None:
    cluster = Cluster()
    cluster.create(CLAIMS, "a", claim({"name": "r", "exactly": ONE}))
    patch = {"spec": {"devices": {"constraints": [{}]}}}
    causes = [cause.field for cause in refusal(cluster.patch, CLAIMS, "a", patch).causes]
    where = "spec.devices.constraints[0].matchAttribute"
    assert causes == [where, "spec", where]


def test_a_slice_counts_what_is_dropped_of_it_as_a_change() -> None:
    cluster = Cluster()
    endpoints = {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}]}
    cluster.create("endpointslices.discovery.k8s.io", "a", endpoints)
    placed = {"endpoints": [{"addresses": ["10.1.2.3"], "deprecatedTopology": {"a": "b"}}]}
    changed = cluster.patch("endpointslices.discovery.k8s.io", "a", placed)
    assert (changed["metadata"]["generation"], "deprecatedTopology" in changed["endpoints"][0]) == (2, False)
    cluster.create(SLICES, "a", {"spec": SLICE})
    for patch, counted in (({"perDeviceNodeSelection": True}, 2), ({"sharedCounters": [{}]}, 3)):
        changed = cluster.patch(SLICES, "a", {"spec": patch})
        assert changed["metadata"]["generation"] == counted
        assert changed["spec"].keys().isdisjoint(patch)


def test_what_no_default_server_serves_of_a_device_is_dropped() -> None:
    device = {"name": "d", "nodeName": "n", "taints": [{"key": "a", "effect": "NoSchedule"}], "consumesCounters": [{}]}
    made = Cluster().create(SLICES, "s", {"spec": {**SLICE, "devices": [device], "sharedCounters": [{}]}})
    assert made["spec"]["devices"] == [{"name": "d"}]
    assert "sharedCounters" not in made["spec"]


@pytest.mark.parametrize(
    ("expression", "is_good"),
    [
        ('device.driver == "a.example.dev"', True),
        ('device.attributes["a.example.dev"].memory.compareTo(quantity("1Gi")) > 0', True),
        ('device.attributes["a"].version.isGreaterThan(semver("1.2.3"))', True),
        ("gadget.size > 3", False),
        ("device.driver", False),
        ("", False),
    ],
)
def test_a_selector_of_devices_has_to_compile(expression: str, is_good: bool) -> None:
    body = {"spec": {"selectors": [{"cel": {"expression": expression}}]}}
    if is_good:
        Cluster().create("deviceclasses.resource.k8s.io", "gpu", body)
    else:
        (cause,) = refusal(Cluster().create, "deviceclasses.resource.k8s.io", "gpu", body).causes
        assert cause.field == "spec.selectors[0].cel.expression"
