"""Builds one plugin of the era, in a cluster with other objects."""

from __future__ import annotations

from typing import Any

from scheduler_core.eras import read_spec, registry_of
from scheduler_core.framework.runtime import Framework
from scheduler_core.oracle import CaseListers


def framework(spec: dict[str, Any] | None = None, **objects: list[dict[str, Any]]) -> Framework:
    """Return the era's framework; `objects` are documents by resource, dots written as underscores."""
    spec = {"era": "algorithm-provider", **(spec or {})}
    listers = CaseListers({resource.replace("_", "."): documents for resource, documents in objects.items()})
    return Framework(read_spec(spec).profiles[0], registry_of(spec), listers=listers)


def predicate(name: str, **objects: list[dict[str, Any]]) -> Any:
    """Return a predicate of the default provider."""
    return framework(**objects).plugins[name]


def priority(name: str, **objects: list[dict[str, Any]]) -> Any:
    """Return a priority."""
    return framework({"policy": {"priorities": [{"name": name, "weight": 1}]}}, **objects).plugins[name]


def custom(section: str, argument: dict[str, Any], **objects: list[dict[str, Any]]) -> Any:
    """Return what a Policy's argument makes."""
    entry = {"name": "Mine", "argument": argument} | ({"weight": 1} if section == "priorities" else {})
    policy = {"predicates": [], "priorities": [], section: [entry]}
    found = framework({"policy": policy}, **objects)
    return next(found.plugins[name] for name in found.plugins if name not in ("FIFO", "NodeLister", "Binder"))
