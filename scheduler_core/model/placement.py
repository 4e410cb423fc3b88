"""Placements: possible ⊇ feasible ⊇ viable, found by trying all of them. For tiny clusters: there are (n + 1)ᵖ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from scheduler_core.model.affinity import viability
from scheduler_core.model.deviations import AS_WRITTEN, Granted
from scheduler_core.model.filters import feasibility
from scheduler_core.model.objects import Objects
from scheduler_core.snapshot.node_info import PodInfo

PLACEMENTS_MAX: Final = 2_000
"""Placements of a live cluster that are tried one by one; where more are possible, none are counted."""

Placement = Mapping[str, str]
"""uid → node name: partial (a pod may have none) and non-injective (a node may have many)."""


@dataclass(frozen=True, slots=True, order=True)
class Utility:
    """What a placement is worth; compared from left to right.

    The document ranks placements by score and says no word on pods that are left over. Here a placed pod is worth more
    than any score, one of higher priority more than any number of lesser ones.

    Attributes:
        placed: how many pods have a node, from the highest priority to the lowest.
        viability: sum of Viability over the placed pods, each judged with all the others in place.
    """

    placed: tuple[int, ...]
    viability: int


def priorities(pods: Sequence[PodInfo]) -> tuple[int, ...]:
    """Return the pods' priorities, the highest first, each once."""
    return tuple(sorted({pod.priority for pod in pods}, reverse=True))


def possible(pods: Sequence[PodInfo], objects: Objects) -> Iterator[Placement]:
    """Yield every partial function from the pods to the nodes."""
    names = ("", *(node.name for node in objects.nodes))
    for choice in product(names, repeat=len(pods)):
        yield {pod.uid: name for pod, name in zip(pods, choice, strict=True) if name}


def _placed(pods: Sequence[PodInfo], placement: Placement, objects: Objects) -> tuple[Objects, list[PodInfo]]:
    moved = [(pod, placement[pod.uid]) for pod in pods if pod.uid in placement]
    after = objects.without(pods).with_bound(moved)
    return after, [pod for pod, _ in moved]


def is_feasible(pods: Sequence[PodInfo], placement: Placement, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return whether every placed pod satisfies its constraints where it is, given all the others in place.

    ∀ Pod ∈ DOMAIN(Placement) : Feasibility(Pod, Placement[Pod], Placed ∖ {Pod})
    """
    after, moved = _placed(pods, placement, objects)
    return all(feasibility(pod, after.node_of[placement[pod.uid]], after.without((pod,)), granted) for pod in moved)


def utility(pods: Sequence[PodInfo], placement: Placement, objects: Objects) -> Utility:
    """Return what a placement is worth."""
    after, moved = _placed(pods, placement, objects)
    return Utility(
        tuple(sum(pod.priority == priority for pod in moved) for priority in priorities(pods)),
        sum(viability(pod, after.node_of[placement[pod.uid]], after.without((pod,))) for pod in moved),
    )


def feasible_placements(
    pods: Sequence[PodInfo], objects: Objects, granted: Granted = AS_WRITTEN
) -> Iterator[Placement]:
    """Yield the placements that satisfy every constraint."""
    return (one for one in possible(pods, objects) if is_feasible(pods, one, objects, granted))


def viable_placements(
    pods: Sequence[PodInfo], objects: Objects, granted: Granted = AS_WRITTEN
) -> tuple[Utility, tuple[Placement, ...]]:
    """Return the highest utility and the feasible placements that have it; the empty placement is always feasible."""
    ranked = [(utility(pods, one, objects), one) for one in feasible_placements(pods, objects, granted)]
    best = max(worth for worth, _ in ranked)
    return best, tuple(one for worth, one in ranked if worth == best)
