"""Traces made whole: matrices that were not kept are recomputed from the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from controllers.machinery.store import Gone, Store
from controllers.scheduler.settings import DEFAULT_SPEC, NAME, RESOURCE, Settings
from controllers.scheduler.watching import WATCHED
from scheduler_core.profiles.defaults import in_tree_registry
from scheduler_core.scheduler.replay import replay

_ASIDE = frozenset({"nodes", "pods", RESOURCE})


class RevisionListers:
    """`framework.Listers` over a store as of one revision; lists are read when they are first asked for."""

    def __init__(self, store: Store, revision: int) -> None:
        self._store = store
        self._revision = revision
        self._lists: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}

    def list(self, resource: str) -> Sequence[Mapping[str, Any]]:
        """Return all documents of a watched resource."""
        return tuple(self._read(resource).values())

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return one document."""
        return self._read(resource).get((namespace, name))

    def _read(self, resource: str) -> dict[tuple[str, str], dict[str, Any]]:
        if resource not in WATCHED - _ASIDE:
            return {}
        found = self._lists.get(resource)
        if found is None:
            stored = self._store.list_at(resource, self._revision)
            found = self._lists[resource] = {(one.namespace, one.name): one.object for one in stored}
        return found


def whole(store: Store, envelope: Mapping[str, Any], blob: bytes) -> dict[str, Any]:
    """Return a trace with its `result`: as kept, or replayed from its input.

    Past the log's end, or where the configuration that decided is no longer in it, there is no result and
    `detail` is `compacted`.

    Args:
        store: the session's.
        envelope: as `Store.traces` gave it.
        blob: the same; empty where only the input was kept.
    """
    if blob:
        return {**envelope, "result": msgspec.json.decode(blob)}
    given = envelope["input"]
    revision = given["seenRevision"]
    try:
        configurations = store.list_at(RESOURCE, revision)
        spec = next((one.object.get("spec") for one in configurations if one.name == NAME), None)
        settings = Settings.of(spec or DEFAULT_SPEC)
        if settings.hash != given["configuration"]:
            return {**envelope, "detail": "compacted"}
        result, explained = replay(
            [one.object for one in store.list_at("nodes", revision)],
            [one.object for one in store.list_at("pods", revision)],
            envelope["uid"],
            given,
            settings.configuration,
            in_tree_registry(),
            seed=store.seed,
            listers=RevisionListers(store, revision),
        )
    except (Gone, KeyError):
        return {**envelope, "detail": "compacted"}
    # By way of JSON, so that a replayed result is told apart from a kept one by nothing.
    result = msgspec.json.decode(msgspec.json.encode(result | dict(envelope.get("undone", {}))))
    shown = {**envelope, "result": result}
    if explained:
        shown["explanation"] = msgspec.json.decode(msgspec.json.encode(explained))
    return shown
