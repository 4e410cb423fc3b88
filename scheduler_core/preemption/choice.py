"""Which candidate costs least: criteria in order, each among those that the ones before left equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.preemption.dry_run import CRITERIA, Candidate

LOT: Final = "lot"
"""Named for the candidates that only the lot among equals turned away."""

_PLACES: Final = {name: place for place, name in enumerate(CRITERIA)}


@dataclass(frozen=True, slots=True)
class Choice:
    """What the criteria left.

    Attributes:
        ties: nodes equal under all criteria, sorted.
        eliminated: every other candidate's node → the criterion that turned it away.
        asked: criteria that were asked, in order; the last ones are not asked once one candidate is left.
    """

    ties: tuple[str, ...]
    eliminated: dict[str, str]
    asked: tuple[str, ...]


def choose(candidates: Sequence[Candidate], criteria: Sequence[str] = CRITERIA) -> Choice:
    """Return the cheapest candidates' nodes, and what eliminated each other one.

    Args:
        candidates: at least one.
        criteria: of `CRITERIA`, in the order in which they are asked.
    """
    left = list(candidates)
    eliminated: dict[str, str] = {}
    asked: list[str] = []
    for name in criteria:
        index = _PLACES[name]
        if len(left) < 2:
            break
        asked.append(name)
        least = min(candidate.costs[index] for candidate in left)
        kept = [candidate for candidate in left if candidate.costs[index] == least]
        if len(kept) < len(left):
            for candidate in left:
                if candidate.costs[index] != least:
                    eliminated[candidate.node_name] = name
        left = kept
    return Choice(tuple(sorted(candidate.node_name for candidate in left)), eliminated, tuple(asked))


def cheapest(
    costs: NDArray[np.float64], candidates: NDArray[np.intp], criteria: Sequence[str] = CRITERIA
) -> NDArray[np.intp]:
    """Return which candidates `choose` would leave as ties, in their order.

    Args:
        costs: (CRITERIA, N), what each row costs; of rows that are no candidates whatever.
        candidates: rows.
        criteria: of `CRITERIA`, in the order in which they are asked.
    """
    left = candidates
    for name in criteria:
        if len(left) < 2:
            break
        own = costs[_PLACES[name]].take(left)
        left = left[own == own.min()]
    return left
