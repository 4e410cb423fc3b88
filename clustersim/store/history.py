"""What a session's log says of its own past: which rows it has, and what differs between two moments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db import connection

from clustersim.store.rows import VERBS
from clustersim.store.sql import SqlStore
from controllers.log.store import DELETED, Stored, Verb

Key = tuple[str, str, str]
"""(resource, namespace, name); the namespace is empty for what lies in none."""


class LogRow(NamedTuple):
    """A row of the log without its document."""

    revision: int
    verb: Verb
    resource: str
    namespace: str
    name: str
    previous_revision: int
    now_ms: int
    actor: str

    @property
    def key(self) -> Key:
        """Return which object it is a row of."""
        return self.resource, self.namespace, self.name


class Changes(NamedTuple):
    """What one moment has other than another."""

    objects: Iterable[Stored]
    """Objects that are not there at the other moment, or otherwise; as they are at this one.

    To be gone through once, so that not all documents are decoded at a time: ten thousand of them cost the collector
    more than the decoder.
    """
    gone: Sequence[Key]
    """Objects of the other moment that are not there at this one."""


def log_rows(store: SqlStore, after: int, until: int, resources: Sequence[str] = ()) -> list[LogRow]:
    """Return the rows after one kept revision and up to another, in order: of some resources, or of all.

    Raises:
        Gone: rows after `after` are compacted.
    """
    among = f"AND resource IN ({', '.join(['%s'] * len(resources))}) " if resources else ""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT revision, verb, resource, namespace, name, previous_revision, now_ms, actor FROM store_revision "
            f"WHERE session_id = %s AND revision > %s AND revision <= %s {among}ORDER BY revision",
            [store.session_id, after, until, *resources],
        )
        rows = [LogRow(row[0], VERBS[row[1] - 1], *row[2:]) for row in cursor.fetchall()]
    # Asked after the rows were read: a compaction that took any of them has moved the mark before it did.
    store.check_kept(after)
    return rows


def last_before(store: SqlStore, at_ms: int, until: int) -> int:
    """Return the newest kept revision, up to one, that was written before a simulated time; else the oldest kept one.

    Raises:
        Gone: `until` is compacted.
    """
    low, high = store.compacted, until
    while low < high:
        middle = (low + high + 1) // 2
        if store.ms_at(middle) < at_ms:
            low = middle
        else:
            high = middle - 1
    return low


def rows_by(store: SqlStore, actor: str, since_unix_ms: int) -> list[LogRow]:
    """Return the rows that an author wrote since a real time and that are kept, in order."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT revision, verb, resource, namespace, name, previous_revision, now_ms, actor FROM store_revision "
            "WHERE session_id = %s AND actor = %s AND written_ms >= %s ORDER BY revision",
            [store.session_id, actor, since_unix_ms],
        )
        return [LogRow(row[0], VERBS[row[1] - 1], *row[2:]) for row in cursor.fetchall()]


def is_touched(session_id: int, after: int, resources: Sequence[str]) -> bool:
    """Return whether a row after a revision is of one of these resources, or a person's."""
    marks = ", ".join(["%s"] * len(resources))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT 1 FROM store_revision WHERE session_id = %s AND revision > %s "
            f"AND (resource IN ({marks}) OR actor LIKE 'user:%%') LIMIT 1",
            [session_id, after, *resources],
        )
        return cursor.fetchone() is not None


class Act(NamedTuple):
    """What a person wrote, without its document; `written_ms` is Unix milliseconds."""

    verb: Verb
    resource: str
    name: str
    written_ms: int


def last_act(store: SqlStore, after: int) -> Act | None:
    """Return the newest row after a revision that a person wrote; None: nobody has written any."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT verb, resource, name, written_ms FROM store_revision "
            "WHERE session_id = %s AND revision > %s AND actor LIKE 'user:%%' ORDER BY revision DESC LIMIT 1",
            [store.session_id, after],
        )
        row = cursor.fetchone()
    return None if row is None else Act(VERBS[row[0] - 1], *row[1:])


def changes(store: SqlStore, there: int, here: int) -> Changes:
    """Return what the moment `here` has other than the moment `there`; either may be the earlier one.

    Raises:
        Gone: one of them is compacted.
    """
    first, last = min(there, here), max(there, here)
    # On the way back an object's first change says what it found: the one whose previous row lies before all of these.
    firsts = "" if here > there else f"AND previous_revision <= {first:d} "
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT resource, namespace, name, verb, revision, previous_revision FROM store_revision "
            f"WHERE session_id = %s AND revision > %s AND revision <= %s {firsts}ORDER BY revision",
            [store.session_id, first, last],
        )
        rows = cursor.fetchall()
    found: dict[Key, int] = {}
    if here > there:
        # What an object's last change made of it.
        gone = VERBS.index(DELETED) + 1
        found = {row[:3]: 0 if row[3] == gone else row[4] for row in rows}
    else:
        for row in rows:
            found.setdefault(row[:3], row[5])
    documents = store.rows(sorted({revision for revision in found.values() if revision}))
    store.check_kept(min(there, here))
    return Changes(
        (Stored(*key, documents[at][0], at, documents[at][1]) for key, at in found.items() if at),
        [key for key, at in found.items() if not at],
    )
