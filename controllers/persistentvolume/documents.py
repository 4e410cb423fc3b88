"""What the controllers of this package read of claims and volumes, and the writes that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.log.operations import Patch
from scheduler_core.api.document import Document
from scheduler_core.api.meta import view
from scheduler_core.api.storage import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    WAIT_FOR_FIRST_CONSUMER,
    PersistentVolume,
    PersistentVolumeClaim,
)
from scheduler_core.volumes.migration import in_tree_named

CLAIMS: Final = "persistentvolumeclaims"
VOLUMES: Final = "persistentvolumes"
CLASSES: Final = "storageclasses.storage.k8s.io"

PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
"""On a volume: the provisioner that made it."""

PROVISIONER: Final = "volume.kubernetes.io/storage-provisioner"
BETA_PROVISIONER: Final = "volume.beta.kubernetes.io/storage-provisioner"
"""On a claim: who is to make its volume."""

IN_TREE: Final = "kubernetes.io/"
"""Prefix of provisioners that upstream once had in its own tree; CSI drivers serve them now."""


def provisioner_of(storage_class: Mapping[str, Any]) -> str:
    """Return who is asked for a class's volumes: of in-tree plugins the CSI driver that serves them."""
    name: str = storage_class["provisioner"]
    migrated = in_tree_named(name)
    return name if migrated is None else migrated.driver


def claim_of(document: Mapping[str, Any]) -> PersistentVolumeClaim:
    """Return the typed view of a claim."""
    return view(document, PersistentVolumeClaim)


def volume_of(document: Mapping[str, Any]) -> PersistentVolume:
    """Return the typed view of a volume."""
    return view(document, PersistentVolume)


def notes_of(document: Mapping[str, Any]) -> Mapping[str, str]:
    """Return an object's annotations."""
    found: Mapping[str, str] = document["metadata"].get("annotations") or {}
    return found


def is_delayed(storage_class: Mapping[str, Any] | None) -> bool:
    """Return whether claims of a class are bound only once a pod that uses them has a node."""
    return storage_class is not None and storage_class.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER


def has_node(claim: Mapping[str, Any]) -> bool:
    """Return whether the scheduler has said for which node the claim's volume is to be made."""
    return SELECTED_NODE in notes_of(claim)


def phase_patch(volume: Mapping[str, Any], phase: str, now: str, message: str = "") -> Patch | None:
    """Return the write of a volume's phase; None where it has it."""
    status = volume.get("status") or {}
    if status.get("phase") == phase and (status.get("message") or "") == message:
        return None
    body = {"phase": phase, "message": message or None, "lastPhaseTransitionTime": now}
    patch = {"metadata": {"uid": volume["metadata"]["uid"]}, "status": body}
    return Patch(VOLUMES, "", volume["metadata"]["name"], patch, "merge", "status")


def claim_patch(claim: Mapping[str, Any], patch: Document) -> Patch:
    """Return a write of a claim that fails where the claim has changed since."""
    metadata = claim["metadata"]
    patch = {**patch, "metadata": {**patch.get("metadata", {}), "resourceVersion": metadata["resourceVersion"]}}
    return Patch(CLAIMS, metadata["namespace"], metadata["name"], patch)


def volume_patch(volume: Mapping[str, Any], patch: Document) -> Patch:
    """Return a write of a volume that fails where the volume has changed since."""
    metadata = volume["metadata"]
    patch = {**patch, "metadata": {**patch.get("metadata", {}), "resourceVersion": metadata["resourceVersion"]}}
    return Patch(VOLUMES, "", metadata["name"], patch)


def volume_bound(volume: Mapping[str, Any], claim: Mapping[str, Any]) -> Patch | None:
    """Return the write that gives a volume to a claim; None where it names that very claim."""
    reference = (volume.get("spec") or {}).get("claimRef")
    own = claim["metadata"]
    if reference and reference.get("uid") == own["uid"]:
        return None
    wanted = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    wanted |= {key: own[key] for key in ("namespace", "name", "uid", "resourceVersion")}
    patch: Document = {"spec": {"claimRef": wanted}}
    if not reference:
        patch["metadata"] = {"annotations": {BOUND_BY_CONTROLLER: "yes"}}
    return volume_patch(volume, patch)


def claim_bound(claim: Mapping[str, Any], volume: Mapping[str, Any]) -> Patch | None:
    """Return the write that names a claim's volume and says that binding is done; None where it says so."""
    notes: dict[str, str] = {}
    patch: Document = {}
    if (claim["spec"].get("volumeName") or "") != volume["metadata"]["name"]:
        patch["spec"] = {"volumeName": volume["metadata"]["name"]}
        notes[BOUND_BY_CONTROLLER] = "yes"
    if BIND_COMPLETED not in notes_of(claim):
        notes[BIND_COMPLETED] = "yes"
    if not notes:
        return None
    return claim_patch(claim, {**patch, "metadata": {"annotations": notes}})


def claim_status(claim: Mapping[str, Any], phase: str, volume: Mapping[str, Any] | None = None) -> Patch | None:
    """Return the write of a claim's status, with what its volume gives it; None where it says so."""
    status = claim.get("status") or {}
    wanted: Document = {"phase": phase, "accessModes": None, "capacity": None}
    if volume is not None:
        wanted["accessModes"] = volume["spec"].get("accessModes") or []
        wanted["capacity"] = volume["spec"].get("capacity") or {}
    if all(status.get(key) == value for key, value in wanted.items()):
        return None
    metadata = claim["metadata"]
    patch = {"metadata": {"uid": metadata["uid"]}, "status": wanted}
    return Patch(CLAIMS, metadata["namespace"], metadata["name"], patch, "merge", "status")
