"""What silence makes of a node's status.

Source: k8s.io/kubernetes/pkg/controller/nodelifecycle/node_lifecycle_controller.go (tryUpdateNodeHealth).
"""

from __future__ import annotations

from typing import Final

from controllers.log.operations import Update
from controllers.log.stamps import wire_time
from scheduler_core.api.document import Document

WATCHED_CONDITIONS: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
"""Conditions that become Unknown when the kubelet falls silent."""


def unknown(node: Document, unix_ms: int) -> Update | None:
    """Return the write that makes a silent node's conditions Unknown; None where they are."""
    metadata, now = node["metadata"], wire_time(unix_ms)
    known: list[Document] = (node.get("status") or {}).get("conditions") or []
    conditions = [
        {
            **entry,
            "status": "Unknown",
            "lastTransitionTime": now,
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
        }
        if entry["type"] in WATCHED_CONDITIONS and entry["status"] != "Unknown"
        else entry
        for entry in known
    ]
    types = {entry["type"] for entry in known}
    conditions += [
        {
            "type": name,
            "status": "Unknown",
            "lastHeartbeatTime": metadata["creationTimestamp"],
            "lastTransitionTime": now,
            "reason": "NodeStatusNeverUpdated",
            "message": "Kubelet never posted node status.",
        }
        for name in WATCHED_CONDITIONS
        if name not in types
    ]
    if conditions == known:
        return None
    status = {**(node.get("status") or {}), "conditions": conditions}
    body = {"metadata": {key: metadata[key] for key in ("uid", "resourceVersion")}, "status": status}
    return Update("nodes", "", metadata["name"], body, "status")
