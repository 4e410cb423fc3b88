"""The Store over SQLite and PostgreSQL: bulk SQL in short transactions.

A write transaction takes the session's row (its lock, the fence, the next revisions), gathers rows in a
`BufferedTransaction`, and writes them in three statements at the end. Commit order is revision order because the row's
lock is held from the first read to the commit.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Final, NamedTuple

import msgspec
from django.db import connection, transaction

from clustersim.store.mirror import Mirror
from clustersim.store.rows import VERBS, write_log, write_objects, write_traces
from clustersim.store.sessions import NoSession, real_ms
from controllers.commands import CLOCK, CLOCKS
from controllers.log.sessiontime import session_time_ms
from controllers.log.store import Event, Fenced, Gone, Stored
from controllers.log.transaction import BufferedTransaction
from controllers.registry.models.clustersim_v1 import ClockStatus
from controllers.registry.structs import read
from scheduler_core.framework.registry import PluginRegistry

COMPACT_STEP: Final = 500
"""Revisions dropped per transaction: about 5 ms, so that a person's write does not wait behind a compaction."""

LONG_SECONDS: Final = 0.02
"""Real seconds after which the engine ends a transaction: a person's write waits for one of them at most."""

FETCH_ROWS: Final = 5_000
"""Rows of the log fetched by one statement: databases bound how many values one may name."""

_KNOWN: Final = ("", b"")
"""What comes in the place of uid and data that whoever asks has."""

_ROW: Final = (
    "r.resource, r.namespace, r.name, r.uid, r.revision, r.data, "
    "r.verb, r.now_ms, r.actor, r.previous_revision, r.read_revision, p.data"
)
_CURRENT: Final = (
    "FROM store_object o LEFT JOIN store_revision r ON r.session_id = o.session_id AND r.revision = o.revision"
)
"""A left join, though every object has its row: a planner may not turn it round and go through the log for objects."""


class Counters(NamedTuple):
    """The session's row, as one statement saw it."""

    revision: int
    compacted: int
    horizon_ms: int
    last_ms: int
    epoch: int


def _stored(resource: str, namespace: str, name: str, uid: str, revision: int, data: Any) -> Stored:
    # SQLite returns bytes, psycopg may return a memoryview.
    return Stored(resource, namespace, name, uid, revision, bytes(data))


def _event(row: Sequence[Any]) -> Event:
    resource, namespace, name, uid, revision, data, verb, now_ms, actor, previous_revision, read, previous = row
    return Event(
        resource,
        namespace,
        name,
        uid,
        revision,
        bytes(data),
        verb=VERBS[verb - 1],
        now_ms=now_ms,
        actor=actor,
        previous_revision=previous_revision,
        previous_data=bytes(previous) if previous is not None else None,
        read=read,
    )


def _askable(argument: Any) -> Any:
    """Return a text as databases take it: what no name can hold (NUL, half a surrogate pair) matches nothing."""
    if not isinstance(argument, str) or (argument.isascii() and "\x00" not in argument):
        return argument
    return argument.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def _fetch(sql: str, arguments: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, [_askable(argument) for argument in arguments])
        return list(cursor.fetchall())


def _place(stored: Stored) -> tuple[str, str]:
    return stored.namespace, stored.name


