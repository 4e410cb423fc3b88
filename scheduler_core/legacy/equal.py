"""EqualPriority: every node gets 1. Also what upstream falls back to where no priority is configured.

Source: `EqualPriority`, Kubernetes 1.2.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot

NAME: Final = "EqualPriority"


class EqualPriority:
    """Score the same for all."""

    name: ClassVar[str] = NAME
    score_reads: ClassVar[Reads] = Reads.NODE

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 1 for each node."""
        return np.ones(snapshot.count(rows), dtype=np.int64)
