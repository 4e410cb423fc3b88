"""PersistentVolumeClaims: a request for storage; admission fills the class in, the spec then stays.

Source: pkg/registry/core/persistentvolumeclaim, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, UNSET
from controllers.kinds.core import volumes as storage
from controllers.kinds.core.pod.defaults import round_requirements
from controllers.kinds.core.resources import is_native
from controllers.log.store import copy_object
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api import quantity
from scheduler_core.api.document import Document, at, child
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
    round_requirements(spec.get("resources"))
    storage.settle_sources(spec)
    child(document, "status").setdefault("phase", "Pending")


def _requested(document: Mapping[str, Any]) -> Any:
    return at(document, "spec", "resources", "requests", "storage") or "0"


def _validate(document: dict[str, Any]) -> list[Cause]:
    return storage.claim_spec("spec", document["spec"])


def _same_but_for_what_may_change(new: Mapping[str, Any], old: Mapping[str, Any]) -> tuple[Document, Document]:
    """Return both specs with what may change made the same."""
    before, spec = copy_object(dict(old["spec"])), copy_object(dict(new["spec"]))
    if not before.get("volumeName") and spec.get("volumeName"):
        before["volumeName"] = spec["volumeName"]
    annotations = old["metadata"].get("annotations") or {}
    told = spec.get("storageClassName")
    # A claim from before there was a default class takes it later; one that named it by annotation may say it anew.
    if "storageClassName" not in before and told is not None and annotations.get(CLASS_ANNOTATION, told) == told:
        del spec["storageClassName"]
    if at(new, "status", "phase") == "Bound":
        if at(spec, "resources", "requests") is not None:
            spec["resources"]["requests"]["storage"] = at(before, "resources", "requests", "storage")
        spec.pop("volumeAttributesClassName", None)
        before.pop("volumeAttributesClassName", None)
    return spec, before


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    was = (old["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION) or ""
    now = (new["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION) or ""
    if now != was and not (now == "" and at(new, "spec", "storageClassName") == was):
        causes.append(fields.bad(f"metadata.annotations.{CLASS_ANNOTATION}", now, "field is immutable"))
    spec, before = _same_but_for_what_may_change(new, old)
    if spec != before:
        difference = internal.difference(before, spec, "core.PersistentVolumeClaimSpec")
        causes.append(fields.not_allowed("spec", f"{_IMMUTABLE}\n{difference}"))
    held = at(old, "status", "capacity", "storage")
    asked = quantity.nano(_requested(new))
    if asked < quantity.nano(_requested(old)) and asked <= quantity.nano(held or "0"):
        why = "field can not be less than status.capacity"
        causes.append(fields.not_allowed("spec.resources.requests.storage", why))
    causes += fields.immutable("volumeMode", at(new, "spec", "volumeMode"), at(old, "spec", "volumeMode"))
    name = at(new, "spec", "volumeAttributesClassName")
    changed = name != at(old, "spec", "volumeAttributesClassName")
    if changed and at(old, "status", "currentVolumeAttributesClassName") is not None and not name:
        what = "nil" if name is None else "empty string"
        why = f"update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil"
        causes.append(fields.not_allowed("spec.volumeAttributesClassName", why))
    return causes


def _warns(document: Mapping[str, Any]) -> list[str]:
    """Tell of an old annotation and of sizes that are no whole bytes (pkg/api/persistentvolumeclaim)."""
    return [*storage.warns_of_annotations(document, (CLASS_ANNOTATION,)), *storage.claimed("spec", document["spec"])]


def _status(document: Mapping[str, Any], age: Any) -> str:
    if "deletionTimestamp" in document["metadata"]:
        return "Terminating"
    return str(at(document, "status", "phase") or "")


def _capacity(document: Mapping[str, Any], age: Any) -> str:
    return str(at(document, "status", "capacity", "storage") or "0") if at(document, "spec", "volumeName") else ""


def _modes(document: Mapping[str, Any], age: Any) -> str:
    return storage.shortened(at(document, "status", "accessModes")) if at(document, "spec", "volumeName") else ""


_RESIZES: Final = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizePending",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
)


def _complete_status(document: dict[str, Any], old: Mapping[str, Any], now: str) -> None:
    document["status"].setdefault("phase", "Pending")


def _status_rules(document: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Check a status (ValidatePersistentVolumeClaimStatusUpdate)."""
    status = document["status"]
    causes: list[Cause] = []
    for name, text in (status.get("capacity") or {}).items():
        causes += _amount(f"status.capacity[{name}]", text)
    for name, state in (status.get("allocatedResourceStatuses") or {}).items():
        causes += _resized("status.allocatedResourceStatuses", name)
        if state not in _RESIZES:
            causes.append(fields.unsupported("status.allocatedResourceStatuses", name, _RESIZES))
    for name, text in (status.get("allocatedResources") or {}).items():
        causes += _resized("status.allocatedResources", name) or _amount(f"status.allocatedResources[{name}]", text)
    return causes


def _resized(where: str, name: str) -> list[Cause]:
    """Check of what an amount is told (validatePersistentVolumeClaimResourceKey)."""
    causes = fields.qualified_name(where, name)
    if causes or name == "storage" or not is_native(name):
        return causes
    return [fields.unsupported(where, name, ("storage",))]


def _amount(where: str, text: str) -> list[Cause]:
    amount = quantity.value(text)
    return [fields.bad(where, amount, "must be a valid resource quantity")] if amount < 0 else []


def class_name(document: Mapping[str, Any], age: Any = None) -> str:
    """Return the storage class of a claim or a volume, the older annotation first."""
    annotations = document["metadata"].get("annotations") or {}
    return str(annotations.get(CLASS_ANNOTATION, at(document, "spec", "storageClassName") or ""))


KIND: Final = Kind(
    "PersistentVolumeClaim",
    "persistentvolumeclaims",
    component_verbs=frozenset({"update", "patch"}),
    short_names=("pvc",),
    subresources=(replace(STATUS, complete=_complete_status, part_rules=_status_rules),),
    keeper="persistentvolume",
    rank=9,
    prepare=_prepare,
    warns=_warns,
    defaults=_defaults,
    rule_checks=2,
    metadata_looks="wcw",
    validate=_validate,
    validate_update=_validate_update,
    whole_rules=True,
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
            lambda doc, age: at(doc, "spec", "volumeMode") or UNSET,
            1,
            source="core_v1.PersistentVolumeClaimSpec#volumeMode",
        ),
    ),
    page={
        "spec": {"volumeName": True, "storageClassName": True, "accessModes": True, "resources": {"requests": True}},
        "status": {"phase": True, "capacity": True},
    },
)
