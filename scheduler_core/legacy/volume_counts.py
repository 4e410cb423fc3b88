"""MaxEBSVolumeCount and MaxGCEPDVolumeCount: a machine attaches so many disks and no more.

Disks are counted once each, those in the pods' volumes and those behind their claims; a disk that is on the node
already costs nothing more. The limits are the text's: 39 and 16 (there the environment could change them, here nothing
does). A claim of the new pod that leads to no volume gives the attempt up; one of a pod on the node counts as a disk
of its own, which upstream came to later: in 1.2 it gave up there, too. Source: `MaxPDVolumeCountChecker`, Kubernetes
1.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.pod import Pod, Volume
from scheduler_core.api.storage import PersistentVolumeSpec
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.refusing import shortage
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.legacy.claims import ClaimError, volume_of
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot
from scheduler_core.volumes.objects import MissingError, StorageObjects

MAX_EBS: Final = "MaxEBSVolumeCount"
MAX_GCE_PD: Final = "MaxGCEPDVolumeCount"

EBS_VOLUMES_MAX: Final = 39
"""EBS disks that pods of one node may use; a pod that would need more does not fit there."""

GCE_PD_VOLUMES_MAX: Final = 16
"""GCE disks that pods of one node may use; a pod that would need more does not fit there."""

REASON: Final = "MaxVolumeCount"


class MaxVolumeCount:
    """PreFilter and Filter of such a limit."""

    name: ClassVar[str]
    limit: ClassVar[int]
    source: ClassVar[str]
    """Member of a volume that holds this kind of disk."""
    key: ClassVar[str]
    """Where in it the disk's name is."""
    plugin: ClassVar[str]
    """Who attaches it, as later releases call the resource: `attachable-volumes-<plugin>`."""
    filter_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take no arguments."""
        self._objects = StorageObjects(handle.listers)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Find the pod's disks; Skip where it has none.

        Raises:
            ClaimError: a claim is not bound.
            MissingError: a claim or its volume do not exist.
        """
        wanted = self._disks(pod.pod, is_new=True)
        state.write(self.name, wanted)
        return None, SUCCESS if wanted else SKIP

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes that would hold too many disks."""
        wanted: frozenset[str] | None = state.get(self.name)
        if wanted is None:
            wanted = self._disks(pod.pod, is_new=True)
        infos = snapshot.infos_of(rows)
        too_many = (bool(wanted) and len(self._held(info) | wanted) > self.limit for info in infos)
        failed = np.fromiter(too_many, dtype=np.bool_, count=len(infos))
        return single_reason(failed, Code.UNSCHEDULABLE, REASON)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return how many disks more the pod needs, and how many may still be attached."""
        held = self._held(snapshot.infos[row])
        more = len(self._disks(pod.pod, is_new=True) - held)
        return [shortage(f"attachable-volumes-{self.plugin}", more, self.limit - len(held), self.limit)]

    def _held(self, info: NodeInfo) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for other in info.pods:
            if other.pod.spec.volumes:
                found |= self._disks(other.pod, is_new=False)
        return found

    def _disk_of(self, volume: Volume | PersistentVolumeSpec) -> str | None:
        held: dict[str, object] | None = getattr(volume, self.source)
        return None if held is None else str(held.get(self.key) or "")

    def _disks(self, pod: Pod, *, is_new: bool) -> frozenset[str]:
        found: set[str] = set()
        for volume in pod.spec.volumes:
            disk = self._disk_of(volume)
            if disk is not None:
                found.add(disk)
                continue
            claim = volume.persistent_volume_claim
            if claim is None:
                continue
            try:
                disk = self._disk_of(volume_of(self._objects, pod.namespace, claim).spec)
            except (ClaimError, MissingError):
                if is_new:
                    raise
                disk = f"claim:{pod.namespace}/{claim.claim_name}"
            if disk is not None:
                found.add(disk)
        return frozenset(found)


class MaxEBSVolumeCount(MaxVolumeCount):
    """At most 39 EBS disks."""

    name: ClassVar[str] = MAX_EBS
    limit: ClassVar[int] = EBS_VOLUMES_MAX
    source: ClassVar[str] = "aws_elastic_block_store"
    key: ClassVar[str] = "volumeID"
    plugin: ClassVar[str] = "aws-ebs"


class MaxGCEPDVolumeCount(MaxVolumeCount):
    """At most 16 GCE disks."""

    name: ClassVar[str] = MAX_GCE_PD
    limit: ClassVar[int] = GCE_PD_VOLUMES_MAX
    source: ClassVar[str] = "gce_persistent_disk"
    key: ClassVar[str] = "pdName"
    plugin: ClassVar[str] = "gce-pd"
