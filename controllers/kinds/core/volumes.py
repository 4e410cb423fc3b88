"""Rules that claims and volumes share: access modes, sizes, modes, classes.

Source: pkg/apis/core/validation (ValidatePersistentVolumeClaim, ValidatePersistentVolume), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.registry import fields
from scheduler_core.api import quantity
from scheduler_core.api.errors import Cause

ACCESS_MODES: Final[Mapping[str, str]] = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
"""Access modes and how kubectl shortens them, in the order in which it lists them."""

VOLUME_MODES: Final = ("Block", "Filesystem")


def access_modes(field: str, modes: Sequence[str] | None) -> list[Cause]:
    """Check access modes: one at least, all known, ReadWriteOncePod alone."""
    if not modes:
        return [fields.required(field, "at least 1 access mode is required")]
    causes: list[Cause] = []
    for mode in modes:
        causes += fields.one_of(field, mode, ACCESS_MODES, needed=True)
    if not causes and "ReadWriteOncePod" in modes and len(set(modes)) > 1:
        causes.append(fields.not_allowed(field, "may not use ReadWriteOncePod with other access modes"))
    return causes


def shortened(modes: Sequence[str] | None) -> str:
    """Return access modes as kubectl prints them: `RWO,RWX`."""
    return ",".join(short for mode, short in ACCESS_MODES.items() if mode in (modes or ()))


def size(field: str, text: Any) -> list[Cause]:
    """Check an amount of storage."""
    if quantity.nano(text) <= 0:
        return [fields.bad(field, text, "must be greater than zero")]
    return []


def common(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check what claims and volumes have alike: access modes, class, volume mode."""
    causes = access_modes(f"{field}.accessModes", spec.get("accessModes"))
    for key in ("storageClassName", "volumeAttributesClassName"):
        if spec.get(key):
            causes += fields.subdomain(f"{field}.{key}", spec[key])
    return causes + fields.one_of(f"{field}.volumeMode", spec.get("volumeMode"), VOLUME_MODES)


def claim_spec(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check the spec of a claim, or of a template of one."""
    causes = common(field, spec)
    causes += fields.label_selector(f"{field}.selector", spec.get("selector"))
    resources = spec.get("resources") or {}
    requested = (resources.get("requests") or {}).get("storage")
    where = f"{field}.resources[storage]"
    causes += [fields.required(where)] if requested is None else size(where, requested)
    limit = (resources.get("limits") or {}).get("storage")
    if requested is not None and limit is not None and quantity.nano(requested) > quantity.nano(limit):
        why = f"must be less than or equal to storage limit of {limit}"
        causes.append(fields.bad(f"{field}.resources.requests", requested, why))
    if spec.get("volumeName"):
        causes += fields.subdomain(f"{field}.volumeName", spec["volumeName"])
    return causes
