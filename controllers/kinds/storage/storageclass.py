"""StorageClasses: who makes volumes, and when claims get them.

Source: pkg/apis/storage/validation, pkg/volume/util (the default class), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.admission.storage import is_default
from controllers.kinds.columns import AGE, NAME
from controllers.kinds.core.pod import warnings
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.errors import Cause

RESOURCE: Final = "storageclasses.storage.k8s.io"

_MODES: Final = ("Immediate", "WaitForFirstConsumer")


def _defaults(document: dict[str, Any]) -> None:
    document.setdefault("reclaimPolicy", "Delete")
    document.setdefault("volumeBindingMode", "Immediate")


def _validate(document: dict[str, Any]) -> list[Cause]:
    provisioner = document.get("provisioner") or ""
    causes = (
        fields.qualified_name("provisioner", provisioner.lower()) if provisioner else [fields.required("provisioner")]
    )
    causes += fields.one_of("reclaimPolicy", document.get("reclaimPolicy"), ("Delete", "Retain"))
    mode = document.get("volumeBindingMode")
    causes += [fields.required("volumeBindingMode")] if mode is None else []
    causes += fields.set_one_of("volumeBindingMode", mode, _MODES)
    for key in document.get("parameters") or {}:
        if not key:
            causes.append(fields.bad("parameters", key, "field can not be empty."))
    terms = document.get("allowedTopologies") or ()
    # Upstream compares with as many empty terms as there are terms before the first one.
    before: list[dict[str, set[str]]] = [{} for _ in terms]
    for index, term in enumerate(terms):
        seen: dict[str, set[str]] = {}
        for position, wanted in enumerate(term.get("matchLabelExpressions") or ()):
            where = f"allowedTopologies[{index}].matchLabelExpressions[{position}]"
            key, values = wanted.get("key") or "", wanted.get("values") or ()
            causes += [] if values else [fields.required(f"{where}.values")]
            for at, value in enumerate(values):
                if value in values[:at]:
                    causes.append(fields.duplicate(f"{where}.values[{at}]", value))
            causes += fields.qualified_name(f"{where}.key", key)
            if key in seen:
                causes.append(fields.duplicate(f"{where}.key", key))
            seen[key] = set(values)
        same = fields.duplicate(f"allowedTopologies[{index}].matchLabelExpressions", "")
        causes += [same] * before.count(seen)
        before.append(seen)
    return causes


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes = [
        fields.not_allowed(key, f"updates to {key} are forbidden.")
        for key in ("parameters", "provisioner", "reclaimPolicy")
        if new.get(key) != old.get(key)
    ]
    mode = "volumeBindingMode"
    return causes + fields.immutable(mode, new.get(mode), old.get(mode))


def _warns(document: Mapping[str, Any]) -> list[str]:
    """Tell of labels of zones that are called otherwise today (pkg/api/storage)."""
    return [
        warning
        for index, term in enumerate(document.get("allowedTopologies") or ())
        for position, wanted in enumerate(term.get("matchLabelExpressions") or ())
        for warning in warnings.deprecated_label(
            f"allowedTopologies[{index}].matchLabelExpressions[{position}].key", wanted.get("key") or ""
        )
    ]


def _name(document: Mapping[str, Any], age: Any) -> str:
    name = str(document["metadata"].get("name", ""))
    return f"{name} (default)" if is_default(document) else name


KIND: Final = Kind(
    "StorageClass",
    "storageclasses",
    group="storage.k8s.io",
    metadata_looks="wc",
    short_names=("sc",),
    namespaced=False,
    rank=6,
    whole_rules=True,
    defaults=_defaults,
    warns=_warns,
    validate=_validate,
    validate_update=_validate_update,
    compares_empty=("parameters",),
    returned_when_deleted=True,
    columns=(
        Column("Name", NAME.type, NAME.description, _name, source=NAME.source, names=True),
        Column(
            "Provisioner",
            "string",
            "",
            lambda doc, age: doc.get("provisioner", ""),
            source="storage_v1.StorageClass#provisioner",
        ),
        Column(
            "ReclaimPolicy",
            "string",
            "",
            lambda doc, age: doc.get("reclaimPolicy", "Delete"),
            source="storage_v1.StorageClass#reclaimPolicy",
        ),
        Column(
            "VolumeBindingMode",
            "string",
            "",
            lambda doc, age: doc.get("volumeBindingMode") or "Immediate",
            source="storage_v1.StorageClass#volumeBindingMode",
        ),
        Column(
            "AllowVolumeExpansion",
            "string",
            "",
            lambda doc, age: bool(doc.get("allowVolumeExpansion")),
            source="storage_v1.StorageClass#allowVolumeExpansion",
        ),
        AGE,
    ),
    page={"provisioner": True, "volumeBindingMode": True, "reclaimPolicy": True},
)
