"""PersistentVolumeClaims: a request for storage; admission fills the class in, the spec then stays.

Source: pkg/registry/core/persistentvolumeclaim, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, UNSET
from controllers.kinds.core import volumes as storage
from controllers.log.store import copy_object
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api import quantity
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause
from scheduler_core.api.storage import CLASS_ANNOTATION

RESOURCE: Final = "persistentvolumeclaims"

_IMMUTABLE: Final = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"phase": "Pending"}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("volumeMode", "Filesystem")
    child(document, "status").setdefault("phase", "Pending")


def _requested(document: Mapping[str, Any]) -> Any:
    return at(document, "spec", "resources", "requests", "storage") or 0


def _validate(document: dict[str, Any]) -> list[Cause]:
    return storage.claim_spec("spec", document["spec"])


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    allowed, spec = copy_object(dict(old["spec"])), new["spec"]
    if not allowed.get("volumeName") and spec.get("volumeName"):
        allowed["volumeName"] = spec["volumeName"]
    had_class = "storageClassName" in allowed or CLASS_ANNOTATION in (old["metadata"].get("annotations") or {})
    if not had_class and spec.get("storageClassName"):
        # A claim from before there was a default class takes it later.
        allowed["storageClassName"] = spec["storageClassName"]
    if at(old, "status", "phase") == "Bound":
        if spec.get("resources"):
            child(allowed, "resources")["requests"] = at(spec, "resources", "requests")
        if "volumeAttributesClassName" in spec:
            allowed["volumeAttributesClassName"] = spec["volumeAttributesClassName"]
    if allowed != spec:
        return [fields.not_allowed("spec", _IMMUTABLE)]
    held = at(old, "status", "capacity", "storage")
    requested, before = quantity.nano(_requested(new)), quantity.nano(_requested(old))
    if requested < before and (held is None or requested <= quantity.nano(held)):
        why = "field can not be less than status.capacity"
        return [fields.not_allowed("spec.resources.requests.storage", why)]
    return []


def _status(document: Mapping[str, Any], age: Any) -> str:
    if "deletionTimestamp" in document["metadata"]:
        return "Terminating"
    return str(at(document, "status", "phase") or "")


def _capacity(document: Mapping[str, Any], age: Any) -> str:
    return str(at(document, "status", "capacity", "storage") or "0") if at(document, "spec", "volumeName") else ""


def _modes(document: Mapping[str, Any], age: Any) -> str:
    return storage.shortened(at(document, "status", "accessModes")) if at(document, "spec", "volumeName") else ""


def class_name(document: Mapping[str, Any], age: Any = None) -> str:
    """Return the storage class of a claim or a volume, the older annotation first."""
    annotations = document["metadata"].get("annotations") or {}
    return str(annotations.get(CLASS_ANNOTATION, at(document, "spec", "storageClassName") or ""))


KIND: Final = Kind(
    "PersistentVolumeClaim",
    "persistentvolumeclaims",
    component_verbs=frozenset({"update", "patch"}),
    short_names=("pvc",),
    subresources=(STATUS,),
    keeper="persistentvolume",
    rank=9,
    prepare=_prepare,
    defaults=_defaults,
    validate=_validate,
    validate_update=_validate_update,
    returned_when_deleted=True,
    columns=(
        NAME,
        Column("Status", "string", "", _status, source="core_v1.PersistentVolumeClaimStatus#phase"),
        Column(
            "Volume",
            "string",
            "",
            lambda doc, age: at(doc, "spec", "volumeName") or "",
            source="core_v1.PersistentVolumeClaimSpec#volumeName",
        ),
        Column("Capacity", "string", "", _capacity, source="core_v1.PersistentVolumeClaimStatus#capacity"),
        Column("Access Modes", "string", "", _modes, source="core_v1.PersistentVolumeClaimStatus#accessModes"),
        Column("StorageClass", "string", "StorageClass of the pvc", class_name),
        Column(
            "VolumeAttributesClass",
            "string",
            "VolumeAttributesClass of the pvc",
            lambda doc, age: at(doc, "spec", "volumeAttributesClassName") or UNSET,
        ),
        AGE,
        Column(
            "VolumeMode",
            "string",
            "",
            lambda doc, age: at(doc, "spec", "volumeMode"),
            1,
            source="core_v1.PersistentVolumeClaimSpec#volumeMode",
        ),
    ),
    page={
        "spec": {"volumeName": True, "storageClassName": True, "accessModes": True, "resources": {"requests": True}},
        "status": {"phase": True, "capacity": True},
    },
)
