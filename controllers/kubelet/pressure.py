"""What a node can run out of: what is left of it, who goes first for it, and the words for that.

What is used is what `controllers.kinds.metrics.usage` says of pods and of the node. `<prefix>/pressure: memory` (or
`disk`, `pid`) on a node says that what runs beside the pods leaves too little, whatever they use. Source:
pkg/kubelet/eviction (helpers.go), pkg/kubelet/nodestatus/setters.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from controllers.flags import thresholds
from controllers.flags.thresholds import Amount
from controllers.kinds.metrics import usage
from controllers.kubelet.evicting import Observed, Threshold
from controllers.kubelet.stages.node import DEFAULT_CAPACITY, ENOUGH_DISK, NODE_CONDITIONS
from controllers.kubelet.staticpods import MIRROR
from scheduler_core.api import quantity
from scheduler_core.api.document import Document, condition

CRITICAL: Final = 2_000_000_000
"""Pods of this priority and above stay (SystemCriticalPriority)."""

OUT_OF_DISK: Final = "out-of-disk"
"""In an earlier era: a node that gets no new pods; none is evicted for it."""

DISK_BYTES: Final = 100 << 30
PIDS: Final = 32_768
"""What a machine has whose status tells no ephemeral storage, and how many processes any can have."""

ASKED_SHARE: Final = Amount(share=0.1)
"""The threshold of what the annotation asks for where none is set."""


@dataclass(frozen=True, slots=True)
class Pressure:
    """One thing that a node can run out of: its condition, and the words for it."""

    kind: str
    signal: str
    condition: str
    resource: str
    reason: str
    message: str
    begun: str
    over: str


_ALL: Final = (
    Pressure(
        "memory",
        thresholds.MEMORY,
        "MemoryPressure",
        "memory",
        "KubeletHasInsufficientMemory",
        "kubelet has insufficient memory available",
        "NodeHasInsufficientMemory",
        "NodeHasSufficientMemory",
    ),
    Pressure(
        "disk",
        thresholds.DISK,
        "DiskPressure",
        "ephemeral-storage",
        "KubeletHasDiskPressure",
        "kubelet has disk pressure",
        "NodeHasDiskPressure",
        "NodeHasNoDiskPressure",
    ),
    Pressure(
        "pid",
        thresholds.PIDS,
        "PIDPressure",
        "pids",
        "KubeletHasInsufficientPID",
        "kubelet has insufficient PID available",
        "NodeHasInsufficientPID",
        "NodeHasSufficientPID",
    ),
    Pressure(
        OUT_OF_DISK,
        OUT_OF_DISK,
        "OutOfDisk",
        "",
        "KubeletOutOfDisk",
        "out of disk space",
        "NodeOutOfDisk",
        "NodeHasSufficientDisk",
    ),
)
_BY_SIGNAL: Final = {one.signal: one for one in _ALL}


def asked(node: Mapping[str, Any], prefix: str) -> str:
    """Return the signal of which a node's annotation says that there is too little; empty: none."""
    kind = (node["metadata"].get("annotations") or {}).get(f"{prefix}/pressure")
    return next((one.signal for one in _ALL if one.kind == kind), "")


def resource_of(threshold: Threshold) -> str:
    """Return what a threshold is about, as events name it."""
    return _BY_SIGNAL[threshold.signal].resource


def pressed_conditions(node: Mapping[str, Any]) -> list[str]:
    """Return which pressures a node tells of itself, as its kubelet wrote them."""
    told = ((one, condition(node, one.condition)) for one in _ALL if one.signal != OUT_OF_DISK)
    return [
        one.condition for one, known in told if known and known["status"] == "True" and known["reason"] == one.reason
    ]


