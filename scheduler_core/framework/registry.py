"""The plugin registry: name → how to build it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Listers, Nominator, Plugin, WaitingPods
from scheduler_core.framework.metrics import Metrics
from scheduler_core.framework.rules import Rules
from scheduler_core.framework.status import Status
from scheduler_core.framework.trial import Trial
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot


class Handle(Protocol):
    """What a plugin may use of the framework that it runs in: upstream's `framework.Handle`, typed.

    What upstream's is for: informers and listers are `listers`, over which lies what the volume binder has promised to
    pods on their way; the shared snapshot is `snapshot`; the nominator and the waiting pods have their names; running
    other plugins is `trial`, `run_add_pod`, `run_remove_pod`, `filter_node_with_nominated`. There is no client: plugins
    write nothing themselves, they yield what is to be done (`asks.Ask`) in PostFilter, PreBind and Bind, and are told
    the outcome, so that an attempt can be held, resumed and replayed.
    """

    @property
    def rules(self) -> Rules:
        """Return the era's rules."""
        ...

    @property
    def metrics(self) -> Metrics | None:
        """Return what records counts and durations; None: nobody wants them."""
        ...

    @property
    def listers(self) -> Listers:
        """Return read access to other objects of the cluster."""
        ...

    @property
    def nominator(self) -> Nominator:
        """Return who hopes to land where."""
        ...

    @property
    def waiting(self) -> WaitingPods:
        """Return the pods that Permit holds."""
        ...

    @property
    def snapshot(self) -> Snapshot:
        """Return the nodes as the attempt in hand sees them; without a node before the first."""
        ...

    @property
    def plugins(self) -> Mapping[str, Plugin]:
        """Return the profile's plugins by name."""
        ...

    def run_add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Tell PreFilter state that `added` now is on the row of a dry run's snapshot, which has it already."""
        ...

    def run_remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Tell PreFilter state that `removed` is gone from the row of a dry run's snapshot, which lacks it already."""
        ...

    def trial(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Trial:
        """Begin a dry run on one row of the attempt's snapshot: what would the filters say if pods came or went."""
        ...

    def filter_node_with_nominated(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Return what the filters say of one row under the two-pass rule for nominated pods."""
        ...


PluginFactory = Callable[[Mapping[str, Any], Handle], Plugin]
"""(arguments as in pluginConfig, handle) → plugin. Raises ValueError for arguments that are wrong."""


class RegistryError(ValueError):
    """A name that is registered twice, or not at all; the text is upstream's."""


class PluginRegistry:
    """Plugin factories by name."""

    def __init__(self, factories: Mapping[str, PluginFactory] | None = None) -> None:
        self._factories: dict[str, PluginFactory] = dict(factories or {})

    def register(self, name: str, factory: PluginFactory) -> None:
        """Add a plugin.

        Raises:
            RegistryError: the name is taken.
        """
        if name in self._factories:
            raise RegistryError(f"a plugin named {name} already exists")
        self._factories[name] = factory

    def unregister(self, name: str) -> None:
        """Take a plugin out.

        Raises:
            RegistryError: there is none of that name.
        """
        if name not in self._factories:
            raise RegistryError(f"no plugin named {name} exists")
        del self._factories[name]

    def merge(self, other: PluginRegistry) -> None:
        """Add all of another registry's plugins.

        Raises:
            RegistryError: a name is taken.
        """
        for name in other:
            self.register(name, other._factories[name])

    def build(self, name: str, arguments: Mapping[str, Any], handle: Handle) -> Plugin:
        """Return a new plugin.

        Raises:
            RegistryError: there is none of that name.
            ValueError: the arguments are wrong.
        """
        if name not in self._factories:
            raise RegistryError(f"{name} does not exist")
        return self._factories[name](arguments, handle)

    def factories(self) -> tuple[tuple[str, PluginFactory], ...]:
        """Return each name with how it is built, in order: two registries that have the same build the same."""
        return tuple(self._factories.items())

    def __contains__(self, name: object) -> bool:
        return name in self._factories

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._factories))
