"""A registry over a memory store, for tests: one call an operation."""

from __future__ import annotations

import itertools
from typing import Any

from controllers.kinds.table import REGISTRY, kind_of
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create, Delete, Operation, Patch, Update
from controllers.registry.context import Context
from scheduler_core.api.errors import ApiError

CONTAINER = {"name": "c", "image": "nginx:1"}


class Cluster:
    """A store with the namespace `default`; methods apply one operation and return the document."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.warnings: list[str] = []
        self._numbers = itertools.count(1)
        self.create("namespaces", "default")

    def apply(self, operation: Operation, *, now_ms: int | None = None, **options: Any) -> dict[str, Any]:
        context = Context(
            actor="user:test",
            epoch_ms=self.store.epoch_ms,
            new_uid=lambda: f"uid-{next(self._numbers)}",
            new_suffix=lambda: f"x{next(self._numbers)}",
            **options,
        )
        with self.store.transaction("test", now_ms=now_ms) as transaction:
            stored = REGISTRY.apply(transaction, operation, context)
        self.warnings = context.warnings
        return stored.object

    def create(self, resource: str, name: str, body: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        body = body or {}
        namespace = options.pop("namespace", "default" if kind_of(resource).namespaced else "")
        document = {**body, "metadata": {"name": name, **body.get("metadata", {})}}
        return self.apply(Create(resource, namespace, document), **options)

    def pod(self, name: str = "web", spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
        return self.create("pods", name, {"metadata": metadata, "spec": {"containers": [CONTAINER], **(spec or {})}})

    def patch(self, resource: str, name: str, patch: Any, kind: Any = "merge", subresource: str = "") -> dict[str, Any]:
        namespace = "default" if kind_of(resource).namespaced else ""
        return self.apply(Patch(resource, namespace, name, patch, kind, subresource))

    def update(self, resource: str, document: dict[str, Any], subresource: str = "") -> dict[str, Any]:
        metadata = document["metadata"]
        operation = Update(resource, metadata.get("namespace", ""), metadata["name"], document, subresource)
        return self.apply(operation)

    def delete(self, resource: str, name: str, **options: Any) -> dict[str, Any]:
        now_ms = options.pop("now_ms", None)
        namespace = "default" if kind_of(resource).namespaced else ""
        return self.apply(Delete(resource, namespace, name, **options), now_ms=now_ms)

    def get(self, resource: str, name: str) -> dict[str, Any] | None:
        stored = self.store.get(resource, "default" if kind_of(resource).namespaced else "", name)
        return stored.object if stored is not None else None


def refusal(call: Any, *arguments: Any, **options: Any) -> ApiError:
    """Return the refusal that a call raises."""
    try:
        result = call(*arguments, **options)
    except ApiError as error:
        return error
    raise AssertionError(f"accepted: {result}")
