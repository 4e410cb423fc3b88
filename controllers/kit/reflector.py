"""The reflector: keeps a copy of one resource level by list and watch, and lists again when its place is gone.

client-go's `tools/cache/reflector.go` without its goroutine: whoever drives it lists when `wants_list` says so, hands
it every watch row, and tells it when the watch answered 410. The rows it hands on are those after its list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from controllers.log.store import DELETED, Event, Stored
from scheduler_core.api.document import Document

BACKOFF_MIN_MS: Final = 800
BACKOFF_MAX_MS: Final = 30_000
BACKOFF_RESET_MS: Final = 120_000
"""After this long without trouble the back-off begins at its minimum again."""


class Sink(Protocol):
    """What a reflector feeds: the informer's cache."""

    def replace(self, objects: Sequence[Stored]) -> None:
        """Take a fresh list as the whole state."""

    def put(self, namespace: str, name: str, document: Document) -> None:
        """Take an added or modified object."""

    def remove(self, namespace: str, name: str, document: Document) -> None:
        """Take a deletion; `document` is the last state."""


class Reflector:
    """List and watch of one resource."""

    def __init__(self, resource: str, sink: Sink, jitter: Callable[[int, int], int]) -> None:
        """Begin unlisted.

        Args:
            resource: the group resource.
            sink: fed with lists and rows.
            jitter: (attempt, below) → a draw in 0 ≤ n < below.
        """
        self.resource = resource
        self.revision = 0
        """The revision this copy is level with."""
        self.synced = False
        """Whether the first list has arrived."""
        self.lists = 0
        """How many lists it got."""
        self.watches = 0
        """How many watches it began."""
        self.rows = 0
        """How many watch events it took."""
        self.objects = 0
        """How many objects its lists brought."""
        self._sink = sink
        self._jitter = jitter
        self._list_at_ms: int | None = 0
        self._backoff_ms = 0
        self._trouble_ms = 0

    def wants_list(self, now_ms: int) -> bool:
        """Return whether it is time to list."""
        return self._list_at_ms is not None and now_ms >= self._list_at_ms

    @property
    def list_at_ms(self) -> int | None:
        """Return when the next list is due; None while the watch is good."""
        return self._list_at_ms

    def listed(self, objects: Sequence[Stored], revision: int, *, watches: bool = True) -> None:
        """Take a list made at `revision`; a watch follows unless it polls."""
        self.lists += 1
        self.watches += 1 if watches else 0
        self.objects += len(objects)
        self.revision = revision
        self.synced = True
        self._list_at_ms = None
        self._sink.replace(objects)

    def take(self, row: Event, place: str = "") -> None:
        """Take one watch row; rows that the list already holds, or that a coming list will hold, are passed over.

        `place`: where its object lies, where that is not its namespace.
        """
        if self._list_at_ms is not None or row.revision <= self.revision:
            return
        self.revision = row.revision
        self.rows += 1
        if row.verb == DELETED:
            self._sink.remove(place or row.namespace, row.name, row.object)
        else:
            self._sink.put(place or row.namespace, row.name, row.object)

    def list_again(self, at_ms: int) -> None:
        """List at a time, and pass over what the watch brings until then: what a poller does."""
        self._list_at_ms = at_ms

    def gone(self, now_ms: int) -> int:
        """Take a 410 (or another failure of the watch): return when to list again, after a growing wait."""
        if now_ms - self._trouble_ms > BACKOFF_RESET_MS:
            self._backoff_ms = 0
        self._trouble_ms = now_ms
        self._backoff_ms = min(BACKOFF_MAX_MS, self._backoff_ms * 2) or BACKOFF_MIN_MS
        self._list_at_ms = now_ms + self._backoff_ms + self._jitter(self.lists, self._backoff_ms)
        return self._list_at_ms
