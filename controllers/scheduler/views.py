"""Documents read into views, kept from one request to the next: most of what a replay reads did not change since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from controllers.log.store import Stored

VIEWS_BYTES_MAX: Final = 32 * 1024 * 1024
"""Bytes of documents whose views a process keeps (they take four times that); past it those not used of late go."""

_View = TypeVar("_View")
_Kept = dict[tuple[str, int], tuple[bytes, Any]]


class Views:
    """The view of each document that was read of late, of any session.

    A view answers for equal bytes alone, so neither another session nor a database that was put back can get a wrong
    one. What is asked for moves into the young half; a full young half becomes the old one, and the old one goes.
    Threads may share it: the worst that they do to each other is that a document is read twice.
    """

    def __init__(self, bytes_max: int = VIEWS_BYTES_MAX) -> None:
        """Keep nothing yet, and never views of more than `bytes_max` bytes of documents."""
        self._half = bytes_max // 2
        self._bytes = 0
        self._young: _Kept = {}
        self._old: _Kept = {}

    def of(self, stored: Stored, read: Callable[[bytes], _View]) -> _View:
        """Return the document's view: `read(stored.data)`, or what that gave before. Shared: treat it as frozen."""
        key, data = (stored.uid, stored.revision), stored.data
        kept = self._young.get(key)
        if kept is None or kept[0] != data:
            kept = self._old.get(key)
            if kept is None or kept[0] != data:
                kept = data, read(data)
            self._keep(key, kept)
        view: _View = kept[1]
        return view

    def _keep(self, key: tuple[str, int], kept: tuple[bytes, Any]) -> None:
        size = len(kept[0])
        if self._bytes + size > self._half:
            self._old, self._young, self._bytes = self._young, {}, 0
        if size <= self._half:
            self._young[key] = kept
            self._bytes += size
