"""Small documents to build clusters from."""

from __future__ import annotations

from typing import Any

from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo


def node(name: str = "n", *, labels: dict[str, str] | None = None, **more: Any) -> Node:
    """Return a node; `more` are spec and status members, `allocatable` first of all."""
    size = {"cpu": "4", "memory": "8Gi", "pods": "10"} | more.pop("allocatable", {})
    status = {"allocatable": size, "capacity": size, "images": more.pop("images", [])}
    meta = {"name": name, "uid": f"uid-{name}", "labels": labels or {}}
    return view({"metadata": meta, "spec": more, "status": status}, Node)


def pod(name: str = "p", *, requests: dict[str, Any] | None = None, **spec: Any) -> PodInfo:
    """Return a pod with one container, unless `containers` are given.

    `labels`, `namespace`, other `metadata` and `status` are no spec members.
    """
    meta = {"name": name, "namespace": spec.pop("namespace", "default"), "uid": f"uid-{name}"}
    meta |= {"labels": spec.pop("labels", {}), **spec.pop("metadata", {})}
    status = spec.pop("status", {})
    containers = [{"name": "c", "image": "i:1", "resources": {"requests": requests or {}}}]
    document = {"metadata": meta, "spec": {"containers": containers, **spec}, "status": status}
    return PodInfo.of(document)


def info(of: Node, *pods: PodInfo) -> NodeInfo:
    """Return a node with pods on it."""
    found = NodeInfo(of.name, of)
    for one in pods:
        found.add_pod(one)
    return found
