"""A store that mirrors what watches tell: what the loop of a replica in a process of its own reads.

Rows are numbered as they arrive, since several watches have no common order; the documents keep the resourceVersions
of the API server, by which writes are conditioned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from controllers.log.memory import MemoryStore
from controllers.log.store import ADDED, DELETED, MODIFIED, Event, Stored, Verb
from controllers.log.transaction import SortedObjects
from scheduler_core.api.document import Document
from scheduler_core.framework.registry import PluginRegistry

ROWS_MAX: Final = 20_000
"""Rows that are kept; the loop has long taken the older ones."""


class MirrorStore(MemoryStore):
    """Objects of an API server as watches tell them. One thread uses it."""

    def __init__(
        self,
        *,
        seed: int,
        epoch_ms: int,
        plugins: PluginRegistry,
        live: Callable[[str, str, str], Document | None],
        fresh: frozenset[str],
    ) -> None:
        """Begin empty.

        Args:
            seed: for this process's own chance.
            epoch_ms: Unix milliseconds of simulated time 0.
            plugins: those that are installed here.
            live: gets an object from the API server.
            fresh: resources whose objects are never told from memory: locks.
        """
        super().__init__(seed=seed, epoch_ms=epoch_ms, plugins=plugins)
        self._live = live
        self._fresh = fresh

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the object; a lock as the API server has it now.

        Raises:
            ApiError: the lock cannot be read.
        """
        if resource not in self._fresh:
            return super().get(resource, namespace, name)
        document = self._live(resource, namespace, name)
        if document is None:
            return None
        return Stored(resource, namespace, name, document["metadata"]["uid"], 0, msgspec.json.encode(document))

    def relist(self, resource: str, items: Sequence[Document], now_ms: int) -> None:
        """Take a list: what differs from what is known becomes rows."""
        listed = {_place(document) for document in items}
        for stored in list(self.list(resource)[0]):
            if (stored.namespace, stored.name) not in listed:
                self.take(DELETED, resource, stored.object, now_ms)
        for document in items:
            known = super().get(resource, *_place(document))
            version = None if known is None else known.object["metadata"]["resourceVersion"]
            if version != document["metadata"]["resourceVersion"]:
                self.take(ADDED if known is None else MODIFIED, resource, document, now_ms)

    def take(self, verb: Verb, resource: str, document: Document, now_ms: int) -> None:
        """Take one watch event as the next row."""
        namespace, name = _place(document)
        known = super().get(resource, namespace, name)
        if verb == DELETED and known is None:
            return
        self._revision += 1
        self._last_ms = max(self._last_ms, now_ms)
        row = Event(
            resource,
            namespace,
            name,
            document["metadata"]["uid"],
            self._revision,
            msgspec.json.encode(document),
            verb=verb if verb == DELETED else (ADDED if known is None else MODIFIED),
            now_ms=now_ms,
            actor="",
            previous_revision=0 if known is None else known.revision,
            previous_data=None if known is None else known.data,
        )
        self._log.append(row)
        objects = self._objects.setdefault(resource, SortedObjects())
        if verb == DELETED:
            objects.remove(namespace, name)
        else:
            objects.set(row)
        if len(self._log) > 2 * ROWS_MAX:
            self.compact(self._revision - ROWS_MAX)


def _place(document: Document) -> tuple[str, str]:
    metadata = document["metadata"]
    return metadata.get("namespace") or "", metadata["name"]
