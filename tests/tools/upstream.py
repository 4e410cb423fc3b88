"""Upstream's end-to-end tests that ours do again: their names and what they ask of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final, TypeVar

from controllers.log.operations import Create, Delete, Patch, Update
from scheduler_core.api.document import Document
from tests.tools.lab import Lab

_Test = TypeVar("_Test", bound=Callable[..., None])

NAMESPACE = "default"


def does(*name: str) -> Callable[[_Test], _Test]:
    """Mark a test as doing what upstream's of this name does (test/e2e, v1.34); docs/e2e.md lists them.

    Args:
        name: parts of the name, after `[sig-apps]` or from another `[sig-…]` on.
    """

    def mark(test: _Test) -> _Test:
        DONE[" ".join(name)] = f"{test.__module__.rpartition('.')[2]}.{test.__name__}"
        return test

    return mark


DONE: Final[dict[str, str]] = {}
"""The test of ours by the name of upstream's."""


def make(lab: Lab, resource: str, document: Document) -> Document:
    """Create an object as a person."""
    return lab.do(Create(resource, document["metadata"].get("namespace", ""), document))


def patched(lab: Lab, resource: str, name: str, patch: Mapping[str, Any], subresource: str = "") -> Document:
    """Patch an object as typed clients do, strategically."""
    return lab.do(Patch(resource, NAMESPACE, name, dict(patch), "strategic", subresource))


def updated(lab: Lab, resource: str, name: str, change: Callable[[Document], None], subresource: str = "") -> Document:
    """Read, change and replace an object."""
    document = deepcopy(lab.get(resource, name))
    change(document)
    return lab.do(Update(resource, NAMESPACE, name, document, subresource))


def deleted(lab: Lab, resource: str, name: str, propagation: Any = "Background", grace: int | None = None) -> None:
    """Delete an object."""
    lab.do(Delete(resource, NAMESPACE, name, propagation=propagation, grace_period_seconds=grace))


def set_image(lab: Lab, resource: str, name: str, image: str) -> Document:
    """Give the one container of a workload another image."""
    containers = [{"name": "main", "image": image}]
    return patched(lab, resource, name, {"spec": {"template": {"spec": {"containers": containers}}}})


def names(lab: Lab, resource: str = "pods") -> list[str]:
    """Return the names of what is there."""
    return sorted(one["metadata"]["name"] for one in lab.list(resource, NAMESPACE))


def images(lab: Lab) -> dict[str, str]:
    """Return each pod's image."""
    return {one["metadata"]["name"]: one["spec"]["containers"][0]["image"] for one in lab.list("pods", NAMESPACE)}


def condition_of(document: Document, kind: str) -> Document:
    """Return a condition of a status; empty where there is none."""
    found = [one for one in document["status"].get("conditions") or () if one["type"] == kind]
    return found[0] if found else {}


def controller_of(document: Document) -> tuple[str, str] | None:
    """Return (kind, name) of the controller that an object has."""
    found = [one for one in document["metadata"].get("ownerReferences") or () if one.get("controller")]
    return (found[0]["kind"], found[0]["name"]) if found else None
