"""The overlay that every store's write transaction is: reads see its own writes, rows gather until the commit."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from controllers.log.draft import Draft
from controllers.log.store import ADDED, DELETED, MODIFIED, Event, ObjectTooLarge, RevisionConflict, Stored, Verb
from scheduler_core.framework.registry import PluginRegistry

OBJECT_BYTES_MAX: Final = 1_572_864
"""Bytes of one stored object, etcd's default request limit; a log row and every watcher pay for each."""


def check_size(data: bytes) -> None:
    """Refuse what is larger than one object may be.

    Raises:
        ObjectTooLarge: with its size.
    """
    if len(data) > OBJECT_BYTES_MAX:
        raise ObjectTooLarge(len(data))


Key = tuple[str, str, str]
"""(resource, namespace, name): what names one object within a session. Each write makes some: a named tuple costs more
than what is looked up by it."""


class Reader(Protocol):
    """What the overlay reads through: the committed objects, frozen for the length of the transaction."""

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the committed object."""

    def list(self, resource: str, namespace: str | None = None) -> Iterable[Stored]:
        """Return the committed objects in order of (namespace, name)."""


@dataclass(slots=True)
class TraceRow:
    """A scheduling trace to be kept beside the log."""

    revision: int
    uid: str
    attempt: int
    envelope: dict[str, Any]
    blob: bytes


class Mark(NamedTuple):
    """A place in a transaction to which it can be taken back."""

    rows: int
    traces: int
    objects: dict[Key, Stored | None]


def _never() -> bool:
    """Nobody waits for a store in memory."""
    return False


class BufferedTransaction:
    """A write transaction in memory, over any `Reader`.

    The store that opened it writes `rows` (consecutive revisions after `first_revision`), `objects` (the final state of
    every touched key, None when it is gone) and `traces`, all or nothing.
    """

    def __init__(
        self, reader: Reader, *, revision: int, now_ms: int, actor: str, plugins: PluginRegistry | None = None
    ) -> None:
        self.now_ms = now_ms
        self.actor = actor
        self.read = 0
        self.plugins = plugins
        self.others_wait: Callable[[], bool] = _never
        self.first_revision = revision + 1
        self.rows: list[Event] = []
        self.traces: list[TraceRow] = []
        self.objects: dict[Key, Stored | None] = {}
        self._reader = reader
        self._revision = revision
        self._touched: dict[str, list[tuple[str, str]]] = {}
        self._holds: dict[str, bool] = {}

    @property
    def revision(self) -> int:
        """Return the last revision taken, inside this transaction or before it."""
        return self._revision

    def mark(self) -> Mark:
        """Return the place where this transaction is."""
        return Mark(len(self.rows), len(self.traces), dict(self.objects))

    def undo(self, mark: Mark) -> None:
        """Take back what was written since a mark."""
        self._revision -= len(self.rows) - mark.rows
        del self.rows[mark.rows :], self.traces[mark.traces :]
        self.objects = mark.objects
        for resource, places in self._touched.items():
            places[:] = [place for place in places if (resource, *place) in mark.objects]
        self._holds.clear()

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the object as this transaction sees it."""
        key = (resource, namespace, name)
        if key in self.objects:
            return self.objects[key]
        return self._reader.get(resource, namespace, name)

    def list(self, resource: str, namespace: str | None = None) -> Sequence[Stored]:
        """Return objects in order of (namespace, name), own writes included."""
        touched = self._touched.get(resource)
        committed = self._reader.list(resource, namespace)
        if not touched:
            return list(committed)
        merged = {(stored.namespace, stored.name): stored for stored in committed}
        for place in touched:
            if namespace is not None and place[0] != namespace:
                continue
            own = self.objects[(resource, *place)]
            if own is None:
                merged.pop(place, None)
            else:
                merged[place] = own
        return [merged[place] for place in sorted(merged)]

    def holds(self, resource: str) -> bool:
        """Return whether there is any object of a resource, own writes included."""
        held = self._holds.get(resource)
        if held is None:
            held = self._holds[resource] = bool(self.list(resource))
        return held

    def put(
        self, resource: str, namespace: str, name: str, document: dict[str, Any] | Draft, *, expected: int | None = None
    ) -> Stored:
        """Write the whole document under the next revision and set its `metadata.resourceVersion`.

        Raises:
            RevisionConflict: the expectation does not hold; nothing was written.
            ObjectTooLarge: it has more bytes than OBJECT_BYTES_MAX; nothing was written.
        """
        key = (resource, namespace, name)
        current = self.objects[key] if key in self.objects else self._reader.get(resource, namespace, name)
        at = current.revision if current is not None else 0
        if expected is not None and expected != at:
            raise RevisionConflict(f"{resource} {namespace}/{name} is at revision {at}, expected {expected}")
        draft = document if isinstance(document, Draft) else Draft(document)
        data, stored = draft.at(self._revision + 1)
        check_size(data)
        row = self._append(
            MODIFIED if current is not None else ADDED, key, stored["metadata"]["uid"], data, stored, current
        )
        self._touch(key, row)
        return row

    def delete(
        self,
        resource: str,
        namespace: str,
        name: str,
        *,
        expected: int | None = None,
        document: dict[str, Any] | Draft | None = None,
    ) -> Stored:
        """Remove the object; the DELETED row holds `document` (or the last state) at the deletion's revision.

        Raises:
            RevisionConflict: it is not there, or not at `expected`.
        """
        current = self.get(resource, namespace, name)
        if current is None:
            raise RevisionConflict(f"{resource} {namespace}/{name} does not exist")
        if expected is not None and expected != current.revision:
            raise RevisionConflict(
                f"{resource} {namespace}/{name} is at revision {current.revision}, expected {expected}"
            )
        draft = document if isinstance(document, Draft) else Draft(current.object if document is None else document)
        data, stored = draft.at(self._revision + 1)
        key = (resource, namespace, name)
        row = self._append(DELETED, key, current.uid, data, stored, current)
        self._touch(key, None)
        return row

    def trace(self, uid: str, attempt: int, envelope: dict[str, Any], blob: bytes) -> None:
        """Keep a trace beside the log, at the revision of the row that follows; the same (uid, attempt) replaces.

        So whoever has read the log up to a revision has not yet seen what is decided after it.
        """
        self.traces.append(TraceRow(self._revision + 1, uid, attempt, envelope, blob))

    def _append(
        self, verb: Verb, key: Key, uid: str, data: bytes, document: dict[str, Any], previous: Stored | None
    ) -> Event:
        self._revision += 1
        row = Event(
            *key,
            uid,
            self._revision,
            data,
            verb=verb,
            now_ms=self.now_ms,
            actor=self.actor,
            previous_revision=previous.revision if previous is not None else 0,
            previous_data=previous.data if previous is not None else None,
            read=self.read,
            document=document,
        )
        self.rows.append(row)
        return row

    def _touch(self, key: Key, stored: Stored | None) -> None:
        resource, namespace, name = key
        if key not in self.objects:
            self._touched.setdefault(resource, []).append((namespace, name))
        self.objects[key] = stored
        self._holds.pop(resource, None)


