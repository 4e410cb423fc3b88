"""VolumeAttributesClasses: how a volume is to be, beyond its size.

Source: pkg/apis/storage/validation, the plugin StorageObjectInUseProtection, pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, text_of
from controllers.registry import fields
from controllers.registry.kind import Column, Kind, Lookup
from scheduler_core.api.errors import Cause

CLASS_PROTECTION: Final = "kubernetes.io/vac-protection"
"""Finalizer of a class while a claim or volume may use it."""


def _admit(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    metadata = document["metadata"]
    kept = metadata.get("finalizers") or []
    if CLASS_PROTECTION not in kept:
        metadata["finalizers"] = [*kept, CLASS_PROTECTION]
    return []


def _validate(document: dict[str, Any]) -> list[Cause]:
    driver = document.get("driverName") or ""
    causes = fields.qualified_name("driverName", driver.lower()) if driver else [fields.required("driverName")]
    if not document.get("parameters"):
        causes.append(fields.required("parameters", "must contain at least one key/value pair"))
    elif "" in document["parameters"]:
        causes.append(fields.bad("parameters", "", "field can not be empty."))
    return causes


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes = [
        fields.not_allowed(key, f"updates to {key} are forbidden.")
        for key in ("driverName", "parameters")
        if new.get(key) != old.get(key)
    ]
    # Upstream looks at the whole once more behind this.
    return causes + _validate(new)


KIND: Final = Kind(
    "VolumeAttributesClass",
    "volumeattributesclasses",
    group="storage.k8s.io",
    short_names=("vac",),
    namespaced=False,
    kept_as="v1beta1",
    rank=6,
    whole_rules=True,
    returned_when_deleted=True,
    admit=_admit,
    validate=_validate,
    validate_update=_validate_update,
    metadata_looks="wcw",
    columns=(
        NAME,
        Column(
            "DriverName",
            "string",
            "The driver.",
            text_of("driverName"),
            source="storage_v1.VolumeAttributesClass#driverName",
        ),
        AGE,
    ),
)
