"""Filters 1.1 to 1.4 as formulas, and Feasibility; 1.5 is in `affinity`.

Each takes (Pod, Node, Objects) and the deviations that are granted; with none it is the formula that its text quotes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from scheduler_core.api.node import Node, Taint
from scheduler_core.api.pod import Pod, Toleration
from scheduler_core.api.quantity import counted, nano_of
from scheduler_core.api.requests import Amounts, is_counted
from scheduler_core.api.taints import NO_SCHEDULE_EFFECTS
from scheduler_core.model.affinity import node_affinity, pod_affinity, pod_anti_affinity
from scheduler_core.model.deviations import (
    AS_WRITTEN,
    CONDITIONS,
    CORDON,
    DEVIATIONS,
    EMPTY_COVERS_ALL,
    EMPTY_OPERATOR,
    MORE_FILTERS,
    NOTHING_ASKED,
    PREFER,
    SIDECARS,
    TODAY,
    Granted,
)
from scheduler_core.model.objects import Objects
from scheduler_core.plugins.node_ports import conflicts
from scheduler_core.snapshot.node_info import PodInfo

Filter = Callable[[PodInfo, Node, Objects, Granted], bool]

_CORDON: Final = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def phase(node: Node) -> str:
    """Return Node.Status.Phase.

    Nodes have had no phase since conditions replaced it: Pending stands for a Ready condition that is not True.
    """
    ready = next((one for one in node.status.conditions if one.type == "Ready"), None)
    return "Running" if ready is None or ready.status == "True" else "Pending"


def schedulability(pod: PodInfo, node: Node, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return filter 1.1.

    Filter(Pod, Node) ≝ ∧ Node.Spec.Unschedulable = False ∧ Node.Status.Phase = "Running"
    """
    accepts = not node.spec.unschedulable
    if CORDON in granted:
        accepts = accepts or any(match(one, _CORDON, granted) for one in pod.pod.spec.tolerations)
    return accepts and (CONDITIONS in granted or phase(node) == "Running")


def required(pod: Pod) -> Amounts:
    """Return, by resource, the larger of the two left sides of 1.2.

    Max({i ∈ DOMAIN p.Spec.InitContainer : p.Spec.InitContainer[i].Resources.Required[r]}) and
    Sum({i ∈ DOMAIN p.Spec.Container : p.Spec.Container[i].Resources.Required[r]})
    """
    peak: dict[str, int] = {}
    total: dict[str, int] = {}
    for container in pod.spec.init_containers:
        for resource, quantity in container.resources.requests.items():
            peak[resource] = max(peak.get(resource, 0), nano_of(quantity))
    for container in pod.spec.containers:
        for resource, quantity in container.resources.requests.items():
            total[resource] = total.get(resource, 0) + nano_of(quantity)
    return {
        resource: counted(resource, max(peak.get(resource, 0), total.get(resource, 0)))
        for resource in peak | total
        if is_counted(resource)
    }


