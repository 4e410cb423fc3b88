"""The flow schemas and priority levels of every API server (`exempt`, `service-accounts`), computed when they are read.

`defaults.jsonl` holds them, a line each, as upstream's server (v1.34) makes them; what is stored under the name of one
stands before it.

Source: k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from controllers.log.stamps import wire_time
from controllers.log.store import Stored
from controllers.registry.computed import Computed, Facts
from controllers.registry.standing import defaults_beside, standing
from scheduler_core.api.document import FrozenDocument, at

GROUP: Final = "flowcontrol.apiserver.k8s.io"
SCHEMAS: Final = f"flowschemas.{GROUP}"
LEVELS: Final = f"prioritylevelconfigurations.{GROUP}"
LAST: Final = "catch-all"
"""The schema and the level for what no other takes."""

_RESOURCES: Final = {"FlowSchema": SCHEMAS, "PriorityLevelConfiguration": LEVELS}
_FIXED: Final = "{name} is the server's own and stays as it is; make one of another name with what you need"


@cache
def defaults(resource: str) -> Mapping[str, FrozenDocument]:
    """Return those of a resource by name, without a status."""
    found: dict[str, FrozenDocument] = {}
    for entry in defaults_beside(__file__):
        if _RESOURCES[entry["kind"]] == resource:
            found[entry["name"]] = {
                "apiVersion": f"{GROUP}/v1",
                "kind": entry["kind"],
                "metadata": {
                    "name": entry["name"],
                    "annotations": {"apf.kubernetes.io/autoupdate-spec": "true"},
                    "generation": 1,
                },
                "spec": entry["spec"],
            }
    return found


def dangling(level: str, found: bool, since: str) -> Mapping[str, Any]:
    """Return the condition that says whether a schema's level is there (util/flowcontrol, apf_controller.go)."""
    status, reason, what = (
        ("False", "Found", "and it exists") if found else ("True", "NotFound", "but there is no such object")
    )
    return {
        "type": "Dangling",
        "status": status,
        "lastTransitionTime": since,
        "reason": reason,
        "message": f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" {what}',
    }


def computed(resource: str) -> Computed:
    """Return how those of a resource are shown."""

    def objects(facts: Facts, namespace: str | None, name: str) -> Iterator[Stored]:
        for own, document in defaults(resource).items():
            if name in ("", own):
                yield standing(facts, resource, {**document, "status": _status(document, facts)})

    return Computed(objects, _FIXED)


def _status(document: FrozenDocument, facts: Facts) -> Mapping[str, Any]:
    """Return what the server says of its own: the level of each schema is there."""
    level = at(document, "spec", "priorityLevelConfiguration", "name")
    return {"conditions": [dangling(level, True, wire_time(facts.epoch_ms))]} if level else {}
