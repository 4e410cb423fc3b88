"""ConfigMaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.kinds.core import authentication
from controllers.registry import fields
from controllers.registry.computed import Computed
from controllers.registry.kind import Column, Kind
from scheduler_core.api.errors import Cause

DATA_BYTES_MAX: Final = 1_048_576
"""Bytes of all values together, as upstream."""


def _validate(document: dict[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    data, binary = document.get("data") or {}, document.get("binaryData") or {}
    for part, values in (("data", data), ("binaryData", binary)):
        for key in values:
            causes += fields.config_key(f"{part}[{key}]", key)
    for key in sorted(data.keys() & binary.keys()):
        causes.append(fields.bad(f"data[{key}]", key, "duplicate of key present in binaryData"))
    size = sum(len(value.encode()) for value in data.values()) + sum(len(value) * 3 // 4 for value in binary.values())
    if size > DATA_BYTES_MAX:
        causes.append(Cause("data", f"Too long: may not be more than {DATA_BYTES_MAX} bytes", "FieldValueTooLong"))
    return causes


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    if old.get("immutable"):
        if not new.get("immutable"):
            causes.append(fields.not_allowed("immutable", "field is immutable when `immutable` is set"))
        for key in ("data", "binaryData"):
            if new.get(key) != old.get(key):
                causes.append(fields.not_allowed(key, "field is immutable when `immutable` is set"))
    return causes + _validate(new)


KIND: Final = Kind(
    "ConfigMap",
    "configmaps",
    short_names=("cm",),
    rank=4,
    computed=Computed(authentication.objects, authentication.FIXED),
    whole_rules=True,
    validate=_validate,
    validate_update=_validate_update,
    compares_empty=("binaryData",),
    ratchets=True,
    columns=(
        NAME,
        Column(
            "Data",
            "string",
            "",
            lambda doc, age: len(doc.get("data") or ()) + len(doc.get("binaryData") or ()),
            source="core_v1.ConfigMap#data",
        ),
        AGE,
    ),
)
