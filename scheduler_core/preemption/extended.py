"""What extenders make of preemption's candidates: some taken out, other victims on some, a choice among the rest.

Source: callExtenders, kube-scheduler; processPreemptionWithExtenders before it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from scheduler_core.framework.asks import Ask, Reply
from scheduler_core.framework.interface import Steps
from scheduler_core.framework.lots import Lots
from scheduler_core.framework.status import SUCCESS, Status, unschedulable
from scheduler_core.preemption.dry_run import Candidate
from scheduler_core.preemption.evaluator import Extended, Preemption
from scheduler_core.preemption.steps import StepName
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot

NO_CANDIDATE: Final = "no candidate node for preemption"

Victims = Mapping[str, tuple[Sequence[PodInfo], int]]
"""Node → (pods that would go, how many of them break a budget)."""


class Asker(Protocol):
    """Who asks the extenders: `extender.extending.Extending`."""

    def preempt(
        self, pod: PodInfo, victims: Victims, snapshot: Snapshot
    ) -> Generator[Ask, Reply, tuple[Victims, Mapping[str, str], Status]]:
        """Return what is left, node → extender for what was taken out, and success or the error of an extender."""
        ...


def ask_extenders(asker: Asker, found: Preemption, snapshot: Snapshot, lots: Lots | None) -> Steps:
    """Let extenders take candidates out and change victims, then choose again; return what came of it."""
    dry_run = {candidate.node_name: candidate for candidate in found.candidates}
    victims = {name: (candidate.victims, candidate.violations) for name, candidate in dry_run.items()}
    found.unchoose()
    left, taken_out, status = yield from asker.preempt(found.pod, victims, snapshot)
    if not status.ok:
        return status
    # What an extender adds comes last: it has no dry run of its own.
    candidates = [
        replace(known, victims=tuple(left[name][0]), violations=left[name][1]) if name in left else known
        for name, known in dry_run.items()
    ] + [
        Candidate(name, tuple(pods), violations, ()) for name, (pods, violations) in left.items() if name not in dry_run
    ]
    found.extended = Extended(candidates, taken_out)
    found.note(StepName.EXTENDED, count=len(left))
    choice = found.choice
    if choice is None:
        return unschedulable(NO_CANDIDATE)
    if len(choice.ties) > 1 and lots is not None:
        found.draw = lots.draw("preemption-tie", len(choice.ties))
    name = choice.ties[found.draw or 0]
    found.chosen = next(candidate for candidate in candidates if candidate.node_name == name)
    found.note(StepName.CHOSEN, node=name)
    return SUCCESS
