"""Templates as data: what the home page promises of each."""

from __future__ import annotations

from fractions import Fraction

import pytest

from clustersim.classroom.templates import GPU_RESOURCE, TEMPLATES, ZONE_LABEL
from scheduler_core.api.quantity import amount

PROMISED = {
    "empty": (0, 0, 0),
    "three-nodes": (3, 6, 0),
    "gpu-lab": (15, 12, 0),
    "ha": (3, 4, 0),
    "zones": (12, 21, 3),
    "nodes-100": (100, 1_000, 4),
    "nodes-1000": (1_000, 10_000, 5),
    "two-masters": (5, 5, 0),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_has_the_nodes_pods_and_zones_it_promises(name: str) -> None:
    objects = list(TEMPLATES[name].objects())
    nodes = [thing for thing in objects if thing["kind"] == "Node"]
    pods = sum(thing["spec"]["replicas"] for thing in objects if thing["kind"] == "Deployment")
    zones = {node["metadata"]["labels"].get(ZONE_LABEL) for node in nodes} - {None}
    assert (len(nodes), pods, len(zones)) == PROMISED[name]
    names = [node["metadata"]["name"] for node in nodes]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_workloads_fit_with_room_to_spare(name: str) -> None:
    objects = list(TEMPLATES[name].objects())
    for resource in ("cpu", "memory", GPU_RESOURCE):
        offered = sum(
            amount(resource, thing["status"]["allocatable"].get(resource, "0"))
            for thing in objects
            if thing["kind"] == "Node"
        )
        asked = sum(
            thing["spec"]["replicas"] * amount(resource, container["resources"]["requests"].get(resource, "0"))
            for thing in objects
            if thing["kind"] == "Deployment"
            for container in thing["spec"]["template"]["spec"]["containers"]
        )
        assert asked <= Fraction(3, 4) * offered


def test_the_gpu_lab_has_nine_plain_and_six_gpu_nodes() -> None:
    nodes = [thing for thing in TEMPLATES["gpu-lab"].objects() if thing["kind"] == "Node"]
    with_gpus = [node for node in nodes if GPU_RESOURCE in node["status"]["allocatable"]]
    assert (len(nodes) - len(with_gpus), len(with_gpus)) == (9, 6)


def test_small_templates_are_told_slowly_and_large_ones_straight_through() -> None:
    assert {name: template.pace for name, template in TEMPLATES.items()} == {
        name: 0 if name.startswith("nodes-") else 250 for name in TEMPLATES
    }
    assert {name for name, template in TEMPLATES.items() if template.replicas == 3} == {"ha"}
