"""VolumeRestrictions: disks that only one pod may write, and claims that only one pod may use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.pod import Pod, Volume
from scheduler_core.api.storage import READ_WRITE_ONCE_POD
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, unresolvable
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot
from scheduler_core.snapshot.traits import HAS_VOLUMES
from scheduler_core.volumes.objects import MissingError, StorageObjects

NAME: Final = "VolumeRestrictions"

DISK: Final = "node(s) had no available disk"
IN_USE: Final = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)

_NOT_KEPT: Final = 'cannot read "PreFilterVolumeRestrictions" from cycleState'

Source = dict[str, object]


def is_restricted(volume: Volume) -> bool:
    """Return whether the volume is a disk that pods cannot share freely."""
    sources = (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.rbd, volume.iscsi)
    return any(source is not None for source in sources)


def conflicts(one: Volume, other: Volume) -> bool:
    """Return whether two pods cannot have these volumes on one node.

    EBS disks are never shared; GCE disks, iSCSI and RBD images are when all mount them read-only.
    """
    ebs = (one.aws_elastic_block_store, other.aws_elastic_block_store)
    if ebs[0] is not None and ebs[1] is not None and ebs[0].get("volumeID") == ebs[1].get("volumeID"):
        return True
    if _written(one.gce_persistent_disk, other.gce_persistent_disk, ("pdName",)):
        return True
    if _written(one.iscsi, other.iscsi, ("iqn",)):
        return True
    return _written(one.rbd, other.rbd, ("pool", "image")) and _share_monitor(one.rbd, other.rbd)


def _written(one: Source | None, other: Source | None, keys: Iterable[str]) -> bool:
    """Return whether both are one source that somebody writes."""
    if one is None or other is None or (one.get("readOnly") and other.get("readOnly")):
        return False
    return all((one.get(key) or "") == (other.get(key) or "") for key in keys)


def _share_monitor(one: Source | None, other: Source | None) -> bool:
    mine, theirs = (source.get("monitors") if source is not None else None for source in (one, other))
    return isinstance(mine, list) and isinstance(theirs, list) and any(monitor in theirs for monitor in mine)


def _claim_names(pod: Pod) -> list[str]:
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return [source.claim_name for source in sources if source is not None]


@dataclass(slots=True)
class Exclusive:
    """The pod's claims that only one pod may use, and how often pods use them already."""

    names: frozenset[str]
    uses: int

    def clone(self) -> Exclusive:
        """Return a copy to be changed apart."""
        return replace(self)

    def count(self, pod: Pod, sign: int) -> None:
        """Take into account that a pod came or went. Upstream compares names alone, whatever the namespace."""
        if self.names:
            self.uses += sign * sum(1 for name in _claim_names(pod) if name in self.names)


class VolumeRestrictions:
    """PreFilter with its extensions, and Filter."""

    name: ClassVar[str] = NAME
    idle_without: ClassVar[Mapping[str, int]] = {"preFilter": HAS_VOLUMES}
    filter_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take no arguments."""
        self._objects = StorageObjects(handle.listers)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Count who uses the pod's exclusive claims; Skip where nobody does and no disk is restricted."""
        volumes = pod.pod.spec.volumes
        if not volumes:
            return None, SKIP
        try:
            names = self._exclusive(pod.pod)
        except MissingError as missing:
            return None, unresolvable(str(missing))
        exclusive = Exclusive(names, len(names & _used(pod.pod.namespace, snapshot)) if names else 0)
        if not exclusive.uses and not any(is_restricted(volume) for volume in volumes):
            return None, SKIP
        state.write(NAME, exclusive)
        return None, SUCCESS

    def _exclusive(self, pod: Pod) -> frozenset[str]:
        claims = (self._objects.claim(pod.namespace, name) for name in _claim_names(pod))
        return frozenset(claim.metadata.name for claim in claims if READ_WRITE_ONCE_POD in claim.spec.access_modes)

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Count what the added pod uses."""
        state.read(NAME).count(added.pod, 1)
        return SUCCESS

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Count no more what the removed pod used."""
        state.read(NAME).count(removed.pod, -1)
        return SUCCESS

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure where a disk is taken, and everywhere while another pod uses an exclusive claim."""
        restricted = [volume for volume in pod.pod.spec.volumes if is_restricted(volume)]
        infos = snapshot.infos_of(rows)
        taken = np.fromiter(
            (bool(restricted) and any(_conflicting(restricted, other.pod) for other in info.pods) for info in infos),
            dtype=np.bool_,
            count=len(infos),
        )
        exclusive: Exclusive | None = state.get(NAME)
        if exclusive is None:
            codes = np.where(taken, np.int8(Code.UNSCHEDULABLE), np.int8(Code.ERROR))
            return Verdicts(codes, taken.astype(np.int64), lambda key: (DISK if key else _NOT_KEPT,))
        codes = np.where(taken | (exclusive.uses > 0), np.int8(Code.UNSCHEDULABLE), np.int8(0))
        return Verdicts(codes, taken.astype(np.int64), lambda key: (DISK if key else IN_USE,))

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return each disk taken on the node, or else each claim in use on any, and the pod that has it."""
        restricted = [volume for volume in pod.pod.spec.volumes if is_restricted(volume)]
        disks = [
            {"kind": "held", "source": "disk", "name": volume.name, "holder": other.pod.key}
            for other in snapshot.infos[row].pods
            for volume in restricted
            if _conflicting((volume,), other.pod)
        ]
        if disks:
            return disks
        names = self._exclusive(pod.pod)
        return [
            {"kind": "held", "source": "claim", "name": name, "holder": other.pod.key}
            for info in snapshot.infos
            for other in info.pods
            if other.pod.spec.volumes and other.pod.namespace == pod.pod.namespace
            for name in _claim_names(other.pod)
            if name in names
        ]

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return pods that go and leave a disk or a claim, new nodes, and the pod's missing claims."""
        return (
            EventRegistration(ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE), _after_pod_deleted),
            EventRegistration(ClusterEvent(EventResource.NODE, ActionType.ADD)),
            EventRegistration(
                ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD), _after_claim, _of_claims
            ),
        )


def _used(namespace: str, snapshot: Snapshot) -> frozenset[str]:
    """Return the names of the namespace's claims that pods on the nodes use."""
    return frozenset(
        name
        for info in snapshot.infos
        for other in info.pods
        if other.pod.spec.volumes and other.pod.namespace == namespace
        for name in _claim_names(other.pod)
    )


def _conflicting(restricted: Sequence[Volume], other: Pod) -> bool:
    return any(conflicts(volume, theirs) for theirs in other.spec.volumes for volume in restricted)


def _after_pod_deleted(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    if not old.claims_node or old.pod.namespace != pod.pod.namespace:
        return QueueingHint.SKIP
    restricted = [volume for volume in pod.pod.spec.volumes if is_restricted(volume)]
    freed = _conflicting(restricted, old.pod) or not set(_claim_names(pod.pod)).isdisjoint(_claim_names(old.pod))
    return QueueingHint.QUEUE if freed else QueueingHint.SKIP


def _after_claim(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    meta = new["metadata"]
    own = (meta.get("namespace") or "default") == pod.pod.namespace and meta["name"] in _claim_names(pod.pod)
    return QueueingHint.QUEUE if own else QueueingHint.SKIP


def _of_claims(pod: PodInfo) -> ActionType:
    return ActionType.ADD if _claim_names(pod.pod) else ActionType(0)
