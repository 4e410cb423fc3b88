"""A store in memory: what tests, benchmarks and headless simulations run over. The database store's equal, not a mock:
one contract suite holds both to the same behaviour.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from controllers.log.store import Event, Fenced, Gone, Stored
from controllers.log.transaction import BufferedTransaction, SortedObjects
from scheduler_core.framework.registry import PluginRegistry

DEFAULT_EPOCH_MS: Final = 1_767_225_600_000
"""Unix milliseconds of 2026-01-01T00:00:00Z: simulated time 0 where nobody asks for another."""

TRACES_PER_POD: Final = 50
"""Attempts of one pod whose traces are kept; the oldest goes first. Costs some 10 KB a trace at 100 nodes."""


class MemoryStore:
    """One session's log and objects in memory. Not thread-safe: one loop owns it."""

    def __init__(
        self,
        *,
        seed: int = 0,
        epoch_ms: int = DEFAULT_EPOCH_MS,
        plugins: PluginRegistry | None = None,
        branch: str = "",
    ) -> None:
        self.seed = seed
        self.epoch_ms = epoch_ms
        self.branch = branch
        self.scope: Hashable = object()
        self.plugins = plugins
        self.fence = 0
        self._objects: dict[str, SortedObjects] = {}
        self._log: list[Event] = []
        self._compacted = 0
        self._compacted_ms = 0
        self._revision = 0
        self._last_ms = 0
        self._horizon_ms = 0
        self._traces: dict[str, dict[int, tuple[dict[str, Any], bytes, int]]] = {}

    @property
    def revision(self) -> int:
        """Return the newest committed revision."""
        return self._revision

    @property
    def compacted(self) -> int:
        """Return the revision up to which history is dropped."""
        return self._compacted

    @property
    def horizon_ms(self) -> int:
        """Return the newest simulated time in the log or committed by the owner."""
        return max(self._last_ms, self._horizon_ms)

    def ms_at(self, revision: int) -> int:
        """Return the simulated time of a kept revision.

        Raises:
            Gone: that revision is compacted.
        """
        self._check_kept(revision)
        return self._log[revision - self._compacted - 1].now_ms if revision > self._compacted else self._compacted_ms

    def fork(self, revision: int, branch: str, since: int | None = None) -> MemoryStore:
        """Return a store of its own that goes on from a kept revision, with the log from `since` (None: from there).

        Raises:
            Gone: `since` is compacted.
        """
        start = revision if since is None else min(since, revision)
        self._check_kept(start)
        made = MemoryStore(seed=self.seed, epoch_ms=self.epoch_ms, plugins=self.plugins, branch=branch)
        made._log = self._log[start - self._compacted : revision - self._compacted]
        made._revision, made._compacted = revision, start
        made._compacted_ms, made._last_ms = self.ms_at(start), self.ms_at(revision)
        made._horizon_ms = self._horizon_ms if revision == self._revision else 0
        for resource in {*self._objects, *(row.resource for row in self._log)}:
            objects = made._objects[resource] = SortedObjects()
            for stored in self.list_at(resource, revision):
                objects.set(stored)
        for uid, kept in self._traces.items():
            made._traces[uid] = {attempt: trace for attempt, trace in kept.items() if trace[2] <= revision}
        return made

    def take_over(self) -> int:
        """Make a new owner: return its fencing epoch; writes under an older one raise Fenced from now on."""
        self.fence += 1
        return self.fence

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the current object."""
        objects = self._objects.get(resource)
        return objects.by_place.get((namespace, name)) if objects is not None else None

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (objects in order of (namespace, name), the revision at which they were read)."""
        objects = self._objects.get(resource)
        return (objects.list(namespace) if objects is not None else []), self._revision

    def holds(self, resource: str) -> bool:
        """Return whether there is any object of a resource now."""
        return bool(self.list(resource)[0])

    def list_at(self, resource: str, revision: int, namespace: str | None = None) -> Sequence[Stored]:
        """Return the objects as of a kept revision: the current ones with the newer rows undone.

        Raises:
            Gone: that revision is compacted.
        """
        self._check_kept(revision)
        state = {(stored.namespace, stored.name): stored for stored in self.list(resource, namespace)[0]}
        for row in reversed(self._log[max(0, revision - self._compacted) :]):
            if row.resource != resource or (namespace is not None and row.namespace != namespace):
                continue
            place = (row.namespace, row.name)
            if row.previous_data is None:
                state.pop(place, None)
            else:
                uid = row.uid
                state[place] = Stored(resource, *place, uid, row.previous_revision, row.previous_data)
        return [state[place] for place in sorted(state)]

    def lists_at(
        self, resources: Collection[str], revision: int, known: Container[int] = ()
    ) -> Mapping[str, Sequence[Stored]]:
        """Return the objects of several resources as of a kept revision.

        Raises:
            Gone: that revision is compacted.
        """
        return {resource: self.list_at(resource, revision) for resource in resources}

    def events(self, after: int, limit: int = 1000) -> Sequence[Event]:
        """Return rows with revision > after, in order, at most `limit`.

        Raises:
            Gone: rows after `after` are compacted.
        """
        if after < self._compacted:
            raise Gone(f"rows after revision {after} are compacted, the log starts after {self._compacted}")
        start = after - self._compacted
        return self._log[start : start + limit]

    @contextmanager
    def transaction(
        self, actor: str, *, now_ms: int | None = None, fence: int | None = None
    ) -> Iterator[BufferedTransaction]:
        """Open a write transaction; see `Store.transaction`."""
        self._check_fence(fence)
        stamp = self.horizon_ms if now_ms is None else max(self._last_ms, now_ms)
        transaction = BufferedTransaction(
            _Committed(self), revision=self._revision, now_ms=stamp, actor=actor, plugins=self.plugins
        )
        yield transaction
        self._check_fence(fence)
        if now_ms is not None:
            self._horizon_ms = max(self._horizon_ms, now_ms)
        self._commit(transaction)

    def compact(self, revision: int) -> None:
        """Drop history up to `revision` (events at or before it; current objects stay)."""
        revision = min(revision, self._revision)
        if revision > self._compacted:
            self._compacted_ms = self.ms_at(revision)
            del self._log[: revision - self._compacted]
            self._compacted = revision

    def traces(self, uid: str, limit: int = 50) -> Sequence[tuple[dict[str, Any], bytes]]:
        """Return (envelope, blob) of a pod's traces, newest first."""
        kept = self._traces.get(uid, {})
        return [kept[attempt][:2] for attempt in sorted(kept, reverse=True)[:limit]]

    def newest_traces(self, limit: int) -> Sequence[tuple[dict[str, Any], bytes]]:
        """Return (envelope, blob) of the traces of all pods, newest first; see `Store.newest_traces`."""
        found = sorted(
            (-revision, uid, attempt)
            for uid, kept in self._traces.items()
            for attempt, (_, _, revision) in kept.items()
        )
        return [self._traces[uid][attempt][:2] for _, uid, attempt in found[:limit]]

    def trace(self, uid: str, attempt: int) -> tuple[dict[str, Any], bytes] | None:
        """Return (envelope, blob) of one attempt's trace, None where there is none."""
        kept = self._traces.get(uid, {}).get(attempt)
        return None if kept is None else kept[:2]

    def _check_kept(self, revision: int) -> None:
        if revision < self._compacted:
            raise Gone(f"revision {revision} is compacted, the log starts after {self._compacted}")

    def _check_fence(self, fence: int | None) -> None:
        if fence is not None and fence != self.fence:
            raise Fenced(f"epoch {fence} is over, the session is at epoch {self.fence}")

    def _commit(self, transaction: BufferedTransaction) -> None:
        assert transaction.first_revision == self._revision + 1, "two transactions of one MemoryStore overlap"
        for (resource, namespace, name), stored in transaction.objects.items():
            objects = self._objects.setdefault(resource, SortedObjects())
            if stored is None:
                objects.remove(namespace, name)
            else:
                objects.set(stored)
        if transaction.rows:
            self._log.extend(transaction.rows)
            self._revision = transaction.revision
            self._last_ms = transaction.now_ms
        for row in transaction.traces:
            kept = self._traces.setdefault(row.uid, {})
            kept[row.attempt] = (row.envelope, row.blob, row.revision)
            while len(kept) > TRACES_PER_POD:
                del kept[min(kept)]


class _Committed:
    """The committed objects, as the overlay reads them."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        return self._store.get(resource, namespace, name)

    def list(self, resource: str, namespace: str | None = None) -> Sequence[Stored]:
        return self._store.list(resource, namespace)[0]
