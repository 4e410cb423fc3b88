"""NodeVolumeLimits: each driver can attach so many volumes to a node and no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.pod import Pod, Volume
from scheduler_core.api.storage import CSINode, PersistentVolumeClaim
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.refusing import shortage
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot
from scheduler_core.snapshot.traits import HAS_VOLUMES
from scheduler_core.volumes.migration import Counting, InTree, TranslationError, handle_of, in_tree_named, in_tree_of
from scheduler_core.volumes.objects import (
    MissingError,
    StorageObjects,
    check_owner,
    claim_names,
    claim_of,
    names_claim,
    of_claims,
)

NAME: Final = "NodeVolumeLimits"

REASON: Final = "node(s) exceed max volume count"

Attached = dict[tuple[str, str], None]
"""(driver, handle) of volumes, each once, in order of appearance."""


def _limits(csi_node: CSINode | None) -> dict[str, int]:
    """Return driver → how many volumes it can attach; drivers without a limit are left out."""
    drivers = csi_node.spec.drivers if csi_node is not None else ()
    counts = ((one.name, one.allocatable.count) for one in drivers if one.allocatable is not None)
    return {name: count for name, count in counts if count is not None}


def _is_migrated(csi_node: CSINode | None, one: InTree) -> bool:
    """Return whether a driver's limit counts the in-tree plugin's volumes on the node."""
    if csi_node is None or one.counting is Counting.NEVER:
        return False
    return one.counting is Counting.ALWAYS or csi_node.has_migrated(one.plugin)


class NodeVolumeLimits:
    """PreFilter and Filter."""

    name: ClassVar[str] = NAME
    idle_without: ClassVar[Mapping[str, int]] = {"preFilter": HAS_VOLUMES}
    filter_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take no arguments."""
        self._objects = StorageObjects(handle.listers)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Return Skip for a pod without volumes that a driver attaches."""
        volumes = pod.pod.spec.volumes
        if not volumes:
            return None, SKIP
        attachable = any(True for _ in claim_names(pod.pod)) or any(in_tree_of(volume) for volume in volumes)
        return None, SUCCESS if attachable else SKIP

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes where a driver would have to attach too many."""
        infos = snapshot.infos_of(rows)
        attachments = self._attachments()
        missing = ""
        codes = np.zeros(len(infos), dtype=np.int8)
        for index, info in enumerate(infos):
            try:
                if self._exceeds(pod.pod, info, attachments.get(info.name, ())):
                    codes[index] = Code.UNSCHEDULABLE
            except MissingError as error:
                codes[index] = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
                missing = str(error)
        keys = (codes == Code.UNSCHEDULABLE_AND_UNRESOLVABLE).astype(np.int64)
        return Verdicts(codes, keys, lambda key: (missing if key else REASON,))

    def _exceeds(self, pod: Pod, info: NodeInfo, attachments: Iterable[tuple[str, str]]) -> bool:
        return any(there + more > limit for _, limit, there, more in self._counted(pod, info, attachments))

    def _counted(
        self, pod: Pod, info: NodeInfo, attachments: Iterable[tuple[str, str]]
    ) -> Iterator[tuple[str, int, int, int]]:
        """Yield (driver, its limit on the node, volumes there, volumes that the pod would add).

        Raises:
            MissingError: a claim of the pod is not there.
        """
        csi_node = self._objects.csi_node(info.name)
        wanted = self._volumes(pod, csi_node, is_new=True)
        limits = _limits(csi_node)
        if not wanted or not limits:
            return
        attached: Attached = {}
        for other in info.pods:
            if other.pod.spec.volumes:
                attached |= self._volumes(other.pod, csi_node, is_new=False)
        coming = Counter(volume[0] for volume in wanted if volume not in attached)
        # As upstream, a volume of the new pod's counts twice where it is attached and no pod on the node uses it.
        attached |= dict.fromkeys(attachments)
        there = Counter(driver for driver, _ in attached)
        yield from (
            (driver, limits[driver], there[driver], more) for driver, more in coming.items() if driver in limits
        )

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return each driver that would have to attach too many, as the resource that upstream names after it."""
        info = snapshot.infos[row]
        counted = self._counted(pod.pod, info, self._attachments().get(info.name, ()))
        return [
            shortage(f"attachable-volumes-csi-{driver}", more, limit - there, limit)
            for driver, limit, there, more in counted
            if there + more > limit
        ]

    def _volumes(self, pod: Pod, csi_node: CSINode | None, *, is_new: bool) -> Attached:
        """Return what drivers attach for a pod on a node.

        Raises:
            MissingError: a claim of a new pod is not there; those of pods on the node are left out.
            ValueError: a claim has no name or was made for another pod, or a driver cannot serve an inline volume.
        """
        found: Attached = {}
        for own in pod.spec.volumes:
            named = claim_of(pod, own)
            if named is None:
                one = in_tree_of(own)
                if one is not None and _is_migrated(csi_node, one):
                    found[one.driver, _inline_handle(one, own)] = None
                continue
            name, ephemeral = named
            if not name:
                raise ValueError("PersistentVolumeClaim had no name")
            try:
                claim = self._objects.claim(pod.namespace, name)
            except MissingError as missing:
                if is_new:
                    raise MissingError(
                        f"looking up PVC {pod.namespace}/{name}: persistentvolumeclaim", name
                    ) from missing
                continue
            if ephemeral:
                check_owner(pod, claim)
            volume = self._volume_of(claim, csi_node)
            if all(volume):
                found[volume] = None
        return found

    def _volume_of(self, claim: PersistentVolumeClaim, csi_node: CSINode | None) -> tuple[str, str]:
        """Return (driver, handle) of a claim's volume, empty texts where no driver attaches it."""
        try:
            volume = self._objects.volume(claim.spec.volume_name) if claim.spec.volume_name else None
        except MissingError:
            volume = None
        if volume is None:
            return self._volume_to_come(claim, csi_node)
        if volume.spec.csi is not None:
            return volume.spec.csi.driver, volume.spec.csi.volume_handle
        one = in_tree_of(volume.spec)
        if one is None or not _is_migrated(csi_node, one):
            return "", ""
        try:
            return one.driver, handle_of(one, volume.spec, volume.metadata.labels)
        except TranslationError:
            return "", ""

    def _volume_to_come(self, claim: PersistentVolumeClaim, csi_node: CSINode | None) -> tuple[str, str]:
        """Return the volume that the claim's class will make, called by the claim's name for now."""
        try:
            provisioner = self._objects.storage_class(claim.class_name).provisioner if claim.class_name else ""
        except MissingError:
            provisioner = ""
        one = in_tree_named(provisioner)
        if one is not None:
            provisioner = one.driver if _is_migrated(csi_node, one) else ""
        return provisioner, f"claim:{claim.key}"

    def _attachments(self) -> dict[str, list[tuple[str, str]]]:
        """Return node → volumes that are attached to it, whether or not a pod there uses them still."""
        found: dict[str, list[tuple[str, str]]] = {}
        for attachment in self._objects.attachments():
            name = attachment.spec.source.persistent_volume_name
            if not name or not attachment.spec.attacher:
                continue
            try:
                csi = self._objects.volume(name).spec.csi
            except MissingError:
                continue
            if csi is not None:
                found.setdefault(attachment.spec.node_name, []).append((attachment.spec.attacher, csi.volume_handle))
        return found

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return what may raise a limit, or free a place under it."""
        claim = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
        return (
            EventRegistration(
                ClusterEvent(EventResource.CSI_NODE, ActionType.ADD | ActionType.UPDATE), _after_csi_node
            ),
            EventRegistration(ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE), _after_pod_deleted),
            EventRegistration(claim, _after_claim, of_claims),
            EventRegistration(
                ClusterEvent(EventResource.VOLUME_ATTACHMENT, ActionType.DELETE), _after_detached, _of_attached
            ),
        )


def _inline_handle(one: InTree, volume: Volume) -> str:
    try:
        return handle_of(one, volume, {})
    except TranslationError as wrong:
        raise ValueError(f"converting volume({volume.name}) from inline to csi: {wrong}") from wrong


def _after_detached(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    """Queue where the pod has a claim, whichever volume it is bound to, or an inline volume of that driver."""
    for volume in pod.pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            return QueueingHint.QUEUE
        one = in_tree_of(volume)
        if one is not None and one.driver == old["spec"].get("attacher"):
            return QueueingHint.QUEUE
    return QueueingHint.SKIP


def _of_attached(pod: PodInfo) -> ActionType:
    volumes = pod.pod.spec.volumes
    some = any(one.persistent_volume_claim is not None or in_tree_of(one) is not None for one in volumes)
    return ActionType.DELETE if some else ActionType(0)


def _after_csi_node(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    before = _counts(old)
    grown = (count > before.get(name, 0) for name, count in _counts(new).items())
    return QueueingHint.QUEUE if old is None or any(grown) else QueueingHint.SKIP


def _counts(document: Any) -> dict[str, int]:
    drivers = ((document or {}).get("spec") or {}).get("drivers") or ()
    counts = ((one["name"], (one.get("allocatable") or {}).get("count")) for one in drivers)
    return {name: count for name, count in counts if count is not None}


def _after_pod_deleted(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    if not old.claims_node:
        return QueueingHint.SKIP
    frees = any(True for _ in claim_names(old.pod)) or any(in_tree_of(volume) for volume in old.pod.spec.volumes)
    return QueueingHint.QUEUE if frees else QueueingHint.SKIP


def _after_claim(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    return QueueingHint.QUEUE if names_claim(pod.pod, new) else QueueingHint.SKIP
