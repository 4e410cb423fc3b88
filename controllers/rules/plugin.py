"""The plugin WrongRule: a scheduler that follows what people believe, so that its world can be looked at.

Its one argument is the rule's id. What it takes the place of is for the configuration to say (`scheduling.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from controllers.kinds.metrics.usage import CPU
from controllers.rules.preempting import MANNERS
from scheduler_core.api.quantity import QuantityError, amount
from scheduler_core.api.requests import Amounts
from scheduler_core.api.taints import tolerated
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource
from scheduler_core.framework.interface import Plugin
from scheduler_core.framework.registry import Handle, PluginRegistry
from scheduler_core.framework.status import Code
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.plugins.default_preemption import DefaultPreemption
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot

NAME: Final = "WrongRule"

_PODS: Final = EventRegistration(ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ALL))
_NODES: Final = EventRegistration(ClusterEvent(EventResource.NODE, ActionType.ALL))


class _Best:
    """Score where the best gets everything and the others nothing: belief knows no second place."""

    name: ClassVar[str] = NAME

    def __init__(self, handle: Handle) -> None:
        self._score_max = handle.rules.score_max

    def normalize(self, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
        """Return the most points there are for the best."""
        best: Ints = np.where(scores == scores.max(), self._score_max, 0).astype(np.int64)
        return best


class _Scoring(_Best, ABC):
    """Score by what one node is worth."""

    @abstractmethod
    def worth(self, pod: PodInfo, info: NodeInfo) -> int:
        """Return what a node is worth to the pod; the most wins."""

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return what the nodes are worth."""
        return np.array([self.worth(pod, info) for info in snapshot.infos_of(rows)], dtype=np.int64)


class _First(_Best):
    """`first-in-list`: the first by name."""

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return less for each name that comes before."""
        found: Ints = -snapshot.by_name.places[rows]
        return found


class _Attracted(_Scoring):
    """`toleration-attracts`: the nodes with most taints that the pod tolerates, of whatever effect."""

    def worth(self, pod: PodInfo, info: NodeInfo) -> int:
        taints = info.node.spec.taints if info.node is not None else ()
        return sum(tolerated(pod.pod.spec.tolerations, taint) for taint in taints)


class _Filtering(ABC):
    """Filter that stands where NodeResourcesFit stood."""

    name: ClassVar[str] = NAME
    reason: ClassVar[str]

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @abstractmethod
    def fits(self, pod: PodInfo, info: NodeInfo) -> bool:
        """Return whether the rule lets the pod in."""

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return no for the nodes that the rule keeps it out of."""
        failed = np.array([not self.fits(pod, info) for info in snapshot.infos_of(rows)], dtype=np.bool_)
        return single_reason(failed, Code.UNSCHEDULABLE, self.reason)

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return pods and nodes that come, go or change."""
        return (_PODS, _NODES)


class _Formula(_Filtering):
    """`formula-is-code`: a pod fits where a node has as much in all, whoever else is there."""

    reason = "node(s) have less in all than the pod asks for"

    def fits(self, pod: PodInfo, info: NodeInfo) -> bool:
        return _within(pod.asked, info.allocatable)


class _BoundOnly(_Filtering):
    """`only-bound-counts`: pods that Permit holds use nothing yet."""

    reason = "node(s) have too little left beside the pods that are bound"

    def fits(self, pod: PodInfo, info: NodeInfo) -> bool:
        held = {one.info.uid for one in self._handle.waiting.held()}
        bound = Counter[str]()
        for other in info.pods:
            if other.uid not in held:
                bound.update(other.requests)
        return _within(pod.asked, {name: size - bound[name] for name, size in info.allocatable.items()})


class _Seat(_Filtering):
    """`reserved-seat`: a nominated pod goes there and nowhere else."""

    reason = "node(s) are not the one reserved for the pod"

    def fits(self, pod: PodInfo, info: NodeInfo) -> bool:
        return pod.pod.status.nominated_node_name in ("", info.name)


class _LeastUsed(_Scoring, _Filtering):
    """`least-used`: the node whose pods really use least of its cpu; what they ask for does not count."""

    reason = "node(s) are too busy"

    def __init__(self, handle: Handle) -> None:
        _Best.__init__(self, handle)
        _Filtering.__init__(self, handle)

    def fits(self, pod: PodInfo, info: NodeInfo) -> bool:
        return _used(info) + pod.asked.get("cpu", 0) <= info.allocatable.get("cpu", 0)

    def worth(self, pod: PodInfo, info: NodeInfo) -> int:
        return -1_000_000 * _used(info) // max(1, info.allocatable.get("cpu", 0))


def _used(info: NodeInfo) -> int:
    """Return millicores that the pods of a node are told to use; one that is told nothing uses what it asks for."""
    return sum(_told(one) for one in info.pods)


def _told(info: PodInfo) -> int:
    said = info.pod.metadata.annotations.get(CPU)
    try:
        return info.requests.get("cpu", 0) if said is None else amount("cpu", said) * len(info.pod.spec.containers)
    except QuantityError:
        return info.requests.get("cpu", 0)


def _within(asked: Amounts, room: Mapping[str, int]) -> bool:
    return all(number <= room.get(name, 0) for name, number in asked.items() if number)


_SIMPLE: Final[Mapping[str, Callable[[Handle], Plugin]]] = {
    "first-in-list": _First,
    "toleration-attracts": _Attracted,
    "formula-is-code": _Formula,
    "only-bound-counts": _BoundOnly,
    "reserved-seat": _Seat,
    "least-used": _LeastUsed,
}


class _Preempting(DefaultPreemption):
    """PostFilter by another manner."""

    name: ClassVar[str] = NAME


def build(arguments: Mapping[str, Any], handle: Handle) -> Plugin:
    """Return the plugin of a rule.

    Raises:
        ValueError: the rule needs no plugin, or there is none of that name.
    """
    rule = str(arguments.get("rule"))
    if rule in MANNERS:
        return _Preempting({}, handle, MANNERS[rule])
    if rule in _SIMPLE:
        return _SIMPLE[rule](handle)
    known = ", ".join(sorted({*MANNERS, *_SIMPLE}))
    raise ValueError(f'rule: Unsupported value: "{rule}": supported values: {known}')


def registry(installed: PluginRegistry | None = None) -> PluginRegistry:
    """Return the registry that has the plugin, with those that are installed beside it."""
    found = PluginRegistry({NAME: build})
    if installed is not None:
        if NAME in installed:
            return installed
        found.merge(installed)
    return found
