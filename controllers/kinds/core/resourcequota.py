"""ResourceQuotas: limits of what a namespace may ask for in sum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.kinds.core import resources
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS_AND_METADATA
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {}


def _defaults(document: dict[str, Any]) -> None:
    child(document, "spec")


def _validate(document: dict[str, Any]) -> list[Cause]:
    return resources.amounts("spec.hard", at(document, "spec", "hard"))


def _used(prefix: str) -> Any:
    def cell(document: Mapping[str, Any], age: Any) -> str:
        hard = at(document, "status", "hard") or at(document, "spec", "hard") or {}
        used = at(document, "status", "used") or {}
        names = sorted(name for name in hard if name.startswith("limits.") == (prefix == "limits."))
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return cell


KIND: Final = Kind(
    "ResourceQuota",
    "resourcequotas",
    short_names=("quota",),
    subresources=(STATUS_AND_METADATA,),
    keeper="resourcequota",
    rank=2,
    students=False,
    prepare=_prepare,
    defaults=_defaults,
    validate=_validate,
    returned_when_deleted=True,
    columns=(
        NAME,
        Column(
            "Request",
            "string",
            "Request represents a minimum amount of cpu/memory that a container may consume.",
            _used(""),
        ),
        Column(
            "Limit",
            "string",
            "Limits control the maximum amount of cpu/memory that a container may use independent of contention on "
            "the node.",
            _used("limits."),
        ),
        AGE,
    ),
)
