"""NodeResourcesFit: whether there is room for what the pod asks, and how full the node would be."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.quantity import int64
from scheduler_core.api.requests import amounts, is_extended
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads, by_shape
from scheduler_core.framework.refusing import shortage
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Codes, Verdicts, all_pass
from scheduler_core.kernels.resources import (
    in_range,
    in_range_one,
    least_allocated,
    least_allocated_one,
    least_allocated_pair,
    mean_of_all,
    mean_one,
    most_allocated,
    most_allocated_one,
    requested_to_capacity,
    rounded_mean,
    weighted_mean,
)
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.resource_columns import (
    CPU_AND_MEMORY,
    are_plain,
    compared,
    compared_one,
    few,
    pod_amounts,
    resource_weights,
)
from scheduler_core.snapshot.snapshot import ALLOCATABLE, LEFT, PLACES, Ints, Rows, Snapshot

NAME: Final = "NodeResourcesFit"

RESOURCES_MAX: Final = 61
"""Kinds of resources that one pod may ask for; a pod with more gets Error, its reasons would not fit their key."""

_SCORE_KEY: Final = f"{NAME}/score"

_TOO_MANY_PODS: Final = "Too many pods"

_NOT_KEPT: Final = 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'

_UNSCHEDULABLE: Final = np.int8(Code.UNSCHEDULABLE)
_UNRESOLVABLE: Final = np.int8(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)

SHAPE_SCORE_MAX: Final = 10
"""Largest score in a RequestedToCapacityRatio shape; it is scaled to 100."""


_SCORE_ONE: Final = {"LeastAllocated": least_allocated_one, "MostAllocated": most_allocated_one}
"""Strategy → the same for one node; a ratio's shape has only the array form."""

Checked = Sequence[tuple[str, int]]
"""(resource, amount) that must fit. Bit 0 of a verdict's key: too many pods; bit i + 1: the i-th of these is short."""


def _judge(snapshot: Snapshot, rows: Rows, checked: Checked) -> tuple[Codes, Ints]:
    """Return (K,) codes and keys."""
    has_places = snapshot.fits_everywhere(PLACES, 1)
    tight = [
        (index, resource, amount)
        for index, (resource, amount) in enumerate(checked)
        if not snapshot.fits_everywhere(resource, amount)
    ]
    if has_places and not tight:
        return all_pass(snapshot.count(rows))
    count = snapshot.count(rows)
    keys: Ints = np.zeros(count, dtype=np.int64)
    codes: Codes = np.zeros(count, dtype=np.int8)
    if not count:
        return codes, keys
    if not has_places:
        full = snapshot.pod_count[rows] >= snapshot.pod_limit[rows]
        keys[full] = 1
        codes[full] = _UNSCHEDULABLE
    for index, resource, amount in tight:
        size = snapshot.allocatable_of(resource, rows)
        free = size - snapshot.requested_of(resource, rows)
        if np.minimum.reduce(free) < amount:
            short = free < amount
            keys |= short * np.int64(2 << index)
            # The graver code is the greater.
            np.maximum(codes, np.where(short & (size < amount), _UNRESOLVABLE, short * _UNSCHEDULABLE), out=codes)
    return codes, keys


def _judge_one(info: NodeInfo, checked: Checked) -> tuple[int, int]:
    """Return the same of one node, in plain integers."""
    key = int(len(info.pods) >= info.allocatable.get("pods", 0))
    unresolvable = False
    for index, (resource, amount) in enumerate(checked):
        size = info.allocatable.get(resource, 0)
        if amount > int64(size - info.requested.get(resource, 0)):
            key |= 2 << index
            unresolvable = unresolvable or amount > size
    if not key:
        return 0, 0
    return int(_UNRESOLVABLE if unresolvable else _UNSCHEDULABLE), key


def _explain(checked: Checked, key: int) -> tuple[str, ...]:
    reasons = (_TOO_MANY_PODS, *(f"Insufficient {resource}" for resource, _ in checked))
    return tuple(reason for bit, reason in enumerate(reasons) if key >> bit & 1)


