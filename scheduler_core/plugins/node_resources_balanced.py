"""NodeResourcesBalancedAllocation: nodes whose resources would be used evenly are liked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads, by_shape
from scheduler_core.framework.status import SKIP, SUCCESS, Status
from scheduler_core.kernels.resources import balanced, balanced_one, balanced_pair, in_range, in_range_one
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.resource_columns import (
    CPU_AND_MEMORY,
    are_plain,
    compared,
    compared_one,
    few,
    pod_amounts,
    resource_weights,
)
from scheduler_core.snapshot.snapshot import ALLOCATABLE, REQUESTED, Ints, Rows, Snapshot

NAME: Final = "NodeResourcesBalancedAllocation"


class NodeResourcesBalancedAllocation:
    """Score on the deviation between the shares of each resource that would be used."""

    name: ClassVar[str] = NAME
    score_reads: ClassVar[Reads] = Reads.NODE_AND_SUMS
    score_ranged: ClassVar[bool] = True
    pre_score_key = staticmethod(by_shape)

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        """Take NodeResourcesBalancedAllocationArgs: resources."""
        self._resources = resource_weights(arguments.get("resources"))

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Return Skip for a pod that asks nothing of the resources compared."""
        asked = pod_amounts(pod, self._resources, real=True)
        if not any(asked):
            return SKIP
        state.write(NAME, asked)
        return SUCCESS

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return what the pod asks of the resources compared."""
        return pod_amounts(pod, self._resources, real=True)

    def score_node(self, state: CycleState, pod: PodInfo, info: NodeInfo) -> int:
        """Return what `score` gives one node."""
        asked: tuple[int, ...] | None = state.get(NAME)
        if asked is None:
            asked = pod_amounts(pod, self._resources, real=True)
            if not any(asked):
                return 0
        return in_range_one(balanced_one(compared_one(info, self._resources, asked, real=True)))

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 100 × (1 − standard deviation of the shares)."""
        asked: tuple[int, ...] | None = state.get(NAME)
        if asked is None:
            # A profile may leave PreScore out, which skips pods that ask for nothing.
            asked = pod_amounts(pod, self._resources, real=True)
            if not any(asked):
                return np.zeros(snapshot.count(rows), dtype=np.int64)
        rows_one_by_one = few(rows)
        if rows_one_by_one is not None:
            infos = (snapshot.infos[row] for row in rows_one_by_one)
            scores = [balanced_one(compared_one(info, self._resources, asked, real=True)) for info in infos]
            return in_range(np.array(scores, dtype=np.int64))
        plain = are_plain(snapshot, self._resources, asked)
        if plain and self._resources is CPU_AND_MEMORY:
            return balanced_pair(snapshot.pairs_of(rows, REQUESTED), snapshot.pairs_of(rows, ALLOCATABLE), asked)
        requested, capacity = compared(snapshot, rows, self._resources, asked, real=True)
        whole = balanced(requested, capacity, plain=plain)
        return whole if plain else in_range(whole)
