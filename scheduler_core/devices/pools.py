"""The devices that a node reaches, by the pools that drivers tell of them in ResourceSlices.

Source: k8s.io/dynamic-resource-allocation/structured (pools), v1.34. Upstream goes through pools in no order; here they
are in order of driver and name, so that an attempt taken again gives the same devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.meta import view
from scheduler_core.api.selectors import CompiledTerm, NodeSelector, compile_selector
from scheduler_core.devices.allocations import DeviceId
from scheduler_core.snapshot.node_info import NodeInfo


@dataclass(frozen=True, slots=True)
class Device:
    """One device.

    Attributes:
        id: driver, pool, name.
        told: what its slice says of it.
        spec: of that slice.
    """

    id: DeviceId
    told: Mapping[str, Any]
    spec: Mapping[str, Any]

    def __str__(self) -> str:
        return "/".join(self.id)


@dataclass(slots=True)
class Pool:
    """One pool as far as a node reaches it.

    Attributes:
        driver: whose it is.
        name: the pool's.
        devices: those of the newest generation, in the order of its slices.
        incomplete: its driver is just telling of it anew.
        twice: a name that two of its devices have, which makes all of it useless.
    """

    driver: str
    name: str
    devices: list[Device] = field(default_factory=list)
    incomplete: bool = False
    twice: str = ""

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


class Slices:
    """All ResourceSlices, ready to be asked by node."""

    def __init__(self, documents: Sequence[FrozenDocument]) -> None:
        self._of_node: dict[str, list[FrozenDocument]] = {}
        self._others: list[FrozenDocument] = []
        for document in sorted(documents, key=lambda one: str(one["metadata"]["name"])):
            spec = document.get("spec") or {}
            if spec.get("perDeviceNodeSelection") is not None:
                # Devices that are on several nodes come with counters that they share.
                continue
            if spec.get("nodeName"):
                self._of_node.setdefault(spec["nodeName"], []).append(spec)
            else:
                self._others.append(spec)

    def pools(self, node: NodeInfo) -> list[Pool]:
        """Return the pools that a node reaches, in order of driver and name."""
        reached: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for spec in self._reached(node):
            slices = reached.setdefault((spec["driver"], spec["pool"]["name"]), [])
            generation = _generation(spec)
            if slices and generation > _generation(slices[0]):
                slices.clear()
            if not slices or generation == _generation(slices[0]):
                slices.append(spec)
        return [_pool(driver, name, slices) for (driver, name), slices in sorted(reached.items())]

    def _reached(self, node: NodeInfo) -> Iterator[Mapping[str, Any]]:
        yield from self._of_node.get(node.name, ())
        for spec in self._others:
            if spec.get("allNodes") or (spec.get("nodeSelector") and reaches(spec["nodeSelector"], node)):
                yield spec


def reaches(selector: Mapping[str, Any], node: NodeInfo) -> bool:
    """Return whether a NodeSelector lets a node in."""
    return any(term.matches(node.name, node.labels) for term in terms_of(selector))


def terms_of(selector: Mapping[str, Any]) -> tuple[CompiledTerm, ...]:
    """Return the terms of a NodeSelector, any of which will do."""
    return compile_selector(view(selector, NodeSelector))


def _generation(spec: Mapping[str, Any]) -> int:
    return int(spec["pool"].get("generation") or 0)


def _pool(driver: str, name: str, slices: Sequence[Mapping[str, Any]]) -> Pool:
    pool = Pool(driver, name)
    pool.incomplete = len(slices) != slices[0]["pool"].get("resourceSliceCount")
    names: set[str] = set()
    for spec in slices:
        for told in spec.get("devices") or ():
            if told["name"] in names and not pool.twice:
                pool.twice = told["name"]
            names.add(told["name"])
            pool.devices.append(Device((driver, name, told["name"]), told, spec))
    return pool
