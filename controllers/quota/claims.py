"""What a claim counts for: to a volume, and to devices.

Source: k8s.io/kubernetes/pkg/quota/v1/evaluator/core (persistent_volume_claims.go, resource_claims.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.quota.scoped import selects
from controllers.quota.usage import ONE, Usage, add, count, raise_to
from scheduler_core.api.quantity import Amount

_PER_CLAIM: Final = frozenset({"count/persistentvolumeclaims", "persistentvolumeclaims", "requests.storage"})
_PER_CLASS: Final = (
    ".storageclass.storage.k8s.io/persistentvolumeclaims",
    ".storageclass.storage.k8s.io/requests.storage",
)
_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
_DEVICES: Final = ".deviceclass.resource.k8s.io/devices"
_DEVICE_CLAIMS: Final = "count/resourceclaims.resource.k8s.io"
DEVICES_MAX: Final = 32
"""What a request for all devices is charged (AllocationResultsMaxSize)."""


def is_counted(name: str) -> bool:
    """Return whether volume claims have a part in a name of a quota."""
    return name in _PER_CLAIM or name.endswith(_PER_CLASS)


def usage(claim: Mapping[str, Any], unix_ms: int) -> Usage:
    """Return what a volume claim counts for, in all and for its storage class."""
    spec, status = claim.get("spec") or {}, claim.get("status") or {}
    counted = {"count/persistentvolumeclaims": ONE, "persistentvolumeclaims": ONE}
    annotations = claim["metadata"].get("annotations") or {}
    name = annotations.get(_CLASS_ANNOTATION) or spec.get("storageClassName") or ""
    if name:
        counted[name + _PER_CLASS[0]] = ONE
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if asked is None:
        return counted
    storage = Amount.read(asked).whole()
    given = (status.get("allocatedResources") or {}).get("storage")
    if given is not None and Amount.read(given).nano > storage.nano:
        storage = Amount.read(given).whole()
    counted["requests.storage"] = storage
    if name:
        counted[name + _PER_CLASS[1]] = storage
    return counted


def matches_scope(scope: Mapping[str, Any], claim: Mapping[str, Any]) -> bool:
    """Return whether a volume claim is in a scope: only classes of volume attributes make one."""
    if scope.get("scopeName") != "VolumeAttributesClass":
        return False
    return any(selects(scope, name) for name in sorted(_classes(claim)) or (None,))


def moves(claim: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Return whether a volume claim names other classes of volume attributes than before."""
    return _classes(claim) != _classes(old)


def _classes(claim: Mapping[str, Any]) -> set[str]:
    """Return the classes of volume attributes that a claim has, asks for or is on its way to."""
    status = claim.get("status") or {}
    names = {
        (claim.get("spec") or {}).get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    }
    return {name for name in names if name}


def is_device_counted(name: str) -> bool:
    """Return whether claims to devices have a part in a name of a quota."""
    return name == _DEVICE_CLAIMS or name.endswith(_DEVICES)


def device_usage(claim: Mapping[str, Any], unix_ms: int) -> Usage:
    """Return what a claim to devices counts for: of alternatives the most, by device class."""
    counted: Usage = {_DEVICE_CLAIMS: ONE}
    for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ():
        exactly = request.get("exactly")
        if exactly:
            counted = add(counted, _devices(exactly))
            continue
        most: Usage = {}
        for alternative in request.get("firstAvailable") or ():
            raise_to(most, _devices(alternative))
        counted = add(counted, most)
    return counted


def _devices(request: Mapping[str, Any]) -> Usage:
    number = DEVICES_MAX if request.get("allocationMode") == "All" else int(request.get("count") or 1)
    return {f"{request.get('deviceClassName', '')}{_DEVICES}": count(number)}
