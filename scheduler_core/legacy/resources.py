"""PodFitsResources: number of pods, cpu and memory, in that order; the first that is short is the reason.

Requests count, not usage. A pod that asks for neither cpu nor memory fits wherever a place is free, even on a node that
has been given more than it has. Other resources did not count yet. What a pod asks for is summed as everywhere in this
project (`scheduler_core/api/requests.py`): init containers and overhead, which the era did not know, are in it.
Source: `PodFitsResources`, Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Detail, Reads
from scheduler_core.framework.refusing import shortage
from scheduler_core.framework.status import Code
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot

NAME: Final = "PodFitsResources"

REASONS: Final = ("", "Insufficient PodCount", "Insufficient CPU", "Insufficient Memory")
"""Reason by key; 0 fits."""


class PodFitsResources:
    """Filter on what is requested and what is allocatable."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.NODE_AND_PODS

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure with the first resource that is short."""
        keys = np.zeros(snapshot.count(rows), dtype=np.int64)
        asked = {resource: pod.requests.get(resource, 0) for resource in ("cpu", "memory")}
        if any(asked.values()):
            for key, resource in ((3, "memory"), (2, "cpu")):
                free = snapshot.allocatable_of(resource, rows) - snapshot.requested_of(resource, rows)
                keys[asked[resource] > free] = key
        keys[snapshot.pod_count[rows] + 1 > snapshot.pod_limit[rows]] = 1
        codes = np.where(keys != 0, np.int8(Code.UNSCHEDULABLE), np.int8(0))
        return Verdicts(codes, keys, lambda key: (REASONS[key],))

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return every resource that is short: what is asked, free and missing; cpu in millicores."""
        info = snapshot.infos[row]
        asked = {resource: pod.requests.get(resource, 0) for resource in ("cpu", "memory")}
        counted = [("pods", 1, int(snapshot.pod_limit[row]), int(snapshot.pod_count[row]))]
        if any(asked.values()):
            counted += (
                (resource, wanted, info.allocatable.get(resource, 0), info.requested.get(resource, 0))
                for resource, wanted in asked.items()
            )
        return [
            shortage(resource, wanted, size - used, size)
            for resource, wanted, size, used in counted
            if wanted > size - used
        ]
