"""The document's own aim: pods that need a kind of node are on such nodes, and the others are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduler_core.api.node import Node
from scheduler_core.model.deviations import TODAY, Granted
from scheduler_core.model.filters import FILTERS
from scheduler_core.model.objects import Objects
from scheduler_core.model.placement import Placement
from scheduler_core.snapshot.node_info import PodInfo

Needs = Callable[[PodInfo], bool]
Has = Callable[[Node], bool]


@dataclass(frozen=True, slots=True)
class Separation:
    """Who breaks the two guarantees: names as (pod uid, node name).

    Attributes:
        strays: pods that need the kind, on nodes that are not of it.
        intruders: pods that do not need it, on nodes of it.
    """

    strays: tuple[tuple[str, str], ...]
    intruders: tuple[tuple[str, str], ...]

    @property
    def holds(self) -> bool:
        """Return whether both guarantees hold."""
        return not self.strays and not self.intruders


def separation(pods: Sequence[PodInfo], placement: Placement, objects: Objects, needs: Needs, has: Has) -> Separation:
    """Return which placed pods break the guarantees in one placement."""
    where = [(pod, objects.node_of[placement[pod.uid]]) for pod in pods if placement.get(pod.uid) in objects.node_of]
    return _broken(where, needs, has)


def guarantees(
    pods: Sequence[PodInfo], objects: Objects, needs: Needs, has: Has, granted: Granted = TODAY
) -> Separation:
    """Return which pairs could ever break the guarantees: what the filters allow on nodes that nobody else uses.

    Empty on both sides, the filters guarantee separation, whatever order the pods come in and however they score.
    """
    empty = Objects((), objects.nodes, objects.budgets, objects.namespaces)
    allowed = [
        (pod, node)
        for pod in pods
        for node in objects.nodes
        if all(holds(pod, node, empty, granted) for holds in FILTERS.values())
    ]
    return _broken(allowed, needs, has)


def _broken(where: Sequence[tuple[PodInfo, Node]], needs: Needs, has: Has) -> Separation:
    return Separation(
        tuple((pod.uid, node.name) for pod, node in where if needs(pod) and not has(node)),
        tuple((pod.uid, node.name) for pod, node in where if not needs(pod) and has(node)),
    )
