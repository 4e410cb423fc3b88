"""Sampling: how many feasible nodes a search looks for, and where it ends.

Source: findNodesThatPassFilters and numFeasibleNodesToFind, kube-scheduler, with a parallelism of one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.verdicts import ABSENT, PASSED, UNSEEN, FilterOutcome
from scheduler_core.snapshot.snapshot import Mask

FEASIBLE_NODES_MIN: Final = 100
"""Feasible nodes that sampling always looks for; smaller clusters are looked at whole."""

FEASIBLE_PERCENTAGE_MIN: Final = 5
"""Floor of the adaptive percentage, reached at 5,625 nodes."""


def feasible_nodes_to_find(nodes: int, percentage: int) -> int:
    """Return after how many feasible nodes the search may stop.

    Args:
        nodes: nodes that are searched: all, or those that PreFilter left.
        percentage: percentageOfNodesToScore, 1…100; 0 means adaptive: 50 − nodes/125, at least 5.
    """
    if nodes < FEASIBLE_NODES_MIN or percentage >= 100:
        return nodes
    if percentage == 0:
        percentage = max(FEASIBLE_PERCENTAGE_MIN, 50 - nodes // 125)
    return max(FEASIBLE_NODES_MIN, nodes * percentage // 100)


def sample(
    outcome: FilterOutcome,
    absent: Mask | None,
    wanted: int,
    start: int,
    *,
    until_next: bool,
    tried: int | None = None,
) -> None:
    """Stop the search once enough nodes are feasible: later rows become UNSEEN.

    The search takes the present rows round from the `start`-th. It knows that it has enough when it meets one feasible
    node too many, so the refusals between the last taken and that one are still recorded.

    Args:
        outcome: what the filters say of every row; changed in place, `processed` too.
        absent: (N,) rows that PreFilter ruled out; None: none.
        wanted: how many feasible nodes are enough.
        start: where the search begins; it is taken round the number of present rows.
        until_next: go on to the next feasible node; without, the search ends at the last one taken.
        tried: the pod's nominated row, which was tried before all others and refused; None: there was none.
    """
    if absent is None:
        _sample_all(outcome, wanted, start % max(len(outcome.snapshot), 1), until_next=until_next, tried=tried)
        return
    searched = np.flatnonzero(~absent)
    outcome.processed = len(searched) + (tried is not None and bool(absent[tried]))
    if wanted >= len(searched):
        return
    order = np.roll(searched, -(start % len(searched)))
    passed = np.flatnonzero(outcome.first[order] == PASSED)
    number = wanted if until_next else wanted - 1
    if number >= len(passed):
        return
    end = int(passed[number]) + (not until_next)
    if end == len(order):
        return
    seen = np.zeros(len(outcome.snapshot), dtype=np.bool_)
    seen[order[:end]] = True
    if tried is not None:
        seen[tried] = True
    outcome.processed = int(np.count_nonzero(seen))
    outcome.first[~seen & (outcome.first != ABSENT)] = UNSEEN
    _forget_unseen(outcome)


def _sample_all(outcome: FilterOutcome, wanted: int, start: int, *, until_next: bool, tried: int | None) -> None:
    """Do the same where every row is present: what is seen is one stretch of rows, or two."""
    first, count = outcome.first, len(outcome.snapshot)
    outcome.processed = count
    if wanted >= count:
        return
    passed = outcome.feasible
    number = wanted if until_next else wanted - 1
    if number >= len(passed):
        return
    before = int(passed.searchsorted(start))
    end = (int(passed[(before + number) % len(passed)]) + (not until_next)) % count
    if end == start:
        return
    kept = first[tried] if tried is not None else PASSED
    if start < end:
        first[:start] = UNSEEN
        first[end:] = UNSEEN
    else:
        first[end:start] = UNSEEN
    outcome.processed = (end - start) % count
    outcome.take_feasible(_stretch(passed, before, wanted))
    if tried is not None and first[tried] == UNSEEN:
        first[tried] = kept
        outcome.processed += 1
    _forget_unseen(outcome)


def _stretch(passed: NDArray[np.intp], first: int, count: int) -> NDArray[np.intp]:
    """Return so many of ascending rows from the `first`-th on, round the end, in order."""
    past = first + count - len(passed)
    return passed[first : first + count] if past <= 0 else np.concatenate((passed[:past], passed[first:]))


def _forget_unseen(outcome: FilterOutcome) -> None:
    first = outcome.first
    if outcome.overrides:
        outcome.overrides = {row: status for row, status in outcome.overrides.items() if first[row] != UNSEEN}
    if outcome.nominated:
        outcome.nominated = {row: both for row, both in outcome.nominated.items() if first[row] != UNSEEN}
