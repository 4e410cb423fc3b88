"""Dry runs as people believe them to be: who would have to go from one node, by other rules than kube-scheduler's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scheduler_core.framework.status import Code, Status, unschedulable
from scheduler_core.preemption.budgets import split
from scheduler_core.preemption.dry_run import CRITERIA, Candidate, DryRun, Fate
from scheduler_core.preemption.evaluator import Manner
from scheduler_core.preemption.importance import by_importance
from scheduler_core.snapshot.node_info import PodInfo

NOBODY: Final = "No pod of lower priority runs there"
PROTECTED: Final = "PodDisruptionBudgets protect the pods there"
STILL_FULL: Final = "There is no room even without all pods of lower priority"


class _Upwards(DryRun):
    """Takes lesser pods away, the least important first, until the preemptor fits; gives none back."""

    fits: bool = True
    """Whether the node must have room afterwards."""

    def on(self, row: int) -> Candidate | Status:
        lesser = self.lesser(row)
        if not lesser:
            return unschedulable(NOBODY)
        trial = self._handle.trial(self._state, self._pod, self._snapshot, row)
        breaking, _ = split(by_importance(lesser), self._budgets)
        broken = {info.uid for info in breaking}
        verdict = trial.verdict()
        fates: list[Fate] = []
        for info in reversed(by_importance(lesser)):
            if verdict.ok or (fates and not self.fits):
                fates.append(Fate(info, info.uid in broken, True, verdict))
                continue
            fates.append(Fate(info, info.uid in broken, False, verdict))
            status = trial.remove(info)
            if not status.ok:
                return status
            verdict = trial.verdict()
        if self.fits and not verdict.ok:
            return unschedulable(STILL_FULL)
        victims = tuple(by_importance([fate.info for fate in fates if not fate.spared]))
        return Candidate(self._snapshot.names[row], victims, sum(one.uid in broken for one in victims), tuple(fates))


class _OneAnyway(_Upwards):
    """Takes the least important pod away, whether that helps or not."""

    fits = False


class _Protected(DryRun):
    """Never takes a pod away that a PodDisruptionBudget protects."""

    def lesser(self, row: int) -> list[PodInfo]:
        _, others = split(by_importance(super().lesser(row)), self._budgets)
        return others

    def on(self, row: int) -> Candidate | Status:
        if super().lesser(row) and not self.lesser(row):
            return unschedulable(PROTECTED)
        return super().on(row)


def _first(*criteria: str) -> tuple[str, ...]:
    """Return all criteria, these in front."""
    return (*criteria, *(name for name in CRITERIA if name not in criteria))


_ANY_NO: Final = (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE)

MANNERS: Final[Mapping[str, Manner]] = {
    "fewest-victims": Manner(_first("victimCount")),
    "lowest-priority-node": Manner(_first("highestPriority")),
    "lowest-first": Manner(dry_run=_Upwards),
    "always-preempts": Manner(_first("highestPriority"), _OneAnyway, _ANY_NO),
    "pdb-forbids": Manner(dry_run=_Protected),
}
"""Rule → how it looks for the node to free."""