def resources(pod: PodInfo, node: Node, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return filter 1.2; Allocatable is what is left, see `Objects.free`.

    Resources(Pod, Node) ≝ ∧ 1 ≤ Node.Status.Allocatable["pods"]
    ∧ Max({i : p.Spec.InitContainer[i].Resources.Required["cpu"]}) ≤ Node.Status.Allocatable["cpu"] ∧ …
    ∧ Sum({i : p.Spec.Container[i].Resources.Required["cpu"]}) ≤ Node.Status.Allocatable["cpu"] ∧ …
    """
    free = objects.free(node)
    asked: Mapping[str, int] = pod.requests if SIDECARS in granted else required(pod.pod)
    if NOTHING_ASKED in granted:
        asked = {resource: amount for resource, amount in asked.items() if amount}
    return free["pods"] >= 1 and all(amount <= free.get(resource, 0) for resource, amount in asked.items())


def node_selector(pod: PodInfo, node: Node, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return filter 1.3.

    Filter(Pod, Node) ≝ ∀ Label ∈ DOMAIN(Pod.Spec.NodeSelector) :
    ∧ Label ∈ DOMAIN(Node.Labels) ∧ Pod.Spec.NodeSelector[Label] = Node.Labels[Label]
    """
    labels, wanted = node.metadata.labels, pod.pod.spec.node_selector
    return all(label in labels and wanted[label] == labels[label] for label in wanted)


def match(toleration: Toleration, taint: Taint, granted: Granted = AS_WRITTEN) -> bool:
    """Return Match of 1.4.

    Match(Toleration, Taint) ≝ ∧ CASE Toleration.Operator = "Exists" ⟶ Toleration.key = Taint.key
    [] Toleration.Operator = "Equal" ⟶ Toleration.key = Taint.key ∧ Toleration.value = Taint.value
    [] OTHER ⟶ FALSE ∧ Toleration.Effect = Taint.Effect
    """
    covers = EMPTY_COVERS_ALL in granted
    same_key = toleration.key == taint.key or (covers and not toleration.key)
    same_effect = toleration.effect == taint.effect or (covers and not toleration.effect)
    operator = toleration.operator
    if not operator and EMPTY_OPERATOR in granted:
        operator = "Equal"
    match operator:
        case "Exists":
            return same_key and same_effect
        case "Equal":
            return same_key and toleration.value == taint.value and same_effect
        case _:
            return False


def taints(pod: PodInfo, node: Node, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return filter 1.4.

    Filter(Pod, Node) ≝ ∀ Taint ∈ Node.Spec.Taints : ∃ Toleration ∈ Pod.Spec.Tolerations : Match(Toleration, Taint)
    """
    return all(
        any(match(toleration, taint, granted) for toleration in pod.pod.spec.tolerations)
        for taint in node.spec.taints
        if PREFER not in granted or taint.effect in NO_SCHEDULE_EFFECTS
    )


def host_ports(pod: PodInfo, node: Node, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return one of the filters behind the document's "…": no host port of the pod is taken on the node.

    Without `more-filters` it holds always.
    """
    if MORE_FILTERS not in granted or not pod.host_ports:
        return True
    return not conflicts(pod.host_ports, (port for other in objects.on.get(node.name, ()) for port in other.host_ports))


FILTERS: Final[Mapping[str, Filter]] = {
    "1.1": schedulability,
    "1.2": resources,
    "1.3": node_selector,
    "1.4": taints,
    "1.5 node": node_affinity,
    "1.5 pod": pod_affinity,
    "1.5 anti": pod_anti_affinity,
    "…": host_ports,
}
"""Section → Filter_k, in the document's order."""

FORMULAS: Final[Mapping[str, str]] = {
    "1.1": 'Node.Spec.Unschedulable = False ∧ Node.Status.Phase = "Running"',
    "1.2": '1 ≤ Allocatable["pods"] ∧ Max(InitContainer[i].Required[r]) ≤ Allocatable[r]'
    " ∧ Sum(Container[i].Required[r]) ≤ Allocatable[r]",
    "1.3": "∀ Label ∈ DOMAIN(Pod.Spec.NodeSelector) : Pod.Spec.NodeSelector[Label] = Node.Labels[Label]",
    "1.4": "∀ Taint ∈ Node.Spec.Taints : ∃ Toleration ∈ Pod.Spec.Tolerations : Match(Toleration, Taint)",
    "1.5 node": "∃ Term ∈ NodeAffinity.Required.NodeSelectorTerms : Match_NS(Term, Node)",
    "1.5 pod": "∀ Term ∈ PodAffinity.Required : P_Affinity(Term, Node)",
    "1.5 anti": "∀ Term ∈ AntiPodAffinity.Required : ¬ P_Affinity(Term, Node)",
    "…": "Filter_k(Pod, Node, Snapshot)",
}
"""Section → the formula, as screens show it."""

_OF_THE_NODE: Final = ("1.1", "1.3", "1.4", "1.5 node")
"""Sections that ask nothing about other pods."""


def is_beyond_help(pod: PodInfo, node: Node, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return whether the node is ruled out whatever pods are on it."""
    return not all(FILTERS[section](pod, node, objects, granted) for section in _OF_THE_NODE)


def differences(holds: Filter, pod: PodInfo, node: Node, objects: Objects) -> tuple[str, ...]:
    """Return the deviations by which today's verdict of a filter differs from the written one; none where it does not.

    None of them can be left out.
    """
    today = holds(pod, node, objects, TODAY)
    if holds(pod, node, objects, AS_WRITTEN) == today:
        return ()
    held = TODAY
    for name in DEVIATIONS:
        if holds(pod, node, objects, held - {name}) == today:
            held -= {name}
    return tuple(name for name in DEVIATIONS if name in held)


def feasibility(pod: PodInfo, node: Node, objects: Objects, granted: Granted = AS_WRITTEN) -> bool:
    """Return Feasibility.

    Feasibility(Pod, Node, Snapshot) ≝ (Filter_1(Pod, Node, Snapshot) ∧ Filter_2(Pod, Node, Snapshot) ∧ …)
    """
    return all(holds(pod, node, objects, granted) for holds in FILTERS.values())
