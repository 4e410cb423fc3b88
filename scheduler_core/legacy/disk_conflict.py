"""NoDiskConflict: a disk that one pod of a node has mounted, no other may mount there.

A GCE disk may be shared by pods that all mount it read-only; an EBS disk never; an RBD image (one monitor in common,
same pool and name) never, read-only or not. The text names the three kinds of disk and says "the same"; when two are
the same is upstream's rule. Source: `NoDiskConflict`, `isVolumeConflict`, Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from scheduler_core.api.pod import Volume
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot

NAME: Final = "NoDiskConflict"

_Source = dict[str, object]


def _exclusive(volumes: Sequence[Volume]) -> list[Volume]:
    """Return the volumes of the three kinds that the predicate looks at."""
    return [
        one
        for one in volumes
        if one.gce_persistent_disk is not None or one.aws_elastic_block_store is not None or one.rbd is not None
    ]


def conflicts(one: Volume, other: Volume) -> bool:
    """Return whether the two are one disk that cannot be shared."""
    mine, theirs = one.gce_persistent_disk, other.gce_persistent_disk
    if _same(mine, theirs, "pdName") and not (mine and theirs and mine.get("readOnly") and theirs.get("readOnly")):
        return True
    if _same(one.aws_elastic_block_store, other.aws_elastic_block_store, "volumeID"):
        return True
    return _same(one.rbd, other.rbd, "pool", "image") and _share_monitor(one.rbd, other.rbd)


def _same(one: _Source | None, other: _Source | None, *keys: str) -> bool:
    if one is None or other is None:
        return False
    return all((one.get(key) or "") == (other.get(key) or "") for key in keys)


def _share_monitor(one: _Source | None, other: _Source | None) -> bool:
    mine, theirs = ((source or {}).get("monitors") for source in (one, other))
    return isinstance(mine, list) and isinstance(theirs, list) and any(monitor in theirs for monitor in mine)


class NoDiskConflict:
    """PreFilter and Filter."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.NODE_AND_PODS

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Return Skip for a pod without such disks."""
        return None, SUCCESS if _exclusive(pod.pod.spec.volumes) else SKIP

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes where a pod has one of the disks."""
        wanted = _exclusive(pod.pod.spec.volumes)
        infos = snapshot.infos_of(rows)
        failed = np.fromiter(
            (bool(wanted) and any(_taken(wanted, other) for other in info.pods) for info in infos),
            dtype=np.bool_,
            count=len(infos),
        )
        return single_reason(failed, Code.UNSCHEDULABLE, NAME)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return each disk that is taken on the node, and the pod that has it."""
        return [
            {"kind": "held", "source": "disk", "name": one.name, "holder": other.key}
            for other in snapshot.infos[row].pods
            for one in _exclusive(pod.pod.spec.volumes)
            if _taken((one,), other)
        ]


def _taken(wanted: Sequence[Volume], other: PodInfo) -> bool:
    return any(conflicts(one, theirs) for theirs in other.pod.spec.volumes for one in wanted)
