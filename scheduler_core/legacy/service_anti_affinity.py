"""ServiceAntiAffinityPriority: spread the pods of a Service over the values of a label.

What a Policy's `argument: {serviceAntiAffinity: {label}}` makes: `10 · (all − there) / all`, where `there` counts the
Service's pods on feasible nodes of the same value; a node without the label gets 0. Source: `ServiceAntiAffinity`,
Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads
from scheduler_core.framework.registry import Handle
from scheduler_core.legacy.score_range import SCORE_MAX
from scheduler_core.legacy.service_pods import service_rows
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import NO_VALUE, Ints, Rows, Snapshot

NAME: Final = "ServiceAntiAffinityPriority"


class ServiceAntiAffinityPriority:
    """Score by the Service's pods in the node's group."""

    name: ClassVar[str] = NAME
    score_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take the `label`."""
        self._label: str = arguments["label"]
        self._listers = handle.listers

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 0…10."""
        groups = snapshot.topology(self._label)
        peers = np.array(service_rows(pod.pod, self._listers, snapshot), dtype=np.intp)
        feasible = np.zeros(len(snapshot), dtype=np.bool_)
        feasible[rows] = True
        there = np.bincount(groups[peers[feasible[peers]]], minlength=snapshot.topology_size(self._label))
        own = groups[rows]
        if not len(peers):
            return np.where(own == NO_VALUE, 0, SCORE_MAX).astype(np.int64)
        free = (len(peers) - there[own]).astype(np.float32) / np.float32(len(peers))
        return np.where(own == NO_VALUE, 0, (np.float32(SCORE_MAX) * free).astype(np.int64))
