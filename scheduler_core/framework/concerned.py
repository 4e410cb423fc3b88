"""Which plugins of an extension point a pod concerns: the others would only say that they have nothing to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from scheduler_core.framework.interface import Plugin
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.traits import ANY

_Asked = TypeVar("_Asked", bound=Plugin)

_NOTHING_SAID: Final[Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class Plan(Generic[_Asked]):
    """What one extension point does for pods of certain traits.

    Attributes:
        asked: the plugins to ask, in order, each with the names of the idle ones before it.
        idle: the names of the others.
    """

    asked: tuple[tuple[_Asked, frozenset[str]], ...]
    idle: frozenset[str]


class Concerned(Generic[_Asked]):
    """The plugins of one extension point.

    A plugin says in `idle_without` (extension point → traits, `snapshot.traits`) that it does nothing there, or answers
    Skip, for pods with none of the traits.
    """

    def __init__(self, plugins: Sequence[_Asked], point: str) -> None:
        self.every = tuple(plugins)
        self._wants = [getattr(plugin, "idle_without", _NOTHING_SAID).get(point, ANY) for plugin in plugins]
        self._relevant = ANY
        for wants in self._wants:
            self._relevant |= wants
        self._plans: dict[int, Plan[_Asked]] = {}
        self._all = self._planned(~0)

    def plan(self, pod: PodInfo, *, timed: bool) -> Plan[_Asked]:
        """Return the plan for a pod; where plugins are timed all have their turn."""
        if timed:
            return self._all
        traits = pod.traits & self._relevant
        found = self._plans.get(traits)
        if found is None:
            found = self._plans[traits] = self._planned(traits)
        return found

    def _planned(self, traits: int) -> Plan[_Asked]:
        asked: list[tuple[_Asked, frozenset[str]]] = []
        idle: list[str] = []
        for plugin, wants in zip(self.every, self._wants, strict=True):
            if traits == ~0 or wants & traits:
                asked.append((plugin, frozenset(idle)))
            else:
                idle.append(plugin.name)
        return Plan(tuple(asked), frozenset(idle))
