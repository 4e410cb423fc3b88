"""Nodes that run out of something, and the pods that have to go for it.

`<prefix>/pressure: memory|disk|pid` on a node says that it does. Source: pkg/kubelet/eviction (helpers.go,
eviction_manager.go), pkg/kubelet/nodestatus/setters.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from controllers.kinds.metrics.usage import container_usage, running_containers
from controllers.kubelet.stages.node import ENOUGH_DISK, NODE_CONDITIONS
from scheduler_core.api.document import Document, condition
from scheduler_core.api.quantity import QuantityError, amount

EVERY_MS: Final = 10_000
"""One pod goes at a time; a node looks again after this long (the eviction manager's monitoring interval)."""

CRITICAL: Final = 2_000_000_000
"""Pods of this priority and above stay (SystemCriticalPriority)."""


OUT_OF_DISK: Final = "out-of-disk"
"""In an earlier era: a node that gets no new pods; none is evicted for it."""


@dataclass(frozen=True, slots=True)
class Pressure:
    """One thing that a node can run out of: its condition, and the words for it."""

    kind: str
    condition: str
    resource: str
    reason: str
    message: str
    threshold: str
    left: str
    begun: str
    over: str


_ALL: Final = (
    Pressure(
        "memory",
        "MemoryPressure",
        "memory",
        "KubeletHasInsufficientMemory",
        "kubelet has insufficient memory available",
        "100Mi",
        "64Mi",
        "NodeHasInsufficientMemory",
        "NodeHasSufficientMemory",
    ),
    Pressure(
        "disk",
        "DiskPressure",
        "ephemeral-storage",
        "KubeletHasDiskPressure",
        "kubelet has disk pressure",
        "10%",
        "6%",
        "NodeHasDiskPressure",
        "NodeHasNoDiskPressure",
    ),
    Pressure(
        "pid",
        "PIDPressure",
        "pids",
        "KubeletHasInsufficientPID",
        "kubelet has insufficient PID available",
        "10%",
        "6%",
        "NodeHasInsufficientPID",
        "NodeHasSufficientPID",
    ),
    Pressure(
        OUT_OF_DISK,
        "OutOfDisk",
        "",
        "KubeletOutOfDisk",
        "out of disk space",
        "",
        "",
        "NodeOutOfDisk",
        "NodeHasSufficientDisk",
    ),
)


def asked(node: Mapping[str, Any], prefix: str) -> Pressure | None:
    """Return what a node's annotation says that it runs out of."""
    kind = (node["metadata"].get("annotations") or {}).get(f"{prefix}/pressure")
    return next((one for one in _ALL if one.kind == kind), None)


def changes(node: Mapping[str, Any], wanted: Pressure | None) -> list[tuple[Document, str]]:
    """Return (condition without its time, reason of the event) of each condition of a node that is to change."""
    healthy = {one["type"]: one for one in (*NODE_CONDITIONS, ENOUGH_DISK)}
    found: list[tuple[Document, str]] = []
    for one in _ALL:
        known = condition(node, one.condition)
        pressed = one is wanted
        # What somebody else has written, without an annotation, stays.
        own = known is not None and known.get("reason") in (one.reason, healthy[one.condition]["reason"])
        if known is None or not own or (known["status"] == "True") == pressed:
            continue
        fresh = {"type": one.condition, "status": "True", "reason": one.reason, "message": one.message}
        found.append((fresh if pressed else dict(healthy[one.condition]), one.begun if pressed else one.over))
    return found


def victim(pods: Sequence[Document], pressure: Pressure, unix_ms: int) -> Document | None:
    """Return who goes first (None: nobody): one that uses more than it asked for, of low priority, by how much."""
    candidates = [
        pod
        for pod in ([] if pressure.kind == OUT_OF_DISK else pods)
        if "deletionTimestamp" not in pod["metadata"]
        and (pod.get("status") or {}).get("phase") == "Running"
        and int(pod["spec"].get("priority") or 0) < CRITICAL
    ]

    def rank(pod: Document) -> tuple[bool, int, int, str]:
        over = _used(pod, unix_ms) - _requested(pod) if pressure.kind == "memory" else 0
        return (over <= 0, int(pod["spec"].get("priority") or 0), -over, str(pod["metadata"]["uid"]))

    return min(candidates, key=rank, default=None)


def why(pod: Document, pressure: Pressure, unix_ms: int) -> str:
    """Return what an evicted pod is told."""
    text = f"The node was low on resource: {pressure.resource}. "
    text += f"Threshold quantity: {pressure.threshold}, available: {pressure.left}. "
    if pressure.kind != "memory":
        return text
    for one in running_containers(pod):
        used, request = container_usage(pod, one, unix_ms).memory, _request(one)
        if used > request:
            asked_for = ((one.get("resources") or {}).get("requests") or {}).get("memory", "0")
            name = one["name"]
            text += f"Container {name} was using {used >> 10}Ki, request is {asked_for}, "
            text += "has larger consumption of memory. "
    return text


def _used(pod: Document, unix_ms: int) -> int:
    return sum(container_usage(pod, one, unix_ms).memory for one in running_containers(pod))


def _requested(pod: Document) -> int:
    return sum(_request(one) for one in pod["spec"]["containers"])


def _request(container: Mapping[str, Any]) -> int:
    try:
        return int(amount("memory", ((container.get("resources") or {}).get("requests") or {}).get("memory", "0")))
    except (QuantityError, TypeError):
        return 0
