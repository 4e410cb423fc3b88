"""VolumeZone: a bound volume's zone and region labels must be the node's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.pod import Pod
from scheduler_core.api.storage import WAIT_FOR_FIRST_CONSUMER
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, unresolvable
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Mask, Rows, Snapshot
from scheduler_core.snapshot.traits import HAS_VOLUMES
from scheduler_core.volumes.migration import BETA_REGION, BETA_ZONE, REGION, ZONE, ZONE_DELIMITER
from scheduler_core.volumes.objects import MissingError, StorageObjects, names_claim, of_claims

NAME: Final = "VolumeZone"

REASON: Final = "node(s) had no available volume zone"

_LABELS: Final = (BETA_ZONE, BETA_REGION, ZONE, REGION)
_STABLE: Final = {BETA_ZONE: ZONE, BETA_REGION: REGION}

Place = tuple[str, frozenset[str]]
"""(label, values of which the node must have one)"""


class NoVolumeError(ValueError):
    """A claim that leads to no volume; the text is upstream's."""


def places_of(labels: Mapping[str, str]) -> list[Place]:
    """Return where a volume with these labels is; a label with an empty zone in its list does not count."""
    found: list[Place] = []
    for key in _LABELS:
        if key in labels:
            zones = [zone.strip() for zone in labels[key].split(ZONE_DELIMITER)]
            if all(zones):
                found.append((key, frozenset(zones)))
    return found


class VolumeZone:
    """PreFilter and Filter."""

    name: ClassVar[str] = NAME
    idle_without: ClassVar[Mapping[str, int]] = {"preFilter": HAS_VOLUMES}
    filter_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take no arguments."""
        self._objects = StorageObjects(handle.listers)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Find where the pod's bound volumes are; Skip where none of them says."""
        if not pod.pod.spec.volumes:
            return None, SKIP
        try:
            places = self._places(pod.pod)
        except (MissingError, NoVolumeError) as missing:
            return None, unresolvable(str(missing))
        if not places:
            return None, SKIP
        state.write(NAME, places)
        return None, SUCCESS

    def _places(self, pod: Pod) -> list[Place]:
        places: list[Place] = []
        for source in (volume.persistent_volume_claim for volume in pod.spec.volumes):
            if source is None:
                continue
            if not source.claim_name:
                raise NoVolumeError("PersistentVolumeClaim had no name")
            claim = self._objects.claim(pod.namespace, source.claim_name)
            if claim.spec.volume_name:
                places += places_of(self._objects.volume(claim.spec.volume_name).metadata.labels)
                continue
            if not claim.class_name:
                raise NoVolumeError("PersistentVolumeClaim had no pv name and storageClass name")
            mode = self._objects.storage_class(claim.class_name).volume_binding_mode
            if mode is None:
                raise NoVolumeError(f'VolumeBindingMode not set for StorageClass "{claim.class_name}"')
            if mode != WAIT_FOR_FIRST_CONSUMER:
                raise NoVolumeError("PersistentVolume had no name")
        return places

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes that have zones but not the volumes'."""
        places: list[Place] | None = state.get(NAME)
        if places is None:
            # The profile leaves PreFilter out.
            try:
                places = self._places(pod.pod)
            except (MissingError, NoVolumeError) as missing:
                nowhere: Mask = np.ones(snapshot.count(rows), dtype=np.bool_)
                return single_reason(nowhere, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, str(missing))
        infos = snapshot.infos_of(rows)
        failed = np.fromiter((_elsewhere(places, info.labels) for info in infos), dtype=np.bool_, count=len(infos))
        return single_reason(failed, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, REASON)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return the places of the pod's volumes that are not the node's, with the node's own."""
        labels = snapshot.infos[row].labels
        kept: list[Place] | None = state.get(NAME)
        where = {"kind": "label", "source": "volume", "term": 0, "operator": "In"}
        return [
            {**where, "key": key, "values": sorted(values), "value": _value(key, labels)}
            for key, values in (self._places(pod.pod) if kept is None else kept)
            if _value(key, labels) not in values
        ]

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return what may give a volume a place, or the place a node."""
        return (
            EventRegistration(ClusterEvent(EventResource.STORAGE_CLASS, ActionType.ADD), _after_class),
            EventRegistration(ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)),
            EventRegistration(
                ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD | ActionType.UPDATE),
                _after_claim,
                _of_claims,
            ),
            EventRegistration(
                ClusterEvent(EventResource.PERSISTENT_VOLUME, ActionType.ADD | ActionType.UPDATE), _after_volume
            ),
        )


def _elsewhere(places: Sequence[Place], labels: Mapping[str, str]) -> bool:
    if not any(key in labels for key in _LABELS):
        # A cluster without zones.
        return False
    return any(_value(key, labels) not in values for key, values in places)


def _value(key: str, labels: Mapping[str, str]) -> str | None:
    """Return a node's label, by its later name where it does not have the earlier one."""
    return labels.get(key, labels.get(_STABLE.get(key, key)))


def _after_class(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    waits = new is not None and new.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER
    return QueueingHint.QUEUE if waits else QueueingHint.SKIP


def _after_claim(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    return QueueingHint.QUEUE if names_claim(pod.pod, new, made=False) else QueueingHint.SKIP


def _of_claims(pod: PodInfo) -> ActionType:
    return of_claims(pod, made=False)


def _after_volume(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    if old is None:
        return QueueingHint.QUEUE
    before, after = (places_of((one["metadata"].get("labels")) or {}) for one in (old, new))
    return QueueingHint.SKIP if before == after else QueueingHint.QUEUE
