"""The session's scheduler configuration: from the command object to profiles that run, and back as its status."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said
from scheduler_core.eras import era_of, read_spec, registry_of
from scheduler_core.framework.extending import extends
from scheduler_core.framework.interface import Listers
from scheduler_core.framework.metrics import Metrics
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.rules import CURRENT_ERA
from scheduler_core.framework.runtime import Framework
from scheduler_core.profiles.configuration import KIND, SchedulerConfiguration
from scheduler_core.profiles.era import refused
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.state.nominator import Nominator
from scheduler_core.state.waiting import WaitingPods

RESOURCE: Final = "schedulerconfigs.clustersim.io"
NAME: Final = "default"

DEFAULT_SPEC: Final[Mapping[str, Any]] = {"era": CURRENT_ERA}
"""What a session without the object runs."""

POLICY_KIND: Final = "Policy"
POLICY_ERA: Final = "algorithm-provider"
"""The era that a Policy document is for."""

_SPEC_FIELDS: Final = frozenset({"era", "configuration", "policy", "provider"})

_encode = msgspec.json.Encoder(order="deterministic").encode


def spec_of(document: Document) -> tuple[Document, str]:
    """Return the spec that a document asks for, and the path in it at which the document itself stands.

    Args:
        document: a KubeSchedulerConfiguration, a Policy, or a spec with its era.

    Raises:
        ApiError: 422, it is another kind of document.
    """
    kind = document.get("kind")
    if kind == POLICY_KIND:
        return {"era": POLICY_ERA, "policy": document}, "policy"
    if kind is None and _SPEC_FIELDS & set(document):
        return {"era": CURRENT_ERA, **document}, ""
    if kind not in (None, KIND):
        text = said(
            "scheduler.kind", "give {kind}, {policy_kind}, or a document with era", kind=KIND, policy_kind=POLICY_KIND
        )
        raise refused(Cause("kind", text, "FieldValueNotSupported"))
    return {"era": CURRENT_ERA, "configuration": document}, "configuration"


@dataclass(frozen=True, slots=True)
class Settings:
    """One spec, read.

    Attributes:
        spec: as written.
        hash: names it in traces: equal specs, equal hashes.
        configuration: what it means.
        plugins: those that are installed beside the era's own.
    """

    spec: Mapping[str, Any]
    hash: str
    configuration: SchedulerConfiguration
    plugins: PluginRegistry | None = None

    @classmethod
    def of(cls, spec: Mapping[str, Any] | None, plugins: PluginRegistry | None = None) -> Settings:
        """Return the settings of a spec; None: those of a session that asks for nothing.

        Raises:
            ApiError: 422, the configuration is wrong.
        """
        spec = spec or DEFAULT_SPEC
        return cls(spec, hashlib.blake2b(_encode(spec), digest_size=8).hexdigest(), read_spec(spec, plugins), plugins)

    def registry(self) -> PluginRegistry:
        """Return the plugins that its profiles are built from."""
        return registry_of(self.spec, self.plugins)

    def build(
        self,
        nominator: Nominator,
        listers: Listers | None,
        metrics: Metrics | None = None,
        waiting: WaitingPods | None = None,
    ) -> Configuration:
        """Return the profiles, ready to run; what they count and time goes into `metrics`, `waiting` are the pods that
        Permit holds already.

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
            waiting=waiting,
            extenders=self.configuration.extenders,
            backoff_ms=(self.configuration.initial_backoff_ms, self.configuration.max_backoff_ms),
        )

    def status(self, generation: int) -> dict[str, Any]:
        """Return the command object's status as whoever runs these settings would write it."""
        return status_of(self, self.build(Nominator(), None), generation)


def status_of(settings: Settings, configuration: Configuration, generation: int) -> dict[str, Any]:
    """Return the command object's status for what runs: `configuration` is what `settings` were built to."""
    registered = list(settings.registry())
    return {
        "observedGeneration": generation,
        "hash": configuration.hash,
        "era": era_of(settings.spec).name,
        "title": era_of(settings.spec).title,
        "registered": registered,
        "percentageOfNodesToScore": configuration.percentage,
        "podInitialBackoffSeconds": configuration.backoff_ms[0] / 1000,
        "podMaxBackoffSeconds": configuration.backoff_ms[1] / 1000,
        "profiles": [
            _profile(written, configuration.frameworks[written.scheduler_name], registered)
            for written in settings.configuration.profiles
        ],
    }


def _profile(written: ProfileConfiguration, framework: Framework, registered: Sequence[str]) -> dict[str, Any]:
    profile = framework.profile
    # Points are called what the era calls them.
    order = [(framework.rules.set_name(point), plugins) for point, plugins in profile.plugins.items()]
    return {
        "schedulerName": profile.scheduler_name,
        "percentageOfNodesToScore": profile.percentage_of_nodes_to_score,
        "enabled": list(written.names()),
        "plugins": [
            {
                "name": plugin,
                "weight": profile.weights.get(plugin, 0),
                "points": [point for point, plugins in order if plugin in plugins],
            }
            for plugin in framework.plugins
        ],
        "order": [{"point": point, "plugins": list(plugins)} for point, plugins in order],
        "refused": _refused(written, framework, registered),
    }


def _refused(written: ProfileConfiguration, framework: Framework, registered: Sequence[str]) -> list[dict[str, str]]:
    """Return the plugins that do not run, at all or at a point that they extend, each with the reason."""
    refused = [
        {"name": name, "point": "", "reason": "not enabled in this profile"}
        for name in registered
        if name not in framework.plugins
    ]
    for name, plugin in framework.plugins.items():
        for point, protocol in framework.rules.extension_points.items():
            if not extends(plugin, protocol) or name in framework.profile.at(point):
                continue
            disabled = written.sets.get(point, PluginSet()).disabled
            why = "disabled at this point" if disabled & {name, "*"} else "not enabled at this point"
            refused.append({"name": name, "point": framework.rules.set_name(point), "reason": why})
    return refused
