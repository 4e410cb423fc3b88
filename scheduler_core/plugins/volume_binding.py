"""VolumeBinding: a pod's claims must have volumes that the node reaches, or can get them there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.pod import Pod
from scheduler_core.api.quantity import nano_of, value
from scheduler_core.api.selectors import compile_selector
from scheduler_core.api.storage import (
    MIGRATED_PLUGINS,
    SELECTED_NODE,
    WAIT_FOR_FIRST_CONSUMER,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
)
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads, Steps
from scheduler_core.framework.refusing import unmet
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot
from scheduler_core.snapshot.traits import HAS_VOLUMES, NOBODY
from scheduler_core.volumes.assumed import CLAIMS, VOLUMES, AssumedObjects, Place, version_of
from scheduler_core.volumes.binder import BindingError, Choice, assume, bind, revert
from scheduler_core.volumes.match import can_provision, find_volume, has_room, reaches
from scheduler_core.volumes.migration import translated_affinity
from scheduler_core.volumes.objects import (
    MissingError,
    StorageObjects,
    check_owner,
    claim_names,
    names_claim,
    of_claims,
)

NAME: Final = "VolumeBinding"

UNBOUND_IMMEDIATE: Final = "pod has unbound immediate PersistentVolumeClaims"

BIND_TIMEOUT_SECONDS: Final = 600
"""How long PreBind waits for claims to be bound, unless `bindTimeoutSeconds` says otherwise."""

REASONS: Final = (
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) did not have enough free storage",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
)
"""What bit n of a verdict's key says."""

_AFFINITY, _NO_VOLUME, _NO_ROOM, _GONE = (1 << bit for bit in range(len(REASONS)))


@dataclass(slots=True)
class Claims:
    """A pod's claims.

    Attributes:
        bound: those with a volume.
        delayed: those that wait for the pod to have a node.
        immediate: how many should have a volume by now and have none.
        volumes: class → volumes that the delayed ones may take.
        versions: of those volumes and of the delayed claims, as they were when the pod's turn began.
        choices: node → what the delayed ones would get there; filled by Filter.
    """

    bound: list[PersistentVolumeClaim] = field(default_factory=list)
    delayed: list[PersistentVolumeClaim] = field(default_factory=list)
    immediate: int = 0
    volumes: dict[str, list[PersistentVolume]] = field(default_factory=dict)
    versions: dict[Place, str] = field(default_factory=dict)
    choices: dict[str, Choice] = field(default_factory=dict)


class UnusableClaimError(ValueError):
    """A claim that no node can serve; the text is upstream's."""


