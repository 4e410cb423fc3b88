"""The dry run on one node: take all lesser pods away, then give back as many as possible, the most important first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import Status, error, unresolvable
from scheduler_core.preemption.budgets import Budget, split
from scheduler_core.preemption.importance import by_importance, start_time
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot

NO_VICTIMS: Final = "No preemption victims found for incoming pod"
_NO_VICTIMS: Final = unresolvable(NO_VICTIMS)


class Fate(msgspec.Struct, frozen=True):
    """What the dry run decided about one lesser pod.

    Attributes:
        info: the pod.
        breaks_budget: its eviction would break a PodDisruptionBudget.
        spared: it was given back and the preemptor still fitted.
        refusal: where it was not: what the filters said with it back on the node.
    """

    info: PodInfo
    breaks_budget: bool
    spared: bool
    refusal: Status

    def as_dict(self) -> dict[str, Any]:
        """Return the form that traces hold."""
        return {
            "pod": self.info.key,
            "uid": self.info.uid,
            "priority": self.info.priority,
            "startTime": self.info.pod.status.start_time,
            "breaksBudget": self.breaks_budget,
            "fate": "reprieved" if self.spared else "victim",
            "plugin": self.refusal.plugin,
            "reasons": list(self.refusal.reasons),
        }


Split = Callable[[Sequence[PodInfo], Sequence[Budget]], tuple[list[PodInfo], list[PodInfo]]]
"""(pods by importance, budgets) → (pods whose eviction breaks a budget, the others)."""

CRITERIA: Final = ("pdbViolations", "highestPriority", "prioritySum", "victimCount", "earliestStart")
"""Names of `Candidate.costs`, in order; the smallest cost stays. What is left after the last is a tie.

Source: pickOneNodeForPreemption, kube-scheduler.
"""

_PRIORITY_SHIFT: Final = 2**31
"""Added to each priority before summing, so that more victims never look cheaper for being negative."""


@dataclass(frozen=True)
class Candidate:
    """A node that preemption can free, and at what cost.

    Attributes:
        node_name: the node.
        victims: pods that would go, the most important first; at least one.
        violations: how many of them break a budget.
        fates: every lesser pod of the node, in the order in which reprieve was tried.
    """

    node_name: str
    victims: tuple[PodInfo, ...]
    violations: int
    fates: tuple[Fate, ...]

    @cached_property
    def costs(self) -> tuple[float, ...]:
        """Return what this choice costs under each of `CRITERIA`."""
        victims = self.victims
        top = max(info.priority for info in victims)
        starts = (start_time(info.pod.status.start_time) for info in victims if info.priority == top)
        return (
            self.violations,
            # Meant is the highest; where victims are not sorted it is the first one's.
            victims[0].priority,
            sum(info.priority + _PRIORITY_SHIFT for info in victims),
            len(victims),
            # Latest of the earliest starts among each node's top victims: the pods that have run the shortest go.
            -min(starts),
        )


class DryRun:
    """Dry runs of one preemptor in one cycle."""

    def __init__(
        self,
        handle: Handle,
        state: CycleState,
        pod: PodInfo,
        snapshot: Snapshot,
        budgets: Sequence[Budget] = (),
        *,
        split: Split = split,
        sort_victims: bool = True,
    ) -> None:
        """Prepare to try nodes.

        Args:
            handle: the framework.
            state: the cycle's state; each run clones it.
            pod: the preemptor.
            snapshot: the cycle's nodes.
            budgets: the cluster's PodDisruptionBudgets.
            split: tells victims that break a budget from the others.
            sort_victims: victims are listed by importance; else those that break a budget come first.
        """
        self._handle = handle
        self._budgets = budgets
        self._state = state
        self._pod = pod
        self._snapshot = snapshot
        self._split = split
        self._sort_victims = sort_victims

    def lesser(self, row: int) -> list[PodInfo]:
        """Return the pods of a row that may be evicted."""
        return [info for info in self._snapshot.infos[row].pods if info.priority < self._pod.priority]

    def on(self, row: int) -> Candidate | Status:
        """Return the candidate, or why the row is none."""
        lesser = self.lesser(row)
        if not lesser:
            return _NO_VICTIMS
        trial = self._handle.trial(self._state, self._pod, self._snapshot, row)
        for info in lesser:
            status = trial.remove(info)
            if not status.ok:
                return status
        status = trial.verdict()
        if not status.ok:
            return status
        breaking, others = self._split(by_importance(lesser), self._budgets)
        fates: list[Fate] = []
        for info, breaks in [(info, True) for info in breaking] + [(info, False) for info in others]:
            status = trial.add(info)
            if not status.ok:
                return status
            refusal = trial.verdict()
            if not refusal.ok:
                status = trial.remove(info)
                if not status.ok:
                    return status
            fates.append(Fate(info, breaks, refusal.ok, refusal))
        victims = [fate.info for fate in fates if not fate.spared]
        if self._sort_victims and breaking and others:
            victims = by_importance(victims)
        name = self._snapshot.names[row]
        if not victims:
            return error(f'expected at least one victim pod on node "{name}"')
        violations = sum(fate.breaks_budget and not fate.spared for fate in fates)
        return Candidate(name, tuple(victims), violations, tuple(fates))
