"""The document's case: nine plain nodes, six with GPUs; what separates the pods, and what one step would do better.

docs/model.md shows the table; `--update-golden` writes it anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from clustersim.classroom.templates import GPU_RESOURCE, GPU_TAINT, TEMPLATES, node
from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.model.multistep import place_one_by_one
from scheduler_core.model.objects import Objects
from scheduler_core.model.optimum import solve
from scheduler_core.model.placement import Placement, utility
from scheduler_core.model.separation import guarantees, separation
from scheduler_core.profiles.configuration import read_configuration
from scheduler_core.profiles.defaults import in_tree_registry
from scheduler_core.snapshot.node_info import PodInfo

WEB, TRAIN = 60, 12


@dataclass(frozen=True)
class Try:
    """What the teacher tries."""

    name: str
    resource: bool = False
    selector: bool = False
    taint: bool = False
    first: str = "train"
    """Which pods come first."""


_TRIES = (
    Try("nothing"),
    Try("GPU resource only", resource=True),
    Try("selector only", selector=True),
    Try("taint and toleration only", taint=True),
    Try("selector, taint and toleration", selector=True, taint=True),
)
TRIES = tuple(replace(one, first=first) for one in _TRIES for first in ("train", "web"))


def nodes_of(one: Try) -> tuple[Node, ...]:
    documents = [
        node(group, group.name.format(n=number))
        for group in TEMPLATES["gpu-lab"].nodes
        for number in range(group.first, group.first + group.count)
    ]
    for document in documents:
        if one.taint and "accelerator" in document["metadata"]["labels"]:
            document["spec"]["taints"] = [dict(GPU_TAINT)]
    return tuple(view(document, Node) for document in documents)


def pod(kind: str, number: int, requests: dict[str, str], **spec: Any) -> PodInfo:
    name = f"{kind}-{number:02}"
    container = {"name": kind, "resources": {"requests": requests}}
    return PodInfo.of(
        {
            "metadata": {"name": name, "namespace": "default", "uid": name, "labels": {"app": kind}},
            "spec": {"schedulerName": "default-scheduler", "containers": [container], **spec},
        }
    )


def pods_of(one: Try) -> tuple[PodInfo, ...]:
    spec: dict[str, Any] = {}
    if one.selector:
        spec["nodeSelector"] = {"accelerator": "gpu"}
    if one.taint:
        spec["tolerations"] = [{**GPU_TAINT, "operator": "Equal"}]
    gpu = {GPU_RESOURCE: "1"} if one.resource else {}
    web = [pod("web", number, {"cpu": "1", "memory": "512Mi"}) for number in range(WEB)]
    train = [pod("train", number, {"cpu": "2", "memory": "4Gi", **gpu}, **spec) for number in range(TRAIN)]
    return (*train, *web) if one.first == "train" else (*web, *train)


def needs(one: PodInfo) -> bool:
    return one.pod.metadata.labels["app"] == "train"


def has(one: Node) -> bool:
    return one.metadata.labels.get("accelerator") == "gpu"


def counted(placement: Placement) -> str:
    web = sum(uid.startswith("web") for uid in placement)
    return f"{web} + {len(placement) - web}"


def row(one: Try) -> list[str]:
    pods, objects = pods_of(one), Objects((), nodes_of(one))
    ever = guarantees(pods, objects, needs, has)
    placed = place_one_by_one(pods, objects, read_configuration({}), in_tree_registry(), seed=1)
    found, best = separation(pods, placed, objects, needs, has), solve(pods, objects)
    assert best.proven
    assert not (found.strays and not ever.strays)
    assert not (found.intruders and not ever.intruders)
    left = best.utility.placed[0] - utility(pods, placed, objects).placed[0]
    return [
        one.name,
        one.first,
        "no" if ever.strays else "yes",
        "no" if ever.intruders else "yes",
        str(len(found.strays)),
        str(len(found.intruders)),
        counted(placed),
        counted(best.placement),
        str(left),
    ]


HEAD = (
    "| try | first | GPU pods only on GPU nodes | others only on plain ones | strays | intruders "
    "| engine places (web + train) | optimum places | more |\n|---|---|---|---|---|---|---|---|---|\n"
)


def table() -> str:
    return HEAD + "".join(f"| {' | '.join(row(one))} |\n" for one in TRIES)


@pytest.mark.parametrize("one", TRIES, ids=[f"{one.name}, {one.first} first" for one in TRIES])
def test_only_both_together_guarantee_separation(one: Try) -> None:
    ever = guarantees(pods_of(one), Objects((), nodes_of(one)), needs, has)
    assert (not ever.strays) == (one.resource or one.selector)
    assert (not ever.intruders) == one.taint
    assert ever.holds == (one.selector and one.taint)
