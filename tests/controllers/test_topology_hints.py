"""For which zone an address is, where a Service's annotation asks for it by the zones' processors."""

from __future__ import annotations

import pytest

from controllers.log.operations import Patch
from scheduler_core.api.document import Document
from tests.controllers.test_endpoints import behind, service, slices
from tests.tools.lab import Lab, node

TOPOLOGY = "service.kubernetes.io/topology-mode"


def in_zones(*cpus: tuple[str, str]) -> list[Document]:
    """Return ready nodes, one each (zone, processors)."""
    made = []
    for number, (zone, cpu) in enumerate(cpus):
        one = node(f"n{number}", cpu=cpu)
        one["metadata"]["labels"] = {"topology.kubernetes.io/zone": zone} if zone else {}
        made.append(one)
    return made


def hinted(lab: Lab) -> dict[str, int]:
    """Return how many addresses are for each zone."""
    zones = [
        entry["hints"]["forZones"][0]["name"] for one in slices(lab) for entry in one["endpoints"] if "hints" in entry
    ]
    return {zone: zones.count(zone) for zone in sorted(set(zones))}


def told(lab: Lab) -> list[tuple[str, str, str]]:
    """Return (type, reason, message) of what is told on the Service, in order."""
    return [
        (one["type"], one["reason"], one["message"])
        for one in sorted(lab.list("events", "default"), key=lambda one: int(one["metadata"]["resourceVersion"]))
        if one["involvedObject"]["kind"] == "Service"
    ]


WARNING = ("Warning", "TopologyAwareHintsDisabled")
ENABLED = ("Normal", "TopologyAwareHintsEnabled", "Topology Aware Hints has been enabled, addressType: IPv4")


@pytest.mark.parametrize(
    ("nodes", "on", "zones", "event"),
    [
        pytest.param([("a", "4"), ("b", "4")], "001111", {"a": 3, "b": 3}, ENABLED, id="one is given"),
        pytest.param([("a", "4"), ("b", "12")], "0011", {"a": 1, "b": 3}, ENABLED, id="by processors"),
        pytest.param([("a", "4"), ("b", "4")], "0000111", {"a": 4, "b": 3}, ENABLED, id="half an address stays"),
        pytest.param(
            [("a", "4"), ("b", "4")],
            "0",
            {},
            (*WARNING, "Insufficient number of endpoints (1 endpoints, 2 zones), addressType: IPv4"),
            id="fewer addresses than zones",
        ),
        pytest.param(
            [("a", "4"), ("", "4")],
            "001",
            {},
            (
                *WARNING,
                "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes, "
                "addressType: IPv4",
            ),
            id="a node without a zone",
        ),
        pytest.param(
            [("a", "4"), ("b", "4"), ("c", "4")],
            "0012",
            {},
            (
                *WARNING,
                "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold "
                "(4 endpoints, 3 zones), addressType: IPv4",
            ),
            id="too few to share out",
        ),
    ],
)
def test_by_the_annotation_zones_get_addresses_by_their_processors(
    nodes: list[tuple[str, str]], on: str, zones: dict[str, int], event: tuple[str, str, str]
) -> None:
    asked = service()
    asked["metadata"]["annotations"] = {TOPOLOGY: "Auto"}
    pods = [behind(f"p{number}", nodeName=f"n{place}") for number, place in enumerate(on)]
    lab = Lab([*in_zones(*nodes), *pods])
    lab.run(20)
    lab.create(asked)
    lab.run(5)
    assert hinted(lab) == zones
    assert told(lab) == [event]


def test_hints_by_the_annotation_go_with_it_and_with_a_zone() -> None:
    asked = service(trafficDistribution="PreferClose")
    asked["metadata"]["annotations"] = {TOPOLOGY: "auto"}
    pods = [behind(f"p{number}", nodeName=f"n{number % 2}") for number in range(8)]
    lab = Lab([*in_zones(("a", "4"), ("b", "4"), ("b", "4")), *pods])
    lab.run(20)
    lab.create(asked)
    lab.run(5)
    assert hinted(lab) == {"a": 3, "b": 5}, "b has twice the processors"
    lab.do(Patch("services", "default", "web", {"metadata": {"annotations": {TOPOLOGY: None}}}))
    lab.run(5)
    assert hinted(lab) == {"a": 4, "b": 4}, "what the field asks for is near"
    assert told(lab)[-1] == (*WARNING, "Topology Aware Hints has been disabled, addressType: IPv4")
    lab.do(Patch("services", "default", "web", {"metadata": {"annotations": {TOPOLOGY: "Auto"}}}))
    lab.run(5)
    lab.do(Patch("nodes", "", "n0", {"metadata": {"labels": {"topology.kubernetes.io/zone": None}}}))
    lab.run(5)
    assert hinted(lab) == {}, "a node without a zone makes the shares unknown"
