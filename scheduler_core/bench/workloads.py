"""The workloads: which nodes and pods, as documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

ZONES: Final = 3
"""Zones that nodes are dealt into by turns."""

VICTIMS_PER_NODE: Final = 4
"""Pods of low priority that the preemption workload starts with on each node."""

APPS: Final = 50
"""Apps that the mixed workload's pods belong to, by turns."""

_LABELS: Final = {"app": "bench"}


@dataclass(frozen=True, slots=True)
class Workload:
    """One workload.

    Attributes:
        pod: number → the Pod document to schedule.
        running: (node number, number on the node) → a Pod document that runs there from the start; None: none do.
        needs: plugins without which the workload would measure something else.
        victims: whether each pod must first make room by preemption.
    """

    pod: Callable[[int], dict[str, Any]]
    running: Callable[[int, int], dict[str, Any]] | None = None
    needs: frozenset[str] = field(default_factory=frozenset)
    victims: bool = False


def node(number: int) -> dict[str, Any]:
    """Return the Node document of a number: 4 cpu, 32Gi, 110 pods, one of three zones."""
    name = f"node-{number}"
    size = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "labels": {
                "kubernetes.io/hostname": name,
                "topology.kubernetes.io/zone": f"zone-{number % ZONES}",
                "topology.kubernetes.io/region": "region-0",
            },
        },
        "spec": {},
        "status": {"capacity": size, "allocatable": size, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _pod(
    name: str, cpu: str, priority: int, memory: str = "500Mi", labels: Mapping[str, str] = _LABELS, **spec: Any
) -> dict[str, Any]:
    requests = {"cpu": cpu, "memory": memory}
    return {
        "metadata": {"name": name, "namespace": "bench", "uid": f"uid-{name}", "labels": labels},
        "spec": {
            "schedulerName": "default-scheduler",
            "restartPolicy": "Always",
            "priority": priority,
            "containers": [{"name": "bench", "image": "bench:1", "resources": {"requests": requests}}],
            **spec,
        },
        "status": {"phase": "Pending"},
    }


def _basic(number: int) -> dict[str, Any]:
    return _pod(f"pod-{number}", "100m", 0)


def _spread(number: int) -> dict[str, Any]:
    selector = {"matchLabels": _LABELS}
    constraints = [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": selector,
        },
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": selector,
        },
    ]
    return _pod(f"pod-{number}", "100m", 0, topologySpreadConstraints=constraints)


def _anti_affinity(number: int) -> dict[str, Any]:
    return _pod(f"pod-{number}", "100m", 0, affinity=_away_from(_LABELS))


def _away_from(labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the affinity of a pod that would rather share its host with no pod of these labels."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def _mixed(number: int) -> dict[str, Any]:
    """Return a pod of one of fifty apps, with requests of its own and, by turns, a wish of another kind."""
    labels = {"app": f"app-{number % APPS}"}
    wishes: tuple[dict[str, Any], ...] = (
        {},
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": key,
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": labels},
                }
                for key in ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
            ]
        },
        {"affinity": _away_from(labels)},
        {"affinity": _IN_TWO_ZONES},
    )
    cpu, memory = f"{50 + 10 * (number % 37)}m", f"{100 + 25 * (number % 41)}Mi"
    return _pod(f"pod-{number}", cpu, 0, memory, labels, **wishes[number % len(wishes)])


def _in_zones(*zones: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": list(zones)}]}


_IN_TWO_ZONES: Final = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_in_zones("zone-0", "zone-1")]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "preference": _in_zones("zone-1")}],
    }
}


def _preemptor(number: int) -> dict[str, Any]:
    return _pod(f"pod-{number}", "3", 10)


def _victim(node_number: int, number: int) -> dict[str, Any]:
    document = _pod(f"victim-{node_number}-{number}", "900m", 0, nodeName=f"node-{node_number}")
    second = node_number * VICTIMS_PER_NODE + number
    started = f"2029-01-{1 + second // 86400:02}T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}Z"
    document["status"] = {"phase": "Running", "startTime": started}
    return document


WORKLOADS: Final[Mapping[str, Workload]] = {
    "basic": Workload(_basic),
    "spread": Workload(_spread, needs=frozenset({"PodTopologySpread"})),
    "antiaffinity": Workload(_anti_affinity, needs=frozenset({"InterPodAffinity"})),
    "mixed": Workload(_mixed, needs=frozenset({"PodTopologySpread", "InterPodAffinity", "NodeAffinity"})),
    "preemption": Workload(_preemptor, _victim, frozenset({"DefaultPreemption"}), victims=True),
}
"""Name → workload."""
