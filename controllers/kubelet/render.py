"""Statuses of nodes as a kubelet writes them. Pure functions over documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.flags.flag import ERA_THEN
from controllers.kubelet.containers import merged_conditions
from controllers.kubelet.stages.node import DEFAULT_CAPACITY, ENOUGH_DISK, KUBELET_PORT, NODE_CONDITIONS, NODE_INFO
from controllers.log.stamps import wire_time
from scheduler_core.api.document import Document, condition

_OWN_CONDITIONS: Final = frozenset(entry["type"] for entry in NODE_CONDITIONS)


def is_ready(document: Mapping[str, Any]) -> bool:
    """Return whether the object's Ready condition is true."""
    ready = condition(document, "Ready")
    return ready is not None and ready.get("status") == "True"


def with_era(conditions: Sequence[Document], era: str, unix_ms: int) -> list[Document]:
    """Return conditions with OutOfDisk, which kubelets of the earlier era report, or without it."""
    if era == ERA_THEN:
        has = any(one["type"] == ENOUGH_DISK["type"] for one in conditions)
        return list(conditions) if has else merged_conditions(conditions, [ENOUGH_DISK], unix_ms)
    return [one for one in conditions if one.get("reason") not in (ENOUGH_DISK["reason"], "KubeletOutOfDisk")]


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
        for entry in merged_conditions(before, NODE_CONDITIONS, unix_ms)
    ]
    name = node["metadata"]["name"]
    if not status.get("addresses"):
        status["addresses"] = [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}]
    uid = node["metadata"]["uid"]
    if not (status.get("nodeInfo") or {}).get("kubeletVersion"):
        status["nodeInfo"] = {**NODE_INFO, "machineID": uid.replace("-", ""), "systemUUID": uid, "bootID": uid}
    status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": KUBELET_PORT}}
    return status
