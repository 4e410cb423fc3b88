"""A scheduler of the era framework-1.18, driven by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.eras import read_spec, registry_of
from scheduler_core.framework.metrics import Metrics
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.runtime import Framework
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.state.nominator import Nominator

ERA = "framework-1.18"


def era_scheduler(
    configuration: dict[str, Any] | None = None,
    *plugins: Any,
    listers: Any = None,
    metrics: Metrics | None = None,
    extenders: Sequence[Any] = (),
) -> Scheduler:
    """Return a scheduler of the era's default profile changed by a configuration, with plugins installed beside."""
    extra = PluginRegistry({plugin.name: lambda arguments, handle, plugin=plugin: plugin for plugin in plugins})
    spec = {"era": ERA, "configuration": configuration or {}}
    nominator = Nominator()
    built = Configuration(
        read_spec(spec, extra).profiles,
        registry_of(spec, extra),
        hash="era",
        nominator=nominator,
        listers=listers,
        metrics=metrics,
        extenders=extenders,
    )
    return Scheduler(built, nominator, seed=1)


def framework(configuration: dict[str, Any] | None = None) -> Framework:
    """Return the framework of the era's default profile changed by a configuration."""
    return era_scheduler(configuration).configuration.frameworks["default-scheduler"]
