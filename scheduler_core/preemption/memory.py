"""Dry runs remembered between preemptors of one shape: a node that has not changed need not be tried again.

Decisions are the same with and without; a test compares them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.interface import LOCAL, Reads
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.reuse import Mark
from scheduler_core.framework.status import Status
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.preemption.budgets import Budget
from scheduler_core.preemption.dry_run import CRITERIA, Candidate
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot

SHAPES_MAX: Final = 16
"""Shapes of preemptors remembered; past it the one used longest ago is forgotten and tried anew."""

UNTRIED: Final = 0
REFUSED: Final = 1
BREAKING: Final = 2
"""A candidate whose eviction breaks a budget."""
HARMLESS: Final = 3
"""A candidate that breaks none."""


class Runs:
    """Dry runs of preemptors of one shape, by row of a snapshot.

    Attributes:
        kinds: (N,) int8: UNTRIED, REFUSED, BREAKING or HARMLESS.
        costs: (CRITERIA, N) float64, the candidates' costs under each of `CRITERIA`.
        answers: by row; None where untried.
    """

    def __init__(self, handle: Handle, budgets: Sequence[Budget]) -> None:
        self.budgets = budgets
        self.answers: list[Candidate | Status | None] = []
        self.kinds: NDArray[np.int8] = np.zeros(0, dtype=np.int8)
        self.costs: NDArray[np.float64] = np.zeros((len(CRITERIA), 0))
        self._handle = handle
        self._snapshot: Snapshot | None = None
        self._mark = Mark()
        self._rivals: dict[int, tuple[PodInfo, ...]] = {}
        """Row → the nominated pods that its answer reckoned with, where there were any."""

    def level(self, snapshot: Snapshot, pod: PodInfo) -> None:
        """Forget the answers for nodes that are no longer as they were.

        Args:
            snapshot: the cycle's nodes.
            pod: the preemptor at hand: nominations of its own count for nothing.
        """
        touched = self._mark.advance(snapshot)
        if touched is None or snapshot is not self._snapshot:
            self._snapshot = snapshot
            self.answers = [None] * len(snapshot)
            self.kinds = np.zeros(len(snapshot), dtype=np.int8)
            self.costs = np.zeros((len(CRITERIA), len(snapshot)))
            self._rivals.clear()
        else:
            self._forget(touched.any.tolist())
        rivals = self._rivals_now(snapshot, pod)
        if rivals != self._rivals:
            self._forget([row for row in rivals.keys() | self._rivals if rivals.get(row) != self._rivals.get(row)])
            self._rivals = rivals

    def _forget(self, rows: Sequence[int]) -> None:
        for row in rows:
            self.answers[row] = None
            self.kinds[row] = UNTRIED

    def _rivals_now(self, snapshot: Snapshot, pod: PodInfo) -> dict[int, tuple[PodInfo, ...]]:
        found: dict[int, tuple[PodInfo, ...]] = {}
        nominator = self._handle.nominator
        for name in nominator.nodes():
            row = snapshot.row_of.get(name)
            if row is None:
                continue
            rivals = tuple(
                rival
                for rival in nominator.nominated_to(name)
                if rival.priority >= pod.priority and rival.uid != pod.uid
            )
            if rivals:
                found[row] = rivals
        return found

    def keep(self, row: int, answer: Candidate | Status) -> None:
        """Remember the answer for a row as it is."""
        self.answers[row] = answer
        if isinstance(answer, Candidate):
            self.kinds[row] = BREAKING if answer.violations else HARMLESS
            self.costs[:, row] = answer.costs
        else:
            self.kinds[row] = REFUSED


class DryRunMemory:
    """Remembered dry runs of one profile."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._shapes: OrderedDict[tuple[bytes, frozenset[str]], Runs] = OrderedDict()
        self._are_local = lru_cache(maxsize=64)(self._look_at_one_node)

    def of(
        self, pod: PodInfo, skipped: frozenset[str], outcome: FilterOutcome, budgets: Sequence[Budget]
    ) -> Runs | None:
        """Return the memory for the preemptor's shape; None where a filter looks beyond the node itself."""
        if not outcome.plugins or not self._are_local(outcome.plugins):
            return None
        key = (pod.shape, skipped)
        found = self._shapes.get(key)
        if found is None or found.budgets != budgets:
            found = self._shapes[key] = Runs(self._handle, budgets)
        self._shapes.move_to_end(key)
        if len(self._shapes) > SHAPES_MAX:
            self._shapes.popitem(last=False)
        return found

    def _look_at_one_node(self, filters: tuple[str, ...]) -> bool:
        # Extenders stand among the filters, too, but a dry run does not ask them.
        plugins = (self._handle.plugins[name] for name in filters if name in self._handle.plugins)
        reads = (getattr(plugin, "filter_reads", Reads.CLUSTER) for plugin in plugins)
        return all(one in LOCAL for one in reads)
