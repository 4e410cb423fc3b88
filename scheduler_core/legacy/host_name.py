"""HostName: a pod that names a node goes there or nowhere.

The text's `pod.Spec.Host` is `spec.nodeName` today. Such a pod is bound already and never enters the queue, so that the
predicate speaks only where it is asked from outside. Source: `PodFitsHost`, Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot

NAME: Final = "HostName"


class HostName:
    """PreFilter and Filter."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.NODE

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Return Skip for a pod that names no node."""
        return None, SUCCESS if pod.pod.spec.node_name else SKIP

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for all nodes but the one named."""
        wanted = pod.pod.spec.node_name
        others = (bool(wanted) and info.name != wanted for info in snapshot.infos_of(rows))
        failed = np.fromiter(others, dtype=np.bool_, count=snapshot.count(rows))
        return single_reason(failed, Code.UNSCHEDULABLE, NAME)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return the name that the pod asks for."""
        return [{"kind": "name", "asked": pod.pod.spec.node_name}]
