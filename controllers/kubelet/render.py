"""Statuses of pods and nodes as a kubelet writes them. Pure functions over documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from controllers.kubelet.images import normalised
from controllers.kubelet.stage import Condition, Containers, Next
from controllers.kubelet.stages.node import (
    DEFAULT_CAPACITY,
    KUBELET_PORT,
    NODE_CONDITIONS,
    NODE_INFO,
)
from controllers.log.stamps import wire_time
from scheduler_core.api.document import Document

_OWN_CONDITIONS: Final = frozenset(condition.type for condition in NODE_CONDITIONS)


def pod_status(
    pod: Mapping[str, Any], after: Next, unix_ms: int, addresses: tuple[str, str], exit_code: int | None = None
) -> Document:
    """Return the pod's whole status after a stage.

    Args:
        pod: as last observed.
        after: what the stage makes true.
        unix_ms: the present wire time.
        addresses: (host address, pod address).
        exit_code: with which containers have ended, where it is not the stage's.
    """
    now = wire_time(unix_ms)
    host, own = addresses
    status = dict(pod.get("status") or {})
    status["phase"] = after.phase
    status.setdefault("startTime", now)
    status["hostIP"], status["hostIPs"] = host, [{"ip": host}]
    if after.addressed:
        status["podIP"], status["podIPs"] = own, [{"ip": own}]
    names = [container["name"] for container in pod["spec"].get("containers") or ()]
    code = after.exit_code if exit_code is None else exit_code
    status["conditions"] = _conditions(status.get("conditions") or (), after.conditions, names, now)
    status["containerStatuses"] = [
        _container(pod, container, after.containers, after.reason, now, code)
        for container in pod["spec"].get("containers") or ()
    ]
    starters = pod["spec"].get("initContainers") or ()
    if starters:
        status["initContainerStatuses"] = [_starter(pod, one, after.containers, now) for one in starters]
    status["observedGeneration"] = pod["metadata"].get("generation", 1)
    return status


def _conditions(
    before: Sequence[Mapping[str, Any]], after: Sequence[Condition], names: Sequence[str], now: str
) -> list[Document]:
    known = {entry["type"]: entry for entry in before}
    fresh: list[Document] = []
    for wanted in after:
        old = known.get(wanted.type)
        since = old.get("lastTransitionTime") if old is not None and old["status"] == wanted.status else None
        # A person may have written the condition, without a time.
        entry: Document = {"type": wanted.type, "status": wanted.status, "lastTransitionTime": since or now}
        if wanted.reason:
            entry["reason"] = wanted.reason
        if wanted.message:
            entry["message"] = wanted.message.format(containers=" ".join(names))
        fresh.append(entry)
    named = {entry["type"] for entry in fresh}
    return [*fresh, *(dict(entry) for entry in before if entry["type"] not in named)]


def _container(
    pod: Mapping[str, Any],
    container: Mapping[str, Any],
    state: Containers,
    reason: str,
    now: str,
    exit_code: int = 0,
) -> Document:
    entry: Document = {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "",
        "ready": state == "running",
        "restartCount": 0,
        "started": state == "running",
        "state": {"waiting": {"reason": reason}},
        "lastState": {},
    }
    if state == "running":
        entry["state"] = {"running": {"startedAt": _started_at(pod, container["name"]) or now}}
        entry.update(_identities(pod, container))
    elif state == "ended":
        entry.update(_identities(pod, container))
        entry["state"] = {
            "terminated": {
                "exitCode": exit_code,
                "reason": "Error" if exit_code else "Completed",
                "startedAt": _started_at(pod, container["name"]) or now,
                "finishedAt": now,
                "containerID": entry["containerID"],
            }
        }
    return entry


def _started_at(pod: Mapping[str, Any], name: str) -> str | None:
    """Return since when the container runs, where it does already."""
    for entry in (pod.get("status") or {}).get("containerStatuses") or ():
        if entry["name"] == name:
            started: str | None = ((entry.get("state") or {}).get("running") or {}).get("startedAt")
            return started
    return None


def _starter(pod: Mapping[str, Any], container: Mapping[str, Any], state: Containers, now: str) -> Document:
    """Return the status of an init container: waiting, then done; a sidecar runs on."""
    if state == "waiting":
        return _container(pod, container, state, "PodInitializing", now)
    if container.get("restartPolicy") == "Always":
        return _container(pod, container, state, "", now)
    ended = {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}
    identities = _identities(pod, container)
    return {
        **_container(pod, container, "waiting", "", now),
        **identities,
        "ready": True,
        "state": {"terminated": {**ended, "containerID": identities["containerID"]}},
    }


def _identities(pod: Mapping[str, Any], container: Mapping[str, Any]) -> dict[str, str]:
    image = container.get("image", "")
    place = f"{pod['metadata']['uid']}/{container['name']}"
    return {
        "imageID": f"sha256:{sha256(normalised(image).encode()).hexdigest()}",
        "containerID": f"containerd://{sha256(place.encode()).hexdigest()}",
    }


def node_status(node: Mapping[str, Any], unix_ms: int, address: str) -> Document:
    """Return the status of a node whose kubelet has registered, or has come back."""
    now = wire_time(unix_ms)
    status = dict(node.get("status") or {})
    capacity = status.get("capacity") or status.get("allocatable") or DEFAULT_CAPACITY
    capacity = {"pods": DEFAULT_CAPACITY["pods"], **capacity}
    status["capacity"] = capacity
    status["allocatable"] = {**capacity, **(status.get("allocatable") or {})}
    before = status.get("conditions") or ()
    status["conditions"] = [
        {**entry, "lastHeartbeatTime": now} if entry["type"] in _OWN_CONDITIONS else entry
        for entry in _conditions(before, NODE_CONDITIONS, (), now)
    ]
    name = node["metadata"]["name"]
    if not status.get("addresses"):
        status["addresses"] = [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}]
    uid = node["metadata"]["uid"]
    if not status.get("nodeInfo"):
        status["nodeInfo"] = {**NODE_INFO, "machineID": uid.replace("-", ""), "systemUUID": uid, "bootID": uid}
    status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": KUBELET_PORT}}
    return status
