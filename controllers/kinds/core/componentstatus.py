"""ComponentStatuses: whether a scheduler, a controller manager and the store are there, asked when it is read.

Source: pkg/registry/core/componentstatus, pkg/registry/core/rest (componentStatusStorage), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from controllers.kinds.columns import NAME
from controllers.log.store import Stored
from controllers.registry.computed import Computed, Facts
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import Document, at

REPLICAS: Final = "replicas.clustersim.io"
ALIVE: Final = "Running"
"""The state in which a replica's process answers (`Replica.status.state`)."""

_ASKED: Final = (
    ("controller-manager", "kube-controller-manager", 10257),
    ("etcd-0", "", 0),
    ("scheduler", "kube-scheduler", 10259),
)
"""(name, component whose replicas are meant, port); the store answers whoever can ask."""


def _objects(facts: Facts, namespace: str | None, name: str) -> Iterator[Stored]:
    for own, component, port in _ASKED:
        if name in ("", own):
            healthy = not component or any(_answers(one.object, component) for one in facts.list(REPLICAS)[0])
            url = f"https://127.0.0.1:{port}/healthz"
            refused = f'Get "{url}": dial tcp 127.0.0.1:{port}: connect: connection refused'
            condition: Document = {
                "type": "Healthy",
                "status": "True" if healthy else "False",
                "message": "ok" if healthy else refused,
            }
            document = {
                "kind": "ComponentStatus",
                "apiVersion": "v1",
                "metadata": {"name": own},
                "conditions": [condition],
            }
            yield Stored("componentstatuses", "", own, "", 0, msgspec.json.encode(document))


def _answers(replica: Mapping[str, Any], component: str) -> bool:
    return (at(replica, "spec", "component"), at(replica, "status", "state")) == (component, ALIVE)


def _said(key: str) -> Any:
    def cell(document: Mapping[str, Any], age: Any) -> str:
        return next((str(one.get(key) or "") for one in document["conditions"] if one["type"] == "Healthy"), "")

    return cell


def _status(document: Mapping[str, Any], age: Any) -> str:
    statuses = [one["status"] for one in document["conditions"] if one["type"] == "Healthy"]
    return "Unknown" if not statuses else "Healthy" if statuses[-1] == "True" else "Unhealthy"


KIND: Final = Kind(
    "ComponentStatus",
    "componentstatuses",
    short_names=("cs",),
    namespaced=False,
    verbs=("get", "list"),
    deprecated="v1 ComponentStatus is deprecated in v1.19+",
    computed=Computed(_objects, missing="componentstatus"),
    columns=(
        NAME,
        Column("Status", "string", "Status of the component conditions", _status),
        Column("Message", "string", "Message of the component conditions", _said("message")),
        Column("Error", "string", "Error of the component conditions", _said("error")),
    ),
)
