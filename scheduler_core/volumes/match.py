"""Which volume a claim takes on a node, and whether its class can make one there.

Source: `k8s.io/component-helpers/storage/volume`, `plugins/volumebinding/binder.go`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from scheduler_core.api.quantity import nano_of, value
from scheduler_core.api.selectors import SelectorError, compile_selector, read_selector, selects
from scheduler_core.api.storage import (
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)

NO_PROVISIONER = "kubernetes.io/no-provisioner"
"""A class that makes no volumes."""


def reaches(volume: PersistentVolume, labels: Mapping[str, str]) -> bool:
    """Return whether a node with these labels reaches the volume."""
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return any(term.matches("", labels) for term in compile_selector(affinity.required))


def find_volume(
    claim: PersistentVolumeClaim,
    volumes: Iterable[PersistentVolume],
    labels: Mapping[str, str] | None,
    taken: Collection[str],
    *,
    kept_only: bool = False,
) -> PersistentVolume | None:
    """Return the volume kept for the claim, else the smallest free one that serves it on the node; None without any.

    Args:
        claim: what is asked for.
        volumes: those of the claim's class.
        labels: the node's; None: no node has a say.
        taken: names of volumes that other claims of the pod take.
        kept_only: take none but a volume kept for the claim.

    Raises:
        ValueError: the claim's selector cannot be read; the text is upstream's.
    """
    wanted = nano_of(claim.requested)
    try:
        selector = read_selector(claim.spec.selector)
    except SelectorError as wrong:
        raise ValueError(f"error creating internal label selector for claim: {claim.key}: {wrong}") from wrong
    smallest: PersistentVolume | None = None
    least = 0
    for volume in volumes:
        own = volume.belongs_to(claim)
        size = nano_of(volume.spec.capacity.get("storage", 0))
        if volume.metadata.name in taken or (volume.spec.claim_ref is not None and not own) or size < wanted:
            continue
        if not _alike(claim, volume) or volume.metadata.deletion_timestamp is not None:
            continue
        reached = labels is None or reaches(volume, labels)
        if own:
            return volume if reached else None
        if kept_only or not reached or volume.status.phase != "Available" or volume.class_name != claim.class_name:
            continue
        if claim.spec.selector is not None and not selects(selector, volume.metadata.labels):
            continue
        if not set(claim.spec.access_modes) <= set(volume.spec.access_modes):
            continue
        if smallest is None or size < least:
            smallest, least = volume, size
    return smallest


def _alike(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Return whether both are of one mode and one attributes class."""
    if claim.spec.volume_mode != volume.spec.volume_mode:
        return False
    return (claim.spec.volume_attributes_class_name or "") == (volume.spec.volume_attributes_class_name or "")


def can_provision(storage_class: StorageClass, labels: Mapping[str, str]) -> bool:
    """Return whether the class makes volumes, and on a node with these labels."""
    if storage_class.provisioner in ("", NO_PROVISIONER):
        return False
    terms = storage_class.allowed_topologies
    return not terms or any(
        all(labels.get(wanted.key) in wanted.values for wanted in term.match_label_expressions)
        for term in terms
        if term.match_label_expressions
    )


def has_room(claim: PersistentVolumeClaim, capacities: Iterable[CSIStorageCapacity], labels: Mapping[str, str]) -> bool:
    """Return whether the claim's class has room for it where a node with these labels is.

    A capacity whose topology cannot be read is nowhere.
    """
    if "storage" not in claim.spec.resources.requests:
        return True
    size = value(claim.requested)
    return any(
        capacity.storage_class_name == claim.class_name
        and capacity.largest is not None
        and value(capacity.largest) >= size
        and _is_there(capacity, labels)
        for capacity in capacities
    )


def _is_there(capacity: CSIStorageCapacity, labels: Mapping[str, str]) -> bool:
    try:
        return selects(read_selector(capacity.node_topology), labels)
    except SelectorError:
        return False
