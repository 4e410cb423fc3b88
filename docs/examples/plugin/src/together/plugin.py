"""Together: pods keep to their tier, prefer quiet nodes, and start when their whole group has places.

Labels of a pod: `tier` names the tier that its node must be in (a namespace's label `tier` stands for pods that name
none); `group` and `group-size` make it one of so many pods that are bound together or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource
from scheduler_core.framework.interface import Reads, WaitingPod
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot

TIER = "tier"
GROUP = "group"
GROUP_SIZE = "group-size"
REASON = "node(s) were in another tier than the pod asks for"


class Together:
    """Filter by tier, Score by how quiet a node is, Permit by group.

    Arguments: `waitSeconds`, how long the first pods of a group wait for the others (60).
    """

    name: ClassVar[str] = "Together"

    # What Filter says of a node follows from the pod and the Node object, but for namespaces: asked every time.
    filter_reads: ClassVar[Reads] = Reads.CLUSTER
    # Nominations count in Score, and no snapshot's change tells of them.
    score_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Read the arguments.

        Raises:
            ValueError: they are wrong; the configuration is then refused with this text.
        """
        wait = arguments.get("waitSeconds", 60)
        if not isinstance(wait, int) or wait < 0:
            raise ValueError(f"waitSeconds: Invalid value: {wait!r}: must be a whole number, not negative")
        self._wait_ms = wait * 1000
        self._handle = handle

    # Filter.

    def _tier_of(self, pod: PodInfo) -> str:
        own = pod.pod.metadata.labels.get(TIER, "")
        if own:
            return own
        namespace = self._handle.listers.get("namespaces", "", pod.pod.namespace) or {}
        return str((namespace.get("metadata", {}).get("labels") or {}).get(TIER, ""))

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Turn away nodes of other tiers; evicting pods would not help."""
        tier = self._tier_of(pod)
        failed = [bool(tier) and info.labels.get(TIER) != tier for info in snapshot.infos_of(rows)]
        return single_reason(np.array(failed, dtype=np.bool_), Code.UNSCHEDULABLE_AND_UNRESOLVABLE, REASON)

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Ask to be woken when nodes come or are labelled anew; a waiting pod's own labels may change too."""
        return (
            EventRegistration(ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)),
            EventRegistration(ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE_POD_LABEL)),
        )

    # Score.

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Count the pods on a node, and those that hope to land there."""
        counts = [
            len(info.pods) + sum(rival.uid != pod.uid for rival in self._handle.nominator.nominated_to(info.name))
            for info in snapshot.infos_of(rows)
        ]
        return np.array(counts, dtype=np.int64)

    def normalize(self, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
        """Give the quietest node the highest score there is, the busiest 0."""
        low, high = int(scores.min()), int(scores.max())
        return (high - scores) * self._handle.rules.score_max // max(high - low, 1)

    # Permit.

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, int]:
        """Hold the pod until its group is complete; the last one lets the others go."""
        group, size = pod.pod.metadata.labels.get(GROUP, ""), _size_of(pod)
        if not group or size < 2:
            return SUCCESS, 0
        held = self._held(pod, group)
        running = self._running(pod, group, {one.info.uid for one in held})
        if len(held) + running + 1 < size:
            return Status(Code.WAIT), self._wait_ms
        for one in held:
            self._handle.waiting.allow(one.info.uid, self.name)
        return SUCCESS, 0

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Let nobody of the group start without this one."""
        group = pod.pod.metadata.labels.get(GROUP, "")
        for one in self._held(pod, group) if group else ():
            self._handle.waiting.reject(one.info.uid, self.name, f"{pod.key} of its group has lost its place")

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Take nothing; whoever has an Unreserve has a Reserve."""
        return SUCCESS

    def _held(self, pod: PodInfo, group: str) -> list[WaitingPod]:
        return [one for one in self._handle.waiting.held() if one.info.uid != pod.uid and _is_of(one.info, pod, group)]

    def _running(self, pod: PodInfo, group: str, held: set[str]) -> int:
        """Count the pods of the group that have a node and do not wait."""
        return sum(
            _is_of(other, pod, group) and other.uid not in held and other.uid != pod.uid
            for info in self._handle.snapshot.infos
            for other in info.pods
        )


def _size_of(pod: PodInfo) -> int:
    text = pod.pod.metadata.labels.get(GROUP_SIZE, "")
    return int(text) if text.isdecimal() else 0


def _is_of(other: PodInfo, pod: PodInfo, group: str) -> bool:
    return other.pod.namespace == pod.pod.namespace and other.pod.metadata.labels.get(GROUP) == group