class VolumeBinding:
    """All points but Permit and Bind. Its score needs a feature that is off by default, so PreScore leaves it out."""

    name: ClassVar[str] = NAME
    idle_without: ClassVar[Mapping[str, int]] = {
        "preFilter": HAS_VOLUMES,
        "preScore": NOBODY,
        "reserve": HAS_VOLUMES,
        "preBind": HAS_VOLUMES,
    }
    filter_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take VolumeBindingArgs."""
        listers = handle.listers
        self._assumed = listers if isinstance(listers, AssumedObjects) else AssumedObjects(listers)
        self._objects = StorageObjects(self._assumed)
        self._timeout_ms = 1_000 * int(arguments.get("bindTimeoutSeconds", BIND_TIMEOUT_SECONDS))

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Sort the pod's claims; Skip where it has none."""
        if not pod.pod.spec.volumes:
            return None, SKIP
        try:
            claims = self._claims(pod.pod)
        except (MissingError, UnusableClaimError) as wrong:
            return None, unresolvable(str(wrong))
        if claims is None:
            return None, SKIP
        if claims.immediate:
            return None, unresolvable(UNBOUND_IMMEDIATE)
        state.write(NAME, claims)
        return None, SUCCESS

    def _claims(self, pod: Pod) -> Claims | None:
        found = [self._usable(pod, name, ephemeral) for name, ephemeral in claim_names(pod)]
        if not found:
            return None
        claims = Claims()
        for claim in found:
            if claim.is_bound:
                claims.bound.append(claim)
            elif self._is_delayed(claim) and not claim.spec.volume_name:
                claims.delayed.append(claim)
            else:
                claims.immediate += 1
        if claims.delayed:
            for volume in self._objects.volumes():
                claims.volumes.setdefault(volume.class_name, []).append(volume)
            for document in self._assumed.list(VOLUMES):
                claims.versions[VOLUMES, "", document["metadata"]["name"]] = version_of(document)
            for claim in claims.delayed:
                place = (CLAIMS, pod.namespace, claim.metadata.name)
                claims.versions[place] = version_of(self._assumed.get(*place) or {"metadata": {}})
        return claims

    def _usable(self, pod: Pod, name: str, ephemeral: bool) -> PersistentVolumeClaim:
        try:
            claim = self._objects.claim(pod.namespace, name)
        except MissingError as missing:
            if not ephemeral:
                raise
            text = f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            raise UnusableClaimError(text) from missing
        if claim.status.phase == "Lost":
            raise UnusableClaimError(
                f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
            )
        if claim.metadata.deletion_timestamp is not None:
            raise UnusableClaimError(f'persistentvolumeclaim "{name}" is being deleted')
        if ephemeral:
            try:
                check_owner(pod, claim)
            except ValueError as other:
                raise UnusableClaimError(str(other)) from other
        return claim

    def _is_delayed(self, claim: PersistentVolumeClaim) -> bool:
        if not claim.class_name:
            return False
        try:
            mode = self._objects.storage_class(claim.class_name).volume_binding_mode
        except MissingError:
            return False
        if mode is None:
            raise ValueError(f'VolumeBindingMode not set for StorageClass "{claim.class_name}"')
        return mode == WAIT_FOR_FIRST_CONSUMER

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure, with what is wrong, for nodes that the pod's volumes are not and cannot come to."""
        claims: Claims = state.expect(NAME, "not found")
        infos = snapshot.infos_of(rows)
        keys = np.fromiter((self._judge(claims, info) for info in infos), dtype=np.int64, count=len(infos))
        codes = np.where(keys != 0, np.int8(Code.UNSCHEDULABLE_AND_UNRESOLVABLE), np.int8(0))
        return Verdicts(codes, keys, _explain)

    def _judge(self, claims: Claims, info: NodeInfo) -> int:
        key = self._judge_bound(claims.bound, info)
        elsewhere = (claim.metadata.annotations.get(SELECTED_NODE, info.name) != info.name for claim in claims.delayed)
        if any(elsewhere):
            return key | _NO_VOLUME
        to_make = [claim for claim in claims.delayed if SELECTED_NODE in claim.metadata.annotations]
        to_find = [claim for claim in claims.delayed if SELECTED_NODE not in claim.metadata.annotations]
        chosen: dict[str, PersistentVolumeClaim] = {}
        for claim in sorted(to_find, key=lambda one: nano_of(one.requested)):
            volume = find_volume(claim, claims.volumes.get(claim.class_name, ()), info.labels, chosen)
            if volume is None:
                to_make.append(claim)
            else:
                chosen[volume.metadata.name] = claim
        for claim in to_make:
            if not claim.class_name:
                raise ValueError(f'no class for claim "{claim.key}"')
            storage_class = self._objects.storage_class(claim.class_name)
            if not can_provision(storage_class, info.labels):
                return key | _NO_VOLUME
            driver = self._objects.csi_driver(storage_class.provisioner)
            tells_room = driver is not None and driver.spec.storage_capacity
            if tells_room and not has_room(claim, self._objects.capacities(), info.labels):
                return key | _NO_ROOM
        if claims.delayed:
            claims.choices[info.name] = Choice(tuple(chosen.items()), tuple(to_make))
        return key

    def _judge_bound(self, bound: Sequence[PersistentVolumeClaim], info: NodeInfo) -> int:
        csi_node: CSINode | None = self._objects.csi_node(info.name) if bound else None
        for claim in bound:
            try:
                volume = self._objects.volume(claim.spec.volume_name)
            except MissingError:
                return _GONE
            required = translated_affinity(volume, csi_node)
            if required is not None and not any(term.matches("", info.labels) for term in compile_selector(required)):
                return _AFFINITY
        return 0

    def pre_filter_details(self, pod: PodInfo) -> Sequence[Detail]:
        """Return the claims that should have a volume by now and have none."""
        found = (self._usable(pod.pod, name, ephemeral) for name, ephemeral in claim_names(pod.pod))
        return [
            _wanted(claim, None)
            for claim in found
            if not claim.is_bound and (not self._is_delayed(claim) or claim.spec.volume_name)
        ]

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return what the node lacks: labels for a volume, or a volume for a claim, with the largest free one there."""
        claims: Claims = state.expect(NAME, "not found")
        info = snapshot.infos[row]
        csi_node = self._objects.csi_node(info.name) if claims.bound else None
        found: list[Detail] = []
        for claim in claims.bound:
            try:
                volume = self._objects.volume(claim.spec.volume_name)
            except MissingError:
                found.append(_wanted(claim, None))
                continue
            required = translated_affinity(volume, csi_node)
            terms = compile_selector(required) if required is not None else ()
            if terms and not any(term.matches("", info.labels) for term in terms):
                found += unmet(f"PersistentVolume {volume.metadata.name}", terms, info.name, info.labels)
        for claim in claims.delayed:
            there = claims.volumes.get(claim.class_name, ())
            if not find_volume(claim, there, info.labels, ()) and not self._makes(claim, info):
                free = (one for one in there if one.status.phase == "Available" and reaches(one, info.labels))
                sizes = [value(one.spec.capacity.get("storage", 0)) for one in free]
                found.append(_wanted(claim, max(sizes, default=None)))
        return found

    def _makes(self, claim: PersistentVolumeClaim, info: NodeInfo) -> bool:
        """Return whether a volume would be made for the claim on the node."""
        storage_class = self._objects.storage_class(claim.class_name)
        if not can_provision(storage_class, info.labels):
            return False
        driver = self._objects.csi_driver(storage_class.provisioner)
        tells_room = driver is not None and driver.spec.storage_capacity
        return not tells_room or has_room(claim, self._objects.capacities(), info.labels)

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Return Skip: scoring by capacity is off."""
        return SKIP

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 0 for every node, as upstream does while scoring by capacity is off."""
        return np.zeros(snapshot.count(rows), dtype=np.int64)

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Take the volumes chosen on the node, so that no pod after this one counts on them."""
        claims: Claims | None = state.get(NAME)
        choice = self._choice(state, node_name)
        if claims is not None and choice is not None:
            try:
                assume(choice, node_name, self._assumed, claims.versions)
            except BindingError as wrong:
                return error(str(wrong))
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Give them back."""
        choice = self._choice(state, node_name)
        if choice is not None:
            revert(choice, self._assumed)

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Steps:
        """Write what was taken, and wait until the claims are bound: at most `bindTimeoutSeconds`."""
        choice = self._choice(state, node_name)
        if choice is None:
            return SUCCESS
        return (yield from bind(choice, pod.pod, node_name, self._timeout_ms, self._assumed))

    def _choice(self, state: CycleState, node_name: str) -> Choice | None:
        claims: Claims | None = state.get(NAME)
        return None if claims is None else claims.choices.get(node_name)

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return what may bring a volume to a node, or the pod's claims to a volume."""
        grown = ActionType.ADD | ActionType.UPDATE
        return (
            EventRegistration(ClusterEvent(EventResource.STORAGE_CLASS, grown), _after_class),
            EventRegistration(ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, grown), _after_claim, of_claims),
            EventRegistration(ClusterEvent(EventResource.PERSISTENT_VOLUME, grown)),
            EventRegistration(ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)),
            EventRegistration(ClusterEvent(EventResource.CSI_NODE, grown), _after_csi_node),
            EventRegistration(
                ClusterEvent(EventResource.CSI_DRIVER, ActionType.UPDATE), _after_csi_driver, _of_drivers
            ),
            EventRegistration(ClusterEvent(EventResource.CSI_STORAGE_CAPACITY, grown), _after_capacity),
        )


