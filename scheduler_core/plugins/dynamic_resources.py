"""DynamicResources: a pod's ResourceClaims must have devices that the node reaches, or can get them there.

Source: plugins/dynamicresources, v1.34; see `scheduler_core.devices` for which of its features are on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.document import FrozenDocument
from scheduler_core.devices.allocating import Allocator, GivenUpError
from scheduler_core.devices.allocations import Allocations
from scheduler_core.devices.binding import bind, freed
from scheduler_core.devices.claims import (
    CLASSES,
    RESERVED_FOR_MAX,
    SLICES,
    LackingError,
    allocation_of,
    claims_of,
    is_reserved_for,
    key_of,
    requests_of,
    reserved_for,
)
from scheduler_core.devices.pools import reaches, terms_of
from scheduler_core.devices.requests import AllocationError
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import Detail, PostFilterAnswer, PostFilterSteps, PreFilterResult, Reads, Steps
from scheduler_core.framework.refusing import unmet
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable, unschedulable
from scheduler_core.framework.verdicts import FilterOutcome, Verdicts
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot
from scheduler_core.snapshot.traits import HAS_RESOURCE_CLAIMS
from scheduler_core.volumes.assumed import AssumedObjects

NAME: Final = "DynamicResources"

NO_CLAIMS: Final = "no new claims to deallocate"
NO_STATE: Final = "not found"
IN_USE: Final = "resourceclaim in use"
CANNOT: Final = "cannot allocate all claims"
ELSEWHERE: Final = "resourceclaim not available on the node"
GIVEN_UP: Final = "timed out trying to allocate devices"
FREED: Final = "deallocation of ResourceClaim completed"
STILL_NOT: Final = "still not schedulable"
NOT_FOUND_FOR_NODE: Final = "claim allocation not found for node"


@dataclass(slots=True)
class Needs:
    """What a pod's claims come to in one attempt.

    Attributes:
        claims: all of them.
        allocator: gives devices to those without; None: all have some.
        elsewhere: places in `claims` of those whose devices some node does not reach.
        choices: node → what the claims without devices would get there; filled by Filter.
    """

    claims: list[FrozenDocument]
    allocator: Allocator | None = None
    elsewhere: set[int] = field(default_factory=set)
    choices: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


NO_NEEDS: Final = ()
"""What is kept of a pod without claims."""


class DynamicResources:
    """PreEnqueue, PreFilter, Filter, PostFilter, Reserve and PreBind."""

    name: ClassVar[str] = NAME
    idle_without: ClassVar[Mapping[str, int]] = {
        "preEnqueue": HAS_RESOURCE_CLAIMS,
        "reserve": HAS_RESOURCE_CLAIMS,
        "preBind": HAS_RESOURCE_CLAIMS,
    }
    filter_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take DynamicResourcesArgs, whose timeout is a number of tries here."""
        listers = handle.listers
        self._listers = listers
        self._allocations = listers.devices if isinstance(listers, AssumedObjects) else Allocations(listers)

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Return success for a pod whose claims are all there, else what the first of the others lacks."""
        try:
            claims_of(pod.pod, self._listers)
        except LackingError as lacking:
            return unresolvable(str(lacking))
        return SUCCESS

    def pre_filter_key(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[()] | None:
        """Say that the answer follows from the shape of pods without claims."""
        return () if not pod.pod.spec.resource_claims else None

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Sort the pod's claims; Skip where it has none."""
        state.write(NAME, NO_NEEDS)
        try:
            claims = claims_of(pod.pod, self._listers)
        except LackingError as lacking:
            return None, unresolvable(str(lacking))
        if not claims:
            return None, SKIP
        needs = Needs(claims)
        without = [claim for claim in claims if allocation_of(claim) is None]
        for claim in claims:
            status = self._usable(claim, pod.uid)
            if not status.ok:
                return None, status
        if without:
            needs.allocator = Allocator(
                without,
                self._allocations.taken(),
                lambda name: self._listers.get(CLASSES, "", name),
                self._listers.list(SLICES),
            )
        state.write(NAME, needs)
        return None, SUCCESS

    def _usable(self, claim: FrozenDocument, uid: str) -> Status:
        """Return whether the pod may have a claim at all, whatever the node."""
        if allocation_of(claim) is not None:
            full = len(reserved_for(claim)) >= RESERVED_FOR_MAX and not is_reserved_for(claim, uid)
            return unresolvable(IN_USE) if full else SUCCESS
        if self._allocations.is_pending(claim):
            return unresolvable(f"resource claim {key_of(claim)} is in the process of being allocated")
        for request in requests_of(claim):
            exactly = request.get("exactly")
            alternatives = request.get("firstAvailable") or ()
            asked = (
                [(request["name"], exactly)]
                if exactly is not None
                else [(f"{request['name']}/{one['name']}", one) for one in alternatives]
            )
            for name, one in asked:
                class_name = one.get("deviceClassName") or ""
                if self._listers.get(CLASSES, "", class_name) is None:
                    return unresolvable(f"request {name}: device class {class_name} does not exist")
        return SUCCESS

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes that the claims' devices are not, and cannot be had, on; an Error ends the cycle."""
        needs: Needs | tuple[()] = state.expect(NAME, NO_STATE)
        infos = snapshot.infos_of(rows)
        texts = [""]
        codes, keys = np.zeros(len(infos), dtype=np.int8), np.zeros(len(infos), dtype=np.int64)
        for index, info in enumerate(infos):
            status = self._judge(needs, info) if needs else SUCCESS
            if not status.ok:
                if status.message not in texts:
                    texts.append(status.message)
                codes[index], keys[index] = np.int8(status.code), texts.index(status.message)
        return Verdicts(codes, keys, lambda key: (texts[key],))

    def _judge(self, needs: Needs, info: NodeInfo) -> Status:
        elsewhere = {
            index
            for index, claim in enumerate(needs.claims)
            if (selector := (allocation_of(claim) or {}).get("nodeSelector")) and not reaches(selector, info)
        }
        if needs.allocator is not None:
            try:
                choice = needs.allocator.allocate(info)
            except GivenUpError:
                return unresolvable(GIVEN_UP)
            except AllocationError as wrong:
                return Status(Code.ERROR, (str(wrong),))
            if choice is None:
                return unresolvable(CANNOT)
            if not elsewhere:
                needs.choices[info.name] = choice
        if elsewhere:
            needs.elsewhere |= elsewhere
            return unresolvable(ELSEWHERE)
        return SUCCESS

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return how many devices each request could have on a node, and labels that devices of others are behind."""
        needs: Needs = state.read(NAME)
        info = snapshot.infos[row]
        found: list[Detail] = []
        for claim in needs.claims:
            if selector := (allocation_of(claim) or {}).get("nodeSelector"):
                found += unmet(f"ResourceClaim {claim['metadata']['name']}", terms_of(selector), info.name, info.labels)
        if needs.allocator is None or found:
            return found
        try:
            return needs.allocator.account(info)
        except AllocationError:
            # Its reason is all there is to tell.
            return []

    def post_filter(
        self, state: CycleState, pod: PodInfo, outcome: FilterOutcome
    ) -> PostFilterAnswer | PostFilterSteps:
        """Take devices back that a claim of the pod has where the pod cannot go, unless others use them.

        An error where a PreFilter before this one ended the cycle.
        """
        needs: Needs | tuple[()] | None = state.get(NAME)
        if needs is None:
            return None, error(NO_STATE)
        if not needs:
            return None, unschedulable(NO_CLAIMS)
        return self._free(needs, pod)

    def _free(self, needs: Needs, pod: PodInfo) -> PostFilterSteps:
        for index in sorted(needs.elsewhere):
            claim = needs.claims[index]
            if all(one.get("uid") == pod.uid for one in reserved_for(claim)):
                reply = yield freed(claim)
                if reply.error:
                    return None, error(reply.error)
                self._allocations.keep(reply.value)
                return None, unschedulable(FREED)
        return None, unschedulable(STILL_NOT)

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Take the devices chosen on the node, so that no pod after this one counts on them."""
        needs: Needs | tuple[()] | None = state.get(NAME)
        if not needs or needs.allocator is None:
            return SUCCESS
        choice = needs.choices.get(node_name)
        if choice is None:
            return error(NOT_FOUND_FOR_NODE)
        for claim, allocation in zip(needs.allocator.claims, choice, strict=True):
            self._allocations.promise(claim, allocation)
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Let go of what is not written yet; what is written stays the claim's, for the pod's next attempt."""
        needs: Needs | tuple[()] | None = state.get(NAME)
        if not needs or needs.allocator is None or node_name not in needs.choices:
            return
        for claim in needs.allocator.claims:
            self._allocations.withdraw(claim)

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Steps:
        """Write what was taken, and that the claims are reserved for the pod."""
        needs: Needs | tuple[()] | None = state.get(NAME)
        if not needs:
            return SUCCESS
        without = () if needs.allocator is None else needs.allocator.claims
        choice = needs.choices.get(node_name, [])
        if len(choice) != len(without):
            # Whoever takes up a pod that another owner had left at Permit may find that its devices have gone.
            return error(NOT_FOUND_FOR_NODE)
        given = dict(zip(map(key_of, without), choice, strict=True))
        for claim in needs.claims:
            if is_reserved_for(claim, pod.uid):
                continue
            allocation = given.get(key_of(claim))
            wrong = yield from bind(claim, allocation, pod.pod, self._allocations)
            if allocation is not None:
                self._allocations.withdraw(claim)
            if wrong:
                return error(wrong)
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
            own = {claim["metadata"].get("uid") for claim in claims_of(pod.pod, self._listers)}
        except LackingError:
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
