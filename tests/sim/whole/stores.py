"""Where a cluster that is lived in is kept: in memory, or in a database as sessions are."""

from __future__ import annotations

from typing import Any, Protocol

from controllers.log.memory import DEFAULT_EPOCH_MS, MemoryStore
from controllers.rules.plugin import registry


class Kept(Protocol):
    """A store as people have it, and as each owner opens it."""

    store: Any

    def owned(self) -> tuple[Any, int]:
        """Return the store of a new owner, and its fencing epoch; the last owner's is over."""


class InMemory:
    """One `MemoryStore` for everybody, with the plugins of a server that has no package's."""

    def __init__(self, seed: int) -> None:
        self.store = MemoryStore(seed=seed, plugins=registry())

    def owned(self) -> tuple[Any, int]:
        """Return the store and a new epoch."""
        return self.store, self.store.take_over()


class InDatabase:
    """A session of the database that Django is pointed at: people have one view of it, each owner its own."""

    def __init__(self, seed: int) -> None:
        from clustersim.store import open_store, sessions

        self._sessions, self._open = sessions, open_store
        self._row = sessions.create("a whole life", "empty", seed, epoch_ms=DEFAULT_EPOCH_MS)
        self.store = open_store(self._row.id)

    def owned(self) -> tuple[Any, int]:
        """Claim the session, and open it as its owner."""
        fence = self._sessions.claim(self._row.id, "here", epoch=self._sessions.get(self._row.id).epoch)
        assert fence is not None, "nobody else claims it"
        return self._open(self._row.id, owner=True), fence
