"""SchedulerConfigs: which scheduler runs, and how it is configured."""

from __future__ import annotations

from collections.abc import Mapping
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


def calls_of(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (path in the spec, URL) of each extender of a spec that was read without complaint before."""
    return [
        (f"{section}.extenders[{index}].urlPrefix", extender["urlPrefix"])
        for section in ("configuration", "policy")
        for index, extender in enumerate((spec.get(section) or {}).get("extenders") or ())
    ]


KIND: Final = command(
    "SchedulerConfig",
    "schedulerconfigs",
    Column("Era", "string", "Which scheduler it is.", shown("spec", "era")),
    defaults=with_spec,
    admit=_scheduler,
    admit_update=lambda new, old, lookup: _scheduler(new, lookup),
    calls=lambda document: [(f"spec.{path}", url) for path, url in calls_of(document.get("spec") or {})],
    page={"spec": True, "status": True},
)
