"""The model's state: the objects that the scheduler is interested in.

Pods are `PodInfo` (a pod with its sums worked out), so a formula's `Pod.Spec…` is `pod.pod.spec…`. Pods that have
finished, and those that are leaving, are no objects of the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from scheduler_core.api.node import Node
from scheduler_core.api.requests import Amounts, amounts
from scheduler_core.preemption.budgets import Budget
from scheduler_core.snapshot.node_info import PodInfo


@dataclass(frozen=True, eq=False)
class Objects:
    """`Objects`, or a `Snapshot` of them.

    Attributes:
        pods: {Object ∈ Objects : Kind = "Pod"}.
        nodes: {Object ∈ Objects : Kind = "Node"}.
        budgets: the disruption budgets by which Casualty is judged.
        namespaces: namespace → its labels, for terms with a namespaceSelector.
    """

    pods: tuple[PodInfo, ...]
    nodes: tuple[Node, ...]
    budgets: Sequence[Budget] = ()
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @cached_property
    def node_of(self) -> Mapping[str, Node]:
        """Return the nodes by name."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def on(self) -> Mapping[str, tuple[PodInfo, ...]]:
        """Return node name → pods bound to it, for nodes that have any."""
        found: dict[str, list[PodInfo]] = {}
        for pod in self.pods:
            if pod.pod.spec.node_name:
                found.setdefault(pod.pod.spec.node_name, []).append(pod)
        return {name: tuple(pods) for name, pods in found.items()}

    @cached_property
    def placed(self) -> tuple[tuple[PodInfo, Node], ...]:
        """Return {(Pod, Node) : BoundTo(Pod, Node, Objects)}."""
        return tuple((pod, node) for node in self.nodes for pod in self.on.get(node.name, ()))

    def free(self, node: Node) -> Amounts:
        """Return what is left of `Node.Status.Allocatable`: less what pods on the node ask; `pods` less their count.

        The document compares with Allocatable itself. Taken as the node's size, no pod could ever lack room because of
        another, and PreemptionEnabled would never hold for want of resources; so it is what the node still has.
        """
        left = amounts(node.status.allocatable)
        here = self.on.get(node.name, ())
        left["pods"] = left.get("pods", 0) - len(here)
        for pod in here:
            for resource, amount in pod.requests.items():
                left[resource] = left.get(resource, 0) - amount
        return left

    def without(self, pods: Collection[PodInfo]) -> Objects:
        """Return Objects ∖ Pods."""
        gone = {pod.uid for pod in pods}
        return replace(self, pods=tuple(pod for pod in self.pods if pod.uid not in gone))

    def with_bound(self, pods: Iterable[tuple[PodInfo, str]]) -> Objects:
        """Return Objects with these pods' Spec.NodeName set, those that were no objects added."""
        moved = {pod.uid: pod.placed(name) for pod, name in pods}
        return replace(self, pods=(*(pod for pod in self.pods if pod.uid not in moved), *moved.values()))

    def pod(self, uid: str) -> PodInfo:
        """Return the pod of a uid.

        Raises:
            KeyError: there is none.
        """
        for pod in self.pods:
            if pod.uid == uid:
                return pod
        raise KeyError(uid)
