"""What a claim asks for, request by request, with the devices that each could have.

Source: k8s.io/dynamic-resource-allocation/structured (validateDeviceRequest, isSelectable), v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scheduler_core.api.document import FrozenDocument, at
from scheduler_core.devices.claims import key_of
from scheduler_core.devices.pools import Device, Pool
from scheduler_core.devices.selecting import SelectorError, selects

RESULTS_MAX: Final = 32
"""Devices of one claim (AllocationResultsMaxSize)."""

ALL: Final = "All"
EXACT_COUNT: Final = "ExactCount"

Selected = dict[int, bool]


class AllocationError(Exception):
    """Something is wrong with a claim, a class or a pool; the text is upstream's."""


@dataclass(slots=True)
class Request:
    """One request of a claim, or one of its alternatives.

    Attributes:
        claim: whose it is.
        name: the request's own.
        parent: the request whose alternative it is, empty where it is none.
        device_class: its DeviceClass.
        selectors: its own expressions.
        is_admin: whether it looks at devices beside those who have them.
        takes_all: whether it asks for every device that it selects.
        wanted: how many devices.
        selected: identity of what is told of a device → whether it is selected; kept from node to node.
        devices: those, where it asks for all.
    """

    claim: FrozenDocument
    name: str
    parent: str
    device_class: FrozenDocument
    selectors: Sequence[Mapping[str, Any]]
    is_admin: bool
    takes_all: bool
    wanted: int
    selected: Selected
    devices: list[Device] = field(default_factory=list)

    @property
    def full_name(self) -> str:
        """Return its name as results have it."""
        return f"{self.parent}/{self.name}" if self.parent else self.name

    def is_named_by(self, names: Sequence[str]) -> bool:
        """Return whether a constraint is about it; one that names nobody is about all."""
        return not names or self.full_name in names or (self.parent or self.name) in names

    def could_have(self, device: Device) -> bool:
        """Return whether the class and the request select a device.

        Raises:
            AllocationError: an expression has no answer.
        """
        known = self.selected.get(id(device.told))
        if known is None:
            known = self.selected[id(device.told)] = self._asked(device)
        return known

    def _asked(self, device: Device) -> bool:
        if device.told.get("bindingConditions"):
            # The feature that waits for them is off.
            return False
        name = self.device_class["metadata"]["name"]
        return _all_select(at(self.device_class, "spec", "selectors") or (), device, f"class {name}") and _all_select(
            self.selectors, device, f"claim {key_of(self.claim)}"
        )


def _all_select(selectors: Sequence[Mapping[str, Any]], device: Device, whose: str) -> bool:
    for index, selector in enumerate(selectors):
        try:
            if not selects(at(selector, "cel", "expression") or "", device):
                return False
        except SelectorError as wrong:
            raise AllocationError(f"{whose}: selector #{index}: {wrong}") from wrong
    return True


def read(
    claim: FrozenDocument,
    pools: Sequence[Pool],
    class_of: Callable[[str], FrozenDocument | None],
    asked: Mapping[str, Any],
    selected: dict[tuple[str, str, str], Selected],
) -> list[Request]:
    """Return the alternatives of one request, the preferred one first.

    Args:
        claim: whose it is.
        pools: those that the node reaches.
        class_of: returns a DeviceClass.
        asked: the request.
        selected: claim, parent and name of a request → which devices it selects, as far as other nodes have told.

    Raises:
        AllocationError: it cannot be read, or asks for all of a pool that is not whole.
    """
    exactly = asked.get("exactly")
    if exactly is not None:
        return [_one(claim, pools, class_of, asked["name"], "", exactly, selected)]
    alternatives = asked.get("firstAvailable") or ()
    return [_one(claim, pools, class_of, one["name"], asked["name"], one, selected) for one in alternatives]


def _one(
    claim: FrozenDocument,
    pools: Sequence[Pool],
    class_of: Callable[[str], FrozenDocument | None],
    name: str,
    parent: str,
    asked: Mapping[str, Any],
    selected: dict[tuple[str, str, str], Selected],
) -> Request:
    whose = f"claim {key_of(claim)}, request {name}"
    class_name = asked.get("deviceClassName") or ""
    device_class = class_of(class_name)
    if device_class is None:
        missing = f'deviceclass.resource.k8s.io "{class_name}" not found'
        raise AllocationError(f"{whose}: could not retrieve device class {class_name}: {missing}")
    mode = asked.get("allocationMode") or EXACT_COUNT
    if mode not in (ALL, EXACT_COUNT):
        raise AllocationError(f"{whose}: unsupported count mode {mode}")
    request = Request(
        claim,
        name,
        parent,
        device_class,
        asked.get("selectors") or (),
        bool(asked.get("adminAccess")),
        mode == ALL,
        int(asked.get("count") or 1),
        selected.setdefault((key_of(claim), parent, name), {}),
    )
    if request.takes_all:
        for pool in pools:
            if pool.incomplete:
                raise AllocationError(
                    f"{whose}: asks for all devices, but resource pool {pool} is currently being updated"
                )
            if pool.twice:
                raise AllocationError(f"{whose}: asks for all devices, but resource pool {pool} is currently invalid")
            request.devices += filter(request.could_have, pool.devices)
        request.wanted = len(request.devices)
    return request
