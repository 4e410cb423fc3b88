"""PodMetrics: what a pod's running containers use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from controllers.kinds.columns import NAME
from controllers.kinds.metrics.common import loads_in, metrics
from controllers.kinds.metrics.usage import container_usage, running_containers
from controllers.log.store import Stored
from controllers.registry.computed import Computed, Facts
from controllers.registry.kind import Column, Kind


def _objects(facts: Facts, namespace: str | None, name: str) -> Iterator[Stored]:
    """Yield those of pods with a running container; others have no usage yet, as upstream."""
    unix_ms, loads = facts.unix_ms(), loads_in(facts)
    for stored in facts.list("pods", namespace)[0]:
        running = running_containers(stored.object) if name in ("", stored.name) else ()
        if running:
            load = loads.get(stored.uid, 0)
            containers = [
                {"name": one["name"], "usage": container_usage(stored.object, one, unix_ms, load).quantities()}
                for one in running
            ]
            yield metrics("PodMetrics", stored, unix_ms, containers=containers)


def _sum(resource: str, unit: str) -> Callable[[Mapping[str, Any], Any], str]:
    def cell(document: Mapping[str, Any], age: Any) -> str:
        return f"{sum(int(one['usage'][resource].removesuffix(unit)) for one in document['containers'])}{unit}"

    return cell


KIND: Final = Kind(
    "PodMetrics",
    "pods",
    group="metrics.k8s.io",
    version="v1beta1",
    singular="pod",
    verbs=("get", "list"),
    computed=Computed(_objects, measured="nodes"),
    columns=(
        NAME,
        Column("cpu", "string", "What its containers use.", _sum("cpu", "m")),
        Column("memory", "string", "What its containers use.", _sum("memory", "Ki")),
        Column("Window", "string", "How long was measured.", lambda doc, age: doc["window"]),
    ),
)
