"""A profile: which plugins run at which extension point, in which order, with which weights and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"


@dataclass(frozen=True, slots=True)
class Profile:
    """One resolved profile.

    Attributes:
        scheduler_name: pods with this `spec.schedulerName` use it.
        plugins: extension point (`preFilter` …) → plugin names in running order.
        weights: score plugin → weight, positive.
        arguments: plugin → its arguments as in pluginConfig.
        percentage_of_nodes_to_score: None means the configuration's.
    """

    scheduler_name: str
    plugins: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, int] = field(default_factory=dict)
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    percentage_of_nodes_to_score: int | None = None

    def at(self, point: str) -> tuple[str, ...]:
        """Return the plugins of an extension point, in running order."""
        return self.plugins.get(point, ())

    def names(self) -> tuple[str, ...]:
        """Return every plugin once, in order of first appearance."""
        return tuple(dict.fromkeys(name for point in self.plugins.values() for name in point))
