"""Preemption as the scheduler did it before it became a PostFilter plugin, beside today's.

Then the scheduler itself preempted once Schedule had failed with a FitError: it read the preemptor afresh, tried every
node that the static list (`unresolvable`) leaves, chose as today, and carried it out before it took the next pod.
Where the document's prose and its code differ the code decides. Against today:

- a budget is broken by a victim whenever it allows nothing any more; what earlier victims took is not counted;
- victims are not sorted after the reprieve, so the criterion of the highest priority looks at the first one;
- any lesser pod that terminates on the nominated node makes the preemptor wait, and preemptionPolicy is not looked at
  (its feature was off);
- the own nomination goes only where the list leaves no node; the nominations of lesser pods to the chosen node go last;
- a victim gets no condition; one that waits at Permit is deleted and rejected; the first deletion that is refused ends
  the errand.

Source: `Preempt`, `selectVictimsOnNode` and `Scheduler.preempt` of Kubernetes 1.17, as the document quotes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.selectors import matches_all
from scheduler_core.extender.extending import KEY as EXTENDING
from scheduler_core.extender.extending import Extending
from scheduler_core.framework.asks import DeletePod, PatchPodStatus, RecordEvent
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import PostFilterAnswer, PostFilterResult, PostFilterSteps, Steps
from scheduler_core.framework.lots import KEY as LOTS
from scheduler_core.framework.metrics import PREEMPTION_ATTEMPTS, PREEMPTION_VICTIMS
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SUCCESS, Status, error, unschedulable
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.legacy.unresolvable import described, might_help
from scheduler_core.preemption.budgets import RESOURCE, Budget, budgets_of
from scheduler_core.preemption.carry_out import Peers
from scheduler_core.preemption.dry_run import Candidate, DryRun
from scheduler_core.preemption.evaluator import Preemption
from scheduler_core.preemption.extended import ask_extenders
from scheduler_core.preemption.memory import Runs
from scheduler_core.preemption.search import search
from scheduler_core.preemption.steps import Step, StepName, read_afresh
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot

NAME: Final = "Preemption"

TERMINATING: Final = "a lesser pod is terminating on the nominated node"


def split(pods: Sequence[PodInfo], budgets: Sequence[Budget]) -> tuple[list[PodInfo], list[PodInfo]]:
    """Return (pods whose eviction breaks a budget, the others), both in the order given."""
    breaking: list[PodInfo] = []
    others: list[PodInfo] = []
    for info in pods:
        labels = info.pod.metadata.labels
        broken = any(
            budget.allowed <= 0 and budget.namespace == info.pod.namespace and matches_all(budget.selector, labels)
            for budget in (budgets if labels else ())
        )
        (breaking if broken else others).append(info)
    return breaking, others


def why_not_eligible(pod: PodInfo, snapshot: Snapshot) -> str:
    """Return why the pod may not preempt, empty when it may."""
    row = snapshot.row_of.get(pod.pod.status.nominated_node_name)
    if row is None:
        return ""
    waits = any(other.pod.is_terminating and other.priority < pod.priority for other in snapshot.infos[row].pods)
    return TERMINATING if waits else ""


class SchedulerPreemption:
    """What the scheduler did when no node fitted; PostFilter is where it happens here."""

    name: ClassVar[str] = NAME

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take no arguments."""
        self._handle = handle

    def post_filter(
        self, state: CycleState, pod: PodInfo, outcome: FilterOutcome
    ) -> PostFilterAnswer | PostFilterSteps:
        """Find the node that costs least; nothing is nominated before the pod is back in the queue."""
        if self._handle.metrics is not None:
            self._handle.metrics.count(PREEMPTION_ATTEMPTS)
        preemptor = read_afresh(state, pod)
        if preemptor is None:
            return None, error(f'pod "{pod.pod.name}" not found')
        found = Preemption(preemptor, act=self._carry_out, inline=True)
        status = self._evaluate(found, state, outcome)
        extending: Extending | None = state.get(EXTENDING)
        if status.ok and extending is not None and extending.may_veto(pod):
            return _ask_extenders(extending, found, state, outcome)
        return PostFilterResult(None, found), status

    def _evaluate(self, found: Preemption, state: CycleState, outcome: FilterOutcome) -> Status:
        pod, snapshot = found.pod, outcome.snapshot
        found.note(StepName.TRIGGERED)
        found.note(StepName.READ_AFRESH, node=pod.pod.status.nominated_node_name)
        found.why_not = why_not_eligible(pod, snapshot)
        if found.why_not:
            found.eligible = False
            found.note(StepName.NOT_ELIGIBLE, text=found.why_not)
            return unschedulable(found.why_not)
        refused = dict(outcome.failed())
        found.reasons = _table(snapshot, refused)
        by_name = (row for row in snapshot.by_name.rows.tolist() if row in refused and might_help(refused[row]))
        rows = np.fromiter(by_name, dtype=np.intp)
        found.note(StepName.POTENTIAL_NODES, count=len(rows))
        if not len(rows):
            found.give_up()
            return unschedulable("preemption will not help schedule the pod on any node")
        budgets = budgets_of(self._handle.listers.list(RESOURCE))
        runs = Runs(self._handle, budgets)
        runs.level(snapshot, pod)
        dry_run = DryRun(self._handle, state, pod, snapshot, budgets, split=split, sort_victims=False)
        # Every node is tried.
        tried = found.tried = search(dry_run, runs, snapshot, rows, len(rows), None)
        found.note(StepName.DRY_RUN, count=tried.count)
        if not tried.count:
            return unschedulable("no node can be freed")
        found.pick(tried, state.get(LOTS))
        return SUCCESS

    def _carry_out(self, found: Preemption, peers: Peers) -> Steps | None:
        if found.chosen is not None:
            return self._displace(found, found.chosen, peers)
        if found.clears and found.pod.pod.status.nominated_node_name:
            return _clear([found.pod], found)
        return None

    def _displace(self, found: Preemption, chosen: Candidate, peers: Peers) -> Steps:
        pod, node_name, told = found.pod, chosen.node_name, found.steps
        lesser = [one for one in peers.nominator.nominated_to(node_name) if one.priority < pod.priority]
        peers.nominator.add(pod, node_name)
        found.nominated(node_name)
        reply = yield PatchPodStatus(pod.pod, nominated_node_name=node_name, awaited=True)
        found.nomination_written(node_name, reply.error)
        if reply.error:
            peers.nominator.delete(pod.uid)
            told.append(Step(StepName.ROLLED_BACK, node=node_name))
            return error(reply.error)
        for victim in chosen.victims:
            reply = yield DeletePod(victim.pod)
            told.append(Step(StepName.VICTIM_DELETED, node=node_name, pod=victim.key, error=reply.error))
            if reply.error:
                return error(reply.error)
            if peers.reject_waiting(victim.uid, NAME, "preempted"):
                told.append(Step(StepName.VICTIM_REJECTED, node=node_name, pod=victim.key))
            note = f"Preempted by {pod.key} on node {node_name}"
            yield RecordEvent(victim.pod, "Normal", "Preempted", "Preempting", note, pod.pod)
        if self._handle.metrics is not None:
            self._handle.metrics.observe(PREEMPTION_VICTIMS, len(chosen.victims))
        status = yield from _clear(lesser, found)
        return status


def _ask_extenders(
    extending: Extending, found: Preemption, state: CycleState, outcome: FilterOutcome
) -> PostFilterSteps:
    status = yield from ask_extenders(extending, found, outcome.snapshot, state.get(LOTS))
    return PostFilterResult(None, found), status


def _clear(pods: Sequence[PodInfo], found: Preemption) -> Steps:
    """Clear nominations; a refusal is told and no more."""
    for one in pods:
        reply = yield PatchPodStatus(one.pod, nominated_node_name="", awaited=True)
        node_name = one.pod.status.nominated_node_name
        found.steps.append(Step(StepName.NOMINATION_CLEARED, node=node_name, pod=one.key, error=reply.error))
    return SUCCESS


def _table(snapshot: Snapshot, refused: Mapping[int, Status]) -> list[dict[str, Any]]:
    """Return each reason given, whether evicting pods mends it, and the nodes that gave it, in name order."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in snapshot.by_name.rows.tolist():
        status = refused.get(row)
        for reason in status.reasons if status is not None else ():
            assert status is not None
            told = rows.setdefault((reason, status.plugin), {**described(reason, status), "nodes": []})
            told["nodes"].append(snapshot.names[row])
    return list(rows.values())
