"""The Store over SQLite and PostgreSQL: bulk SQL in short transactions.

A write transaction takes the session's row (its lock, the fence, the next revisions), gathers rows in a
`BufferedTransaction`, and writes them in three statements at the end. Commit order is revision order because the row's
lock is held from the first read to the commit.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Final, cast

import msgspec
from django.db import connection, transaction

from clustersim.store.mirror import Mirror
from clustersim.store.reading import Counters, SqlReader, fetch
from clustersim.store.remembering import Remembered, remembered
from clustersim.store.rows import sent_together, write_log, write_objects, write_traces
from clustersim.store.sessions import NoSession, real_ms
from controllers.commands import CLOCK, CLOCKS
from controllers.log.sessiontime import session_time_ms
from controllers.log.store import Event, Fenced, Stored
from controllers.log.transaction import BufferedTransaction, Reader
from controllers.registry.models.clustersim_v1 import ClockStatus
from controllers.registry.structs import read
from scheduler_core.framework.registry import PluginRegistry

COMPACT_STEP: Final = 500
"""Revisions dropped per transaction: about 5 ms, so that a person's write does not wait behind a compaction."""

LONG_SECONDS: Final = 0.02
"""Real seconds after which the engine ends a transaction: a person's write waits for one of them at most."""


class SqlStore(SqlReader):
    """One session's store. Use one instance per thread for writing; reads may come from any thread.

    The owner's instance (`owner=True`) keeps the current objects and the newest rows in memory: it takes foreign rows
    from the log, and never reads its own again.
    """

    def __init__(self, session_id: int, *, owner: bool = False, plugins: PluginRegistry | None = None) -> None:
        super().__init__(session_id)
        self.plugins = plugins
        rows = fetch("SELECT seed, epoch_ms, forked_at, code FROM store_session WHERE id = %s", [session_id])
        if not rows:
            raise NoSession(f"there is no session {session_id}")
        self.seed: int
        self.epoch_ms: int
        self.seed, self.epoch_ms, forked_at, code = rows[0]
        self.branch: str = code if forked_at else ""
        self.scope: Hashable = code
        self._mirror: Mirror | None = None
        self.foreign_revision = 0
        """The newest row of others that the owner's instance has taken into its memory."""
        if owner:
            self._mirror = Mirror(*self.snapshot())

    # -- reading -------------------------------------------------------------------------------------------------------

    @property
    def seen_revision(self) -> int:
        """Return the newest revision that the owner's instance has in memory, without asking the database."""
        return self._mirror.revision if self._mirror is not None else 0

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the current object."""
        if self._mirror is not None:
            self._catch_up(self.counters())
            return self._mirror.get(resource, namespace, name)
        return self.read(resource, namespace, name)

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (objects in order of (namespace, name), the revision at which they were read)."""
        if self._mirror is not None:
            self._catch_up(self.counters())
            return self._mirror.list(resource, namespace), self._mirror.revision
        return self.read_list(resource, namespace)

    def events(self, after: int, limit: int = 1000) -> Sequence[Event]:
        """Return rows with revision > after, in order, at most `limit`.

        Raises:
            Gone: rows after `after` are compacted.
        """
        if self._mirror is None:
            return self.read_events(after, limit)
        counters = self.counters()
        self.refuse_compacted(after, counters.compacted)
        self._catch_up(counters)
        rows = self._mirror.events(after, limit)
        return self.read_events(after, limit) if rows is None else rows

    def _catch_up(self, counters: Counters) -> None:
        assert self._mirror is not None
        while self._mirror.revision < counters.revision:
            self._mirror.extend(self.read_events(self._mirror.revision, 1000))
            self.foreign_revision = self._mirror.revision

    # -- writing -------------------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(
        self, actor: str, *, now_ms: int | None = None, fence: int | None = None
    ) -> Iterator[BufferedTransaction]:
        """Open a write transaction; see `Store.transaction`.

        The session's row stays locked from here to the commit, so the fence cannot change in between.
        """
        alone = not connection.in_atomic_block
        with transaction.atomic():
            counters = self.counters(lock=True)
            if fence is not None and fence != counters.epoch:
                raise Fenced(f"epoch {fence} is over, session {self.session_id} is at epoch {counters.epoch}")
            if self._mirror is not None:
                self._catch_up(counters)
            # The owner may be on its way to a horizon that it has promised already; its rows keep their own time.
            reader = self._mirror if self._mirror is not None else self._committed(counters, keeps=alone)
            stamp = self._present(counters, reader) if now_ms is None else max(counters.last_ms, now_ms)
            ends = perf_counter() + LONG_SECONDS
            buffer = BufferedTransaction(
                reader, revision=counters.revision, now_ms=stamp, actor=actor, plugins=self.plugins
            )
            buffer.others_wait = lambda: perf_counter() > ends
            yield buffer
            if buffer.rows or buffer.traces or now_ms is not None:
                # Whoever is stamped and wrote nothing (a refusal, a trial) has promised no time either.
                self._write(buffer, counters)
        if self._mirror is not None:
            self._mirror.extend(buffer.rows)
        elif alone:
            written = {row.resource for row in buffer.rows}
            self._remembered().committed(counters.revision, buffer.revision, written)

    def _committed(self, counters: Counters, *, keeps: bool) -> Reader:
        """Return what reads the committed objects while the session's row is locked.

        `keeps`: what it reads may be remembered. Inside another transaction that is not known to be kept.
        """
        if not keeps:
            return _Committed(self, Remembered())
        known = self._remembered()
        known.catch_up(counters.revision, counters.compacted, self.changed_between)
        return _Committed(self, known)

    def _remembered(self) -> Remembered:
        return remembered((connection.settings_dict["NAME"], self.session_id, self.scope))

    def session_ms(self, counters: Counters | None = None) -> int:
        """Return what time it is in the session for everybody but its owner, in simulated milliseconds."""
        return self._ms(counters or self.counters(), self.read(CLOCKS, "", CLOCK))

    def _ms(self, counters: Counters, clock: Stored | None) -> int:
        status = read(clock.object.get("status") if clock is not None else None, ClockStatus)
        return session_time_ms(msgspec.to_builtins(status), counters.last_ms, real_ms())

    def _present(self, counters: Counters, reader: Reader) -> int:
        """Return the stamp of a row from elsewhere: the owner sleeps until it has something to do, and time goes on."""
        if self._mirror is not None:
            return counters.horizon_ms
        if not counters.owned:
            # Time stands. Were it carried on, each row would carry it on from itself, with no end.
            return max(counters.horizon_ms, counters.last_ms)
        return max(counters.horizon_ms, self._ms(counters, reader.get(CLOCKS, "", CLOCK)))

    def _write(self, buffer: BufferedTransaction, counters: Counters) -> None:
        horizon_ms = max(counters.horizon_ms, buffer.now_ms)
        if not buffer.rows and not buffer.traces and horizon_ms == counters.horizon_ms:
            return
        with sent_together(), connection.cursor() as cursor:
            if buffer.rows:
                write_log(cursor, self.session_id, buffer)
                write_objects(cursor, self.session_id, buffer)
            if buffer.traces:
                write_traces(cursor, self.session_id, buffer)
            cursor.execute(
                "UPDATE store_session SET revision = %s, horizon_ms = %s, last_ms = %s WHERE id = %s",
                [
                    buffer.revision,
                    horizon_ms,
                    buffer.now_ms if buffer.rows else counters.last_ms,
                    self.session_id,
                ],
            )

    # -- compaction ----------------------------------------------------------------------------------------------------

    def compact(self, revision: int) -> None:
        """Drop history up to `revision`: superseded rows and deletions; what is current stays readable.

        Works in steps of COMPACT_STEP revisions, each in a transaction of its own.
        """
        while True:
            with transaction.atomic():
                counters = self.counters(lock=True)
                goal = min(revision, counters.revision)
                if counters.compacted >= goal:
                    return
                start, end = counters.compacted, min(goal, counters.compacted + COMPACT_STEP)
                with connection.cursor() as cursor:
                    # Moved before the rows go, so that a reader that asks after reading sees it.
                    cursor.execute("UPDATE store_session SET compacted = %s WHERE id = %s", [end, self.session_id])
                    step = [self.session_id, start, end]
                    cursor.execute(
                        "DELETE FROM store_revision WHERE session_id = %s AND revision IN (SELECT previous_revision "
                        "FROM store_revision WHERE session_id = %s AND revision > %s AND revision <= %s "
                        "AND previous_revision > 0)",
                        [self.session_id, *step],
                    )
                    cursor.execute(
                        "DELETE FROM store_revision WHERE session_id = %s AND revision > %s AND revision <= %s "
                        "AND verb = 3",
                        step,
                    )
            if self._mirror is not None:
                self._mirror.forget(end)


class _Committed:
    """The committed objects, as the overlay reads them inside the transaction that locks the session's row."""

    def __init__(self, store: SqlStore, known: Remembered) -> None:
        self._store, self._known = store, known

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        found = self._known.get(resource, (namespace, name), lambda: self._store.read(resource, namespace, name))
        return cast("Stored | None", found)

    def list(self, resource: str, namespace: str | None = None) -> Iterable[Stored]:
        found = self._known.get(resource, (namespace,), lambda: self._store.read_list(resource, namespace)[0])
        return cast("Sequence[Stored]", found)
