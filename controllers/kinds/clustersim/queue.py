"""Queues: what waits in a scheduler's queue."""

from __future__ import annotations

from typing import Final

from controllers.kinds.clustersim.common import shown
from controllers.kinds.columns import AGE, NAME
from controllers.registry.kind import CLUSTERSIM_GROUP, Column, Kind
from controllers.registry.subresources import STATUS

KIND: Final = Kind(
    "Queue",
    "queues",
    group=CLUSTERSIM_GROUP,
    categories=("clustersim",),
    namespaced=False,
    subresources=(STATUS,),
    keeper="session",
    generation=True,
    columns=(
        NAME,
        Column("Active", "string", "Pods ready to be scheduled.", shown("status", "counts", "active")),
        Column("Backoff", "string", "Pods waiting out a penalty.", shown("status", "counts", "backoff")),
        Column("Unschedulable", "string", "Pods waiting for a change.", shown("status", "counts", "unschedulable")),
        AGE,
    ),
    page={"status": True},
)
