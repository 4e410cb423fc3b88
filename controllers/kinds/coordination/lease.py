"""Leases: who holds a lock, and since when."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause


def _defaults(document: dict[str, Any]) -> None:
    document.setdefault("spec", {})


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes: list[Cause] = []
    duration = spec.get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        causes.append(fields.bad("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    causes += fields.non_negative("spec.leaseTransitions", spec.get("leaseTransitions"))
    return causes


KIND: Final = Kind(
    "Lease",
    "leases",
    group="coordination.k8s.io",
    components=True,
    exported=False,
    defaults=_defaults,
    validate=_validate,
    columns=(
        NAME,
        Column("Holder", "string", "Who holds it.", lambda doc, age: at(doc, "spec", "holderIdentity") or ""),
        AGE,
    ),
    page={"spec": True},
)
