"""Dry runs remembered between preemptors of one shape: a node that has not changed need not be tried again.

Decisions are the same with and without; a test compares them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.framework.interface import Reads
from scheduler_core.framework.node_info import NodeInfo, PodInfo
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import Status
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.preemption.budgets import Budget
from scheduler_core.preemption.dry_run import Candidate

SHAPES_MAX: Final = 16
"""Shapes of preemptors remembered; past it the one used longest ago is forgotten and tried anew."""


@dataclass(frozen=True, slots=True)
class _Remembered:
    info: NodeInfo
    rivals: tuple[PodInfo, ...]
    answer: Candidate | Status


class ShapeRuns:
    """Answers for preemptors of one shape, by node."""

    def __init__(self, handle: Handle, budgets: Sequence[Budget]) -> None:
        self.budgets = budgets
        self._handle = handle
        self._answers: dict[str, _Remembered] = {}

    def recall(self, info: NodeInfo, pod: PodInfo) -> Candidate | Status | None:
        """Return the answer for a node as it is, None when it has to be tried."""
        known = self._answers.get(info.name)
        if known is None or known.info is not info or known.rivals != self._rivals(info, pod):
            return None
        return known.answer

    def keep(self, info: NodeInfo, pod: PodInfo, answer: Candidate | Status) -> None:
        """Remember the answer for a node as it is."""
        self._answers[info.name] = _Remembered(info, self._rivals(info, pod), answer)

    def _rivals(self, info: NodeInfo, pod: PodInfo) -> tuple[PodInfo, ...]:
        nominated = self._handle.nominator.nominated_to(info.name)
        if not nominated:
            return ()
        return tuple(rival for rival in nominated if rival.priority >= pod.priority and rival.uid != pod.uid)


class DryRunMemory:
    """Remembered dry runs of one profile."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._shapes: OrderedDict[tuple[bytes, frozenset[str]], ShapeRuns] = OrderedDict()

    def of(
        self, pod: PodInfo, skipped: frozenset[str], outcome: FilterOutcome, budgets: Sequence[Budget]
    ) -> ShapeRuns | None:
        """Return the memory for the preemptor's shape; None where a filter looks beyond the node itself."""
        if not outcome.plugins or any(self._looks_around(name) for name in outcome.plugins):
            return None
        key = (pod.shape, skipped)
        found = self._shapes.get(key)
        if found is None or found.budgets != budgets:
            found = self._shapes[key] = ShapeRuns(self._handle, budgets)
        self._shapes.move_to_end(key)
        if len(self._shapes) > SHAPES_MAX:
            self._shapes.popitem(last=False)
        return found

    def _looks_around(self, name: str) -> bool:
        return getattr(self._handle.plugins[name], "filter_reads", Reads.CLUSTER) is Reads.CLUSTER
