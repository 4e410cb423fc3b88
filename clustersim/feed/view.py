"""The whole cluster as the page gets it, folded from the log: what a new socket is sent first.

Kept as encoded documents, so that thirty people who join at once cost one encoding.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from clustersim.feed.batch import Batch, encode
from clustersim.feed.palette import Palette
from clustersim.feed.seal import NO_SEAL, Seal
from controllers.kinds.table import KINDS, TABLE
from controllers.log.store import DELETED, Store, Stored

CHUNK_BYTES: Final = 256 * 1024
"""A list is cut into frames of about this size, so that a browser can fold one while the next travels."""

EVENTS_LISTED_MAX: Final = 2_000
"""Kubernetes Events in a fresh list: the newest so many. Older ones are left out; the Kubernetes API has them."""

Key = tuple[str, str, str]

_PASSING: Final = frozenset(kind.resource for kind in KINDS if kind.passing)


def _sealed(key: Key, data: bytes, seal: Seal) -> bytes | None:
    """Return an object's encoded form as it is shown; itself where nothing is sealed in it, None where it is hidden."""
    if not seal.concerns(*key) or not seal.may_be_in(data):
        return data
    document = msgspec.json.decode(data)
    shown = seal.document(key[0], document)
    if shown is None or shown is document:
        return None if shown is None else data
    return msgspec.json.encode(shown)


def _key(stored: Stored) -> Key:
    return stored.resource, stored.namespace, stored.name


class SlimView:
    """Encoded objects by key, as of `revision`."""

    def __init__(self, revision: int, objects: dict[Key, bytes], passing: dict[Key, bytes]) -> None:
        self.revision = revision
        self._objects = objects
        self._passing = passing
        self._frames: dict[Seal, list[str]] = {}
        """By what is sealed: nothing for most, something for those whom an open poll asks."""
        self._hides: dict[Seal, bool] = {}
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
        for kind in TABLE.of(store).kinds:
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

    def frames(self, seal: Seal = NO_SEAL) -> list[str]:
        """Return the `list` frames of docs/protocol.md; the same ones until the view moves."""
        self._forget_old()
        if seal not in self._frames:
            self._frames[seal] = list(self._cut(seal))
        return self._frames[seal]

    def hides(self, seal: Seal) -> bool:
        """Return whether a seal keeps some of it back."""
        self._forget_old()
        if seal not in self._hides:
            objects = [pair for table in self._tables for pair in list(table.items())]
            self._hides[seal] = any(_sealed(key, data, seal) is not data for key, data in objects)
        return self._hides[seal]

    def _forget_old(self) -> None:
        if self._frames_at != self.revision:
            self._frames, self._hides = {}, {}
            self._frames_at = self.revision

    @property
    def _tables(self) -> tuple[dict[Key, bytes], ...]:
        return self._objects, self._passing

    def _cut(self, seal: Seal) -> Iterable[str]:
        chunk: list[bytes] = []
        size = 0
        for table in self._tables:
            # A copy: events are folded in while frames are being cut in a thread.
            for key, whole in list(table.items()):
                data = _sealed(key, whole, seal)
                if data is None:
                    continue
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
