"""The control loop: BoundTo, Bound, SchedulingEnabled, PreemptionEnabled, Jeopardy, Casualty and the loop's CASE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from scheduler_core.api.node import Node
from scheduler_core.model.affinity import viability
from scheduler_core.model.deviations import AS_WRITTEN, Granted
from scheduler_core.model.filters import feasibility
from scheduler_core.model.objects import Objects
from scheduler_core.preemption.budgets import split
from scheduler_core.preemption.importance import by_importance
from scheduler_core.snapshot.node_info import PodInfo

SCHEDULING: Final = "Scheduling"
PREEMPTION: Final = "Preemption"
UNCHANGED: Final = "UNCHANGED"

Pods = tuple[PodInfo, ...]


def bound_to(pod: PodInfo, node: Node, objects: Objects) -> bool:
    """Return BoundTo.

    BoundTo(Pod, Node, Snapshot) ≝ ∧ Pod ∈ Snapshot ∧ Pod.Kind = "Pod" ∧ Node ∈ Snapshot ∧ Node.Kind = "Node"
    ∧ Pod.Spec.NodeName = Node.Name
    """
    return pod in objects.pods and node in objects.nodes and pod.pod.spec.node_name == node.name


def bound(pod: PodInfo, objects: Objects) -> bool:
    """Return Bound.

    Bound(Pod, Snapshot) ≝ ∃ Node ∈ Snapshot : BoundTo(Pod, Node, Snapshot)
    """
    return pod in objects.pods and pod.pod.spec.node_name in objects.node_of


def unbound(objects: Objects) -> Pods:
    """Return Unbound.

    Unbound ≝ {Pod ∈ Objects : Pod.Kind = "Pod" ∧ ~ Bound(Pod, Objects)}
    """
    return tuple(pod for pod in objects.pods if pod.pod.spec.node_name not in objects.node_of)


def may_go(pod: PodInfo, competing: Sequence[PodInfo]) -> bool:
    """Return whether the loop may pick the pod.

    ∃ Pod ∈ {Pod ∈ Unbound : ∀ Other ∈ Unbound : Other.Spec.Priority ≤ Pod.Spec.Priority}
    """
    return pod in competing and all(other.priority <= pod.priority for other in competing)


def feasible(pod: PodInfo, objects: Objects, granted: Granted = AS_WRITTEN) -> tuple[Node, ...]:
    """Return Feasible ≝ {Node ∈ Objects : Node.Kind = "Node" ∧ Feasibility(Pod, Node, Objects)}."""
    return tuple(node for node in objects.nodes if feasibility(pod, node, objects, granted))


def scheduling_enabled(pod: PodInfo, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return SchedulingEnabled.

    SchedulingEnabled(Pod) ≝ ∃ Node ∈ {Node ∈ Objects : Node.Kind = "Node"} : Feasibility(Pod, Node, Objects)
    """
    return any(feasibility(pod, node, objects, granted) for node in objects.nodes)


def viable(pod: PodInfo, objects: Objects, granted: Granted = AS_WRITTEN) -> tuple[Node, ...]:
    """Return the nodes that Scheduling may choose.

    ∃ Node ∈ Feasible : ∀ Other ∈ Feasible : Viability(Pod, Other, Objects) ≤ Viability(Pod, Node, Objects)
    """
    nodes = feasible(pod, objects, granted)
    worth = {node.name: viability(pod, node, objects) for node in nodes}
    return tuple(node for node in nodes if worth[node.name] == max(worth.values()))


def jeopardy(pod: PodInfo, node: Node, objects: Objects) -> Pods:
    """Return Jeopardy, which the document uses and explains in words: the pods of lower priority bound to the node.

    Jeopardy(Pod, Node, Objects) ≝ {Other ∈ Objects : BoundTo(Other, Node, Objects)
    ∧ Other.Spec.Priority < Pod.Spec.Priority}
    """
    return tuple(other for other in objects.on.get(node.name, ()) if other.priority < pod.priority)


def subsets(pods: Sequence[PodInfo]) -> Iterator[Pods]:
    """Yield SUBSET(pods), smaller ones first; there are 2ⁿ."""
    for size in range(len(pods) + 1):
        yield from combinations(pods, size)


def casualty(pods: Sequence[PodInfo], objects: Objects) -> tuple[int, int]:
    """Return Casualty: how many of the pods break a disruption budget, then how many pods there are.

    The document leaves the measure to disruption budgets. Budgets alone would call it harmless to delete every
    unprotected pod of a node, so of equals the fewer pods are the smaller harm.
    """
    breaking, _ = split(by_importance(pods), objects.budgets)
    return len(breaking), len(pods)


def preemptive(pod: PodInfo, node: Node, objects: Objects, granted: Granted = AS_WRITTEN) -> Iterator[Pods]:
    """Yield {Pods ∈ SUBSET(Jeopardy(Pod, Node, Objects)) : Feasibility(Pod, Node, Objects ∖ Pods)}."""
    for pods in subsets(jeopardy(pod, node, objects)):
        if feasibility(pod, node, objects.without(pods), granted):
            yield pods


def preemption_enabled(pod: PodInfo, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return PreemptionEnabled.

    PreemptionEnabled(Pod) ≝ ∃ Node ∈ {Node ∈ Objects : Node.Kind = "Node"} :
    ∃ Pods ∈ SUBSET(Jeopardy(Pod, Node, Objects)) : Feasibility(Pod, Node, Objects ∖ Pods)
    """
    return any(True for node in objects.nodes for _ in preemptive(pod, node, objects, granted))


def least_casualties(
    pod: PodInfo, objects: Objects, granted: Granted = AS_WRITTEN
) -> tuple[tuple[int, int] | None, tuple[tuple[Node, Pods], ...]]:
    """Return the least Casualty and every (Node, Pods) that Preemption may choose; None where there is none.

    ∃ Node ∈ Preemptable : ∃ Pods ∈ SUBSET(Jeopardy(Pod, Node, Objects)) : ∀ OtherNode ∈ Preemptable :
    ∀ OtherPods ∈ SUBSET(Jeopardy(Pod, OtherNode, Objects)) : Casualty(Pods) ≤ Casualty(OtherPods)

    Pods and OtherPods range over the subsets whose removal makes the pod feasible: over all subsets, as the formula
    stands, the empty one would always be the least.
    """
    found = [
        (casualty(pods, objects), node, pods)
        for node in objects.nodes
        for pods in preemptive(pod, node, objects, granted)
    ]
    if not found:
        return None, ()
    least = min(cost for cost, _, _ in found)
    return least, tuple((node, pods) for cost, node, pods in found if cost == least)


def case(pod: PodInfo, objects: Objects, granted: Granted = AS_WRITTEN) -> str:
    """Return the branch that the loop takes for a pod.

    CASE SchedulingEnabled(Pod) ⟶ Scheduling(Pod) [] PreemptionEnabled(Pod) ⟶ Preemption(Pod)
    [] OTHER ⟶ UNCHANGED(Objects)

    The branches are tried in order: an empty set of pods makes PreemptionEnabled hold whenever SchedulingEnabled does.
    """
    if scheduling_enabled(pod, objects, granted):
        return SCHEDULING
    return PREEMPTION if preemption_enabled(pod, objects, granted) else UNCHANGED
