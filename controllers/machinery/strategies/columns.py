"""Columns that several kinds print the same way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.machinery.strategy import Column, at

NONE: Final = "<none>"
UNSET: Final = "<unset>"
NAME: Final = Column(
    "Name", "string", "Name must be unique within a namespace.", lambda doc, age: doc["metadata"]["name"]
)
AGE: Final = Column(
    "Age",
    "string",
    "Time since the object was created, by the session's clock.",
    lambda doc, age: age(doc["metadata"].get("creationTimestamp")),
)


def pairs(labels: Mapping[str, str] | None) -> str:
    """Return labels as `a=b,c=d`."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def images(document: Mapping[str, Any]) -> str:
    """Return the images of a workload's template."""
    return ",".join(entry.get("image", "") for entry in at(document, "spec", "template", "spec", "containers") or ())


def containers(document: Mapping[str, Any]) -> str:
    """Return the container names of a workload's template."""
    return ",".join(entry.get("name", "") for entry in at(document, "spec", "template", "spec", "containers") or ())
