"""Clocks: how time is asked to run, and how it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.clustersim.common import command, shown, with_spec
from controllers.log.stamps import human_duration
from controllers.registry.kind import Column
from controllers.registry.models.clustersim_v1 import ClockSpec
from scheduler_core.api.document import at


def _session_time(document: Mapping[str, Any], age: Any) -> str:
    return human_duration(int(at(document, "status", "simTimeMs") or 0) // 1000)


KIND: Final = command(
    "Clock",
    "clocks",
    Column("Paused", "string", "Whether time stands.", shown("status", "paused")),
    Column("Rate", "string", "Simulated seconds per real second.", shown("status", "rate")),
    Column("Pace", "string", "Milliseconds at each extension point.", shown("status", "pace")),
    Column("Time", "string", "Simulated time so far.", _session_time),
    spec=ClockSpec,
    defaults=with_spec,
    page={"spec": True, "status": True},
)