class SqlStore:
    """One session's store. Use one instance per thread for writing; reads may come from any thread.

    The owner's instance (`owner=True`) keeps the current objects and the newest rows in memory: it takes foreign rows
    from the log, and never reads its own again.
    """

    def __init__(self, session_id: int, *, owner: bool = False, plugins: PluginRegistry | None = None) -> None:
        self.session_id = session_id
        self.plugins = plugins
        rows = _fetch("SELECT seed, epoch_ms, forked_at, code FROM store_session WHERE id = %s", [session_id])
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
            self._mirror = Mirror(*self._snapshot())

    # -- reading -------------------------------------------------------------------------------------------------------

    def counters(self, *, lock: bool = False) -> Counters:
        """Return the session's counters; `lock` holds the row until the transaction ends.

        Raises:
            NoSession: it was deleted.
        """
        sql = "SELECT revision, compacted, horizon_ms, last_ms, epoch FROM store_session WHERE id = %s"
        if lock and connection.vendor == "postgresql":
            sql += " FOR UPDATE"
        rows = _fetch(sql, [self.session_id])
        if not rows:
            raise NoSession(f"session {self.session_id} was deleted")
        return Counters(*rows[0])

    @property
    def revision(self) -> int:
        """Return the newest committed revision."""
        return self.counters().revision

    @property
    def compacted(self) -> int:
        """Return the revision up to which history is dropped."""
        return self.counters().compacted

    @property
    def horizon_ms(self) -> int:
        """Return the newest simulated time in the log or committed by the owner."""
        return self.counters().horizon_ms

    def ms_at(self, revision: int) -> int:
        """Return the simulated time of a kept revision.

        Raises:
            Gone: that revision is compacted.
        """
        rows = _fetch(
            "SELECT now_ms FROM store_revision WHERE session_id = %s AND revision <= %s ORDER BY revision DESC LIMIT 1",
            [self.session_id, revision],
        )
        self._check_kept(revision, self.compacted)
        return int(rows[0][0]) if rows else 0

    def usage(self, namespace: str) -> dict[str, tuple[int, int]]:
        """Return (objects, bytes) by resource of what a namespace holds."""
        rows = _fetch(
            f"SELECT o.resource, COUNT(*), SUM(LENGTH(r.data)) {_CURRENT} "
            "WHERE o.session_id = %s AND o.namespace = %s GROUP BY o.resource",
            [self.session_id, namespace],
        )
        return {resource: (count, int(size or 0)) for resource, count, size in rows}

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

    def read(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the current object from the database."""
        rows = _fetch(
            f"SELECT r.uid, r.revision, r.data {_CURRENT} "
            "WHERE o.session_id = %s AND o.resource = %s AND o.namespace = %s AND o.name = %s",
            [self.session_id, resource, namespace, name],
        )
        if not rows:
            return None
        return _stored(resource, namespace, name, *rows[0])

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (objects in order of (namespace, name), the revision at which they were read)."""
        if self._mirror is not None:
            self._catch_up(self.counters())
            return self._mirror.list(resource, namespace), self._mirror.revision
        # One statement, so that the objects and the session's revision come from one snapshot.
        within = "" if namespace is None else " AND o.namespace = %s"
        rows = _fetch(
            "SELECT s.revision, r.namespace, r.name, r.uid, r.revision, r.data FROM store_session s "
            f"LEFT JOIN store_object o ON o.session_id = s.id AND o.resource = %s{within} "
            "LEFT JOIN store_revision r ON r.session_id = o.session_id AND r.revision = o.revision WHERE s.id = %s",
            [resource, *([] if namespace is None else [namespace]), self.session_id],
        )
        if not rows:
            raise NoSession(f"session {self.session_id} was deleted")
        objects = [_stored(resource, *row[1:]) for row in rows if row[5] is not None]
        return sorted(objects, key=_place), rows[0][0]

    def list_at(self, resource: str, revision: int, namespace: str | None = None) -> Sequence[Stored]:
        """Return the objects as of a kept revision.

        What was current then is what is still current and was written by then, and of what changed since, the row
        that its first later change names as the previous one.

        Raises:
            Gone: that revision is compacted.
        """
        return self._lists_at((resource,), revision, namespace, ())[resource]

    def lists_at(
        self, resources: Collection[str], revision: int, known: Container[int] = ()
    ) -> Mapping[str, Sequence[Stored]]:
        """Return the objects of several resources as of a kept revision: the log is looked through once for them all.

        Those written at a revision in `known` come without uid and data, and are not even fetched.

        Raises:
            Gone: that revision is compacted.
        """
        return self._lists_at(resources, revision, None, known)

    def _lists_at(
        self, resources: Collection[str], revision: int, namespace: str | None, known: Container[int]
    ) -> Mapping[str, Sequence[Stored]]:
        names = list(resources)
        place = [] if namespace is None else [namespace]
        within = " AND namespace = %s" if place else ""
        among = f"({', '.join(['%s'] * len(names))})"
        # Both say where an object's row lies, so that no row is touched for its place.
        places = _fetch(
            "SELECT resource, namespace, name, revision FROM store_object "
            f"WHERE session_id = %s AND resource IN {among} AND revision <= %s{within} UNION ALL "
            "SELECT resource, namespace, name, previous_revision FROM store_revision "
            f"WHERE session_id = %s AND revision > %s AND resource IN {among} "
            f"AND previous_revision > 0 AND previous_revision <= %s{within}",
            [
                *(self.session_id, *names, revision, *place),
                *(self.session_id, revision, *names, revision, *place),
            ],
        )
        rows = self.rows([row[3] for row in places if row[3] not in known])
        # Asked after the rows were read: a compaction that took any of them has moved the mark before it did.
        self._check_kept(revision, self.compacted)
        places.sort()
        found: dict[str, list[Stored]] = {name: [] for name in names}
        for resource, home, name, at in places:
            uid, data = rows.get(at, _KNOWN)
            found[resource].append(Stored(resource, home, name, uid, at, data))
        return found

    def rows(self, revisions: Sequence[int]) -> dict[int, tuple[str, bytes]]:
        """Return (uid, data) of rows of the log by revision."""
        found: dict[int, tuple[str, bytes]] = {}
        for start in range(0, len(revisions), FETCH_ROWS):
            part = revisions[start : start + FETCH_ROWS]
            marks = ", ".join(["%s"] * len(part))
            sql = f"SELECT revision, uid, data FROM store_revision WHERE session_id = %s AND revision IN ({marks})"
            for revision, uid, data in _fetch(sql, [self.session_id, *part]):
                found[revision] = uid, bytes(data)
        return found

    def revisions_at(self, revision: int) -> set[int]:
        """Return the rows that hold what was current at a kept revision."""
        rows = _fetch(
            "SELECT revision FROM store_object WHERE session_id = %s AND revision <= %s UNION ALL "
            "SELECT previous_revision FROM store_revision WHERE session_id = %s AND revision > %s "
            "AND previous_revision > 0 AND previous_revision <= %s",
            [self.session_id, revision, self.session_id, revision, revision],
        )
        return {row[0] for row in rows}

    def revisions_between(self, after: int, until: int) -> Sequence[int]:
        """Return the rows of the log after one revision and up to another."""
        rows = _fetch(
            "SELECT revision FROM store_revision WHERE session_id = %s AND revision > %s AND revision <= %s",
            [self.session_id, after, until],
        )
        return [row[0] for row in rows]

    def events(self, after: int, limit: int = 1000) -> Sequence[Event]:
        """Return rows with revision > after, in order, at most `limit`.

        Raises:
            Gone: rows after `after` are compacted.
        """
        if self._mirror is None:
            return self._read_events(after, limit)
        counters = self.counters()
        self._check_kept(after, counters.compacted)
        self._catch_up(counters)
        rows = self._mirror.events(after, limit)
        return self._read_events(after, limit) if rows is None else rows

    def traces(self, uid: str, limit: int = 50) -> Sequence[tuple[dict[str, Any], bytes]]:
        """Return (envelope, blob) of a pod's traces, newest first."""
        rows = _fetch(
            "SELECT envelope, data FROM store_trace WHERE session_id = %s AND uid = %s ORDER BY attempt DESC LIMIT %s",
            [self.session_id, uid, limit],
        )
        return [(msgspec.json.decode(bytes(envelope)), bytes(data)) for envelope, data in rows]

    def newest_traces(self, limit: int) -> Sequence[tuple[dict[str, Any], bytes]]:
        """Return (envelope, blob) of the traces of all pods, newest first; see `Store.newest_traces`."""
        rows = _fetch(
            "SELECT envelope, data FROM store_trace WHERE session_id = %s "
            "ORDER BY revision DESC, uid, attempt LIMIT %s",
            [self.session_id, limit],
        )
        return [(msgspec.json.decode(bytes(envelope)), bytes(data)) for envelope, data in rows]

    def trace(self, uid: str, attempt: int) -> tuple[dict[str, Any], bytes] | None:
        """Return (envelope, blob) of one attempt's trace, None where there is none."""
        rows = _fetch(
            "SELECT envelope, data FROM store_trace WHERE session_id = %s AND uid = %s AND attempt = %s",
            [self.session_id, uid, attempt],
        )
        return (msgspec.json.decode(bytes(rows[0][0])), bytes(rows[0][1])) if rows else None

    def envelopes(self, after: int, until: int, limit: int = 1000) -> Sequence[tuple[int, dict[str, Any]]]:
        """Return (revision, envelope) of the newest `limit` traces written in a stretch of the log, oldest first."""
        rows = _fetch(
            "SELECT revision, envelope FROM store_trace WHERE session_id = %s AND revision > %s AND revision <= %s "
            "ORDER BY revision DESC LIMIT %s",
            [self.session_id, after, until, limit],
        )
        return [(revision, msgspec.json.decode(bytes(envelope))) for revision, envelope in reversed(rows)]

    def _read_events(self, after: int, limit: int) -> Sequence[Event]:
        rows = _fetch(
            f"SELECT s.compacted, {_ROW} FROM store_session s "
            "LEFT JOIN store_revision r ON r.session_id = s.id AND r.revision > %s "
            "LEFT JOIN store_revision p ON p.session_id = r.session_id AND p.revision = r.previous_revision "
            "AND r.previous_revision > 0 WHERE s.id = %s ORDER BY r.revision LIMIT %s",
            [after, self.session_id, limit],
        )
        if not rows:
            raise NoSession(f"session {self.session_id} was deleted")
        self._check_kept(after, rows[0][0])
        return [_event(row[1:]) for row in rows if row[5] is not None]

    def _snapshot(self) -> tuple[int, Iterable[Stored]]:
        rows = _fetch(
            "SELECT s.revision, r.resource, r.namespace, r.name, r.uid, r.revision, r.data FROM store_session s "
            "LEFT JOIN store_object o ON o.session_id = s.id "
            "LEFT JOIN store_revision r ON r.session_id = o.session_id AND r.revision = o.revision WHERE s.id = %s",
            [self.session_id],
        )
        return rows[0][0], [_stored(*row[1:]) for row in rows if row[6] is not None]

    def _catch_up(self, counters: Counters) -> None:
        assert self._mirror is not None
        while self._mirror.revision < counters.revision:
            self._mirror.extend(self._read_events(self._mirror.revision, 1000))
            self.foreign_revision = self._mirror.revision

    def check_kept(self, revision: int) -> None:
        """Refuse a revision that is no longer kept.

        Raises:
            Gone: it is compacted.
        """
        self._check_kept(revision, self.compacted)

    @staticmethod
    def _check_kept(revision: int, compacted: int) -> None:
        if revision < compacted:
            raise Gone(f"revision {revision} is compacted, the log starts after {compacted}")

    # -- writing -------------------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(
        self, actor: str, *, now_ms: int | None = None, fence: int | None = None
    ) -> Iterator[BufferedTransaction]:
        """Open a write transaction; see `Store.transaction`.

        The session's row stays locked from here to the commit, so the fence cannot change in between.
        """
        with transaction.atomic():
            counters = self.counters(lock=True)
            if fence is not None and fence != counters.epoch:
                raise Fenced(f"epoch {fence} is over, session {self.session_id} is at epoch {counters.epoch}")
            if self._mirror is not None:
                self._catch_up(counters)
            # The owner may be on its way to a horizon that it has promised already; its rows keep their own time.
            reader = self._mirror if self._mirror is not None else _Committed(self)
            stamp = self._present(counters) if now_ms is None else max(counters.last_ms, now_ms)
            ends = perf_counter() + LONG_SECONDS
            buffer = BufferedTransaction(
                reader, revision=counters.revision, now_ms=stamp, actor=actor, plugins=self.plugins
            )
            buffer.others_wait = lambda: perf_counter() > ends
            yield buffer
            self._write(buffer, counters)
        if self._mirror is not None:
            self._mirror.extend(buffer.rows)

    def session_ms(self, counters: Counters | None = None) -> int:
        """Return what time it is in the session for everybody but its owner, in simulated milliseconds."""
        counters = counters or self.counters()
        clock = self.read(CLOCKS, "", CLOCK)
        status = read(clock.object.get("status") if clock is not None else None, ClockStatus)
        return session_time_ms(msgspec.to_builtins(status), counters.last_ms, real_ms())

    def _present(self, counters: Counters) -> int:
        """Return the stamp of a row from elsewhere: the owner sleeps until it has something to do, and time goes on."""
        if self._mirror is not None:
            return counters.horizon_ms
        return max(counters.horizon_ms, self.session_ms(counters))

    def _write(self, buffer: BufferedTransaction, counters: Counters) -> None:
        horizon_ms = max(counters.horizon_ms, buffer.now_ms)
        if not buffer.rows and not buffer.traces and horizon_ms == counters.horizon_ms:
            return
        with connection.cursor() as cursor:
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

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        return self._store.read(resource, namespace, name)

    def list(self, resource: str, namespace: str | None = None) -> Iterable[Stored]:
        return self._store.list(resource, namespace)[0]
