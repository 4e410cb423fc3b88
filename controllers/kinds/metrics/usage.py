"""What hollow containers use, as a function of facts and the present time; nothing is written and nothing measured.

A container that asks for cpu or memory uses a share of it that is its own (keyed by pod and container) and moves a
little from window to window; one that asks for nothing uses a little all the same. Whoever opens ports uses cpu for the
requests that come (`metrics.load`), and little else. Two annotations of the pod say otherwise, each for every container
of it, and so does the command of `stress`: requests are a promise to the scheduler, usage is what happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from controllers.kinds.metrics.stress import taken_by
from scheduler_core.api.containers import told_of, told_of_containers
from scheduler_core.api.draw import draw
from scheduler_core.api.quantity import QuantityError, amount

WINDOW_MS: Final = 15_000
"""How often a kubelet looks at its containers."""

CPU: Final = "clustersim.io/cpu-usage"
"""Annotation of a Pod: the cpu that each of its containers uses, as a quantity."""

MEMORY: Final = "clustersim.io/memory-usage"
"""Annotation of a Pod: the memory that each of its containers uses, as a quantity."""

DISK: Final = "clustersim.io/disk-usage"
PROCESSES: Final = "clustersim.io/pid-usage"
"""Annotations of a Pod: the ephemeral storage that each of its containers uses, and how many processes it has.

On a Node these and `MEMORY` say what is used beside its pods.
"""

COST: Final = "clustersim.io/cpu-per-request"
"""Annotation of a Pod: the cpu that it uses for one request a second, as a quantity; `COST_MILLI` if it is not told."""

COST_MILLI: Final = 20
"""What Kubernetes' walk-through of autoscaling comes to: its load, a request every 30 ms, takes seven pods of 100m."""

_ROOM: Final = {"memory.available": MEMORY, "nodefs.available": DISK, "pid.available": PROCESSES}
"""What a kubelet watches its node for → the annotation that tells its usage."""

_HABIT: Final = {"cpu": (15, 70), "memory": (40, 85)}
"""Resource → least and most percent of its request that a container uses on average."""

_SERVES: Final = {"cpu": (1, 4), "memory": _HABIT["memory"]}
"""The same of one that opens ports: while nobody asks it has little to do."""

_SWING: Final = {"cpu": 10, "memory": 2}
"""Resource → percent points by which usage moves from window to window, either way; not below nothing."""

_UNASKED: Final = {"cpu": 20, "memory": 64 << 20}
"""What the percentages are of where a container asks for nothing: millicores, bytes."""

_ANNOTATIONS: Final = {"cpu": CPU, "memory": MEMORY}
_IDLE: Final[Mapping[str, int]] = {}


class Usage(NamedTuple):
    """Cpu in millicores, memory in bytes."""

    cpu: int
    memory: int

    def quantities(self) -> dict[str, str]:
        """Return the form that metrics have on the wire."""
        return {"cpu": f"{self.cpu}m", "memory": f"{self.memory >> 10}Ki"}


SYSTEM: Final = Usage(60, 256 << 20)
"""What the node itself uses: its kubelet and its operating system."""


def container_usage(pod: Mapping[str, Any], container: Mapping[str, Any], unix_ms: int, load: int = 0) -> Usage:
    """Return what a running container uses in the window of `unix_ms`; never more than its limits.

    `load`: the millicores that its pod uses for requests (`metrics.load`); the first container answers them.
    """
    answers = container["name"] == pod["spec"]["containers"][0]["name"]
    return Usage(
        _used(pod, container, "cpu", unix_ms, load if answers else 0), _used(pod, container, "memory", unix_ms)
    )


def over_limit(pod: Mapping[str, Any], container: Mapping[str, Any]) -> bool:
    """Return whether a container is told to use more memory than its limit: it is killed for it."""
    told = _told(pod, container, "memory")
    limit = _amount(((container.get("resources") or {}).get("limits") or {}).get("memory"), "memory")
    return told is not None and limit is not None and told > limit


