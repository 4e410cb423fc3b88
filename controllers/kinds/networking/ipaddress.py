"""IPAddresses: to which object an address of the Services' range belongs.

Stored where people write them; the addresses of this cluster's own Services are given out without them.

Source: pkg/apis/networking (validation), pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause


def _validate(document: dict[str, Any]) -> list[Cause]:
    where, parent = "spec.parentRef", at(document, "spec", "parentRef")
    if parent is None:
        return [fields.required(where)]
    causes: list[Cause] = []
    if parent.get("group"):
        causes += fields.subdomain(f"{where}.group", parent["group"])
    for key in ("resource", "name"):
        value = parent.get(key) or ""
        causes += fields.path_segment(f"{where}.{key}", value) if value else [fields.required(f"{where}.{key}")]
    if parent.get("namespace"):
        causes += fields.path_segment(f"{where}.namespace", parent["namespace"])
    return causes


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    of = "*networking.ParentReference"
    return internal.immutable("spec.parentRef", at(new, "spec", "parentRef"), at(old, "spec", "parentRef"), of)


def _parent(document: Mapping[str, Any], age: Any) -> str:
    parent = at(document, "spec", "parentRef") or {}
    group, resource = parent.get("group") or "", parent.get("resource") or ""
    of = f"{resource}.{group}" if group else resource
    return "/".join(filter(None, (of, parent.get("namespace") or "", parent.get("name") or ""))) or NONE


KIND: Final = Kind(
    "IPAddress",
    "ipaddresses",
    group="networking.k8s.io",
    metadata_looks="wc",
    short_names=("ip",),
    namespaced=False,
    names="address",
    rank=60,
    whole_rules=True,
    validate=_validate,
    validate_update=_validate_update,
    columns=(
        NAME,
        Column("ParentRef", "string", "", _parent, source="networking_v1.IPAddressSpec#parentRef"),
        # Upstream's printer tells the age and has no column for it.
        AGE._replace(name=""),
    ),
)
