"""Algorithm providers: named pairs of predicates and priorities, and the table of both.

Source: `RegisterAlgorithmProvider`, `plugin/pkg/scheduler/factory/plugins.go`, and `algorithmprovider/defaults`,
Kubernetes 1.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from scheduler_core.framework.registry import PluginFactory, PluginRegistry, RegistryError
from scheduler_core.legacy import (
    balanced_allocation,
    binder,
    disk_conflict,
    equal,
    fifo,
    host_name,
    host_ports,
    image_locality,
    label_preference,
    labels_presence,
    least_requested,
    node_affinity,
    node_lister,
    node_selector,
    resources,
    selector_spread,
    service_affinity,
    service_anti_affinity,
    volume_counts,
    volume_zone,
)

PREDICATES: Final[Mapping[str, PluginFactory]] = {
    host_ports.NAME: lambda arguments, handle: host_ports.PodFitsHostPorts(),
    resources.NAME: lambda arguments, handle: resources.PodFitsResources(),
    disk_conflict.NAME: lambda arguments, handle: disk_conflict.NoDiskConflict(),
    volume_zone.NAME: volume_zone.NoVolumeZoneConflict,
    node_selector.NAME: lambda arguments, handle: node_selector.MatchNodeSelector(),
    host_name.NAME: lambda arguments, handle: host_name.HostName(),
    volume_counts.MAX_EBS: volume_counts.MaxEBSVolumeCount,
    volume_counts.MAX_GCE_PD: volume_counts.MaxGCEPDVolumeCount,
}
"""The predicates, in the text's order, which is the order in which they are asked (upstream's was a map's)."""

PRIORITIES: Final[Mapping[str, PluginFactory]] = {
    least_requested.NAME: lambda arguments, handle: least_requested.LeastRequestedPriority(),
    balanced_allocation.NAME: lambda arguments, handle: balanced_allocation.BalancedResourceAllocation(),
    selector_spread.SELECTOR_SPREAD: selector_spread.SelectorSpreadPriority,
    node_affinity.NAME: lambda arguments, handle: node_affinity.NodeAffinityPriority(),
    equal.NAME: lambda arguments, handle: equal.EqualPriority(),
    selector_spread.SERVICE_SPREADING: selector_spread.ServiceSpreadingPriority,
    image_locality.NAME: lambda arguments, handle: image_locality.ImageLocalityPriority(),
}
"""The priorities, in the text's order."""

CUSTOM_PREDICATES: Final[Mapping[str, PluginFactory]] = {
    service_affinity.NAME: service_affinity.CheckServiceAffinity,
    labels_presence.NAME: lambda arguments, handle: labels_presence.CheckNodeLabelPresence(arguments),
}
"""Predicates that only a Policy can make, by an argument."""

CUSTOM_PRIORITIES: Final[Mapping[str, PluginFactory]] = {
    service_anti_affinity.NAME: service_anti_affinity.ServiceAntiAffinityPriority,
    label_preference.NAME: lambda arguments, handle: label_preference.NodeLabelPriority(arguments),
}
"""Priorities that only a Policy can make, by an argument."""

AROUND: Final[Mapping[str, PluginFactory]] = {
    fifo.NAME: lambda arguments, handle: fifo.FIFO(),
    node_lister.NAME: lambda arguments, handle: node_lister.NodeLister(),
    binder.NAME: lambda arguments, handle: binder.Binder(),
}
"""What every scheduler of the era had around its algorithm: a queue, a list of nodes, a binder."""

DEFAULT_PROVIDER: Final = "DefaultProvider"

_NAME: Final = re.compile(r"[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?")


@dataclass(frozen=True, slots=True)
class AlgorithmProvider:
    """A scheduling policy by name: which predicates must hold, and which priorities are added up with which weights."""

    name: str
    predicates: tuple[str, ...]
    priorities: tuple[tuple[str, int], ...]


class AlgorithmProviders:
    """Providers by name."""

    def __init__(self) -> None:
        self._providers: dict[str, AlgorithmProvider] = {}

    def register(
        self, name: str, predicates: Iterable[str], priorities: Iterable[str] | Mapping[str, int]
    ) -> AlgorithmProvider:
        """Add a provider and return it.

        Args:
            name: letters, digits and inner dashes.
            predicates: keys of `PREDICATES`.
            priorities: keys of `PRIORITIES`, each of weight 1, or with weights.

        Raises:
            RegistryError: the name is taken or no name, a key is unknown, or a weight is not positive. (Upstream let a
                second registration replace the first and found unknown keys when it built the scheduler.)
        """
        if _NAME.fullmatch(name) is None:
            raise RegistryError(f'algorithm name "{name}" does not match the name validation regexp "{_NAME.pattern}"')
        if name in self._providers:
            raise RegistryError(f'an algorithm provider named "{name}" already exists')
        wanted = set(predicates)
        weights = dict(priorities) if isinstance(priorities, Mapping) else dict.fromkeys(priorities, 1)
        for kind, keys, known in (("predicate", wanted, PREDICATES), ("priority", set(weights), PRIORITIES)):
            for key in sorted(keys - known.keys()):
                raise RegistryError(f'invalid {kind} name "{key}" specified - no corresponding function found')
        for key, weight in weights.items():
            if weight <= 0:
                raise RegistryError(f"Priority {key} should have a positive weight applied to it, not {weight}")
        found = self._providers[name] = AlgorithmProvider(
            name,
            tuple(key for key in PREDICATES if key in wanted),
            tuple((key, weights[key]) for key in PRIORITIES if key in weights),
        )
        return found

    def get(self, name: str) -> AlgorithmProvider | None:
        """Return a provider, None where there is none of that name."""
        return self._providers.get(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._providers)


PROVIDERS: Final = AlgorithmProviders()
"""The providers that sessions may name."""

register_algorithm_provider: Final = PROVIDERS.register
"""Add a provider that sessions may name: (name, predicates, priorities)."""

register_algorithm_provider(
    DEFAULT_PROVIDER,
    PREDICATES,
    # The text says three and lists these four; upstream has them.
    (least_requested.NAME, balanced_allocation.NAME, selector_spread.SELECTOR_SPREAD, node_affinity.NAME),
)


def era_registry() -> PluginRegistry:
    """Return a registry of everything that the era has."""
    return PluginRegistry({**AROUND, **PREDICATES, **CUSTOM_PREDICATES, **PRIORITIES, **CUSTOM_PRIORITIES})
