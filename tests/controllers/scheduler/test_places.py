"""Spread and affinity in a running session: the scheduler sees Services and Namespaces, and hears of pods that go."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Create
from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from tests.controllers.scheduler.plane import Plane


def create(plane: Plane, name: str, namespace: str = "default", **spec: Any) -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    meta = {"name": name, "namespace": namespace, "labels": {"app": "web"}}
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container], **spec}}
    plane.write(Create("pods", namespace, document))


def serve(plane: Plane) -> None:
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    document = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"}}
    plane.write(Create("services", "default", document | {"spec": spec}))


@pytest.mark.parametrize(("served", "nodes"), [(False, {"large"}), (True, {"large", "small"})])
def test_pods_of_a_service_are_spread_over_hosts(plane: Plane, served: bool, nodes: set[str]) -> None:
    plane.node("large", cpu="64")
    plane.node("small")
    if served:
        serve(plane)
    create(plane, "one")
    create(plane, "two")
    plane.run(1_000)
    assert {plane.node_of("one"), plane.node_of("two")} == nodes
    envelope, blob = plane.store.traces(plane.get("two")["metadata"]["uid"])[0]
    # Replayed from its input alone, the decision is the same: the Services of that revision are seen then, too.
    assert blob
    assert whole(Past(plane.store), envelope, b"")["result"] == whole(Past(plane.store), envelope, blob)["result"]


@pytest.mark.parametrize(
    ("where", "after_ms"),
    [
        ({"namespaces": ["default"]}, 20_000),
        # When a pod goes, upstream asks of the labels of its namespace nothing: the pod waits its five minutes.
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}}, 340_000),
    ],
)
def test_a_pod_waits_until_the_one_that_it_shuns_is_gone(plane: Plane, where: dict[str, Any], after_ms: int) -> None:
    team = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"env": "prod"}}}
    plane.write(Create("namespaces", "", team))
    plane.node("only")
    create(plane, "first")
    plane.run(1_000)
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}} | where
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    create(plane, "second", "team", affinity=affinity)
    plane.run(2_000)
    (waiting,) = plane.queue()["unschedulable"]
    assert (waiting["pod"], waiting["plugins"]) == ("team/second", ["InterPodAffinity"])
    plane.delete("pods", "first", grace=0)
    plane.run(after_ms)
    stored = plane.store.get("pods", "team", "second")
    assert stored is not None
    assert stored.object["spec"]["nodeName"] == "only"
