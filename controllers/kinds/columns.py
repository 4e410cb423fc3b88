"""Columns that several kinds print the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from controllers.registry.kind import Column
from controllers.registry.subresources import selector_text
from scheduler_core.api.document import at

NONE: Final = "<none>"
UNSET: Final = "<unset>"
NAME: Final = Column(
    "Name",
    "string",
    "Name must be unique within a namespace.",
    lambda doc, age: doc["metadata"].get("name", ""),
    source="meta_v1.ObjectMeta#name",
    names=True,
)
AGE: Final = Column(
    "Age",
    "string",
    "Time since the object was created, by the session's clock.",
    lambda doc, age: age(doc["metadata"].get("creationTimestamp")),
    source="meta_v1.ObjectMeta#creationTimestamp",
)
CREATED_AT: Final = Column(
    "Created At",
    "date",
    "When the object was created, by the session's clock.",
    lambda doc, age: doc["metadata"].get("creationTimestamp") or "0001-01-01T00:00:00Z",
    source="meta_v1.ObjectMeta#creationTimestamp",
)
"""Of kinds that upstream gives no columns."""


def _controller(document: Mapping[str, Any], age: Any) -> str:
    for owner in document["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            group = owner.get("apiVersion", "").rpartition("/")[0]
            kind = owner.get("kind", "").lower()
            return f"{kind}.{group}/{owner.get('name', '')}" if group else f"{kind}/{owner.get('name', '')}"
    return NONE


CONTROLLER: Final = Column("Controller", "string", "Controller of the object", _controller)


def pairs(labels: Mapping[str, str] | None) -> str:
    """Return labels as `a=b,c=d`."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def selector_words(selector: Mapping[str, Any]) -> str:
    """Return a label selector as tables show it: `app=web,tier in (a,b)`."""
    return selector_text(selector) or NONE


def _images(document: Mapping[str, Any], age: Any) -> str:
    return ",".join(entry.get("image", "") for entry in at(document, "spec", "template", "spec", "containers") or ())


def _containers(document: Mapping[str, Any], age: Any) -> str:
    return ",".join(entry.get("name", "") for entry in at(document, "spec", "template", "spec", "containers") or ())


def counted(name: str, description: str, *path: str) -> Column:
    """Return the column of a number in the document, 0 where it has none."""
    return Column(name, "integer", description, lambda document, age: at(document, *path) or 0)


def text_of(*path: str) -> Callable[[Mapping[str, Any], Any], Any]:
    """Return the cell of a value in the document, empty where it has none."""
    return lambda document, age: at(document, *path) or ""


TEMPLATE: Final = (
    Column("Containers", "string", "Names of each container in the template.", _containers, 1),
    Column("Images", "string", "Images referenced by each container in the template.", _images, 1),
)
"""Wide columns of whatever has a pod template."""


def replicas_columns(model: str) -> tuple[Column, ...]:
    """Return the columns of what keeps a number of equal pods; `model` names its struct (`apps_v1.ReplicaSet`)."""
    return tuple(
        Column(name, "integer", what, _count(*path), source=f"{model}{path[0].title()}#{path[1]}")
        for name, what, path in (
            ("Desired", "Replicas asked for.", ("spec", "replicas")),
            ("Current", "Replicas there are.", ("status", "replicas")),
            ("Ready", "Replicas that are ready.", ("status", "readyReplicas")),
        )
    )


def _count(*path: str) -> Callable[[Mapping[str, Any], Any], Any]:
    return lambda document, age: at(document, *path) or 0


def _ready(document: Mapping[str, Any], age: Any) -> str:
    return f"{at(document, 'status', 'readyReplicas') or 0}/{at(document, 'spec', 'replicas') or 0}"


READY: Final = Column("Ready", "string", "Number of the pod with ready state", _ready)
