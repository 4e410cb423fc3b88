"""The typed view of a Node."""

from __future__ import annotations

from scheduler_core.api.meta import ObjectMeta, View


class Taint(View, frozen=True):
    """v1.Taint. An effect that is not one of the three known ones repels nobody."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class NodeSpec(View, frozen=True):
    """v1.NodeSpec, what the simulation reads of it."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class ContainerImage(View, frozen=True):
    """v1.ContainerImage: one image that a node holds, under all its names."""

    names: tuple[str, ...] = ()
    size_bytes: int = 0


class NodeCondition(View, frozen=True):
    """v1.NodeCondition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_heartbeat_time: str | None = None
    last_transition_time: str | None = None


class NodeStatus(View, frozen=True):
    """v1.NodeStatus, what the simulation reads of it. Quantities are as written."""

    capacity: dict[str, str | int | float] = {}
    allocatable: dict[str, str | int | float] = {}
    conditions: tuple[NodeCondition, ...] = ()
    images: tuple[ContainerImage, ...] = ()


class Node(View, frozen=True):
    """v1.Node."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def name(self) -> str:
        """Return metadata.name."""
        return self.metadata.name
