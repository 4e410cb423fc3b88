"""Clocks: how time is asked to run, and how it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.clustersim.common import shown, with_spec
from controllers.kinds.columns import AGE, NAME
from controllers.log.stamps import human_duration
from controllers.registry.kind import CLUSTERSIM_GROUP, Column, Kind
from controllers.registry.models.clustersim_v1 import ClockSpec
from controllers.registry.structs import beyond
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause


def _clock(document: dict[str, Any]) -> list[Cause]:
    return beyond(document["spec"], ClockSpec, "spec")


def _session_time(document: Mapping[str, Any], age: Any) -> str:
    return human_duration(int(at(document, "status", "simTimeMs") or 0) // 1000)


KIND: Final = Kind(
    "Clock",
    "clocks",
    group=CLUSTERSIM_GROUP,
    categories=("clustersim",),
    namespaced=False,
    subresources=(STATUS,),
    keeper="session",
    defaults=with_spec,
    validate=_clock,
    generation=True,
    columns=(
        NAME,
        Column("Paused", "string", "Whether time stands.", shown("status", "paused")),
        Column("Rate", "string", "Simulated seconds per real second.", shown("status", "rate")),
        Column("Pace", "string", "Milliseconds at each extension point.", shown("status", "pace")),
        Column("Time", "string", "Simulated time so far.", _session_time),
        AGE,
    ),
    page={"spec": True, "status": True},
)
