"""kr8s, as plain functions and asynchronously."""

from __future__ import annotations

import asyncio
from typing import Any

import kr8s
import kr8s.asyncio
import pytest
from kr8s.asyncio.objects import ConfigMap
from kr8s.objects import Deployment, Node

from tests.clients.places import Place, deployment
from tests.tools.patience import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def api(place: Place) -> Any:
    return kr8s.api(kubeconfig=str(place.kubeconfig))


def test_a_deployment_lives_and_goes(api: Any) -> None:
    assert api.version()["gitVersion"].startswith("v1.34.")
    made = Deployment({**deployment("krate", 1), "metadata": {"name": "krate", "namespace": "default"}}, api=api)
    made.create()
    made.wait("condition=Available", timeout=PATIENCE_SECONDS)
    made.label({"of": "kr8s"})
    made.annotate(why="to see")
    made.scale(2)
    made.wait("jsonpath='{.status.readyReplicas}'=2", timeout=PATIENCE_SECONDS)
    pods = made.pods()
    assert len(pods) == 2
    listed = pods[0].exec(["ls", "/"])
    assert b"etc" in listed.stdout
    assert listed.returncode == 0
    assert any("nginx" in line for line in pods[0].logs())
    (event, found) = next(iter(api.watch("deployments", namespace="default", label_selector="of=kr8s")))
    assert (event, found.name) == ("ADDED", "krate")
    made.delete(propagation_policy="Foreground")
    made.wait("delete", timeout=PATIENCE_SECONDS)
    assert not made.exists()


def test_nodes_are_closed_and_opened(api: Any) -> None:
    (node,) = api.get("nodes", "n2")
    node.cordon()
    node.refresh()
    assert node.unschedulable
    node.uncordon()
    assert {one["kind"] for one in api.api_resources()} >= {"Pod", "Deployment", "Lease"}
    with pytest.raises(kr8s.NotFoundError):
        Node.get("nobody", api=api)


def test_it_works_asynchronously(place: Place) -> None:
    async def walk() -> list[str]:
        api = await kr8s.asyncio.api(kubeconfig=str(place.kubeconfig))
        made = await ConfigMap(
            {"metadata": {"name": "krate", "namespace": "default"}, "data": {"a": "b"}}, api=api
        )  # fmt: skip
        await made.create()
        await made.patch({"data": {"a": "c"}})
        assert made.data.a == "c"
        await made.delete()
        return [node.name async for node in api.get("nodes")]

    assert asyncio.run(walk()) == ["n1", "n2", "n3"]
