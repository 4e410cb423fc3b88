"""Constraints between the devices of one claim: an attribute that all of them have alike.

Source: k8s.io/dynamic-resource-allocation/structured (matchAttributeConstraint), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.devices.pools import Device
from scheduler_core.devices.requests import Request


class MatchAttribute:
    """What the devices chosen so far have in common."""

    def __init__(self, attribute: str, requests: Sequence[str]) -> None:
        """Begin without a device.

        Args:
            attribute: with its domain.
            requests: those that it is about; none: all.
        """
        self._attribute = attribute
        self._requests = requests
        self._value: Mapping[str, Any] | None = None
        self._devices = 0

    def add(self, request: Request, device: Device) -> bool:
        """Take a device in; False: it differs, and is not taken."""
        if not request.is_named_by(self._requests):
            return True
        value = _attribute(device, self._attribute)
        if value is None or (self._devices and value != self._value):
            return False
        self._value = value
        self._devices += 1
        return True

    def remove(self, request: Request) -> None:
        """Let the last device of a request go."""
        if request.is_named_by(self._requests):
            self._devices -= 1


def _attribute(device: Device, name: str) -> Mapping[str, Any] | None:
    """Return an attribute by its full name; drivers may leave their own domain out."""
    told: Mapping[str, Mapping[str, Any]] = device.told.get("attributes") or {}
    if name in told:
        return told[name]
    domain, _, key = name.partition("/")
    return told.get(key) if domain == device.id[0] else None
