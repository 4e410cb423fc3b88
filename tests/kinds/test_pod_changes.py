"""Amounts of a running pod's containers change, and containers are added to look into it; nothing else does."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Update
from tests.registry.registry_tool import CONTAINER, Cluster, refusal


def sized(**amounts: Any) -> dict[str, Any]:
    return {"containers": [{**CONTAINER, "resources": amounts}]}


def resize(cluster: Cluster, **amounts: Any) -> dict[str, Any]:
    return cluster.patch("pods", "web", {"spec": sized(**amounts)}, "strategic", "resize")


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    cluster.pod(spec=sized(requests={"cpu": "1"}))
    return cluster


def test_amounts_change_and_nothing_else(cluster: Cluster) -> None:
    patch = {"spec": {"containers": [{"name": "c", "image": "other:2", "resources": {"requests": {"cpu": "2"}}}]}}
    changed = cluster.patch("pods", "web", patch, "strategic", "resize")
    container = changed["spec"]["containers"][0]
    assert (container["resources"]["requests"], container["image"]) == ({"cpu": "2"}, CONTAINER["image"])
    assert changed["metadata"]["generation"] == 2
    assert cluster.store.get("pods", "default", "web").object == changed
    refused = refusal(cluster.patch, "pods", "web", {"spec": sized(requests={"cpu": "3"})}, "strategic")
    assert [cause.field for cause in refused.causes] == ["spec"]


REFUSED = [
    (
        {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}},
        [("spec", 'Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing')],
    ),
    (
        {"requests": {"cpu": "1", "ephemeral-storage": "1Gi"}},
        [("spec", "Forbidden: only cpu and memory resources are mutable")],
    ),
    (
        {"requests": {"cpu": None, "memory": "1Gi"}},
        [("spec.containers[0].resources.requests", "Forbidden: resource requests cannot be removed")],
    ),
]


def test_containers_keep_their_number_names_and_order() -> None:
    cluster = Cluster()
    first, second = {**CONTAINER, "name": "a"}, {**CONTAINER, "name": "b"}
    pod = cluster.pod(spec={"containers": [first, second], "initContainers": [{**CONTAINER, "name": "i"}]})

    def causes(**spec: Any) -> list[tuple[str, str]]:
        body = {**pod, "spec": {**pod["spec"], **spec}}
        refused = refusal(cluster.update, "pods", body, "resize")
        return [(cause.field, cause.message) for cause in refused.causes]

    turned = "Forbidden: containers may not be renamed or reordered on resize"
    assert causes(containers=[second, first]) == [
        ("spec.containers[0].name", turned),
        ("spec.containers[1].name", turned),
    ]
    assert causes(containers=[first], initContainers=[]) == [
        ("spec.containers", "Forbidden: containers may not be added or removed on resize"),
        ("spec.initContainers", "Forbidden: initContainers may not be added or removed on resize"),
    ]


@pytest.mark.parametrize(
    ("pod", "why"),
    [
        ({"spec": {**sized(requests={"cpu": "1"}), "os": {"name": "windows"}}}, "windows pods cannot be resized"),
        (
            {"spec": {**sized(requests={"cpu": "1"}), "resources": {"requests": {"cpu": "2"}}}},
            "pods with pod-level resources cannot be resized",
        ),
    ],
)
def test_some_pods_are_never_resized(pod: dict[str, Any], why: str) -> None:
    cluster = Cluster()
    cluster.pod(**pod)
    for amount in ("2", "1", "-1"):
        refused = refusal(resize, cluster, requests={"cpu": amount})
        # Nothing else is told, also where nothing would change.
        assert [(cause.field, cause.message) for cause in refused.causes] == [("[]", f"Forbidden: {why}")]


def test_a_resize_leaves_what_the_pod_gets_as_a_whole(cluster: Cluster) -> None:
    patch = {"spec": {"resources": {"limits": {"cpu": "1"}}}}
    assert "resources" not in cluster.patch("pods", "web", patch, "strategic", "resize")["spec"]
    named = {"spec": {"containers": [{"name": "c", "resources": {"claims": [{"name": "a"}]}}]}}
    refused = refusal(cluster.patch, "pods", "web", named, "strategic", "resize")
    assert [(cause.field, cause.reason) for cause in refused.causes] == [
        ("spec.containers[0].resources.claims[0]", "FieldValueNotFound")
    ]


@pytest.mark.parametrize(("amounts", "causes"), REFUSED)
def test_what_no_resize_does(cluster: Cluster, amounts: dict[str, Any], causes: list[tuple[str, str]]) -> None:
    refused = refusal(resize, cluster, **amounts)
    assert [(cause.field, cause.message) for cause in refused.causes] == causes


@pytest.mark.parametrize("containers", [5, "x", [5], [None], {"a": 5}])
def test_a_resize_of_what_are_no_containers_is_refused(cluster: Cluster, containers: Any) -> None:
    sent = {**cluster.store.get("pods", "default", "web").object, "spec": {"containers": containers}}
    refused = refusal(cluster.apply, Update("pods", "default", "web", sent, "resize"))
    assert refused.code in (400, 422)


def look(cluster: Cluster, **container: Any) -> dict[str, Any]:
    patch = {"spec": {"ephemeralContainers": [{"name": "debug", **container}]}}
    return cluster.patch("pods", "web", patch, "strategic", "ephemeralcontainers")


WHERE = "spec.ephemeralContainers[0]"
NOT_ADDED: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({}, [(f"{WHERE}.image", "Required value")]),
    (
        {"image": "x:1", "targetContainerName": "nobody"},
        [(f"{WHERE}.targetContainerName", 'Not found: "nobody"')],
    ),
    (
        {"image": "x:1", "livenessProbe": {"exec": {"command": ["x"]}}},
        [(f"{WHERE}.livenessProbe", "Forbidden: cannot be set for an Ephemeral Container")],
    ),
]


@pytest.mark.parametrize(("container", "causes"), NOT_ADDED)
def test_what_is_not_added(cluster: Cluster, container: dict[str, Any], causes: list[tuple[str, str]]) -> None:
    refused = refusal(look, cluster, **container)
    assert [(cause.field, cause.message) for cause in refused.causes] == causes


def test_a_container_to_look_into_a_pod_stays(cluster: Cluster) -> None:
    added = look(cluster, image="x:1", targetContainerName="c")
    assert cluster.warnings == []
    assert added["spec"]["ephemeralContainers"][0]["imagePullPolicy"] == "IfNotPresent"
    refused = refusal(look, cluster, image="y:1")
    (cause,) = refused.causes
    assert cause.message.startswith(
        'Forbidden: existing ephemeral containers "debug" may not be changed\n@@ -1,6 +1,6 @@'
    )
    assert '\n- "Image": "x:1",\n+ "Image": "y:1",\n' in cause.message
    again = cluster.patch("pods", "web", {"metadata": {"labels": {"a": "b"}}})
    assert again["spec"]["ephemeralContainers"] == added["spec"]["ephemeralContainers"]
