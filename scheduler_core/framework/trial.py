"""Trying pods on one node: what the filters would say if others came or went. Nothing outside the trial changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.status import SUCCESS, Code, Status, error
from scheduler_core.framework.verdicts import FilterErrorText, under_name
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Snapshot

FilterOfNode = Callable[[CycleState, PodInfo, NodeInfo], tuple[int, int]]
"""(cycle state, pod, node) → (code, key), as `FilterPlugin.filter` answers for the node's row."""

Explain = Callable[[int], tuple[str, ...]]
"""Key → reasons."""


class Trial(Protocol):
    """One node of a dry run."""

    def add(self, pod: PodInfo) -> Status:
        """Put a pod there; an error of a plugin's that keeps count ends the dry run."""
        ...

    def remove(self, pod: PodInfo) -> Status:
        """Take a pod away.

        Raises:
            KeyError: it is not there.
        """
        ...

    def verdict(self) -> Status:
        """Return what the filters say under the two-pass rule: with the pods nominated to the node, and without."""
        ...


class Counting(Protocol):
    """What a trial needs of the filters: see `Filtering`."""

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Run the AddPod extensions."""
        ...

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Run the RemovePod extensions."""
        ...

    def node_with_nominated(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Return the verdict on one row under the two-pass rule."""
        ...


class LightTrial:
    """A trial where no filter looks beyond the node, and each can answer from its `NodeInfo` alone."""

    def __init__(
        self,
        state: CycleState,
        pod: PodInfo,
        info: NodeInfo,
        asked: Sequence[tuple[str, FilterOfNode | Status, Explain]],
        rivals: Sequence[PodInfo],
        error_text: FilterErrorText | None,
    ) -> None:
        """Take a copy of the node.

        Args:
            state: the cycle's; nothing writes to it.
            pod: the pod in hand.
            info: the node as it is.
            asked: filters in order: name, how to ask it or what it says in any case, what its keys mean.
            rivals: pods nominated to the node whose claim is no weaker than the pod's.
            error_text: the era's words of a filter's error; None: today's.
        """
        self._state, self._pod = state, pod
        self._info = info.clone()
        self._asked, self._rivals, self._error_text = asked, rivals, error_text
        self._refusals: dict[tuple[str, int, int], Status] = {}

    def add(self, pod: PodInfo) -> Status:
        """Put a pod there."""
        self._info.add_pod(pod)
        return SUCCESS

    def remove(self, pod: PodInfo) -> Status:
        """Take a pod away."""
        self._info.remove_pod(pod.uid)
        return SUCCESS

    def verdict(self) -> Status:
        """Return what the filters say."""
        if self._rivals:
            info = self._info.clone()
            for rival in self._rivals:
                info.add_pod(rival)
            status = self._judge(info)
            if not status.ok:
                return status
        return self._judge(self._info)

    def _judge(self, info: NodeInfo) -> Status:
        for name, ask, explain in self._asked:
            if isinstance(ask, Status):
                return ask
            try:
                code, key = ask(self._state, self._pod, info)
            except Exception as raised:
                return under_name(error(str(raised)), name, self._error_text)
            if code:
                # Pods that are given back are mostly refused alike.
                told = (name, code, key)
                if told not in self._refusals:
                    self._refusals[told] = under_name(Status(Code(code), explain(key)), name, self._error_text)
                return self._refusals[told]
        return SUCCESS


class SnapshotTrial:
    """A trial on a snapshot of the node alone, with the plugins that keep count told of every step."""

    def __init__(self, filtering: Counting, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> None:
        self._filtering = filtering
        self._state, self._pod = state.clone(), pod
        self._snapshot = snapshot.what_if([row])

    def add(self, pod: PodInfo) -> Status:
        """Put a pod there."""
        self._snapshot.add_pod(0, pod)
        return self._filtering.add_pod(self._state, self._pod, pod, self._snapshot, 0)

    def remove(self, pod: PodInfo) -> Status:
        """Take a pod away."""
        self._snapshot.remove_pod(0, pod.uid)
        return self._filtering.remove_pod(self._state, self._pod, pod, self._snapshot, 0)

    def verdict(self) -> Status:
        """Return what the filters say."""
        return self._filtering.node_with_nominated(self._state, self._pod, self._snapshot, 0)
