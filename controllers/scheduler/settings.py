"""The session's scheduler configuration: from the command object to profiles that run, and back as its status."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from scheduler_core.framework.interface import Listers
from scheduler_core.framework.metrics import Metrics
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.rules import CURRENT_ERA
from scheduler_core.profiles.configuration import SchedulerConfiguration
from scheduler_core.profiles.eras import read_spec, registry_of
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.state.nominator import Nominator

RESOURCE: Final = "schedulerconfigs.clustersim.io"
NAME: Final = "default"

DEFAULT_SPEC: Final[Mapping[str, Any]] = {"era": CURRENT_ERA}
"""What a session without the object runs."""

_encode = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True, slots=True)
class Settings:
    """One spec, read.

    Attributes:
        spec: as written.
        hash: names it in traces: equal specs, equal hashes.
        configuration: what it means.
    """

    spec: Mapping[str, Any]
    hash: str
    configuration: SchedulerConfiguration

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Settings:
        """Return the settings of a spec.

        Raises:
            ApiError: 422, the configuration is wrong.
        """
        return cls(spec, hashlib.blake2b(_encode(spec), digest_size=8).hexdigest(), read_spec(spec))

    def registry(self) -> PluginRegistry:
        """Return the plugins that its profiles are built from."""
        return registry_of(self.spec)

    def build(self, nominator: Nominator, listers: Listers | None, metrics: Metrics | None = None) -> Configuration:
        """Return the profiles, ready to run; what they count and time goes into `metrics`.

        Raises:
            ProfileError: a profile cannot run.
        """
        return Configuration(
            self.configuration.profiles,
            self.registry(),
            hash=self.hash,
            percentage=self.configuration.percentage_of_nodes_to_score,
            listers=listers,
            nominator=nominator,
            metrics=metrics,
            extenders=self.configuration.extenders,
            backoff_ms=(self.configuration.initial_backoff_ms, self.configuration.max_backoff_ms),
        )


def status_of(configuration: Configuration, generation: int) -> dict[str, Any]:
    """Return the command object's status for what runs."""
    return {
        "observedGeneration": generation,
        "hash": configuration.hash,
        "profiles": [
            {
                "schedulerName": name,
                "plugins": [
                    {
                        "name": plugin,
                        "weight": framework.profile.weights.get(plugin, 0),
                        "points": [point for point, plugins in framework.profile.plugins.items() if plugin in plugins],
                    }
                    for plugin in framework.plugins
                ],
            }
            for name, framework in configuration.frameworks.items()
        ],
    }
