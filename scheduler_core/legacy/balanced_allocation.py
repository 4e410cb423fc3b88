"""BalancedResourceAllocation: cpu and memory used alike, the more alike the better.

`10 − |cpuFraction − memoryFraction| · 10`, cut to a whole number; fractions are of what is requested, this pod and the
containers' defaults included, in what the node has. A node that would be full or over in either gets 0; so does one
that has nothing. Today's plugin of nearly that name takes 100 · (1 − standard deviation) over any number of resources.
Source: `BalancedResourceAllocation`, Kubernetes 1.2.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads
from scheduler_core.legacy.score_range import SCORE_MAX
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import CPU, MEMORY, Ints, Rows, Snapshot

NAME: Final = "BalancedResourceAllocation"


def fraction(requested: Ints, capacity: Ints) -> NDArray[np.float64]:
    """Return (K,) requested / capacity, 1 where there is no capacity."""
    return np.where(capacity == 0, 1.0, requested / np.maximum(capacity, 1))


class BalancedResourceAllocation:
    """Score on the difference of two fractions."""

    name: ClassVar[str] = NAME
    score_reads: ClassVar[Reads] = Reads.NODE_AND_PODS

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 0…10."""
        cpu, memory = (
            fraction(
                snapshot.non_zero[column][rows] + pod.sums.scoring_requests.get(resource, 0),
                snapshot.allocatable_of(resource, rows),
            )
            for resource, column in (("cpu", CPU), ("memory", MEMORY))
        )
        scores = (SCORE_MAX - np.abs(cpu - memory) * SCORE_MAX).astype(np.int64)
        return np.where((cpu >= 1) | (memory >= 1), 0, scores)
