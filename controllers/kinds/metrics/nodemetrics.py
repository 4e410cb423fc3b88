"""NodeMetrics: what a node uses, its pods and itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from controllers.kinds.columns import NAME
from controllers.kinds.coordination.heartbeat import is_running
from controllers.kinds.metrics.common import loads_in, metrics
from controllers.kinds.metrics.usage import node_usage
from controllers.log.store import Stored
from controllers.registry.computed import Computed, Facts
from controllers.registry.kind import Column, Kind


def _objects(facts: Facts, namespace: str | None, name: str) -> Iterator[Stored]:
    """Yield those of nodes whose kubelet is alive."""
    unix_ms, loads = facts.unix_ms(), loads_in(facts)
    pods: dict[str, list[Mapping[str, Any]]] = {}
    for pod in facts.list("pods")[0]:
        pods.setdefault((pod.object.get("spec") or {}).get("nodeName") or "", []).append(pod.object)
    for node in facts.list("nodes")[0]:
        if name in ("", node.name) and is_running(node.object, unix_ms):
            usage = node_usage(pods.get(node.name, ()), unix_ms, loads).quantities()
            yield metrics("NodeMetrics", node, unix_ms, usage=usage)


KIND: Final = Kind(
    "NodeMetrics",
    "nodes",
    group="metrics.k8s.io",
    version="v1beta1",
    singular="node",
    namespaced=False,
    verbs=("get", "list"),
    computed=Computed(_objects, measured="nodes"),
    columns=(
        NAME,
        Column("cpu", "string", "What the node uses.", lambda doc, age: doc["usage"]["cpu"]),
        Column("memory", "string", "What the node uses.", lambda doc, age: doc["usage"]["memory"]),
        Column("Window", "string", "How long was measured.", lambda doc, age: doc["window"]),
    ),
)
