"""Which volume an unbound claim takes when no node has a say.

Source: pkg/controller/volume/persistentvolume/index.go and pv_controller.go (checkVolumeSatisfyClaim), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from controllers.persistentvolume.documents import claim_of, volume_of
from scheduler_core.api.quantity import nano_of
from scheduler_core.volumes.match import find_volume


def best_volume(claim: Mapping[str, Any], volumes: Iterable[Mapping[str, Any]], delayed: bool) -> str | None:
    """Return the name of the volume that suits the claim best, None without any.

    Volumes with fewer access modes go first; among those the one kept for the claim, else the smallest that is large
    enough. A claim that waits for its pod takes only a volume kept for it.
    """
    wanted = claim_of(claim)
    by_modes: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for volume in volumes:
        modes = tuple(sorted(set(volume["spec"].get("accessModes") or ())))
        if set(wanted.spec.access_modes) <= set(modes):
            by_modes.setdefault(modes, []).append(volume)
    for modes in sorted(by_modes, key=lambda one: (len(one), one)):
        found = find_volume(wanted, map(volume_of, by_modes[modes]), None, (), kept_only=delayed)
        if found is not None:
            return found.metadata.name
    return None


def mismatch(claim: Mapping[str, Any], volume: Mapping[str, Any]) -> str:
    """Return why a volume that the claim asks for by name does not suit it; empty where it does."""
    wanted, offered = claim_of(claim), volume_of(volume)
    if nano_of(offered.spec.capacity.get("storage", 0)) < nano_of(wanted.requested):
        return "requested PV is too small"
    if offered.class_name != wanted.class_name:
        return "storageClassName does not match"
    if (offered.spec.volume_attributes_class_name or "") != (wanted.spec.volume_attributes_class_name or ""):
        return "volumeAttributesClassName does not match"
    if offered.spec.volume_mode != wanted.spec.volume_mode:
        return "incompatible volumeMode"
    if not set(wanted.spec.access_modes) <= set(offered.spec.access_modes):
        return "incompatible accessMode"
    return ""
