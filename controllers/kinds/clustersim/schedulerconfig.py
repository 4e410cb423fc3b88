"""SchedulerConfigs: which scheduler runs, and how it is configured."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.clustersim.common import command, shown, with_spec
from controllers.registry.kind import Column, Lookup
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.eras import read_spec
from scheduler_core.profiles.era import below


def _scheduler(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    try:
        read_spec(document["spec"], lookup.plugins)
    except ApiError as wrong:
        return list(below(wrong, "spec").causes)
    return []


KIND: Final = command(
    "SchedulerConfig",
    "schedulerconfigs",
    Column("Era", "string", "Which scheduler it is.", shown("spec", "era")),
    defaults=with_spec,
    admit=_scheduler,
    admit_update=lambda new, old, lookup: _scheduler(new, lookup),
    page={"spec": True, "status": True},
)
