"""What of a ResourceClaim's status may be written: who has it, and the devices that it got.

Source: pkg/apis/resource/validation (ValidateResourceClaimStatusUpdate), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.kinds.core import scheduling
from controllers.kinds.resource import claims
from controllers.kinds.storage.common import driver_name
from controllers.registry import addresses, fields, internal
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause

RESERVATIONS_MAX: Final = 256
"""Users of one claim, as upstream."""

_CONDITIONS_MAX: Final = 8
_INTERFACE_LETTERS_MAX: Final = 256
_HARDWARE_LETTERS_MAX: Final = 128
_ADDRESSES_MAX: Final = 16
_SOURCES: Final = ("FromClaim", "FromClass")
_DEVICE_SHOWN: Final = fields.Written('{"Driver":{},"Pool":{},"Device":{},"ShareID":{}}')
"""How upstream shows which device is meant, whose parts it keeps to itself."""


def rules(document: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Check a status that is written."""
    status, before = document.get("status") or {}, old.get("status") or {}
    reserved, allocation = status.get("reservedFor") or (), status.get("allocation")
    causes = claims.distinct("status.reservedFor", reserved, RESERVATIONS_MAX, _user, key="uid")
    got = {_device_of(one) for one in at(allocation or {}, "devices", "results") or ()}
    causes += _devices(status.get("devices") or (), got)
    if reserved and allocation is None:
        why = "may not be specified when `allocated` is not set"
        causes.append(fields.not_allowed("status.reservedFor", why))
    elif "deletionTimestamp" in document["metadata"]:
        known = before.get("reservedFor") or ()
        if any(one not in known for one in reserved):
            why = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
            causes.append(fields.not_allowed("status.reservedFor", why))
    if allocation is None:
        return causes
    if before.get("allocation") is not None:
        found = internal.immutable("status.allocation", allocation, before["allocation"], "resource.AllocationResult")
        return causes + found
    return causes + _allocation("status.allocation", allocation, document.get("spec") or {})


def complete(document: dict[str, Any], old: Mapping[str, Any], now: str) -> None:
    """Fill in what is told of an allocation without devices."""
    allocation = at(document, "status", "allocation")
    if isinstance(allocation, dict) and allocation.get("devices") is None:
        document["status"] = {**document["status"], "allocation": {**allocation, "devices": {}}}


def _user(where: str, one: Mapping[str, Any]) -> list[Cause]:
    return fields.missing(where, one, "resource", "name", "uid")


def _device_of(one: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(one.get(key) or "" for key in ("driver", "pool", "device", "shareID"))


def _devices(listed: Sequence[Mapping[str, Any]], got: set[tuple[Any, ...]]) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[tuple[Any, ...]] = set()
    for index, one in enumerate(listed):
        where = f"status.devices[{index}]"
        causes += _named(where, one)
        if _device_of(one) not in got:
            causes.append(fields.bad(where, _DEVICE_SHOWN, "must be an allocated device in the claim"))
        said = one.get("conditions") or ()
        if len(said) > _CONDITIONS_MAX:
            causes.append(fields.too_many(f"{where}.conditions", len(said), _CONDITIONS_MAX))
        causes += fields.conditions(f"{where}.conditions", said)
        causes += _network(f"{where}.networkData", one.get("networkData") or {})
    for index, one in enumerate(listed):
        if _device_of(one) in seen:
            causes.append(fields.duplicate(f"status.devices[{index}].deviceID", _DEVICE_SHOWN))
        seen.add(_device_of(one))
    return causes


def _named(where: str, one: Mapping[str, Any]) -> list[Cause]:
    causes = driver_name(f"{where}.driver", one.get("driver") or "")
    causes += claims.pool_name(f"{where}.pool", one.get("pool") or "")
    return causes + fields.label_name(f"{where}.device", one.get("device") or "")


def _network(where: str, told: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    for key, most in (("interfaceName", _INTERFACE_LETTERS_MAX), ("hardwareAddress", _HARDWARE_LETTERS_MAX)):
        if len((told.get(key) or "").encode()) > most:
            causes.append(fields.too_long(f"{where}.{key}", most))
    return causes + claims.each(f"{where}.ips", told.get("ips") or (), _ADDRESSES_MAX, addresses.interface)


def _allocation(where: str, allocation: Mapping[str, Any], spec: Mapping[str, Any]) -> list[Cause]:
    names = claims.request_names(at(spec, "devices", "requests") or ())
    devices = allocation.get("devices") or {}

    def result(place: str, one: Mapping[str, Any]) -> list[Cause]:
        return claims.reference(f"{place}.request", one.get("request") or "", names) + _named(place, one)

    def configuration(place: str, one: Mapping[str, Any]) -> list[Cause]:
        causes = fields.one_of(f"{place}.source", one.get("source") or "", _SOURCES, needed=True)
        causes += claims.references(f"{place}.requests", one.get("requests") or (), names)
        return causes + claims.config(place, one)

    causes = claims.each(f"{where}.devices.results", devices.get("results") or (), claims.ITEMS_MAX, result)
    causes += claims.each(f"{where}.devices.config", devices.get("config") or (), 2 * claims.ITEMS_MAX, configuration)
    selector = allocation.get("nodeSelector")
    return causes + ([] if selector is None else scheduling.node_selector(f"{where}.nodeSelector", selector))
