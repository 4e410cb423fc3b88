"""SchedulingGates: a pod with gates in its spec stays out of the active queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.status import SUCCESS, Status, unresolvable
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.traits import HAS_SCHEDULING_GATES

NAME: Final = "SchedulingGates"


class SchedulingGates:
    """PreEnqueue: refuse while `spec.schedulingGates` is not empty."""

    name: ClassVar[str] = NAME
    idle_without: ClassVar[Mapping[str, int]] = {"preEnqueue": HAS_SCHEDULING_GATES}

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Return success for a pod without gates, else which gates it waits for."""
        gates = pod.pod.spec.scheduling_gates
        if not gates:
            return SUCCESS
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gate.name for gate in gates)}]")

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return the removal of the pod's last gate."""
        eliminated = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (EventRegistration(eliminated, _own_gates_gone),)


def _own_gates_gone(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    return QueueingHint.QUEUE if new is not None and new.uid == pod.uid else QueueingHint.SKIP