FRESH_FEW: Final = 8
"""New places up to which each is put where it belongs; with more all are sorted, which mostly are already."""


class SortedObjects:
    """The current objects of one resource, listed in order of (namespace, name); sorted when somebody lists them."""

    __slots__ = ("_fresh", "_places", "by_place")

    def __init__(self) -> None:
        self.by_place: dict[tuple[str, str], Stored] = {}
        """The objects by (namespace, name): to look at."""
        self._places: list[tuple[str, str]] = []
        """In order, but for so many at the end that have come since the last list."""
        self._fresh = 0

    def set(self, stored: Stored) -> None:
        """Put the object at its place."""
        place = (stored.namespace, stored.name)
        if place not in self.by_place:
            self._places.append(place)
            self._fresh += 1
        self.by_place[place] = stored

    def remove(self, namespace: str, name: str) -> None:
        """Take the object away, if it is there."""
        if self.by_place.pop((namespace, name), None) is not None:
            places = self._ordered()
            del places[bisect_left(places, (namespace, name))]

    def _ordered(self) -> list[tuple[str, str]]:
        places, fresh = self._places, self._fresh
        if fresh:
            self._fresh = 0
            if fresh > FRESH_FEW:
                places.sort()
            else:
                added = places[-fresh:]
                del places[-fresh:]
                for place in added:
                    insort(places, place)
        return places

    def list(self, namespace: str | None = None) -> list[Stored]:
        """Return the objects in order, all or those of one namespace."""
        places = self._ordered()
        if namespace is None:
            return [self.by_place[place] for place in places]
        start = bisect_left(places, (namespace, ""))
        end = bisect_left(places, (namespace + "\x00", ""))
        return [self.by_place[place] for place in places[start:end]]
