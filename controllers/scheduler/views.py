"""Documents read into views, kept from one request to the next: most of what a replay reads did not change since."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, TypeVar

from controllers.log.store import Stored

VIEWS_BYTES_MAX: Final = 32 * 1024 * 1024
"""Bytes of documents whose views a process keeps (they take four times that); past it those not used of late go."""

_View = TypeVar("_View")
Kept = tuple[int, Any]
"""Bytes of the document, and its view."""


class Views:
    """The view of each document that was read of late, of any session.

    A revision names one document of its session for good, so a document whose view is kept need not even be fetched.
    What is asked for moves into the young half; a full young half becomes the old one, and the old one goes. Threads
    may share it: the worst that they do to each other is that a document is read twice.
    """

    def __init__(self, bytes_max: int = VIEWS_BYTES_MAX) -> None:
        """Keep nothing yet, and never views of more than `bytes_max` bytes of documents."""
        self._half = bytes_max // 2
        self._bytes = 0
        self._young: dict[Hashable, dict[int, Kept]] = {}
        self._old: dict[Hashable, dict[int, Kept]] = {}

    def known(self, scope: Hashable) -> Mapping[int, Kept]:
        """Return what is kept of a session by revision, as a mapping that nobody else changes."""
        return {**self._old.get(scope, {}), **self._young.get(scope, {})}

    def of(self, scope: Hashable, stored: Stored, read: Callable[[bytes], _View], known: Mapping[int, Kept]) -> _View:
        """Return the document's view: `read(stored.data)`, or what that gave before. Shared: treat it as frozen.

        Args:
            scope: the session's (`Store.scope`).
            stored: the document; without its data where `known` has it.
            read: makes the view.
            known: what `known(scope)` gave before the document was fetched.
        """
        revision = stored.revision
        young = self._young.get(scope)
        kept = None if young is None else young.get(revision)
        if kept is None:
            kept = known.get(revision)
            if kept is None:
                kept = len(stored.data), read(stored.data)
            self._keep(scope, revision, kept)
        view: _View = kept[1]
        return view

    def _keep(self, scope: Hashable, revision: int, kept: Kept) -> None:
        size = kept[0]
        if self._bytes + size > self._half:
            self._old, self._young, self._bytes = self._young, {}, 0
        if size <= self._half:
            self._young.setdefault(scope, {})[revision] = kept
            self._bytes += size
