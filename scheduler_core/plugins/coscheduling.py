"""Coscheduling: the pods of a group are bound when so many of them have places, or not at all.

Kubernetes has no such plugin in its tree; this is the first form of Coscheduling in kubernetes-sigs/scheduler-plugins
(v0.18): a group is named by labels of its pods, those that have a place wait at Permit, and when the last one comes
all go on. When one loses its place, all who wait lose theirs. Two groups that hold a part each can starve one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource
from scheduler_core.framework.interface import WaitingPod
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.snapshot.node_info import PodInfo

NAME: Final = "Coscheduling"

GROUP_LABEL: Final = "pod-group.scheduling.sigs.k8s.io/name"
MIN_AVAILABLE_LABEL: Final = "pod-group.scheduling.sigs.k8s.io/min-available"

WAIT_SECONDS_DEFAULT: Final = 60
"""How long a pod waits for the others of its group where the arguments do not say."""


class Coscheduling:
    """Permit by group. Argument: `permitWaitingTimeSeconds`."""

    name: ClassVar[str] = NAME

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Read the argument."""
        self._wait_ms = int(arguments.get("permitWaitingTimeSeconds", WAIT_SECONDS_DEFAULT)) * 1000
        self._handle = handle

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, int]:
        """Hold the pod until so many of its group have places; the last one lets the others go."""
        group, wanted = _group_of(pod)
        if not group or wanted < 2:
            return SUCCESS, 0
        held = self._held(pod)
        if len(held) + self._placed(pod, {one.info.uid for one in held}) + 1 < wanted:
            return Status(Code.WAIT), self._wait_ms
        for one in held:
            self._handle.waiting.allow(one.info.uid, NAME)
        return SUCCESS, 0

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Take nothing; whoever has an Unreserve has a Reserve."""
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Let nobody of the group wait on for a group that has lost a place."""
        for one in self._held(pod) if _group_of(pod)[0] else ():
            self._handle.waiting.reject(one.info.uid, NAME, f"rejected due to {pod.key} of its group losing its place")

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return what may let a group be complete: others of it get nodes, room comes back, nodes come."""
        pods = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD | ActionType.DELETE)
        return EventRegistration(pods), EventRegistration(ClusterEvent(EventResource.NODE, ActionType.ADD))

    def _held(self, pod: PodInfo) -> list[WaitingPod]:
        return [one for one in self._handle.waiting.held() if _is_of_group(one.info, pod)]

    def _placed(self, pod: PodInfo, held: set[str]) -> int:
        """Count the others of the group that have a node and do not wait."""
        others = (one for info in self._handle.snapshot.infos for one in info.pods)
        return sum(_is_of_group(one, pod) and one.uid not in held for one in others)


def _group_of(pod: PodInfo) -> tuple[str, int]:
    """Return a pod's group and how many of it have to be placed together; a number that cannot be read is none."""
    labels = pod.pod.metadata.labels
    wanted = labels.get(MIN_AVAILABLE_LABEL, "")
    return labels.get(GROUP_LABEL, ""), int(wanted) if wanted.isdecimal() and wanted.isascii() else 0


def _is_of_group(other: PodInfo, pod: PodInfo) -> bool:
    """Return whether another pod belongs to the group of one that has a group."""
    same = other.pod.namespace == pod.pod.namespace and _group_of(other)[0] == _group_of(pod)[0]
    return same and other.uid != pod.uid
