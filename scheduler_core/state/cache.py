"""The cache: what the scheduler believes of nodes and the pods on them, assumed pods included.

    assume → finish_binding → (the watch brings the pod: add_pod) → added
       └─ forget                 └─ expires when the watch never brings it, if an expiry is set

A pod is counted on a node from `assume_pod` on. `add_pod` from the watch confirms it, or corrects the node. The cache
writes nothing into the cluster. Every change raises the row's generation, and `update_snapshot` copies only rows that
are newer than the snapshot.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scheduler_core.api.node import Node
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.node_tree import NodeTree


class CacheError(ValueError):
    """A step that the pod's life in the cache does not allow."""


@dataclass(slots=True)
class _PodState:
    pod: PodInfo
    node_name: str
    assumed: bool
    binding_finished: bool = False
    expires_at_ms: int | None = None


class Cache:
    """Nodes by name with their pods; a snapshot's rows are in the order of `NodeTree`.

    Attributes:
        expiry_ms: how long an assumed pod whose binding is finished may stay unconfirmed; None: for ever, as upstream
            has it since 1.23.
    """

    def __init__(self, expiry_ms: int | None = None) -> None:
        self.expiry_ms = expiry_ms
        self._infos: dict[str, NodeInfo] = {}
        self._tree = NodeTree()
        self._by_change: OrderedDict[str, None] = OrderedDict()
        self._pods: dict[str, _PodState] = {}
        self._assumed: dict[str, _PodState] = {}
        self._generation = 0
        self._structure = 0
        """Generation at which a row last came or went."""

    # Nodes.

    def add_node(self, node: Node) -> None:
        """Add a node, or replace its object; pods that named it before are on it already.

        Raises:
            QuantityError: an allocatable quantity cannot be read.
        """
        info = self._infos.get(node.name)
        if info is None:
            info = self._infos[node.name] = NodeInfo(node.name)
        known = info.node is not None
        info.set_node(node)
        self._tree.put(node)
        self._touch(info)
        if not known:
            info.arrival = self._structure = self._generation

    def remove_node(self, name: str) -> None:
        """Remove a node; its pods stay known until the watch removes them too.

        Raises:
            KeyError: there is no such node.
        """
        info = self._infos[name]
        if info.node is None:
            raise KeyError(name)
        self._tree.remove(name)
        info.node = None
        info.allocatable = {}
        self._touch(info)
        self._structure = self._generation
        self._drop_if_empty(info)

    def node(self, name: str) -> NodeInfo | None:
        """Return the row of a node that has an object; treat it as frozen."""
        info = self._infos.get(name)
        return info if info is not None and info.node is not None else None

    def __len__(self) -> int:
        return sum(1 for info in self._infos.values() if info.node is not None)

    # Pods.

    def assume_pod(self, pod: PodInfo, node_name: str) -> None:
        """Count the pod on a node before its binding is confirmed.

        Raises:
            CacheError: the pod is in the cache already.
        """
        if pod.uid in self._pods:
            raise CacheError(f"pod {pod.key} is in the cache, so can't be assumed")
        self._put(pod, node_name, assumed=True)

    def finish_binding(self, uid: str, now_ms: int) -> None:
        """Note that the binding went out: an expiry, if there is one, starts now."""
        state = self._pods.get(uid)
        if state is not None and state.assumed:
            state.binding_finished = True
            state.expires_at_ms = None if self.expiry_ms is None else now_ms + self.expiry_ms

    def forget_pod(self, uid: str) -> None:
        """Undo `assume_pod`.

        Raises:
            CacheError: the pod is there and confirmed.
        """
        state = self._pods.get(uid)
        if state is None:
            return
        if not state.assumed:
            raise CacheError(f"pod {state.pod.key} was not assumed, so can't be forgotten")
        self._take(state)

    def add_pod(self, pod: PodInfo) -> None:
        """Take in a pod with a node as the watch shows it: confirms an assumed one, corrects its node if it differs."""
        state, node_name = self._pods.get(pod.uid), pod.pod.spec.node_name
        if state is not None:
            if state.node_name == node_name and self._infos[node_name].confirm(state.pod, pod):
                self._assumed.pop(pod.uid, None)
                # Now it is the last to have come.
                del self._pods[pod.uid]
                self._pods[pod.uid] = _PodState(pod, node_name, assumed=False)
                self._touch(self._infos[node_name])
                return
            self._take(state)
        self._put(pod, node_name, assumed=False)

    def remove_pod(self, uid: str) -> None:
        """Stop counting a pod that is gone; unknown ones are none of the cache's business."""
        state = self._pods.get(uid)
        if state is not None:
            self._take(state)

    @property
    def assumed_count(self) -> int:
        """Return how many pods are counted on a node that the watch does not show there yet."""
        return len(self._assumed)

    def is_assumed(self, uid: str) -> bool:
        """Return whether the pod is counted without confirmation."""
        state = self._pods.get(uid)
        return state is not None and state.assumed

    def pod(self, uid: str) -> PodInfo | None:
        """Return the pod as it is counted, None when it is not."""
        state = self._pods.get(uid)
        return None if state is None else state.pod

    def node_of(self, uid: str) -> str | None:
        """Return the node that the pod is counted on."""
        state = self._pods.get(uid)
        return None if state is None else state.node_name

    def pods(self) -> Iterator[PodInfo]:
        """Yield every counted pod."""
        for state in self._pods.values():
            yield state.pod

    def expire(self, now_ms: int) -> list[PodInfo]:
        """Forget assumed pods whose confirmation is overdue, and return them."""
        due = [
            state
            for state in self._assumed.values()
            if state.expires_at_ms is not None and state.expires_at_ms <= now_ms
        ]
        for state in due:
            self._take(state)
        return [state.pod for state in due]

    @property
    def next_expiry_ms(self) -> int | None:
        """Return when the first assumed pod's confirmation is overdue; None: none will ever be."""
        if self.expiry_ms is None:
            return None
        waiting = (state.expires_at_ms for state in self._assumed.values())
        return min((at_ms for at_ms in waiting if at_ms is not None), default=None)

    def assumed(self) -> Iterator[tuple[PodInfo, str, int | None]]:
        """Yield (pod, node, when its confirmation is overdue) of pods counted without confirmation, in that order."""
        for state in self._assumed.values():
            yield state.pod, state.node_name, state.expires_at_ms

    def _put(self, pod: PodInfo, node_name: str, *, assumed: bool) -> None:
        info = self._infos.get(node_name)
        if info is None:
            info = self._infos[node_name] = NodeInfo(node_name)
        info.add_pod(pod)
        self._touch(info)
        state = self._pods[pod.uid] = _PodState(pod, node_name, assumed)
        if assumed:
            self._assumed[pod.uid] = state

    def _take(self, state: _PodState) -> None:
        del self._pods[state.pod.uid]
        self._assumed.pop(state.pod.uid, None)
        info = self._infos[state.node_name]
        info.remove_pod(state.pod.uid)
        self._touch(info)
        self._drop_if_empty(info)

    def _drop_if_empty(self, info: NodeInfo) -> None:
        if info.node is None and not info.pods:
            del self._infos[info.name]
            self._by_change.pop(info.name, None)

    def _touch(self, info: NodeInfo) -> None:
        self._generation += 1
        info.generation = self._generation
        self._by_change[info.name] = None
        self._by_change.move_to_end(info.name)

    # Snapshots.

    def update_snapshot(self, snapshot: Snapshot) -> None:
        """Bring a snapshot level: copy the rows that changed since, or all of them when nodes came or went."""
        if snapshot.generation == self._generation and snapshot.generation > 0:
            return
        if snapshot.generation < self._structure:
            snapshot.rebuild(self._infos[name].clone() for name in self._tree.names())
        else:
            for name in reversed(self._by_change):
                info = self._infos[name]
                if info.generation <= snapshot.generation:
                    break
                if info.node is not None:
                    snapshot.replace_row(snapshot.row_of[name], info.clone())
        snapshot.generation = self._generation

    def snapshot(self, order: Sequence[str] = ()) -> Snapshot:
        """Return a new snapshot that is level; with names in `order`, those rows come first, in that order."""
        fresh = Snapshot()
        self.update_snapshot(fresh)
        if order:
            rank = {name: index for index, name in enumerate(order)}
            fresh.rebuild(sorted(fresh.infos, key=lambda info: rank.get(info.name, len(rank))))
        return fresh
