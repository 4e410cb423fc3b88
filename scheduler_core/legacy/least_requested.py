"""LeastRequestedPriority: the emptier, the better.

`(cpu + memory) / 2` of `(capacity − requested) · 10 / capacity`, in whole numbers at every division. Requested is what
the node's pods and this one ask for, 100m and 200Mi where a container says nothing; a node that has too little, or
nothing, gets 0. The text sets its brackets wrong (only memory seems to be halved); upstream halves the sum, and so
does this. Source: `LeastRequestedPriority`, `calculateScore`, Kubernetes 1.2.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads
from scheduler_core.legacy.score_range import SCORE_MAX
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import CPU, MEMORY, Ints, Rows, Snapshot

NAME: Final = "LeastRequestedPriority"


def unused(requested: Ints, capacity: Ints) -> Ints:
    """Return (K,) whole tenths that stay free, 0 where more is requested than there is.

    Args:
        requested: (K,) with the pod.
        capacity: (K,) allocatable.
    """
    tenths = (capacity - requested) * SCORE_MAX // np.maximum(capacity, 1)
    return np.where((capacity == 0) | (requested > capacity), 0, tenths)


class LeastRequestedPriority:
    """Score on cpu and memory."""

    name: ClassVar[str] = NAME
    score_reads: ClassVar[Reads] = Reads.NODE_AND_PODS

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 0…10."""
        total = np.zeros(snapshot.count(rows), dtype=np.int64)
        for resource, column in (("cpu", CPU), ("memory", MEMORY)):
            requested = snapshot.non_zero[column][rows] + pod.sums.scoring_requests.get(resource, 0)
            total += unused(requested, snapshot.allocatable_of(resource, rows))
        return total // 2
