"""Queues: what waits in a scheduler's queue."""

from __future__ import annotations

from typing import Final

from controllers.kinds.clustersim.common import command, shown
from controllers.registry.kind import Column

KIND: Final = command(
    "Queue",
    "queues",
    Column("Active", "string", "Pods ready to be scheduled.", shown("status", "counts", "active")),
    Column("Backoff", "string", "Pods waiting out a penalty.", shown("status", "counts", "backoff")),
    Column("Unschedulable", "string", "Pods waiting for a change.", shown("status", "counts", "unschedulable")),
    page={"status": True},
)
