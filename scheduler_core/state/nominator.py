"""Which pods hope to land where: nominations made by preemption, in memory before the API has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler_core.snapshot.node_info import PodInfo


class Nominator:
    """Pods by the node they are nominated to, each at most once."""

    def __init__(self) -> None:
        self._node_of: dict[str, str] = {}
        self._pods: dict[str, dict[str, PodInfo]] = {}

    def nominated_to(self, node_name: str) -> Sequence[PodInfo]:
        """Return the pods nominated to a node, in order of nomination."""
        found = self._pods.get(node_name)
        return tuple(found.values()) if found else ()

    def nodes(self) -> Iterable[str]:
        """Return the nodes that any pod is nominated to."""
        return self._pods.keys()

    def node_of(self, uid: str) -> str:
        """Return where the pod is nominated to, empty: nowhere."""
        return self._node_of.get(uid, "")

    def items(self) -> list[tuple[str, PodInfo]]:
        """Return (node, pod) of every nomination."""
        return [(node_name, info) for node_name, pods in self._pods.items() for info in pods.values()]

    def add(self, info: PodInfo, node_name: str | None = None) -> None:
        """Nominate the pod to a node; None: to the one its status names; empty: to none any more."""
        self.delete(info.uid)
        target = info.pod.status.nominated_node_name if node_name is None else node_name
        if target:
            self._node_of[info.uid] = target
            self._pods.setdefault(target, {})[info.uid] = info

    def update(self, old: PodInfo | None, new: PodInfo) -> None:
        """Take the newer view of a pod.

        A change that says nothing of nominations may have been made before the API heard of the one kept here, so
        that one stays.
        """
        kept: str | None = None
        if not new.pod.status.nominated_node_name and (old is None or not old.pod.status.nominated_node_name):
            kept = self._node_of.get(new.uid)
        self.add(new, kept)

    def delete(self, uid: str) -> None:
        """Drop the pod's nomination, if there is one."""
        node_name = self._node_of.pop(uid, None)
        if node_name is None:
            return
        pods = self._pods[node_name]
        del pods[uid]
        if not pods:
            del self._pods[node_name]
