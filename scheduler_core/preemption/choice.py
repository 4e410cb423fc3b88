"""Which candidate costs least: criteria in order, each among those that the ones before left equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.preemption.dry_run import Candidate
from scheduler_core.preemption.importance import start_time

_PRIORITY_SHIFT: Final = 2**31
"""Added to each priority before summing, so that more victims never look cheaper for being negative."""


def _earliest_start(candidate: Candidate) -> float:
    top = candidate.victims[0].priority
    return min(start_time(info.pod.status.start_time) for info in candidate.victims if info.priority == top)


CRITERIA: Final[tuple[tuple[str, Callable[[Candidate], float]], ...]] = (
    ("pdbViolations", lambda candidate: candidate.violations),
    ("highestPriority", lambda candidate: candidate.victims[0].priority),
    ("prioritySum", lambda candidate: sum(info.priority + _PRIORITY_SHIFT for info in candidate.victims)),
    ("victimCount", lambda candidate: len(candidate.victims)),
    # Latest of the earliest starts among each node's top victims: the pods that have run the shortest go.
    ("earliestStart", lambda candidate: -_earliest_start(candidate)),
)
"""Name and cost of each criterion; the smallest cost stays. What is left after the last is a tie.

Source: pickOneNodeForPreemption, kube-scheduler.
"""

LOT: Final = "lot"
"""Named for the candidates that only the lot among equals turned away."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the criteria left.

    Attributes:
        ties: nodes equal under all criteria, sorted.
        eliminated: every other candidate's node → the criterion that turned it away.
        costs: node → criterion → cost, for the criteria that were asked about it.
    """

    ties: tuple[str, ...]
    eliminated: dict[str, str]
    costs: dict[str, dict[str, float]]


def choose(candidates: Sequence[Candidate]) -> Choice:
    """Return the cheapest candidates' nodes, and what eliminated each other one."""
    left = list(candidates)
    eliminated: dict[str, str] = {}
    costs: dict[str, dict[str, float]] = {candidate.node_name: {} for candidate in candidates}
    for name, cost_of in CRITERIA:
        if len(left) < 2:
            break
        priced = [(cost_of(candidate), candidate) for candidate in left]
        least = min(cost for cost, _ in priced)
        for cost, candidate in priced:
            costs[candidate.node_name][name] = cost
            if cost != least:
                eliminated[candidate.node_name] = name
        left = [candidate for cost, candidate in priced if cost == least]
    return Choice(tuple(sorted(candidate.node_name for candidate in left)), eliminated, costs)
