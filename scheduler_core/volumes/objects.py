"""Reading storage objects, and a pod's claims, for the volume plugins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeVar

from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.meta import View, view
from scheduler_core.api.pod import Pod, Volume
from scheduler_core.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler_core.framework.events import ActionType
from scheduler_core.framework.interface import Listers
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.volumes.assumed import CLAIMS, VOLUMES

CLASSES: Final = "storageclasses.storage.k8s.io"
CSI_NODES: Final = "csinodes.storage.k8s.io"
CSI_DRIVERS: Final = "csidrivers.storage.k8s.io"
CAPACITIES: Final = "csistoragecapacities.storage.k8s.io"
ATTACHMENTS: Final = "volumeattachments.storage.k8s.io"

VIEWS_MAX: Final = 16_384
"""Views kept; past it all are dropped and read again."""

_View = TypeVar("_View", bound=View)


class MissingError(LookupError):
    """An object that is not there; the text is upstream's."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f'{kind} "{name}" not found')


class StorageObjects:
    """Typed access to storage objects; a document is read once for as long as it stays the same."""

    def __init__(self, listers: Listers) -> None:
        self._listers = listers
        self._views: dict[tuple[str, str, str], tuple[FrozenDocument, Any]] = {}

    def _read(self, resource: str, namespace: str, name: str, document: FrozenDocument, of: type[_View]) -> _View:
        key = (resource, namespace, name)
        known = self._views.get(key)
        if known is not None and known[0] is document:
            found: _View = known[1]
            return found
        if len(self._views) >= VIEWS_MAX:
            self._views.clear()
        fresh = view(document, of)
        self._views[key] = (document, fresh)
        return fresh

    def _get(self, resource: str, namespace: str, name: str, of: type[_View]) -> _View | None:
        document = self._listers.get(resource, namespace, name)
        return None if document is None else self._read(resource, namespace, name, document, of)

    def _list(self, resource: str, of: type[_View]) -> list[_View]:
        found = []
        for document in self._listers.list(resource):
            meta = document["metadata"]
            found.append(self._read(resource, meta.get("namespace", ""), meta["name"], document, of))
        return found

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim:
        """Return a claim.

        Raises:
            MissingError: there is none.
        """
        found = self._get(CLAIMS, namespace, name, PersistentVolumeClaim)
        if found is None:
            raise MissingError("persistentvolumeclaim", name)
        return found

    def volume(self, name: str) -> PersistentVolume:
        """Return a volume.

        Raises:
            MissingError: there is none.
        """
        found = self._get(VOLUMES, "", name, PersistentVolume)
        if found is None:
            raise MissingError("persistentvolume", name)
        return found

    def storage_class(self, name: str) -> StorageClass:
        """Return a class.

        Raises:
            MissingError: there is none.
        """
        found = self._get(CLASSES, "", name, StorageClass)
        if found is None:
            raise MissingError("storageclass.storage.k8s.io", name)
        return found

    def csi_node(self, name: str) -> CSINode | None:
        """Return what the drivers say of a node, None where there is nothing."""
        return self._get(CSI_NODES, "", name, CSINode)

    def csi_driver(self, name: str) -> CSIDriver | None:
        """Return a driver, None where it is unknown."""
        return self._get(CSI_DRIVERS, "", name, CSIDriver)

    def volumes(self) -> list[PersistentVolume]:
        """Return all volumes."""
        return self._list(VOLUMES, PersistentVolume)

    def capacities(self) -> list[CSIStorageCapacity]:
        """Return all storage capacities."""
        return self._list(CAPACITIES, CSIStorageCapacity)

    def attachments(self) -> list[VolumeAttachment]:
        """Return all attachments."""
        return self._list(ATTACHMENTS, VolumeAttachment)


def claim_of(pod: Pod, volume: Volume) -> tuple[str, bool] | None:
    """Return (claim's name, whether it is an ephemeral volume's) of a pod's volume, None where that is no claim."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name, False
    if volume.ephemeral is not None:
        return f"{pod.name}-{volume.name}", True
    return None


def claim_names(pod: Pod) -> Iterator[tuple[str, bool]]:
    """Yield `claim_of` of each volume that is a claim."""
    for volume in pod.spec.volumes:
        named = claim_of(pod, volume)
        if named is not None:
            yield named


def of_claims(pod: PodInfo, *, made: bool = True) -> ActionType:
    """Return all that may happen to claims where the pod has some, without `made` some that it names; else nothing."""
    has_some = any(made or not ephemeral for _, ephemeral in claim_names(pod.pod))
    return ActionType.ALL if has_some else ActionType(0)


def check_owner(pod: Pod, claim: PersistentVolumeClaim) -> None:
    """Check that an ephemeral volume's claim was made for this pod.

    Raises:
        ValueError: it was made for another; the text is upstream's.
    """
    if not any(owner.controller and owner.uid == pod.metadata.uid for owner in claim.metadata.owner_references):
        raise ValueError(f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)")


def names_claim(pod: Pod, document: Any, *, made: bool = True) -> bool:
    """Return whether a changed claim, as a document, is one of the pod's; without `made`, one that the pod names."""
    meta = (document or {}).get("metadata") or {}
    if (meta.get("namespace") or "default") != pod.namespace:
        return False
    return any(name == meta.get("name") and (made or not ephemeral) for name, ephemeral in claim_names(pod))
