"""RuntimeClasses: how the containers of a pod are run, what that costs, and where it can be done.

Source: pkg/apis/node/validation, pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, text_of
from controllers.kinds.core import resources, scheduling
from controllers.kinds.core.pod import warnings
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause


def _validate(document: dict[str, Any]) -> list[Cause]:
    causes = fields.label_name("handler", document.get("handler") or "")
    if "overhead" in document:
        # Upstream checks it as the limits of a container, and the path shows it.
        causes += resources.amounts("overhead.limits", at(document, "overhead", "podFixed"), resources.container_name)
    where = document.get("scheduling")
    if where is not None:
        causes += fields.labels("scheduling.nodeSelector", where.get("nodeSelector"))
        tolerations = where.get("tolerations") or ()
        causes += scheduling.tolerations("scheduling.tolerations.tolerations", tolerations)
        causes += _repeated("scheduling.tolerations", tolerations)
    return causes


def _repeated(field: str, tolerations: Any) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[tuple[Any, ...]] = set()
    for index, toleration in enumerate(tolerations):
        key = tuple(toleration.get(name) for name in ("key", "operator", "value", "effect"))
        if key in seen:
            causes.append(fields.duplicate(f"{field}[{index}]", internal.shown(toleration, "core.Toleration")))
        seen.add(key)
    return causes


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    return fields.immutable("handler", new.get("handler") or "", old.get("handler") or "")


def _warns(document: Mapping[str, Any]) -> list[str]:
    return warnings.node_labels("scheduling.nodeSelector", at(document, "scheduling", "nodeSelector") or ())


KIND: Final = Kind(
    "RuntimeClass",
    "runtimeclasses",
    group="node.k8s.io",
    namespaced=False,
    rank=6,
    asks=True,
    made_by_put=True,
    whole_rules=True,
    any_finalizers=True,
    validate=_validate,
    warns=_warns,
    validate_update=_validate_update,
    unconditional=False,
    columns=(NAME, Column("Handler", "string", "", text_of("handler")), AGE),
)
