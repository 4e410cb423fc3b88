"""SelectorSpreadPriority and ServiceSpreadingPriority: few pods of the same kind on one node, and in one zone.

Of the same kind are the pods of the namespace that any Service, ReplicationController or ReplicaSet selects which
selects this pod; pods that are being deleted do not count. Per feasible node `10 · (max − count) / max`, likewise per
zone (region and zone together), and where the node has a zone `node / 3 + zone · 2 / 3`, in 32-bit floating point as
upstream, cut to a whole number. A node without a zone keeps its node part. Without any such pod all get 10: upstream
1.2 divided zero by zero for the zone part there, which later versions repaired as here.

ServiceSpreadingPriority is the same with Services alone, kept for version 1.0. Source: `CalculateSpreadPriority`,
Kubernetes 1.2; the text's formula is missing from its copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.api.meta import view
from scheduler_core.api.pod import Pod
from scheduler_core.api.selectors import LabelSelector, Requirement, SelectorError, matches_all
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Listers, Reads
from scheduler_core.framework.registry import Handle
from scheduler_core.legacy.places import place_of
from scheduler_core.legacy.score_range import SCORE_MAX
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot

SELECTOR_SPREAD: Final = "SelectorSpreadPriority"
SERVICE_SPREADING: Final = "ServiceSpreadingPriority"

_Selectors = tuple[tuple[Requirement, ...], ...]
_Floats = NDArray[np.float32]

_ZONE_PART: Final = np.float32(2 / 3)
_NODE_PART: Final = np.float32(1 / 3)

_NO_PLACES: Final = ((None, None), ("", ""), (None, ""), ("", None))


def _pairs(labels: Mapping[str, str]) -> tuple[Requirement, ...]:
    return tuple(Requirement(key, "In", frozenset((value,))) for key, value in sorted(labels.items()))


def _in_namespace(listers: Listers, resource: str, namespace: str) -> Iterator[Mapping[str, Any]]:
    for document in listers.list(resource):
        if (document["metadata"].get("namespace") or "default") == namespace:
            yield document.get("spec") or {}


def service_selectors(pod: Pod, listers: Listers) -> _Selectors:
    """Return the selectors of the Services that select the pod; a Service without one selects nothing."""
    found = (spec.get("selector") for spec in _in_namespace(listers, "services", pod.namespace))
    read = (_pairs(wanted) for wanted in found if wanted is not None)
    return tuple(one for one in read if matches_all(one, pod.metadata.labels))


def controller_selectors(pod: Pod, listers: Listers, sets: Sequence[str] = ("replicasets.apps",)) -> _Selectors:
    """Return those of the ReplicationControllers and `sets`; an empty selector selects nothing here."""
    labels = pod.metadata.labels
    if not labels:
        return ()
    read = [
        _pairs(spec.get("selector") or {}) for spec in _in_namespace(listers, "replicationcontrollers", pod.namespace)
    ]
    for resource in sets:
        for spec in _in_namespace(listers, resource, pod.namespace):
            try:
                read.append(view(spec.get("selector") or {}, LabelSelector).requirements())
            except SelectorError:
                continue
    return tuple(one for one in read if one and matches_all(one, labels))


def matching_pods(namespace: str, selectors: _Selectors, info: NodeInfo) -> int:
    """Return how many pods of a namespace on a node any of the selectors selects, those being deleted left out."""
    return sum(
        1
        for other in info.pods
        if other.pod.namespace == namespace
        and not other.pod.is_terminating
        and any(matches_all(selector, other.pod.metadata.labels) for selector in selectors)
    )


def spread_scores(counts: Ints, zones: Ints) -> Ints:
    """Return (K,) scores.

    Args:
        counts: (K,) pods of the same kind on each node.
        zones: (K,) number of each node's zone, 0 where it has none.
    """
    scores = _share_free(counts)
    in_zone = zones > 0
    if in_zone.any():
        totals = np.bincount(zones[in_zone], weights=counts[in_zone]).astype(np.int64)
        seen = np.bincount(zones[in_zone]) > 0
        by_zone = np.zeros(len(totals), dtype=np.float32)
        by_zone[seen] = _share_free(totals[seen])
        mixed = scores * _NODE_PART + _ZONE_PART * by_zone[np.where(in_zone, zones, 0)]
        scores = np.where(in_zone, mixed, scores)
    return scores.astype(np.int64)


def _share_free(counts: Ints) -> _Floats:
    most = int(counts.max(initial=0))
    if not most:
        return np.full(len(counts), SCORE_MAX, dtype=np.float32)
    shares: _Floats = np.float32(SCORE_MAX) * ((most - counts).astype(np.float32) / np.float32(most))
    return shares


class ServiceSpreadingPriority:
    """Score by the pods of the pod's Services."""

    name: ClassVar[str] = SERVICE_SPREADING
    score_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take no arguments."""
        self._listers = handle.listers
        self._zones: dict[tuple[str, str], int] = {}

    def selectors(self, pod: Pod) -> _Selectors:
        """Return whose pods count."""
        return service_selectors(pod, self._listers)

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return (K,) pods of the same kind; the rows are the feasible nodes, and only these count."""
        state.write(self.name, snapshot.node_column((self.name, id(self)), self._zone)[rows])
        selectors = self.selectors(pod.pod)
        if not selectors:
            return np.zeros(snapshot.count(rows), dtype=np.int64)
        key = (self.name, pod.pod.namespace, selectors)
        return snapshot.pod_column(key, partial(matching_pods, pod.pod.namespace, selectors))[rows]

    def normalize(self, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
        """Return 0…10."""
        return spread_scores(scores, state.read(self.name))

    def _zone(self, info: NodeInfo) -> int:
        place = place_of(info.labels)
        if place in _NO_PLACES:
            return 0
        return self._zones.setdefault((place[0] or "", place[1] or ""), len(self._zones) + 1)


class SelectorSpreadPriority(ServiceSpreadingPriority):
    """Score by the pods of the pod's Services and controllers."""

    name: ClassVar[str] = SELECTOR_SPREAD

    def selectors(self, pod: Pod) -> _Selectors:
        """Return whose pods count."""
        return service_selectors(pod, self._listers) + controller_selectors(pod, self._listers)
