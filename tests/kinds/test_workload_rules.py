"""Workloads: what is refused, in upstream's words and order, what is left out and what is warned of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.registry_tool import CONTAINER, Cluster, refusal

LABELS = {"app": "web"}
NAMES = {
    "deployment": "deployments.apps",
    "replicaset": "replicasets.apps",
    "statefulset": "statefulsets.apps",
    "daemonset": "daemonsets.apps",
    "rc": "replicationcontrollers",
}
LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
PERCENT_TEXT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    "validation is '[0-9]+%')"
)
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}
MISMATCH = "`selector` does not match template `labels`"


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def body(kind: str = "deployment", **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": dict(LABELS)}, "spec": {"containers": [dict(CONTAINER)]}}
    selector = dict(LABELS) if kind == "rc" else {"matchLabels": dict(LABELS)}
    return {"spec": {"selector": selector, "template": template, **spec}}


def said(cluster: Cluster, kind: str, document: dict[str, Any], name: str = "web") -> list[tuple[str, str]]:
    error = refusal(cluster.create, NAMES[kind], name, document)
    assert error.code == 422
    return [(cause.field, cause.message) for cause in error.causes]


@pytest.mark.parametrize("kind", ["deployment", "replicaset", "statefulset"])
def test_without_a_selector_nothing_matches_the_template(cluster: Cluster, kind: str) -> None:
    assert said(cluster, kind, body(kind, selector=None)) == [
        ("spec.selector", "Required value"),
        ("spec.template.metadata.labels", f'Invalid value: {{"app":"web"}}: {MISMATCH}'),
    ]


def test_a_selector_that_cannot_be_read_is_told_twice(cluster: Cluster) -> None:
    asked = {"matchExpressions": [{"key": "app", "operator": "Like"}]}
    told = ("spec.selector.matchExpressions[0].operator", 'Invalid value: "Like": not a valid selector operator')
    shown = '{"matchExpressions":[{"key":"app","operator":"Like"}]}'
    whole = ("spec.selector", f"Invalid value: {shown}: invalid label selector")
    assert said(cluster, "deployment", body(selector=asked)) == [told, whole]
    assert said(cluster, "daemonset", body("daemonset", selector=asked)) == [told]


@pytest.mark.parametrize("kind", ["deployment", "statefulset", "daemonset"])
def test_an_empty_selector_is_refused_by_the_name_of_the_kind(cluster: Cluster, kind: str) -> None:
    assert said(cluster, kind, body(kind, selector={})) == [
        ("spec.selector", f"Invalid value: {{}}: empty selector is invalid for {kind}")
    ]


@pytest.mark.parametrize("kind", sorted(NAMES))
def test_a_template_has_no_ephemeral_containers(cluster: Cluster, kind: str) -> None:
    document = body(kind)
    document["spec"]["template"]["spec"]["ephemeralContainers"] = [{"name": "x", "image": "y"}]
    where = "spec.template.spec.ephemeralContainers"
    assert (where, "Forbidden: ephemeral containers not allowed in pod template") in said(cluster, kind, document)


@pytest.mark.parametrize(
    ("rolling", "told"),
    [
        ({"maxUnavailable": "x"}, [("maxUnavailable", f'Invalid value: "x": {PERCENT_TEXT}')]),
        ({"maxUnavailable": "101%"}, [("maxUnavailable", 'Invalid value: "101%": must not be greater than 100%')]),
        (
            {"maxUnavailable": 0, "maxSurge": 0},
            [("maxUnavailable", "Invalid value: 0: may not be 0 when `maxSurge` is 0")],
        ),
    ],
)
def test_how_a_deployment_may_roll(cluster: Cluster, rolling: dict[str, Any], told: list[tuple[str, str]]) -> None:
    where = "spec.strategy.rollingUpdate"
    wanted = [(f"{where}.{field}", text) for field, text in told]
    assert said(cluster, "deployment", body(strategy={"rollingUpdate": rolling})) == wanted


@pytest.mark.parametrize(
    ("rolling", "told"),
    [
        ({"maxSurge": "x"}, [("maxSurge", f'Invalid value: "x": {PERCENT_TEXT}')]),
        ({"maxSurge": 1}, [("maxSurge", "Invalid value: 1: may not be set when maxUnavailable is non-zero")]),
        ({"maxUnavailable": 0}, [("maxUnavailable", "Required value: cannot be 0 when maxSurge is 0")]),
        (
            {"maxUnavailable": "x"},
            [
                ("maxUnavailable", f'Invalid value: "x": {PERCENT_TEXT}'),
                ("maxUnavailable", "Required value: cannot be 0 when maxSurge is 0"),
            ],
        ),
    ],
)
def test_how_a_daemonset_may_roll(cluster: Cluster, rolling: dict[str, Any], told: list[tuple[str, str]]) -> None:
    where = "spec.updateStrategy.rollingUpdate"
    wanted = [(f"{where}.{field}", text) for field, text in told]
    assert said(cluster, "daemonset", body("daemonset", updateStrategy={"rollingUpdate": rolling})) == wanted


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            {"podManagementPolicy": "x"},
            "spec.podManagementPolicy",
            "Invalid value: \"x\": must be 'OrderedReady' or 'Parallel'",
        ),
        (
            {"updateStrategy": {"type": "x"}},
            "spec.updateStrategy",
            'Invalid value: {"Type":"x","RollingUpdate":null}: must be \'RollingUpdate\' or \'OnDelete\'',
        ),
        (
            {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}},
            "spec.updateStrategy.rollingUpdate",
            'Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
        ),
        (
            {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "x"}},
            "spec.persistentVolumeClaimRetentionPolicy.whenDeleted",
            'Unsupported value: "x": supported values: "Retain", "Delete"',
        ),
        ({"serviceName": "A_"}, "spec.serviceName", f'Invalid value: "A_": {LABEL_TEXT}'),
        (
            {"ordinals": {"start": -1}},
            "spec.ordinals.start",
            "Invalid value: -1: must be greater than or equal to 0",
        ),
    ],
)
def test_what_a_statefulset_may_ask_for(cluster: Cluster, spec: dict[str, Any], field: str, message: str) -> None:
    assert said(cluster, "statefulset", body("statefulset", **spec)) == [(field, message)]


def test_containers_of_a_statefulset_mount_its_claims(cluster: Cluster) -> None:
    """Its pods have a volume for each claim, and the host name and subdomain that the controller gives them."""
    asked = body("statefulset", volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": CLAIM}])
    pod = asked["spec"]["template"]["spec"]
    pod |= {
        "hostname": "No Name",
        "subdomain": "No Name",
        "volumes": [{"name": "data", "emptyDir": {"medium": "None"}}],
    }
    pod["containers"][0]["volumeMounts"] = [
        {"name": "data", "mountPath": "/data"},
        {"name": "logs", "mountPath": "/logs"},
    ]
    where = "spec.template.spec.containers[0].volumeMounts[1].name"
    assert said(cluster, "statefulset", asked) == [(where, 'Not found: "logs"')]
    del pod["containers"][0]["volumeMounts"][1]
    stored = cluster.create(NAMES["statefulset"], "web", asked)
    assert "volumes" in stored["spec"]["template"]["spec"]


def test_a_statefulset_is_named_as_a_host_is(cluster: Cluster) -> None:
    told = said(cluster, "statefulset", body("statefulset"), "a.b")
    assert told == [("metadata.name", 'Invalid value: "a.b": must not contain dots')]


def test_a_replicationcontroller_needs_a_template_and_nothing_else(cluster: Cluster) -> None:
    assert said(cluster, "rc", {"spec": {"selector": LABELS}}) == [("spec.template", "Required value")]


@pytest.mark.parametrize("kind", ["deployment", "replicaset", "rc"])
def test_a_name_that_makes_no_host_name_is_warned_of(cluster: Cluster, kind: str) -> None:
    cluster.create(NAMES[kind], "a.b", body(kind))
    text = (
        "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended"
    )
    assert cluster.warnings == [f"metadata.name: {text}: [must not contain dots]"]


def test_what_a_statefulset_is_stored_with(cluster: Cluster) -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    stored = cluster.create(NAMES["statefulset"], "web", body(revisionHistoryLimit=-1, updateStrategy=rolling))
    assert stored["spec"]["serviceName"] == ""
    assert stored["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 0}
    why = "a negative value retains all historical revisions; a value >= 0 is recommended"
    assert cluster.warnings == [f"spec.revisionHistoryLimit: {why}"]


def test_the_server_counts_changes_of_a_daemonsets_template(cluster: Cluster) -> None:
    mark = "deprecated.daemonset.template.generation"
    cluster.create(NAMES["daemonset"], "web", {**body("daemonset"), "metadata": {"annotations": {mark: "x"}}})
    ready = {"spec": {"minReadySeconds": 1}}
    labelled = cluster.patch(NAMES["daemonset"], "web", {**ready, "metadata": {"annotations": {mark: "7"}}})
    assert labelled["metadata"]["annotations"][mark] == "1"
    patch = {"spec": {"template": {"spec": {"hostname": "a"}}}}
    changed = cluster.patch(NAMES["daemonset"], "web", patch)
    assert changed["metadata"]["annotations"][mark] == "2"
    assert changed["metadata"]["generation"] == 3


def test_a_status_counts_nothing_below_zero_and_no_part_above_the_whole(cluster: Cluster) -> None:
    cluster.create(NAMES["deployment"], "web", body())
    counts = {"replicas": -1, "readyReplicas": 0}
    error = refusal(cluster.patch, NAMES["deployment"], "web", {"status": counts}, "merge", "status")
    above = "cannot be greater than status.replicas"
    assert [(cause.field, cause.message) for cause in error.causes] == [
        ("status.replicas", "Invalid value: -1: must be greater than or equal to 0"),
        ("status.updatedReplicas", f"Invalid value: 0: {above}"),
        ("status.readyReplicas", f"Invalid value: 0: {above}"),
        ("status.availableReplicas", f"Invalid value: 0: {above}"),
    ]


@pytest.mark.parametrize("kind", sorted(NAMES))
def test_which_metadata_a_status_carries(cluster: Cluster, kind: str) -> None:
    cluster.create(NAMES[kind], "web", {**body(kind), "metadata": {"labels": {"a": "b"}}})
    sent = {"status": {"observedGeneration": 1}, "metadata": {"labels": {"from": "status"}, "annotations": {"c": "d"}}}
    metadata = cluster.patch(NAMES[kind], "web", sent, "merge", "status")["metadata"]
    assert metadata["annotations"]["c"] == "d"
    assert ("from" in metadata["labels"]) == (kind != "deployment")


def test_a_scale_of_nothing_asks_for_nothing_and_below_zero_is_refused(cluster: Cluster) -> None:
    resource = NAMES["deployment"]
    cluster.create(resource, "web", body(replicas=2))
    error = refusal(cluster.patch, resource, "web", {"spec": {"replicas": -1}}, "merge", "scale")
    assert (error.name, [cause.message for cause in error.causes]) == (
        "web",
        ["Invalid value: -1: must be greater than or equal to 0"],
    )
    assert cluster.patch(resource, "web", {"spec": None}, "merge", "scale")["spec"] == {}
    wrong = refusal(cluster.patch, resource, "web", {"metadata": {"name": "other"}}, "merge", "scale")
    assert (wrong.code, wrong.message) == (
        400,
        "the name of the object (other) does not match the name on the URL (web)",
    )


def test_what_an_autoscaler_measures_has_all_that_its_source_always_has(cluster: Cluster) -> None:
    resource = "horizontalpodautoscalers.autoscaling"
    target = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3}
    cluster.create(resource, "web", {"spec": target})
    told = cluster.patch(resource, "web", {"status": {"currentMetrics": [{"object": {}}]}}, subresource="status")
    described = {"kind": "", "name": ""}
    source = {"metric": {"name": ""}, "current": {}, "describedObject": described}
    assert told["status"]["currentMetrics"] == [{"type": "", "object": source}]
