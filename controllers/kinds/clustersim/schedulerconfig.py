"""SchedulerConfigs: which scheduler runs, and how it is configured."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.clustersim.common import shown, with_spec
from controllers.kinds.columns import AGE, NAME
from controllers.registry.kind import CLUSTERSIM_GROUP, Column, Kind, Lookup
from controllers.registry.subresources import STATUS
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.eras import read_spec
from scheduler_core.profiles.era import below


def _scheduler(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    try:
        read_spec(document["spec"], lookup.plugins)
    except ApiError as wrong:
        return list(below(wrong, "spec").causes)
    return []


KIND: Final = Kind(
    "SchedulerConfig",
    "schedulerconfigs",
    group=CLUSTERSIM_GROUP,
    categories=("clustersim",),
    namespaced=False,
    subresources=(STATUS,),
    keeper="session",
    defaults=with_spec,
    admit=_scheduler,
    admit_update=lambda new, old, lookup: _scheduler(new, lookup),
    generation=True,
    columns=(NAME, Column("Era", "string", "Which scheduler it is.", shown("spec", "era")), AGE),
    page={"spec": True, "status": True},
)
