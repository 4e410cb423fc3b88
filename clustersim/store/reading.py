"""What the database holds of one session: its counters, objects, rows of the log, the past, traces.

Each answer comes from one statement, so from one snapshot; where it takes two, the order says why that is enough.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

import msgspec
from django.db import connection

from clustersim.store.rows import VERBS
from clustersim.store.sessions import NoSession
from controllers.log.store import Event, Gone, Stored

FETCH_ROWS: Final = 5_000
"""Rows of the log fetched by one statement: databases bound how many values one may name."""

_COUNTERS: Final = "revision, compacted, horizon_ms, last_ms, epoch, owner <> ''"
_TURN: Final = 0x636C7573 << 32
"""Added to a session's id it is the number of the advisory lock by which its writers take turns in PostgreSQL."""
_LOCKED: Final = (
    "WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(%s)) "
    f"SELECT {_COUNTERS} FROM store_session, turn WHERE id = %s FOR UPDATE OF store_session"
)
"""Takes the session's row, after its turn. A lock on a row goes to whoever asks when it is free, which is the engine
again, that has just let it go; an advisory lock is handed to whoever has waited longest, as SQLite's turnstile is. The
row is locked last: so it is read as who was before has left it.
"""

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
    owned: bool


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


def fetch(sql: str, arguments: Sequence[Any]) -> list[Any]:
    """Return all rows of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(sql, [_askable(argument) for argument in arguments])
        return list(cursor.fetchall())


_place: Final = attrgetter("namespace", "name")


class SqlReader:
    """One session's rows in the database; it remembers nothing, and may be asked from any thread."""

    def __init__(self, session_id: int) -> None:
        self.session_id = session_id

    def counters(self, *, lock: bool = False) -> Counters:
        """Return the session's counters; `lock` holds the row until the transaction ends.

        Raises:
            NoSession: it was deleted.
        """
        if lock and connection.vendor == "postgresql":
            rows = fetch(_LOCKED, [_TURN + self.session_id, self.session_id])
        else:
            rows = fetch(f"SELECT {_COUNTERS} FROM store_session WHERE id = %s", [self.session_id])
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
        rows = fetch(
            "SELECT now_ms FROM store_revision WHERE session_id = %s AND revision <= %s ORDER BY revision DESC LIMIT 1",
            [self.session_id, revision],
        )
        self.refuse_compacted(revision, self.compacted)
        return int(rows[0][0]) if rows else 0

    def check_kept(self, revision: int) -> None:
        """Refuse a revision that is no longer kept.

        Raises:
            Gone: it is compacted.
        """
        self.refuse_compacted(revision, self.compacted)

    @staticmethod
    def refuse_compacted(revision: int, compacted: int) -> None:
        """Refuse a revision older than the mark up to which history is dropped; raises `Gone`."""
        if revision < compacted:
            raise Gone(f"revision {revision} is compacted, the log starts after {compacted}")

    def usage(self, namespace: str) -> dict[str, tuple[int, int]]:
        """Return (objects, bytes) by resource of what a namespace holds."""
        rows = fetch(
            f"SELECT o.resource, COUNT(*), SUM(LENGTH(r.data)) {_CURRENT} "
            "WHERE o.session_id = %s AND o.namespace = %s GROUP BY o.resource",
            [self.session_id, namespace],
        )
        return {resource: (count, int(size or 0)) for resource, count, size in rows}

    def read(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the current object from the database."""
        rows = fetch(
            f"SELECT r.uid, r.revision, r.data {_CURRENT} "
            "WHERE o.session_id = %s AND o.resource = %s AND o.namespace = %s AND o.name = %s",
            [self.session_id, resource, namespace, name],
        )
        if not rows:
            return None
        return _stored(resource, namespace, name, *rows[0])

    def holds(self, resource: str) -> bool:
        """Return whether there is any object of a resource now."""
        asked = "SELECT 1 FROM store_object WHERE session_id = %s AND resource = %s LIMIT 1"
        return bool(fetch(asked, [self.session_id, resource]))

    def read_list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (current objects in order of (namespace, name), the revision at which they were read)."""
        # One statement, so that the objects and the session's revision come from one snapshot.
        within = "" if namespace is None else " AND o.namespace = %s"
        rows = fetch(
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
        places = fetch(
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
        self.refuse_compacted(revision, self.compacted)
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
            for revision, uid, data in fetch(sql, [self.session_id, *part]):
                found[revision] = uid, bytes(data)
        return found

    def revisions_at(self, revision: int) -> set[int]:
        """Return the rows that hold what was current at a kept revision."""
        rows = fetch(
            "SELECT revision FROM store_object WHERE session_id = %s AND revision <= %s UNION ALL "
            "SELECT previous_revision FROM store_revision WHERE session_id = %s AND revision > %s "
            "AND previous_revision > 0 AND previous_revision <= %s",
            [self.session_id, revision, self.session_id, revision, revision],
        )
        return {row[0] for row in rows}

    def revisions_between(self, after: int, until: int) -> Sequence[int]:
        """Return the rows of the log after one revision and up to another."""
        rows = fetch(
            "SELECT revision FROM store_revision WHERE session_id = %s AND revision > %s AND revision <= %s",
            [self.session_id, after, until],
        )
        return [row[0] for row in rows]

    def changed_between(self, after: int, until: int) -> Sequence[str]:
        """Return the resources that have rows of the log after one revision and up to another."""
        rows = fetch(
            "SELECT DISTINCT resource FROM store_revision WHERE session_id = %s AND revision > %s AND revision <= %s",
            [self.session_id, after, until],
        )
        return [row[0] for row in rows]

    def read_events(self, after: int, limit: int) -> Sequence[Event]:
        """Return rows with revision > after from the database, in order, at most `limit`.

        Raises:
            Gone: rows after `after` are compacted.
        """
        rows = fetch(
            f"SELECT s.compacted, {_ROW} FROM store_session s "
            "LEFT JOIN store_revision r ON r.session_id = s.id AND r.revision > %s "
            "LEFT JOIN store_revision p ON p.session_id = r.session_id AND p.revision = r.previous_revision "
            "AND r.previous_revision > 0 WHERE s.id = %s ORDER BY r.revision LIMIT %s",
            [after, self.session_id, limit],
        )
        if not rows:
            raise NoSession(f"session {self.session_id} was deleted")
        self.refuse_compacted(after, rows[0][0])
        return [_event(row[1:]) for row in rows if row[5] is not None]

    def snapshot(self) -> tuple[int, Iterable[Stored]]:
        """Return (the newest revision, all current objects)."""
        rows = fetch(
            "SELECT s.revision, r.resource, r.namespace, r.name, r.uid, r.revision, r.data FROM store_session s "
            "LEFT JOIN store_object o ON o.session_id = s.id "
            "LEFT JOIN store_revision r ON r.session_id = o.session_id AND r.revision = o.revision WHERE s.id = %s",
            [self.session_id],
        )
        return rows[0][0], [_stored(*row[1:]) for row in rows if row[6] is not None]

    def traces(self, uid: str, limit: int = 50) -> Sequence[tuple[dict[str, Any], bytes]]:
        """Return (envelope, blob) of a pod's traces, newest first."""
        rows = fetch(
            "SELECT envelope, data FROM store_trace WHERE session_id = %s AND uid = %s ORDER BY attempt DESC LIMIT %s",
            [self.session_id, uid, limit],
        )
        return [(msgspec.json.decode(bytes(envelope)), bytes(data)) for envelope, data in rows]

    def newest_traces(self, limit: int) -> Sequence[tuple[dict[str, Any], bytes]]:
        """Return (envelope, blob) of the traces of all pods, newest first; see `Store.newest_traces`."""
        rows = fetch(
            "SELECT envelope, data FROM store_trace WHERE session_id = %s "
            "ORDER BY revision DESC, uid, attempt LIMIT %s",
            [self.session_id, limit],
        )
        return [(msgspec.json.decode(bytes(envelope)), bytes(data)) for envelope, data in rows]

    def trace(self, uid: str, attempt: int) -> tuple[dict[str, Any], bytes] | None:
        """Return (envelope, blob) of one attempt's trace, None where there is none."""
        rows = fetch(
            "SELECT envelope, data FROM store_trace WHERE session_id = %s AND uid = %s AND attempt = %s",
            [self.session_id, uid, attempt],
        )
        return (msgspec.json.decode(bytes(rows[0][0])), bytes(rows[0][1])) if rows else None

    def envelopes(self, after: int, until: int, limit: int = 1000) -> Sequence[tuple[int, dict[str, Any]]]:
        """Return (revision, envelope) of the newest `limit` traces written in a stretch of the log, oldest first."""
        rows = fetch(
            "SELECT revision, envelope FROM store_trace WHERE session_id = %s AND revision > %s AND revision <= %s "
            "ORDER BY revision DESC LIMIT %s",
            [self.session_id, after, until, limit],
        )
        return [(revision, msgspec.json.decode(bytes(envelope))) for revision, envelope in reversed(rows)]
