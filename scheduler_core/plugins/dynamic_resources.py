"""DynamicResources, as far as pods without claims go: devices are not simulated, but the plugin's words are heard.

It answers Skip in PreFilter, and in PostFilter says that there is nothing to deallocate; a pod that names a claim waits
before the queue, since no such claim exists here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.pod import Pod, PodResourceClaim
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import PostFilterResult, PreFilterResult, Reads, Steps, by_shape
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable, unschedulable
from scheduler_core.framework.verdicts import FilterOutcome, Verdicts, single_reason
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot
from scheduler_core.snapshot.traits import HAS_RESOURCE_CLAIMS, NOBODY

NAME: Final = "DynamicResources"

CLAIMS: Final = "resourceclaims.resource.k8s.io"

NO_CLAIMS: Final = "no new claims to deallocate"
NO_STATE: Final = "not found"


class _LackingError(Exception):
    """A claim of the pod is not there, or not its own."""


class DynamicResources:
    """PreEnqueue, PreFilter, Filter, PostFilter, Reserve and PreBind."""

    name: ClassVar[str] = NAME
    idle_without: ClassVar[Mapping[str, int]] = {
        "preEnqueue": HAS_RESOURCE_CLAIMS,
        "reserve": NOBODY,
        "preBind": NOBODY,
    }
    filter_reads: ClassVar[Reads] = Reads.NODE
    pre_filter_key = staticmethod(by_shape)

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take DynamicResourcesArgs, which say nothing of pods without claims."""
        self._listers = handle.listers

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Return success for a pod whose claims are all there, else what the first of the others lacks."""
        try:
            self._claims_of(pod.pod)
        except _LackingError as lacking:
            return unresolvable(str(lacking))
        return SUCCESS

    def _claims_of(self, pod: Pod) -> list[FrozenDocument]:
        """Return the pod's claims.

        Raises:
            _LackingError: one is not there, or not the pod's.
        """
        found = (self._claim(pod, claim) for claim in pod.spec.resource_claims)
        return [claim for claim in found if claim is not None]

    def _claim(self, pod: Pod, wanted: PodResourceClaim) -> FrozenDocument | None:
        """Return one claim, None where the template needed none for this pod."""
        name, generated = wanted.resource_claim_name, False
        if name is None:
            if wanted.resource_claim_template_name is None:
                unset = "none of the supported fields are set"
                raise _LackingError(f'pod "{pod.key}", spec.resourceClaim "{wanted.name}": {unset}')
            told = next((one for one in pod.status.resource_claim_statuses if one.name == wanted.name), None)
            if told is None:
                raise _LackingError(f'pod "{pod.key}": ResourceClaim not created yet')
            if told.resource_claim_name is None:
                return None
            name, generated = told.resource_claim_name, True
        document = self._listers.get(CLAIMS, pod.namespace, name)
        if document is None:
            raise _LackingError(f'could not find ResourceClaim "{pod.namespace}/{name}"')
        meta = document["metadata"]
        if meta.get("deletionTimestamp"):
            raise _LackingError(f'resourceclaim "{name}" is being deleted')
        owners = meta.get("ownerReferences") or ()
        if generated and not any(one.get("controller") and one.get("uid") == pod.uid for one in owners):
            raise _LackingError(
                f"ResourceClaim {pod.namespace}/{name} was not created for pod {pod.key} (pod is not owner)"
            )
        return document

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Return Skip: no pod that gets here has claims."""
        state.write(NAME, True)
        return None, SKIP

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return success for every node."""
        state.expect(NAME, NO_STATE)
        return single_reason(np.zeros(snapshot.count(rows), dtype=np.bool_), Code.UNSCHEDULABLE, NO_CLAIMS)

    def post_filter(
        self, state: CycleState, pod: PodInfo, outcome: FilterOutcome
    ) -> tuple[PostFilterResult | None, Status]:
        """Return that nothing can be deallocated; an error when a PreFilter before this one ended the cycle."""
        if state.get(NAME) is None:
            return None, error(NO_STATE)
        return None, unschedulable(NO_CLAIMS)

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Return success: a pod without claims takes no device."""
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Give nothing back."""

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Steps:
        """Return success: there is no claim to write."""
        yield from ()
        return SUCCESS

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return what may bring devices or claims, and the naming of a generated claim in the pod's status."""
        grown = ActionType.ADD | ActionType.UPDATE
        node = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        own = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
        return (
            EventRegistration(ClusterEvent(EventResource.NODE, node)),
            EventRegistration(ClusterEvent(EventResource.RESOURCE_CLAIM, grown), self._after_claim),
            EventRegistration(own, self._after_own, _of_its_own),
            EventRegistration(ClusterEvent(EventResource.DEVICE_CLASS, grown)),
            EventRegistration(ClusterEvent(EventResource.RESOURCE_SLICE, grown)),
        )

    def _after_claim(self, pod: PodInfo, old: Any, new: Any) -> QueueingHint:
        """Queue where devices are given back, or the claim is the pod's and new or of another status."""
        try:
            own = {claim["metadata"].get("uid") for claim in self._claims_of(pod.pod)}
        except _LackingError:
            return QueueingHint.SKIP
        before, after = ((one or {}).get("status") or {} for one in (old, new))
        if before.get("allocation") and not after.get("allocation"):
            return QueueingHint.QUEUE
        concerned = new["metadata"].get("uid") in own and (old is None or before != after)
        return QueueingHint.QUEUE if concerned else QueueingHint.SKIP

    def _after_own(self, pod: PodInfo, old: Any, new: Any) -> QueueingHint:
        """Queue where the pod's claims are all there by now."""
        return QueueingHint.QUEUE if new.uid == pod.uid and self.pre_enqueue(new).ok else QueueingHint.SKIP


def _of_its_own(pod: PodInfo) -> ActionType:
    made = any(one.resource_claim_template_name is not None for one in pod.pod.spec.resource_claims)
    return ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM if made else ActionType(0)
