"""Carrying a preemption out, beside the cycles: nominations of lesser pods cleared, victims told and deleted.

Meanwhile the preemptor is held at PreEnqueue, so that no event puts it into an attempt that must fail. The hold ends
before the last victim is deleted: that deletion is what wakes the preemptor.
"""

from __future__ import annotations

from typing import Final, Protocol

from scheduler_core.framework.asks import DeletePod, PatchPodStatus, RecordEvent
from scheduler_core.framework.interface import Steps
from scheduler_core.framework.node_info import PodInfo
from scheduler_core.framework.status import SUCCESS, Status, error
from scheduler_core.preemption.dry_run import Candidate
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
    """Pods whose preemption is being carried out."""

    def __init__(self) -> None:
        self._uids: set[str] = set()

    def hold(self, uid: str) -> None:
        """Keep the pod out of the active lane."""
        self._uids.add(uid)

    def release(self, uid: str) -> None:
        """Let it in again."""
        self._uids.discard(uid)

    def __contains__(self, uid: str) -> bool:
        return uid in self._uids


def carry_out(pod: PodInfo, candidate: Candidate, plugin: str, holds: Holds, peers: Peers) -> Steps | None:
    """Return the steps that free the candidate's node for the pod; None where every victim is going already.

    Source: prepareCandidateAsync, kube-scheduler.
    """
    victims = [victim for victim in candidate.victims if not victim.pod.is_terminating]
    if not victims:
        return None
    holds.hold(pod.uid)
    return _steps(pod, candidate.node_name, victims, plugin, holds, peers)


def _steps(pod: PodInfo, node_name: str, victims: list[PodInfo], plugin: str, holds: Holds, peers: Peers) -> Steps:
    for lesser in peers.nominator.nominated_to(node_name):
        if lesser.priority < pod.priority:
            # What they hoped for is taken: they look again now rather than when the victims are gone.
            yield PatchPodStatus(lesser.pod, nominated_node_name="")
    failed: list[str] = []
    for victim in victims[:-1]:
        status = yield from _evict(pod, victim, node_name, plugin, peers)
        if not status.ok:
            failed.append(status.message)
    holds.release(pod.uid)
    status = yield from _evict(pod, victims[-1], node_name, plugin, peers)
    if not status.ok:
        failed.append(status.message)
    if failed:
        # No deletion may ever come to wake it.
        peers.activate(pod.uid)
        return error(*failed)
    return SUCCESS


def _evict(pod: PodInfo, victim: PodInfo, node_name: str, plugin: str, peers: Peers) -> Steps:
    status: Status = SUCCESS
    if not peers.reject_waiting(victim.uid, plugin, "preempted"):
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": f"{pod.pod.spec.scheduler_name}: preempting to accommodate a higher priority pod",
        }
        reply = yield PatchPodStatus(victim.pod, condition, awaited=True)
        if reply.error and reply.code != NOT_FOUND:
            return error(reply.error)
        reply = yield DeletePod(victim.pod)
        if reply.error and reply.code != NOT_FOUND:
            return error(reply.error)
    note = f"Preempted by pod {pod.uid} on node {node_name}"
    yield RecordEvent(victim.pod, "Normal", "Preempted", "Preempting", note, pod.pod)
    return status
