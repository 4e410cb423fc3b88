"""Keeps claims that pods use, volumes that claims are bound to, and classes that either has, while they are used.

Source: pkg/controller/volume/pvcprotection, pvprotection and vacprotection, v1.34.
"""

from __future__ import annotations

from typing import ClassVar, Final

from controllers.kinds.storage.volumeattributesclass import CLASS_PROTECTION
from controllers.kit.interest import POD_VOLUMES
from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.pods import claims_of_pod
from controllers.log.operations import Patch
from controllers.persistentvolume.documents import CLAIMS, VOLUMES, claim_patch, volume_patch
from scheduler_core.api.document import Document
from scheduler_core.api.storage import CLAIM_PROTECTION, VOLUME_PROTECTION

ATTRIBUTES_CLASSES: Final = "volumeattributesclasses.storage.k8s.io"

_BOUND: Final = "Bound"


class ClaimProtection:
    """Reconciles claims, by namespace and name."""

    NAME: ClassVar[str] = "pvc-protection"
    RESOURCES: ClassVar[tuple[str, ...]] = (CLAIMS, "pods")

    def __init__(self, setup: Setup) -> None:
        """Listen to claims, and to the pods that use them."""
        self._claims = setup.informers[CLAIMS]
        self._pods = setup.informers["pods"]
        self._queue = setup.queue
        self._pods.add_index("claim", claims_of_pod, of=(POD_VOLUMES,))
        self._claims.add_handler(self._claim_changed)
        self._pods.add_handler(self._pod_changed, reads=())

    def _claim_changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and _is_due(new, CLAIM_PROTECTION):
            self._queue.add(key_of(new))

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        # Only a pod that is gone can let a claim go.
        if new is None and old is not None:
            for key in claims_of_pod(old):
                self._queue.add(key)

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Protect a claim, or let it go."""
        claim = self._claims.get(*split_key(key))
        if claim is None or not _is_due(claim, CLAIM_PROTECTION):
            _tell(work, claim, "nothing to do")
            return
        # Pods without a node do not count: no kubelet starts one with a claim that is going.
        in_use = any(pod["spec"].get("nodeName") for pod in self._pods.indexed("claim", key))
        if in_use and "deletionTimestamp" in claim["metadata"]:
            _tell(work, claim, "a pod uses it: it stays")
            return
        _tell(work, claim, "the finalizer is set or taken off")
        must((yield [claim_patch(claim, _toggled(claim, CLAIM_PROTECTION))])[0])


class VolumeProtection:
    """Reconciles volumes, by name."""

    NAME: ClassVar[str] = "pv-protection"
    RESOURCES: ClassVar[tuple[str, ...]] = (VOLUMES,)

    def __init__(self, setup: Setup) -> None:
        """Listen to volumes."""
        self._volumes = setup.informers[VOLUMES]
        self._queue = setup.queue
        self._volumes.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and _is_due(new, VOLUME_PROTECTION):
            self._queue.add(key_of(new))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Protect a volume, or let it go."""
        volume = self._volumes.get("", key)
        if volume is None or not _is_due(volume, VOLUME_PROTECTION):
            _tell(work, volume, "nothing to do")
            return
        if "deletionTimestamp" in volume["metadata"] and (volume.get("status") or {}).get("phase") == _BOUND:
            _tell(work, volume, "it is bound: it stays")
            return
        _tell(work, volume, "the finalizer is set or taken off")
        must((yield [volume_patch(volume, _toggled(volume, VOLUME_PROTECTION))])[0])


class ClassProtection:
    """Reconciles classes of volumes' attributes, by name: one that a claim or volume has stays."""

    NAME: ClassVar[str] = "volumeattributesclass-protection"
    RESOURCES: ClassVar[tuple[str, ...]] = (ATTRIBUTES_CLASSES, CLAIMS, VOLUMES)

    def __init__(self, setup: Setup) -> None:
        """Listen to classes, and to the claims and volumes that have one."""
        self._classes = setup.informers[ATTRIBUTES_CLASSES]
        self._users = (setup.informers[CLAIMS], setup.informers[VOLUMES])
        self._queue = setup.queue
        self._classes.add_handler(self._changed)
        for users in self._users:
            users.add_index("attributes", _classes_of)
            users.add_handler(self._user_changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and _is_due(new, CLASS_PROTECTION):
            self._queue.add(key_of(new))

    def _user_changed(self, old: Document | None, new: Document | None) -> None:
        # Only one that has it no more can let a class go.
        for name in set(_classes_of(old or {})) - set(_classes_of(new or {})):
            self._queue.add(name)

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Protect a class, or let it go."""
        found = self._classes.get("", key)
        if found is None or not _is_due(found, CLASS_PROTECTION):
            _tell(work, found, "nothing to do")
            return
        if "deletionTimestamp" in found["metadata"] and any(users.indexed("attributes", key) for users in self._users):
            _tell(work, found, "a claim or volume has it: it stays")
            return
        _tell(work, found, "the finalizer is set or taken off")
        must((yield [Patch(ATTRIBUTES_CLASSES, "", key, _toggled(found, CLASS_PROTECTION))])[0])


def _classes_of(document: Document) -> list[str]:
    spec, status = document.get("spec") or {}, document.get("status") or {}
    names = (spec.get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"))
    return sorted({name for name in names if name})


def _tell(work: Work, document: Document | None, reason: str) -> None:
    """Say what was found; a finalizer is wanted as long as the object is not being deleted."""
    metadata = {} if document is None else document["metadata"]
    wanted = document is not None and "deletionTimestamp" not in metadata
    work.tell(reason, desired={"finalizer": wanted}, actual={"metadata.finalizers": metadata.get("finalizers") or []})


def _is_due(document: Document, finalizer: str) -> bool:
    """Return whether the finalizer is on an object that is going, or missing from one that stays."""
    has = finalizer in (document["metadata"].get("finalizers") or ())
    return has == ("deletionTimestamp" in document["metadata"])


def _toggled(document: Document, finalizer: str) -> Document:
    finalizers = document["metadata"].get("finalizers") or []
    if finalizer in finalizers:
        return {"metadata": {"finalizers": [name for name in finalizers if name != finalizer]}}
    return {"metadata": {"finalizers": [*finalizers, finalizer]}}
