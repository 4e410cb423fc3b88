"""The owner's memory of its session: the current objects and the newest rows of the log."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from controllers.kinds.table import KINDS
from controllers.log.store import DELETED, Event, Stored
from controllers.log.transaction import SortedObjects

WINDOW_ROWS_MAX: Final = 5_000
"""Rows kept in memory (some 10 MB); a reflector that lags further reads them from the database."""


_PASSING: Final = frozenset(kind.stored_resource for kind in KINDS if kind.passing)
"""Resources of which a busy hour leaves tens of thousands that nobody looks at."""


class Mirror:
    """What the log says up to `revision`, kept by whoever writes most of it."""

    def __init__(self, revision: int, objects: Iterable[Stored]) -> None:
        self.revision = revision
        self._resources: dict[str, SortedObjects] = {}
        self._window: deque[Event] = deque(maxlen=WINDOW_ROWS_MAX)
        for stored in objects:
            self._resources.setdefault(stored.resource, SortedObjects()).set(stored)

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the current object."""
        objects = self._resources.get(resource)
        return objects.by_place.get((namespace, name)) if objects is not None else None

    def list(self, resource: str, namespace: str | None = None) -> list[Stored]:
        """Return the current objects in order of (namespace, name)."""
        objects = self._resources.get(resource)
        return objects.list(namespace) if objects is not None else []

    def extend(self, rows: Iterable[Event]) -> None:
        """Take rows that follow `revision`, own or foreign."""
        for row in rows:
            objects = self._resources.setdefault(row.resource, SortedObjects())
            if row.verb == DELETED:
                objects.remove(row.namespace, row.name)
            else:
                objects.set(row.packed() if row.resource in _PASSING else row)
            self._window.append(row)
            self.revision = row.revision

    def events(self, after: int, limit: int) -> Sequence[Event] | None:
        """Return rows after a revision, or None when the window does not reach back that far."""
        if after >= self.revision:
            return []
        if not self._window or self._window[0].revision > after + 1:
            return None
        start = after + 1 - self._window[0].revision
        return list(islice(self._window, start, start + limit))

    def forget(self, compacted: int) -> None:
        """Drop rows up to a revision, as the log did."""
        while self._window and self._window[0].revision <= compacted:
            self._window.popleft()
