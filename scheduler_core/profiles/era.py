"""What an era of the scheduler is: its plugins, and how it reads what a session asks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.profiles.configuration import SchedulerConfiguration


@dataclass(frozen=True, slots=True)
class Era:
    """One era.

    Attributes:
        name: as in the command object's `spec.era`.
        title: what a person reads.
        registry: makes a registry of its plugins.
        read: (spec, plugins that exist) → what the spec means. Raises ApiError 422 with a cause for every wrong field,
            paths as in the spec (`configuration.profiles[0].schedulerName`).
    """

    name: str
    title: str
    registry: Callable[[], PluginRegistry]
    read: Callable[[Mapping[str, Any], PluginRegistry], SchedulerConfiguration]