def _wanted(claim: PersistentVolumeClaim, largest: int | None) -> Detail:
    """Return a claim that has no volume, and the largest free one of its class that the node reaches."""
    return {
        "kind": "volume",
        "claim": claim.metadata.name,
        "class": claim.class_name,
        "volume": claim.spec.volume_name,
        "asked": value(claim.requested),
        "largest": largest,
    }


def _explain(key: int) -> tuple[str, ...]:
    return tuple(reason for bit, reason in enumerate(REASONS) if key >> bit & 1)


def _after_csi_node(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    """Queue for a new one, and where other in-tree plugins are migrated than before."""
    if old is None:
        return QueueingHint.QUEUE
    before, after = ((one["metadata"].get("annotations") or {}).get(MIGRATED_PLUGINS, "") for one in (old, new))
    return QueueingHint.SKIP if before == after else QueueingHint.QUEUE


def _after_csi_driver(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    """Queue where the driver of an inline volume of the pod's no longer reports its capacity."""
    before, after = (bool((one.get("spec") or {}).get("storageCapacity")) for one in (old, new))
    name = new["metadata"]["name"]
    inline = any(one.csi is not None and one.csi.get("driver") == name for one in pod.pod.spec.volumes)
    return QueueingHint.QUEUE if before and not after and inline else QueueingHint.SKIP


def _of_drivers(pod: PodInfo) -> ActionType:
    inline = any(one.csi is not None for one in pod.pod.spec.volumes)
    return ActionType.UPDATE if inline else ActionType(0)


def _after_capacity(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    """Queue for a new one, and where larger volumes can be made than before."""
    if old is None:
        return QueueingHint.QUEUE
    before, after = (one.get("maximumVolumeSize") or one.get("capacity") for one in (old, new))
    grown = after is not None and (before is None or value(after) > value(before))
    return QueueingHint.QUEUE if grown else QueueingHint.SKIP


def _after_class(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    if old is None or new is None:
        return QueueingHint.QUEUE
    before, after = (one.get("allowedTopologies") or [] for one in (old, new))
    return QueueingHint.SKIP if before == after else QueueingHint.QUEUE


def _after_claim(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    return QueueingHint.QUEUE if names_claim(pod.pod, new) else QueueingHint.SKIP
