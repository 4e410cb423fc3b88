"""Carrying a preemption out, beside the cycles: nominations of lesser pods cleared, victims told and deleted.

Meanwhile the preemptor is held at PreEnqueue, so that no event puts it into an attempt that must fail.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final, Protocol

from scheduler_core.api.pod import Pod
from scheduler_core.framework.asks import Ask, DeletePod, PatchPodStatus, RecordEvent, Reply
from scheduler_core.framework.interface import Listers, Steps
from scheduler_core.framework.status import SUCCESS, error
from scheduler_core.preemption.dry_run import Candidate
from scheduler_core.preemption.steps import Step, StepName
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.nominator import Nominator

NOT_FOUND: Final = 404
"""A victim that is gone already is as good as deleted."""

HELD: Final = "waiting for the preemption for this pod to be finished"


class Peers(Protocol):
    """What carrying out uses of the scheduler around it."""

    @property
    def nominator(self) -> Nominator:
        """Return who hopes to land where."""
        ...

    def activate(self, uid: str) -> None:
        """Move a pod to the active lane at once."""
        ...

    def reject_waiting(self, uid: str, plugin: str, reason: str) -> bool:
        """Reject a pod that Permit holds; return whether there was one."""
        ...


class Holds:
    """Pods whose preemption is being carried out: they stay out of the active lane meanwhile.

    While the last victim is being told, the hold lasts only until the cache shows it going: its end is what wakes the
    preemptor, and may be heard before the answer to the deletion. Source: IsPodRunningPreemption, kube-scheduler.
    """

    def __init__(self, listers: Listers) -> None:
        self._listers = listers
        self._last: dict[str, Pod | None] = {}

    def hold(self, uid: str) -> None:
        """Keep the pod out of the active lane."""
        self._last[uid] = None

    def only_for(self, uid: str, victim: Pod) -> None:
        """Keep it out only until this victim is seen to go."""
        self._last[uid] = victim

    def release(self, uid: str) -> None:
        """Let it in again."""
        self._last.pop(uid, None)

    def __contains__(self, uid: str) -> bool:
        if uid not in self._last:
            return False
        victim = self._last[uid]
        if victim is None:
            return True
        seen = self._listers.get("pods", victim.namespace, victim.name)
        return seen is not None and not seen["metadata"].get("deletionTimestamp")


def carry_out(
    pod: PodInfo, candidate: Candidate, plugin: str, holds: Holds, peers: Peers, told: list[Step]
) -> Steps | None:
    """Hold the pod and return the steps that free the candidate's node; None where every victim is going already.

    What happens is added to `told`. Source: prepareCandidateAsync, kube-scheduler.
    """
    victims: list[PodInfo] = []
    for victim in candidate.victims:
        if victim.pod.is_terminating:
            told.append(Step(StepName.VICTIM_TERMINATING, pod=victim.key))
        else:
            victims.append(victim)
    if not victims:
        return None
    holds.hold(pod.uid)
    told.append(Step(StepName.HELD, text=HELD))
    return _steps(pod, candidate.node_name, victims, plugin, holds, peers, told)


def _steps(
    pod: PodInfo,
    node_name: str,
    victims: list[PodInfo],
    plugin: str,
    holds: Holds,
    peers: Peers,
    told: list[Step],
) -> Steps:
    # What lesser pods hoped for is taken: they look again now rather than when the victims are gone.
    refused = yield from clear_lesser(pod, node_name, peers, told)
    failed: list[str] = []
    for victim in victims[:-1]:
        # They go side by side: one that cannot be told does not save the others.
        step = yield from _evict(pod, victim, node_name, plugin, peers)
        told.append(step)
        if step.error:
            failed.append(step.error)
    victim = victims[-1]
    if failed:
        # The first refusal ends the errand before the last one is told.
        told.append(Step(StepName.VICTIM_SPARED, pod=victim.key))
    else:
        holds.only_for(pod.uid, victim.pod)
        step = yield from _evict(pod, victim, node_name, plugin, peers)
        told.append(step)
        if step.error:
            failed.append(step.error)
    holds.release(pod.uid)
    told.append(Step(StepName.RELEASED))
    if failed or refused:
        # No deletion may ever come to wake it.
        peers.activate(pod.uid)
        told.append(Step(StepName.ACTIVATED))
        return error(*failed, *refused)
    return SUCCESS


def clear_lesser(pod: PodInfo, node_name: str, peers: Peers, told: list[Step]) -> Generator[Ask, Reply, list[str]]:
    """Clear the nominations of lesser pods to a node; return what the API refused."""
    refused: list[str] = []
    for lesser in peers.nominator.nominated_to(node_name):
        if lesser.priority < pod.priority:
            reply = yield PatchPodStatus(lesser.pod, nominated_node_name="", awaited=True)
            told.append(Step(StepName.NOMINATION_CLEARED, node=node_name, pod=lesser.key, error=reply.error))
            if reply.error:
                refused.append(reply.error)
    return refused


def _evict(pod: PodInfo, victim: PodInfo, node_name: str, plugin: str, peers: Peers) -> Generator[Ask, Reply, Step]:
    name = StepName.VICTIM_REJECTED
    if not peers.reject_waiting(victim.uid, plugin, "preempted"):
        name = StepName.VICTIM_DELETED
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": f"{pod.pod.spec.scheduler_name}: preempting to accommodate a higher priority pod",
        }
        for ask in (PatchPodStatus(victim.pod, condition, awaited=True), DeletePod(victim.pod)):
            reply = yield ask
            if reply.code == NOT_FOUND:
                return Step(StepName.VICTIM_GONE, pod=victim.key)
            if reply.error:
                return Step(name, pod=victim.key, error=reply.error)
    note = f"Preempted by pod {pod.uid} on node {node_name}"
    yield RecordEvent(victim.pod, "Normal", "Preempted", "Preempting", note, pod.pod)
    return Step(name, node=node_name, pod=victim.key)
