"""Whether a kubelet takes a pod: what it refuses, with upstream's reasons.

Source: pkg/kubelet/lifecycle (predicate.go) and pkg/kubelet/sysctl (allowlist.go), v1.34. What a
scheduler placed is not judged again for its ports; its amounts are, since two schedulers may have given one place away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from controllers.kinds.core.pod.defaults import quality_of_service
from controllers.kubelet.pressure import CRITICAL
from controllers.kubelet.stages.node import NODE_LABELS
from scheduler_core.api.node import Taint
from scheduler_core.api.pod import Toleration
from scheduler_core.api.requests import Amounts
from scheduler_core.api.taints import tolerated
from scheduler_core.plugins.node_ports import conflicts

_SYSTEM_LABEL: Final = "kubernetes.io/os"
_SYSTEM: Final = NODE_LABELS[_SYSTEM_LABEL]

_FIRST: Final = ("cpu", "memory", "ephemeral-storage")
"""What a node has too little of is told in this order, other resources after these."""


class Refusal(NamedTuple):
    """Why a pod is not taken."""

    reason: str
    message: str


def asks_for_host_ports(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod needs ports of its node."""
    return next(_host_ports(pod), None) is not None


def refusal(pod: Mapping[str, Any], taken: Iterable[Mapping[str, Any]], sysctls: Iterable[str]) -> Refusal | None:
    """Return why a node does not take a pod; None where it does.

    Args:
        pod: the pod.
        taken: pods that the node has taken and that are not over.
        sysctls: names that pods may set there.
    """
    for one in (pod["spec"].get("securityContext") or {}).get("sysctls") or ():
        if str(one.get("name")).replace("/", ".") not in sysctls:
            return Refusal("SysctlForbidden", f'forbidden sysctl: "{one.get("name")}" not allowlisted')
    if (pod["metadata"].get("labels") or {}).get(_SYSTEM_LABEL, _SYSTEM) != _SYSTEM:
        text = f"Failed to admit pod as the `{_SYSTEM_LABEL}` label doesn't match node label"
        return Refusal("PodOSSelectorNodeLabelDoesNotMatch", text)
    if (pod["spec"].get("os") or {}).get("name", _SYSTEM) != _SYSTEM:
        return Refusal("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS")
    wanted = list(_host_ports(pod))
    if wanted and conflicts(wanted, (port for one in taken for port in _host_ports(one))):
        text = "node(s) didn't have free ports for the requested pod ports"
        return Refusal("NodePorts", f"Predicate NodePorts failed: {text}")
    return None


def refusal_of_amounts(asked: Amounts, taken: Iterable[Amounts], allocatable: Mapping[str, int]) -> Refusal | None:
    """Return why a node has no room for what a pod asks for; None where it has, the first lack where there are several.

    Args:
        asked: resource → millicores or whole units.
        taken: the same of each pod that the node has taken and that is not over.
        allocatable: what the node gives, `pods` among it; of what it does not name it refuses nothing.
    """
    others = list(taken)
    wanted = {"pods": 1} | {name: asked[name] for name in sorted(asked, key=_rank) if asked[name]}
    for name, amount in wanted.items():
        if name not in allocatable:
            continue
        used = len(others) if name == "pods" else sum(one.get(name, 0) for one in others)
        if amount > allocatable[name] - used:
            lack = f"{name}, requested: {amount}, used: {used}, capacity: {allocatable[name]}"
            return Refusal(f"OutOf{name}", f"Node didn't have enough resource: {lack}")
    return None


def _rank(resource: str) -> tuple[int, str]:
    """Order resources as a node looks at them."""
    return _FIRST.index(resource) if resource in _FIRST else len(_FIRST), resource


def is_critical(pod: Mapping[str, Any]) -> bool:
    """Return whether a node takes a pod whatever it lacks."""
    return int(pod["spec"].get("priority") or 0) >= CRITICAL


def refusal_under_pressure(pod: Mapping[str, Any], conditions: Sequence[str]) -> Refusal | None:
    """Return why a node does not take a pod that tells of these pressures; None where it does.

    Critical pods are taken; under pressure of memory alone those too that ask for something, or tolerate it.
    """
    if not conditions or is_critical(pod):
        return None
    if list(conditions) == ["MemoryPressure"]:
        taint = Taint(key="node.kubernetes.io/memory-pressure", effect="NoSchedule")
        own = (
            Toleration(
                str(one.get("key") or ""),
                str(one.get("operator") or ""),
                str(one.get("value") or ""),
                str(one.get("effect") or ""),
            )
            for one in pod["spec"].get("tolerations") or ()
        )
        if quality_of_service(pod["spec"]) != "BestEffort" or tolerated(own, taint):
            return None
    return Refusal("Evicted", f"The node had condition: [{' '.join(conditions)}]. ")


def _host_ports(pod: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Yield (protocol, host IP, port) of what containers and sidecars take."""
    spec = pod["spec"]
    sidecars = (one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always")
    for container in (*sidecars, *spec["containers"]):
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield str(port.get("protocol") or "TCP"), str(port.get("hostIP") or "0.0.0.0"), int(port["hostPort"])