def changes(node: Mapping[str, Any], pressed: Collection[str]) -> list[tuple[Document, str]]:
    """Return (condition without its time, reason of the event) of each condition of a node that is to change.

    `pressed` are the signals of which there is too little.
    """
    healthy = {one["type"]: one for one in (*NODE_CONDITIONS, ENOUGH_DISK)}
    found: list[tuple[Document, str]] = []
    for one in _ALL:
        known = condition(node, one.condition)
        is_pressed = one.signal in pressed
        # What somebody else has written, without an annotation, stays.
        own = known is not None and known.get("reason") in (one.reason, healthy[one.condition]["reason"])
        if known is None or not own or (known["status"] == "True") == is_pressed:
            continue
        fresh = {"type": one.condition, "status": "True", "reason": one.reason, "message": one.message}
        found.append((fresh if is_pressed else dict(healthy[one.condition]), one.begun if is_pressed else one.over))
    return found


def observed(
    node: Mapping[str, Any], pods: Iterable[Mapping[str, Any]], wanted: Iterable[Threshold], short: str, unix_ms: int
) -> dict[str, Observed]:
    """Return what is left of a node by signal.

    Args:
        node: the node.
        pods: those that are on it.
        wanted: the thresholds.
        short: the signal of which the node's annotation says that there is too little.
        unix_ms: the present wire time.
    """
    capacity = (node.get("status") or {}).get("capacity") or {}
    has = {
        thresholds.MEMORY: usage.told(capacity.get("memory") or DEFAULT_CAPACITY["memory"]) or 0,
        thresholds.DISK: usage.told(capacity.get("ephemeral-storage")) or DISK_BYTES,
        thresholds.PIDS: PIDS,
    }
    used = usage.node_room(node, pods, unix_ms)
    found = {signal: Observed(max(0, has[signal] - used[signal]), has[signal]) for signal in has}
    for one in wanted:
        if one.signal == short:
            some = found[short]
            found[short] = some._replace(available=min(some.available, one.least.of(some.capacity) * 16 // 25))
    return found


def victim(pods: Iterable[Document], threshold: Threshold, unix_ms: int) -> Document | None:
    """Return who goes first (None: nobody): who uses more than it asked for, of low priority, by how much.

    Of processes nothing is asked for: of low priority first, then who has the most.
    """
    candidates = [
        pod
        for pod in pods
        if "deletionTimestamp" not in pod["metadata"]
        and (pod.get("status") or {}).get("phase") == "Running"
        and MIRROR not in (pod["metadata"].get("annotations") or {})
        and int(pod["spec"].get("priority") or 0) < CRITICAL
    ]
    resource = resource_of(threshold)

    def rank(pod: Document) -> tuple[bool, int, int, str]:
        used = sum(_used(pod, one, threshold.signal, unix_ms) for one in usage.running_containers(pod))
        over = used - sum(_request(one, resource) for one in pod["spec"]["containers"])
        within = over <= 0 and resource != "pids"
        return (within, int(pod["spec"].get("priority") or 0), -over, str(pod["metadata"]["uid"]))

    return min(candidates, key=rank, default=None)


def why(pod: Document, threshold: Threshold, seen: Observed, unix_ms: int) -> str:
    """Return what an evicted pod is told."""
    resource = resource_of(threshold)
    text = f"The node was low on resource: {resource}. "
    text += f"Threshold quantity: {_binary(threshold.least.of(seen.capacity))}, available: {_binary(seen.available)}. "
    if resource == "pids":
        return text
    for one in usage.running_containers(pod):
        used = _used(pod, one, threshold.signal, unix_ms)
        if used > _request(one, resource):
            asked_for = ((one.get("resources") or {}).get("requests") or {}).get(resource, "0")
            text += f"Container {one['name']} was using {_binary(used)}, request is {asked_for}, "
            text += f"has larger consumption of {resource}. "
    return text


def _binary(number: int) -> str:
    return str(quantity.Amount(number * 10**9, "binary"))


def _used(pod: Mapping[str, Any], container: Mapping[str, Any], signal: str, unix_ms: int) -> int:
    return usage.container_room(pod, container, unix_ms)[signal]


def _request(container: Mapping[str, Any], resource: str) -> int:
    return usage.told(((container.get("resources") or {}).get("requests") or {}).get(resource)) or 0