class NodeResourcesFit:
    """PreFilter, Filter and Score on resources."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.NODE_AND_SUMS
    score_reads: ClassVar[Reads] = Reads.NODE_AND_SUMS
    score_ranged: ClassVar[bool] = True
    pre_filter_key = staticmethod(by_shape)
    pre_score_key = staticmethod(by_shape)

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        """Take NodeResourcesFitArgs: ignoredResources, ignoredResourceGroups, scoringStrategy.

        Raises:
            ValueError: the strategy is unknown.
        """
        self._ignored = frozenset(arguments.get("ignoredResources") or ())
        self._ignored_groups = frozenset(arguments.get("ignoredResourceGroups") or ())
        self._ignores_some = bool(self._ignored or self._ignored_groups)
        strategy = arguments.get("scoringStrategy") or {}
        self._strategy = str(strategy.get("type") or "LeastAllocated")
        if self._strategy not in ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"):
            raise ValueError(f"scoring strategy {self._strategy} is not supported")
        self._score_one = _SCORE_ONE.get(self._strategy)
        self.score_node = None if self._score_one is None else partial(self._score_node, self._score_one)
        self._resources = resource_weights(strategy.get("resources"))
        ratio = strategy.get("requestedToCapacityRatio") or {}
        self._points = [
            (int(point.get("utilization", 0)), int(point.get("score", 0)) * (100 // SHAPE_SCORE_MAX))
            for point in ratio.get("shape") or ()
        ]
        if self._strategy == "RequestedToCapacityRatio" and not self._points:
            raise ValueError("at least one point must be specified")

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Keep what must be checked."""
        state.write(NAME, self._checked(pod))
        return None, SUCCESS

    def _checked(self, pod: PodInfo) -> list[tuple[str, int]]:
        """Return (resource, amount) of what must fit; amounts of 0 always do."""
        found = [(resource, amount) for resource, amount in pod.asked.items() if amount > 0]
        if self._ignores_some:
            found = [(resource, amount) for resource, amount in found if not self._ignores(resource)]
        if len(found) > RESOURCES_MAX:
            raise ValueError(
                f"a pod may ask for at most {RESOURCES_MAX} kinds of resources, this one asks {len(found)}"
            )
        return found

    def _ignores(self, resource: str) -> bool:
        if not is_extended(resource):
            return False
        return resource in self._ignored or resource.partition("/")[0] in self._ignored_groups

    def filter_key(self, pod: PodInfo) -> Hashable:
        """Return what the pod asks for."""
        return tuple(pod.asked.items())

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return what scoring counts of the pod."""
        return pod_amounts(pod, self._resources, real=False)

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure with every resource that is short; unresolvable when one exceeds the node itself."""
        checked: Checked = state.expect(NAME, _NOT_KEPT)
        rows_one_by_one = few(rows)
        if rows_one_by_one is None:
            codes, keys = _judge(snapshot, rows, checked)
        else:
            answers = [_judge_one(snapshot.infos[row], checked) for row in rows_one_by_one]
            codes = np.array([code for code, _ in answers], dtype=np.int8)
            keys = np.array([key for _, key in answers], dtype=np.int64)

        return Verdicts(codes, keys, partial(_explain, checked))

    def filter_node(self, state: CycleState, pod: PodInfo, info: NodeInfo) -> tuple[int, int]:
        """Return the code and the key that `filter` gives one node."""
        return _judge_one(info, state.expect(NAME, _NOT_KEPT))

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return per resource that is short what is asked, free and missing, and the node's size; cpu in millicores."""
        info = snapshot.infos[row]
        checked: Checked = state.get(NAME) or self._checked(pod)
        places = (("pods", 1, len(info.pods)), *((name, asked, info.requested.get(name, 0)) for name, asked in checked))
        return [
            shortage(name, asked, free, info.allocatable.get(name, 0))
            for name, asked, used in places
            if (free := info.allocatable.get(name, 0) - used) < asked
        ]

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Keep what scoring counts of the pod."""
        state.write(_SCORE_KEY, pod_amounts(pod, self._resources, real=False))
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 0…100 by the profile's strategy."""
        asked: tuple[int, ...] | None = state.get(_SCORE_KEY)
        if asked is None:
            asked = pod_amounts(pod, self._resources, real=False)
        rows_one_by_one = few(rows)
        if rows_one_by_one is not None and self._score_one is not None:
            infos = (snapshot.infos[row] for row in rows_one_by_one)
            return np.array([self._weigh_one(info, asked, self._score_one) for info in infos], dtype=np.int64)
        plain = self._strategy == "LeastAllocated" and are_plain(snapshot, self._resources, asked)
        if plain and self._resources is CPU_AND_MEMORY:
            return least_allocated_pair(snapshot.pairs_of(rows, LEFT), snapshot.pairs_of(rows, ALLOCATABLE), asked)
        requested, capacity = compared(snapshot, rows, self._resources, asked, real=False)
        pairs = list(zip(requested, capacity, strict=True))
        weights = [one.weight for one in self._resources]
        if plain:
            return mean_of_all([least_allocated(*pair, plain=True) for pair in pairs], weights)
        counts = [size != 0 for size in capacity]
        if self._strategy == "LeastAllocated":
            return in_range(weighted_mean([least_allocated(*pair) for pair in pairs], counts, weights))
        if self._strategy == "MostAllocated":
            return in_range(weighted_mean([most_allocated(*pair) for pair in pairs], counts, weights))
        scores = [requested_to_capacity(*pair, self._points) for pair in pairs]
        # Upstream leaves a resource that scores 0 out of the weights here.
        counts = [counted & (score > 0) for counted, score in zip(counts, scores, strict=True)]
        return rounded_mean(scores, counts, weights)

    def _score_node(self, score_one: Callable[[int, int], int], state: CycleState, pod: PodInfo, info: NodeInfo) -> int:
        """Return what `score` gives one node."""
        asked: tuple[int, ...] | None = state.get(_SCORE_KEY)
        return self._weigh_one(
            info, pod_amounts(pod, self._resources, real=False) if asked is None else asked, score_one
        )

    def _weigh_one(self, info: NodeInfo, asked: Sequence[int], score_one: Callable[[int, int], int]) -> int:
        """Return the weighted mean of one node's resources."""
        total = weight_sum = 0
        pairs = compared_one(info, self._resources, asked, real=False)
        for (requested, capacity), resource in zip(pairs, self._resources, strict=True):
            if capacity:
                total += score_one(requested, capacity) * resource.weight
                weight_sum += resource.weight
        return in_range_one(mean_one(total, weight_sum))

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return pods that go or shrink and so free what this pod asks, and nodes that come or grow."""
        freed = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN)
        own = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE_POD_SCALE_DOWN)
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE)
        return (
            EventRegistration(freed, self._after_pod, _of_others),
            EventRegistration(own, self._after_own, _of_its_own),
            EventRegistration(node, self._after_node),
        )

    def _after_pod(self, pod: PodInfo, old: Any, new: Any) -> QueueingHint:
        if new is None:
            # Its place among the allowed number of pods is free again, whatever it asked for.
            return QueueingHint.QUEUE if old.claims_node else QueueingHint.SKIP
        before, after = old.requests, new.requests
        asked = (resource for resource, amount in pod.requests.items() if amount)
        shrunk = (before.get(resource, 0) > after.get(resource, 0) for resource in asked)
        return QueueingHint.QUEUE if any(shrunk) else QueueingHint.SKIP

    def _after_own(self, pod: PodInfo, old: Any, new: Any) -> QueueingHint:
        return QueueingHint.QUEUE if new is not None and new.uid == pod.uid else QueueingHint.SKIP

    def _after_node(self, pod: PodInfo, old: Any, new: Any) -> QueueingHint:
        if new is None:
            return QueueingHint.SKIP
        # As upstream, this asks about resources that the profile tells Filter to ignore, too.
        size = amounts(new.status.allocatable)
        asked = {resource: amount for resource, amount in pod.asked.items() if amount > 0}
        if size.get("pods", 0) < 1 or any(amount > size.get(resource, 0) for resource, amount in asked.items()):
            return QueueingHint.SKIP
        if old is None:
            return QueueingHint.QUEUE
        before = amounts(old.status.allocatable)
        grown = (size.get(resource, 0) > before.get(resource, 0) for resource in ("pods", *asked))
        return QueueingHint.QUEUE if any(grown) else QueueingHint.SKIP


def _of_others(pod: PodInfo) -> ActionType:
    """A pod that asks for nothing needs a place among the number of pods, which only one that goes gives back."""
    asks = any(pod.requests.values())
    return ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN if asks else ActionType.DELETE


def _of_its_own(pod: PodInfo) -> ActionType:
    return ActionType.UPDATE_POD_SCALE_DOWN if pod.requests else ActionType(0)
