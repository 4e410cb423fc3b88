"""What a scheduler that did not look has left on the nodes: host ports taken twice, more asked for than there is.

The same load under two eras, counted by this, is the comparison that the first seed makes in words: round robin
collides, predicates do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.plugins.node_ports import conflicts as overlaps
from scheduler_core.snapshot.node_info import HostPort, NodeInfo, PodInfo

RESOURCES: Final = ("cpu", "memory", "pods")
"""Resources that are looked at: the ones that the era's predicate knew."""


@dataclass(frozen=True, slots=True)
class Collision:
    """One host port that a pod shares with pods which came to its node before."""

    port: int
    protocol: str
    pod: str
    """`namespace/name`."""
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeConflicts:
    """What is wrong on one node.

    Attributes:
        node: its name.
        collisions: host ports taken more than once, one entry for each pod that came too late.
        over: resource → how much more is asked for than is allocatable (millicores, bytes, pods).
    """

    node: str
    collisions: tuple[Collision, ...] = ()
    over: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conflicts:
    """What is wrong in a cluster; nodes without conflicts are left out."""

    nodes: tuple[NodeConflicts, ...]

    @property
    def host_ports(self) -> int:
        """Return how many host ports pods of one node take that another there has."""
        return sum(len(one.collisions) for one in self.nodes)

    def over(self, resource: str) -> int:
        """Return how many nodes have been given more of a resource than they have."""
        return sum(1 for one in self.nodes if resource in one.over)

    def counts(self) -> dict[str, int]:
        """Return `{"hostPorts": collisions, "cpu": nodes over, "memory": nodes over, "pods": nodes over}`."""
        return {"hostPorts": self.host_ports, **{resource: self.over(resource) for resource in RESOURCES}}

    def as_dict(self) -> dict[str, Any]:
        """Return the counts and, by node, what they are made of; for screens and summaries."""
        nodes = [
            {
                "name": one.node,
                "hostPorts": [
                    {"port": each.port, "protocol": each.protocol, "pod": each.pod, "others": list(each.others)}
                    for each in one.collisions
                ],
                "over": dict(one.over),
            }
            for one in self.nodes
        ]
        return {**self.counts(), "nodes": nodes}


def conflicts_of(nodes: Iterable[FrozenDocument], pods: Iterable[FrozenDocument]) -> Conflicts:
    """Return the conflicts of a cluster.

    Args:
        nodes: Node documents.
        pods: Pod documents, in order of arrival; those without a node and finished ones hold nothing.

    Raises:
        ApiError: a document has another shape.
        QuantityError: a quantity cannot be read.
    """
    infos = {node.name: NodeInfo(node.name, node) for node in (view(document, Node) for document in nodes)}
    for pod in map(PodInfo.of, pods):
        info = infos.get(pod.pod.spec.node_name)
        if info is not None and not pod.pod.is_finished:
            info.add_pod(pod)
    found = (NodeConflicts(info.name, _collisions(info), _over(info)) for info in infos.values())
    return Conflicts(tuple(one for one in found if one.collisions or one.over))


def _collisions(info: NodeInfo) -> tuple[Collision, ...]:
    found: list[Collision] = []
    taken: list[tuple[HostPort, str]] = []
    for pod in info.pods:
        for wanted in pod.host_ports:
            others = tuple(dict.fromkeys(key for port, key in taken if overlaps((wanted,), (port,))))
            if others:
                found.append(Collision(wanted[2], wanted[0], pod.key, others))
        taken.extend((port, pod.key) for port in pod.host_ports)
    return tuple(found)


def _over(info: NodeInfo) -> dict[str, int]:
    held = {**info.requested, "pods": len(info.pods)}
    short = {resource: held.get(resource, 0) - info.allocatable.get(resource, 0) for resource in RESOURCES}
    return {resource: more for resource, more in short.items() if more > 0}
