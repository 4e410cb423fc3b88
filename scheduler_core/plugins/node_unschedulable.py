"""NodeUnschedulable: a cordoned node takes no new pods, but those that tolerate it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.node import Taint
from scheduler_core.api.taints import tolerated
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import Detail, Reads
from scheduler_core.framework.refusing import taint_detail
from scheduler_core.framework.status import Code
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot

NAME: Final = "NodeUnschedulable"

REASON: Final = "node(s) were unschedulable"

_TAINT: Final = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def _is_unschedulable(info: NodeInfo) -> int:
    return int(info.node is not None and info.node.spec.unschedulable)


def _tolerates_cordon(pod: PodInfo) -> bool:
    return tolerated(pod.pod.spec.tolerations, _TAINT)


class NodeUnschedulable:
    """Filter on the node's `spec.unschedulable`."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.NODE

    def filter_key(self, pod: PodInfo) -> Hashable:
        """Return the tolerations."""
        return pod.pod.spec.tolerations

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for cordoned nodes, unless the pod tolerates the taint that stands for it."""
        cordoned = snapshot.node_column(NAME, _is_unschedulable)[rows] != 0
        if cordoned.any() and _tolerates_cordon(pod):
            cordoned = np.zeros_like(cordoned)
        return single_reason(cordoned, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, REASON)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return the taint that stands for the cordon."""
        return [taint_detail(_TAINT)]

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return nodes that come or are uncordoned, and tolerations that the pod gains."""
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        own = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE_POD_TOLERATIONS)
        return EventRegistration(node, _after_node), EventRegistration(own, _after_own)


def _after_node(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    if new is None or new.spec.unschedulable:
        return QueueingHint.SKIP
    return QueueingHint.QUEUE if old is None or old.spec.unschedulable else QueueingHint.SKIP


def _after_own(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    if new is None or new.uid != pod.uid:
        return QueueingHint.SKIP
    return QueueingHint.QUEUE if tolerated(new.pod.spec.tolerations, _TAINT) else QueueingHint.SKIP
