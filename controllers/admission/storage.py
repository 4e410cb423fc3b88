"""DefaultStorageClass, StorageObjectInUseProtection and PersistentVolumeClaimResize.

Source: plugin/pkg/admission/storage, pkg/volume/util (the default class).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from controllers.admission.common import on
from controllers.registry.admission import Attempt, Plugin
from scheduler_core.api import quantity
from scheduler_core.api.document import at, child
from scheduler_core.api.storage import CLAIM_PROTECTION, CLASS_ANNOTATION, VOLUME_PROTECTION

CLASSES: Final = "storageclasses.storage.k8s.io"
CLAIMS: Final = "persistentvolumeclaims"
VOLUMES: Final = "persistentvolumes"

DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
"""Annotation: claims that name no class get this one."""

_DEFAULTS: Final = (DEFAULT_CLASS, "storageclass.beta.kubernetes.io/is-default-class")
_NO_RESIZE: Final = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)
_PROTECTIONS: Final[Mapping[str, str]] = {CLAIMS: CLAIM_PROTECTION, VOLUMES: VOLUME_PROTECTION}


def is_default(document: Mapping[str, Any]) -> bool:
    """Return whether a class is marked as the default one."""
    annotations = document["metadata"].get("annotations") or {}
    return any(annotations.get(key) == "true" for key in _DEFAULTS)


def default_class(classes: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the default class, the newest where several are marked (the first by name of equally old ones)."""
    marked = sorted((one for one in classes if is_default(one)), key=lambda one: str(one["metadata"]["name"]))
    return max(marked, key=lambda one: str(one["metadata"].get("creationTimestamp", "")), default=None)


def _give_class(attempt: Attempt) -> str:
    metadata, spec = attempt.document["metadata"], child(attempt.document, "spec")
    if "storageClassName" in spec or CLASS_ANNOTATION in (metadata.get("annotations") or {}):
        return ""
    default = default_class(attempt.lookup.list(CLASSES))
    if default is None:
        return ""
    spec["storageClassName"] = default["metadata"]["name"]
    return f"storageClassName {spec['storageClassName']}"


def _protect(attempt: Attempt) -> str:
    """Keep a claim while pods use it, and a volume while a claim is bound to it."""
    metadata, finalizer = attempt.document["metadata"], _PROTECTIONS[attempt.kind.resource]
    kept = metadata.get("finalizers") or []
    if finalizer in kept:
        return ""
    metadata["finalizers"] = [*kept, finalizer]
    return f"finalizer {finalizer}"


def _resize(attempt: Attempt) -> None:
    """Refuse to grow a claim whose class cannot grow volumes."""
    assert attempt.old is not None, "only changes are looked at"
    if quantity.nano(_requested(attempt.document)) <= quantity.nano(_requested(attempt.old)):
        return
    name = at(attempt.old, "spec", "storageClassName") or ""
    found = attempt.lookup.get(CLASSES, "", name) if name else None
    if found is None or not found.get("allowVolumeExpansion"):
        raise attempt.refuse(_NO_RESIZE)


def _requested(document: Mapping[str, Any]) -> Any:
    return at(document, "spec", "resources", "requests", "storage") or 0


DEFAULT_STORAGE_CLASS: Final = Plugin(
    "DefaultStorageClass", "Gives claims that name no class the default one.", watches=on(CLAIMS), mutate=_give_class
)
IN_USE_PROTECTION: Final = Plugin(
    "StorageObjectInUseProtection",
    "Keeps claims that pods use, and volumes that are bound, until they are free.",
    watches=on(CLAIMS, VOLUMES),
    mutate=_protect,
)
CLAIM_RESIZE: Final = Plugin(
    "PersistentVolumeClaimResize",
    "Refuses to grow claims whose class does not allow it.",
    watches=on(CLAIMS, verbs=("update",)),
    validate=_resize,
)
