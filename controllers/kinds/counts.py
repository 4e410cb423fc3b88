"""What the counts in a workload's status have to be: none below zero, none greater than what it is a part of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from controllers.registry import fields
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause


def rules(
    counts: Sequence[str], parts: Sequence[str] = (), ready: str = ""
) -> Callable[[Document, Mapping[str, Any]], list[Cause]]:
    """Return the rules of a status.

    Args:
        counts: its numbers, in upstream's order.
        parts: those that are no greater than `replicas`.
        ready: how upstream calls `readyReplicas` where `availableReplicas` is greater; empty: it does not look.
    """

    def check(document: Document, old: Mapping[str, Any]) -> list[Cause]:
        status: dict[str, Any] = document.get("status") or {}
        causes = [cause for name in counts for cause in fields.non_negative(f"status.{name}", status.get(name))]
        for name in parts:
            if status.get(name, 0) > status.get("replicas", 0):
                why = "cannot be greater than status.replicas"
                causes.append(fields.bad(f"status.{name}", status.get(name, 0), why))
        available = status.get("availableReplicas", 0)
        if ready and available > status.get("readyReplicas", 0):
            causes.append(fields.bad("status.availableReplicas", available, f"cannot be greater than {ready}"))
        if "collisionCount" in counts:
            causes += _collisions(status.get("collisionCount"), (old.get("status") or {}).get("collisionCount"))
        return causes

    return check


def _collisions(count: int | None, before: int | None) -> list[Cause]:
    """Check that collisions of names are only ever counted upwards (IsDecremented)."""
    if before is None or (count is not None and count >= before):
        return []
    return [fields.bad("status.collisionCount", count or 0, "cannot be decremented")]


REPLICAS = rules(
    ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"),
    ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    "readyReplicas",
)
"""Of ReplicaSets and ReplicationControllers."""
