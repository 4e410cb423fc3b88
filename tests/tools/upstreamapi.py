"""Upstream's end-to-end tests of the API that ours do again in a room: their names, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from tests.tools.room import Room

_Test = TypeVar("_Test", bound=Callable[..., None])

DONE: Final[dict[str, str]] = {}
"""Name of one of upstream's tests → the test in tests/apiserver that does it again; docs/e2e-api.md lists them."""

CORE = "/api/v1/namespaces/default"
APPS = "/apis/apps/v1/namespaces/default"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
CONDITION = {
    "type": "StatusUpdate",
    "status": "True",
    "reason": "E2E",
    "message": "Set from e2e test",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


def does(*names: str) -> Callable[[_Test], _Test]:
    """Say which of upstream's tests a test does again."""

    def note(test: _Test) -> _Test:
        DONE.update(dict.fromkeys(names, f"{test.__module__.rpartition('.')[2]}.{test.__name__}"))
        return test

    return note


def changed(room: Room, path: str, patch: Any, kind: str = MERGE) -> Any:
    """Patch an object or its status and return how it is then."""
    answer = room.answer("PATCH", path, patch, **{"content-type": kind})
    assert answer.status == 200, answer.body
    return room.ask("GET", path.removesuffix("/status"))[1]


def pod(name: str, labels: dict[str, str] | None = None, **spec: Any) -> Any:
    """Return a pod that serves."""
    container = {"name": "c", "image": "agnhost:2", "ports": [{"name": "http", "containerPort": 80}]}
    return {"metadata": {"name": name, "labels": labels or {}}, "spec": {"containers": [container], **spec}}


def names(room: Room, path: str, **query: str) -> list[str]:
    """Return the names of a collection's objects."""
    return [one["metadata"]["name"] for one in room.ask("GET", path, **query)[1]["items"]]