def running_containers(pod: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the containers that run, sidecars among them, in the spec's order."""
    status, spec = pod.get("status") or {}, pod.get("spec") or {}
    if status.get("phase") != "Running":
        return []
    names = {one.get("name") for one in told_of_containers(pod) if (one.get("state") or {}).get("running") is not None}
    return [one for one in (*(spec.get("initContainers") or ()), *spec["containers"]) if one.get("name") in names]


def usual(pod: Mapping[str, Any]) -> Usage:
    """Return what a pod's running containers use together on average: what they use in a window moves about it."""
    uid = pod["metadata"].get("uid", "")

    def of(container: Mapping[str, Any], resource: str) -> int:
        return _taken(pod, container, resource, _average(uid, container, resource))

    return _sum(Usage(of(one, "cpu"), of(one, "memory")) for one in running_containers(pod))


def usual_of_pod(pod: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page is told of a pod that runs: `usage`, on average; of any other nothing.

    Where requests add to it: `perRequest`, what one a second takes, and `most`, what a limit leaves of all; millicores.
    """
    running = running_containers(pod)
    if not running:
        return {}
    found: dict[str, Any] = usual(pod)._asdict()
    first = pod["spec"]["containers"][0]
    if _told(pod, first, "cpu") is None and any(one["name"] == first["name"] for one in running):
        found["perRequest"] = cost_milli(pod)
        limit = _amount((_held(pod, first).get("limits") or {}).get("cpu"), "cpu")
        if limit is not None:
            average = _taken(pod, first, "cpu", _average(pod["metadata"].get("uid", ""), first, "cpu"))
            found["most"] = found["cpu"] + limit - average
    return {"usage": found}


def usual_of_node(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page is told of a node: the `usage` of what runs there beside its pods."""
    return {"usage": SYSTEM._asdict()}


def pod_usage(pod: Mapping[str, Any], unix_ms: int, load: int = 0) -> Usage:
    """Return what a pod's running containers use together; `load` as in `container_usage`."""
    return _sum(container_usage(pod, one, unix_ms, load) for one in running_containers(pod))


def node_usage(pods: Iterable[Mapping[str, Any]], unix_ms: int, loads: Mapping[str, int] = _IDLE) -> Usage:
    """Return what a node uses: its pods and itself; `loads`: uid of a pod → millicores for requests."""
    return _sum((SYSTEM, *(pod_usage(pod, unix_ms, loads.get(pod["metadata"]["uid"], 0)) for pod in pods)))


def tells_usage(document: Mapping[str, Any]) -> bool:
    """Return whether a pod or node says what it uses of what can run out."""
    annotations = document["metadata"].get("annotations")
    return bool(annotations) and any(key in annotations for key in _ROOM.values())


def container_room(pod: Mapping[str, Any], container: Mapping[str, Any], unix_ms: int) -> dict[str, int]:
    """Return what a running container takes of what can run out, by the kubelet's signal: bytes, bytes, processes."""
    annotations = pod["metadata"].get("annotations") or {}
    disk, processes = told(annotations.get(DISK)), told(annotations.get(PROCESSES))
    memory = _used(pod, container, "memory", unix_ms)
    found = (memory, disk or 0, 1 if processes is None else processes)
    return dict(zip(_ROOM, found, strict=True))


def node_room(node: Mapping[str, Any], pods: Iterable[Mapping[str, Any]], unix_ms: int) -> dict[str, int]:
    """Return what a node's pods, and what runs beside them, take of what can run out."""
    annotations = node["metadata"].get("annotations") or {}
    beside = (SYSTEM.memory, 0, 0)
    used = {
        signal: own if (said := told(annotations.get(key))) is None else said
        for (signal, key), own in zip(_ROOM.items(), beside, strict=True)
    }
    for pod in pods:
        for one in running_containers(pod):
            for signal, number in container_room(pod, one, unix_ms).items():
                used[signal] += number
    return used


def told(quantity: Any) -> int | None:
    """Return a quantity as a whole number, bytes where it is one of bytes; None where it cannot be read."""
    return _amount(quantity, "memory")


def _sum(parts: Iterable[Usage]) -> Usage:
    listed = list(parts)
    return Usage(sum(one.cpu for one in listed), sum(one.memory for one in listed))


def _used(pod: Mapping[str, Any], container: Mapping[str, Any], resource: str, unix_ms: int, load: int = 0) -> int:
    """Return what a container uses in the window of `unix_ms`; `load` comes on top."""
    percent = _habit(pod["metadata"]["uid"], container, resource, unix_ms)
    return _taken(pod, container, resource, percent, load)


def _taken(pod: Mapping[str, Any], container: Mapping[str, Any], resource: str, percent: int, load: int = 0) -> int:
    """Return what a container uses that uses so much of its request, unless it says so itself; within its limit."""
    resources = _held(pod, container)
    limit = _amount((resources.get("limits") or {}).get(resource), resource)
    told = _told(pod, container, resource)
    if told is None:
        asked = _amount((resources.get("requests") or {}).get(resource), resource)
        told = percent * (asked or _UNASKED[resource]) // 100 + load
    return told if limit is None else min(told, limit)


def cost_milli(pod: Mapping[str, Any]) -> int:
    """Return the millicores that a pod uses for one request a second."""
    told = _amount((pod["metadata"].get("annotations") or {}).get(COST), "cpu")
    return COST_MILLI if told is None else told


def _told(pod: Mapping[str, Any], container: Mapping[str, Any], resource: str) -> int | None:
    """Return what a container is said to use, by its pod's annotation or else by its command; None: nothing says it."""
    told = _amount((pod["metadata"].get("annotations") or {}).get(_ANNOTATIONS[resource]), resource)
    return told if told is not None else getattr(taken_by(container), resource)


def _held(pod: Mapping[str, Any], container: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the requests and limits that a container has: in a resize, what its kubelet has given it so far."""
    return told_of(pod, container["name"]).get("resources") or container.get("resources") or {}


def _average(uid: str, container: Mapping[str, Any], resource: str) -> int:
    """Return the percentage of its request that a container uses on average."""
    low, high = (_SERVES if container.get("ports") else _HABIT)[resource]
    return low + draw(0, f"usage/{resource}/{container['name']}", uid, below=high - low)


def _habit(uid: str, container: Mapping[str, Any], resource: str, unix_ms: int) -> int:
    """Return the percentage of its request that a container uses now."""
    average = _average(uid, container, resource)
    swing = min(_SWING[resource], average)
    key = f"swing/{resource}/{container['name']}"
    return average + draw(0, key, uid, unix_ms // WINDOW_MS, below=2 * swing + 1) - swing


def _amount(quantity: Any, resource: str) -> int | None:
    """Return a quantity as millicores or bytes; None where there is none, or none that can be read."""
    try:
        return None if quantity is None else max(0, amount(resource, quantity))
    except (QuantityError, TypeError):
        return None
