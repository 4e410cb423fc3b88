"""NodeName: a pod that names its node runs there or nowhere."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource
from scheduler_core.framework.interface import Detail, Reads
from scheduler_core.framework.status import Code
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot

NAME: Final = "NodeName"

REASON: Final = "node(s) didn't match the requested node name"


class NodeName:
    """Filter on `spec.nodeName`."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.NODE

    def filter_key(self, pod: PodInfo) -> Hashable:
        """Return the node that the pod names."""
        return pod.pod.spec.node_name

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for every node but the named one."""
        wanted = pod.pod.spec.node_name
        count = snapshot.count(rows)
        if not wanted:
            return single_reason(np.zeros(count, dtype=np.bool_), Code.UNSCHEDULABLE_AND_UNRESOLVABLE, REASON)
        names = (info.name != wanted for info in snapshot.infos_of(rows))
        failed = np.fromiter(names, dtype=np.bool_, count=count)
        return single_reason(failed, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, REASON)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return the name that the pod asks for."""
        return [{"kind": "name", "asked": pod.pod.spec.node_name}]

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return new nodes: one may have the name."""
        return (EventRegistration(ClusterEvent(EventResource.NODE, ActionType.ADD)),)
