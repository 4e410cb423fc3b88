"""Clocks: how time is asked to run, and how it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.clustersim.common import shown, with_spec
from controllers.kinds.columns import AGE, NAME
from controllers.log.stamps import human_duration
from controllers.registry import fields
from controllers.registry.kind import CLUSTERSIM_GROUP, Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause

RATE_MIN: Final = 0.1

RATE_MAX: Final = 100.0
"""Simulated seconds per real second: slower shows nothing more, faster no worker keeps up with."""

PACE_MAX_MS: Final = 60_000
"""Simulated milliseconds at one extension point; a minute is longer than anybody waits."""

STEP_COUNT_MAX: Final = 10_000
"""Steps of one request: the owner answers within seconds."""

STEPS: Final = ("cycle", "event", "point", "seconds")


def _clock(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes: list[Cause] = []
    rate, pace = spec.get("rate"), spec.get("pace")
    if rate is not None and not RATE_MIN <= rate <= RATE_MAX:
        causes.append(fields.bad("spec.rate", rate, f"must be between {RATE_MIN} and {RATE_MAX:g}"))
    if pace is not None and not 0 <= pace <= PACE_MAX_MS:
        causes.append(fields.bad("spec.pace", pace, f"must be between 0 and {PACE_MAX_MS}"))
    step = spec.get("step")
    if step is not None:
        causes += fields.one_of("spec.step.by", step.get("by"), STEPS)
        count = step.get("count")
        if count is not None and not 0 <= count <= STEP_COUNT_MAX:
            causes.append(fields.bad("spec.step.count", count, f"must be between 0 and {STEP_COUNT_MAX}"))
    return causes


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
