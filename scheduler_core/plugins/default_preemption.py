"""DefaultPreemption: when no node fits, find the one where displacing lesser pods costs least, and displace them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from scheduler_core.extender.extending import KEY as EXTENDING
from scheduler_core.extender.extending import Extending
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, never
from scheduler_core.framework.interface import PostFilterAnswer, PostFilterResult, PostFilterSteps, Steps
from scheduler_core.framework.lots import KEY as LOTS
from scheduler_core.framework.lots import Lots
from scheduler_core.framework.metrics import PREEMPTION_ATTEMPTS, PREEMPTION_VICTIMS
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SUCCESS, Status, error, unresolvable
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.preemption.budgets import RESOURCE, budgets_of
from scheduler_core.preemption.carry_out import HELD, Holds, Peers, carry_out
from scheduler_core.preemption.evaluator import MANNER, Limits, Manner, Preemption, evaluate
from scheduler_core.preemption.extended import ask_extenders
from scheduler_core.preemption.memory import DryRunMemory
from scheduler_core.preemption.steps import read_afresh
from scheduler_core.snapshot.node_info import PodInfo

NAME: Final = "DefaultPreemption"


class DefaultPreemption:
    """PostFilter, and PreEnqueue while a preemption is under way."""

    name: ClassVar[str] = NAME

    def __init__(self, arguments: Mapping[str, Any], handle: Handle, manner: Manner = MANNER) -> None:
        """Read DefaultPreemptionArgs.

        Raises:
            ValueError: an argument is out of range.
        """
        limits = Limits(
            int(arguments.get("minCandidateNodesPercentage", Limits().percentage)),
            int(arguments.get("minCandidateNodesAbsolute", Limits().absolute)),
        )
        if not 0 <= limits.percentage <= 100:
            raise ValueError(
                f"minCandidateNodesPercentage: Invalid value: {limits.percentage}: not in valid range [0, 100]"
            )
        if limits.absolute < 0:
            raise ValueError(
                f"minCandidateNodesAbsolute: Invalid value: {limits.absolute}: not in valid range [0, inf)"
            )
        if not limits.percentage and not limits.absolute:
            raise ValueError("minCandidateNodesPercentage and minCandidateNodesAbsolute cannot both be zero")
        self._limits = limits
        self._manner = manner
        self._handle = handle
        self._holds = Holds(handle.listers)
        self._memory = DryRunMemory(handle)

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Hold the pod back while its victims are being told to go."""
        return unresolvable(HELD) if pod.uid in self._holds else SUCCESS

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return pods that go: they may be victims. Whether that helps is for the plugins to say that found no room."""
        gone = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
        return (EventRegistration(gone, never),)

    def post_filter(
        self, state: CycleState, pod: PodInfo, outcome: FilterOutcome
    ) -> PostFilterAnswer | PostFilterSteps:
        """Nominate the node that costs least, of those that the extenders leave."""
        if self._handle.metrics is not None:
            self._handle.metrics.count(PREEMPTION_ATTEMPTS)
        preemptor = read_afresh(state, pod)
        if preemptor is None:
            return None, error(f'preemption: pod "{pod.pod.name}" not found')
        found, result, status = evaluate(
            self._handle,
            state,
            preemptor,
            outcome,
            budgets=budgets_of(self._handle.listers.list(RESOURCE)),
            limits=self._limits,
            lots=state.get(LOTS),
            memory=self._memory,
            manner=self._manner,
        )
        found.act = self._carry_out
        extending: Extending | None = state.get(EXTENDING)
        if extending is not None and found.candidates and extending.may_veto(pod):
            return _ask_extenders(extending, found, outcome, state.get(LOTS))
        return _with_detail(result, found), status

    def _carry_out(self, found: Preemption, peers: Peers) -> Steps | None:
        if found.chosen is None:
            return None
        if self._handle.metrics is not None:
            self._handle.metrics.observe(PREEMPTION_VICTIMS, len(found.chosen.victims))
        return carry_out(found.pod, found.chosen, self.name, self._holds, peers, found.steps)


def _with_detail(result: PostFilterResult | None, found: Preemption) -> PostFilterResult:
    return PostFilterResult(None if result is None else result.nominated_node_name, found)


def _ask_extenders(
    extending: Extending, found: Preemption, outcome: FilterOutcome, lots: Lots | None
) -> PostFilterSteps:
    status = yield from ask_extenders(extending, found, outcome.snapshot, lots)
    if not status.ok:
        return _with_detail(None, found), Status(status.code, (f"preemption: {status.message}",), status.plugin)
    assert found.chosen is not None, "a choice that was made names a node"
    return PostFilterResult(found.chosen.node_name, found), status
