"""The whole cluster as the page gets it, folded from the log: what a new socket is sent first.

Kept as encoded documents, so that thirty people who join at once cost one encoding.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from clustersim.feed.batch import Batch, encode
from clustersim.feed.palette import Palette
from controllers.kinds.table import KINDS
from controllers.log.store import DELETED, Store, Stored

CHUNK_BYTES: Final = 256 * 1024
"""A list is cut into frames of about this size, so that a browser can fold one while the next travels."""

EVENTS_LISTED_MAX: Final = 2_000
"""Kubernetes Events in a fresh list: the newest so many. Older ones are left out; the Kubernetes API has them."""

Key = tuple[str, str, str]

_PASSING: Final = frozenset(kind.resource for kind in KINDS if kind.passing)


def _key(stored: Stored) -> Key:
    return stored.resource, stored.namespace, stored.name


class SlimView:
    """Encoded objects by key, as of `revision`."""

    def __init__(self, revision: int, objects: dict[Key, bytes], passing: dict[Key, bytes]) -> None:
        self.revision = revision
        self._objects = objects
        self._passing = passing
        self._frames: list[str] = []
        self._frames_at = -1

    @classmethod
    def read(cls, store: Store, palette: Palette | None = None) -> SlimView:
        """Return the view of a store as of now, whatever is written meanwhile.

        The kinds are listed one after another, each at its own revision; the events since the first list bring all of
        them to the same one.
        """
        start = -1
        listed_at: dict[str, int] = {}
        objects: dict[Key, bytes] = {}
        for kind in KINDS:
            stored_objects, revision = store.list(kind.resource)
            listed_at[kind.resource] = revision
            start = revision if start < 0 else start
            if kind.passing:
                stored_objects = sorted(stored_objects, key=lambda stored: stored.revision)[-EVENTS_LISTED_MAX:]
            if palette is not None:
                palette.learn(sorted(stored_objects, key=lambda stored: stored.revision))
            for stored in stored_objects:
                objects[_key(stored)] = encode(stored.resource, stored.object, palette)
        passing = {key: data for key, data in objects.items() if key[0] in _PASSING}
        view = cls(start, {key: data for key, data in objects.items() if key[0] not in _PASSING}, passing)
        end = max(listed_at.values())
        while view.revision < end:
            rows = store.events(view.revision)
            if not rows:
                break
            fresh = [row for row in rows if row.revision > listed_at.get(row.resource, 0)]
            if palette is not None:
                palette.learn(fresh)
            view.fold(Batch(view.revision, rows[-1].revision, fresh, palette=palette))
        return view

    def __len__(self) -> int:
        """Return how many objects a fresh list holds."""
        return len(self._objects) + len(self._passing)

    def fold(self, batch: Batch) -> None:
        """Bring the view from `batch.from_` to `batch.to`."""
        for made in batch.encoded:
            event = made.event
            table = self._passing if event.resource in _PASSING else self._objects
            if event.verb == DELETED:
                table.pop(_key(event), None)
            else:
                # Taken out first, so that the table stays in order of revision.
                table.pop(_key(event), None)
                table[_key(event)] = made.object
        while len(self._passing) > EVENTS_LISTED_MAX:
            del self._passing[next(iter(self._passing))]
        self.revision = batch.to

    def frames(self) -> list[str]:
        """Return the `list` frames of docs/protocol.md; the same ones until the view moves."""
        if self._frames_at != self.revision:
            self._frames = list(self._cut())
            self._frames_at = self.revision
        return self._frames

    def _cut(self) -> Iterable[str]:
        chunk: list[bytes] = []
        size = 0
        for table in (self._objects, self._passing):
            for data in table.values():
                if chunk and size + len(data) > CHUNK_BYTES:
                    yield self._frame(chunk, last=False)
                    chunk, size = [], 0
                chunk.append(data)
                size += len(data)
        yield self._frame(chunk, last=True)

    def _frame(self, chunk: list[bytes], *, last: bool) -> str:
        end = b"true" if last else b"false"
        frame = b'{"type":"list","revision":%d,"objects":[%b],"last":%b}' % (self.revision, b",".join(chunk), end)
        return frame.decode()
