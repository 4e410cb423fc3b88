"""Priorities of the framework's first scheduler that no plugin of today computes any more, on its scale of 0…100.

Sources: `noderesources/least_allocated.go`, `noderesources/balanced_allocation.go`, `nodepreferavoidpods` and
`defaultpodtopologyspread` of Kubernetes 1.18.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import MAX_NODE_SCORE, Reads
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.legacy.places import place_of
from scheduler_core.legacy.selector_spread import controller_selectors, matching_pods, service_selectors
from scheduler_core.plugins.node_resources_fit import NodeResourcesFit
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import CPU, MEMORY, Ints, Rows, Snapshot

LEAST_ALLOCATED: Final = "NodeResourcesLeastAllocated"
BALANCED_ALLOCATION: Final = "NodeResourcesBalancedAllocation"
DEFAULT_SPREAD: Final = "DefaultPodTopologySpread"
PREFER_AVOID_PODS: Final = "NodePreferAvoidPods"

_SETS: Final = ("replicasets.apps", "statefulsets.apps")

AVOID_ANNOTATION: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"

ZONE_WEIGHT: Final = 2.0 / 3.0
"""Share of a zone's score in a node's, where it has a zone."""


class NodeResourcesLeastAllocated(NodeResourcesFit):
    """Likes free nodes: today's NodeResourcesFit does it by its strategy LeastAllocated, with the same numbers."""

    name: ClassVar[str] = LEAST_ALLOCATED

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        """Take no arguments: cpu and memory weigh the same."""
        super().__init__({})


class BalancedAllocation:
    """Likes nodes whose shares of cpu and memory would be alike: (1 − |cpu − memory|) · 100, 0 for a full node."""

    name: ClassVar[str] = BALANCED_ALLOCATION
    score_reads: ClassVar[Reads] = Reads.NODE_AND_PODS

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 0…100; containers that ask for nothing count with 100m and 200 MiB."""
        cpu, memory = (
            _share(
                snapshot.non_zero[column][rows] + pod.sums.scoring_requests.get(resource, 0),
                snapshot.allocatable_of(resource, rows),
            )
            for resource, column in (("cpu", CPU), ("memory", MEMORY))
        )
        scores = ((1.0 - np.abs(cpu - memory)) * MAX_NODE_SCORE).astype(np.int64)
        return np.where((cpu >= 1) | (memory >= 1), 0, scores)


def _share(requested: Ints, capacity: Ints) -> NDArray[np.float64]:
    """Return (K,) requested / capacity; a node without any counts as having 1."""
    shares: NDArray[np.float64] = requested / np.maximum(capacity, 1)
    return shares


class DefaultPodTopologySpread:
    """Spreads the pods of a Service or controller over nodes and zones; was SelectorSpread, and became it again.

    Pods with topology spread constraints of their own are left to PodTopologySpread.
    """

    name: ClassVar[str] = DEFAULT_SPREAD
    score_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take no arguments."""
        self._listers = handle.listers
        self._zones: dict[tuple[str, str], int] = {}

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Keep the zones of the feasible nodes: only they count."""
        state.write(DEFAULT_SPREAD, snapshot.node_column((DEFAULT_SPREAD, id(self)), self._zone)[rows])
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return (K,) how many pods of the same kind each node has."""
        if pod.pod.spec.topology_spread_constraints:
            return np.zeros(snapshot.count(rows), dtype=np.int64)
        found = service_selectors(pod.pod, self._listers) + controller_selectors(pod.pod, self._listers, _SETS)
        if not found:
            return np.zeros(snapshot.count(rows), dtype=np.int64)
        # One selector made of all: a pod counts that all of them select.
        selectors = (tuple(dict.fromkeys(requirement for one in found for requirement in one)),)
        namespace = pod.pod.namespace
        column = snapshot.pod_column((self.name, namespace, selectors), partial(matching_pods, namespace, selectors))
        return column[rows]

    def normalize(self, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
        """Return 100 for the fewest: a third by node and two thirds by zone where a node has one."""
        if pod.pod.spec.topology_spread_constraints:
            return scores
        zones: Ints | None = state.get(DEFAULT_SPREAD)
        if zones is None or len(zones) != len(scores):
            zones = np.zeros(len(scores), dtype=np.int64)
        by_node = _free_share(scores)
        in_zone = zones > 0
        if in_zone.any():
            totals = np.bincount(zones[in_zone], weights=scores[in_zone]).astype(np.int64)
            by_zone = _free_share(totals)[np.where(in_zone, zones, 0)]
            by_node = np.where(in_zone, by_node * (1.0 - ZONE_WEIGHT) + ZONE_WEIGHT * by_zone, by_node)
        return by_node.astype(np.int64)

    def _zone(self, info: NodeInfo) -> int:
        region, zone = place_of(info.labels)
        if not region and not zone:
            return 0
        return self._zones.setdefault((region or "", zone or ""), len(self._zones) + 1)


def _free_share(counts: Ints) -> NDArray[np.float64]:
    most = int(counts.max(initial=0))
    if not most:
        return np.full(len(counts), float(MAX_NODE_SCORE))
    return float(MAX_NODE_SCORE) * ((most - counts).astype(np.float64) / float(most))


class NodePreferAvoidPods:
    """Gives 0 to nodes whose annotation asks to be spared the pods of this pod's controller, 100 to the others."""

    name: ClassVar[str] = PREFER_AVOID_PODS
    score_reads: ClassVar[Reads] = Reads.NODE

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 0 or 100; only ReplicationControllers and ReplicaSets are looked at."""
        owners = pod.pod.metadata.owner_references
        owner = next((one for one in owners if one.controller), None)
        scores = np.full(snapshot.count(rows), MAX_NODE_SCORE, dtype=np.int64)
        if owner is None or owner.kind not in ("ReplicationController", "ReplicaSet"):
            return scores
        avoided = (owner.kind, owner.uid)
        spared = [avoided in avoided_on(info) for info in snapshot.infos_of(rows)]
        scores[np.array(spared, dtype=np.bool_)] = 0
        return scores


class _Controller(msgspec.Struct):
    kind: str = ""
    uid: str = ""


class _Signature(msgspec.Struct, rename="camel"):
    pod_controller: _Controller = msgspec.field(default_factory=_Controller)


class _Entry(msgspec.Struct, rename="camel"):
    pod_signature: _Signature = msgspec.field(default_factory=_Signature)


class _Avoid(msgspec.Struct, rename="camel"):
    prefer_avoid_pods: tuple[_Entry, ...] = ()


def avoided_on(info: NodeInfo) -> frozenset[tuple[str, str]]:
    """Return (kind, uid) of the controllers that a node asks to be spared; an annotation that is no JSON asks none."""
    text = info.node.metadata.annotations.get(AVOID_ANNOTATION) if info.node is not None else None
    if not text:
        return frozenset()
    try:
        found = msgspec.json.decode(text.encode(), type=_Avoid)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return frozenset()
    entries = (entry.pod_signature.pod_controller for entry in found.prefer_avoid_pods)
    return frozenset((one.kind, one.uid) for one in entries)
