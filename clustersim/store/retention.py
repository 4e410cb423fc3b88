"""How much of a session's log is kept, and dropping the rest step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.db import connection

from clustersim.store.sql import COMPACT_STEP, SqlStore
from controllers.commands import REPLICAS
from controllers.log.store import Stored
from controllers.registry.models.clustersim_v1 import Cycle, ReplicaStatus
from controllers.registry.structs import is_whole, read

REVISIONS_MAX: Final = 50_000
"""Rows of history kept at most; older ones answer 410 Gone."""

REVISIONS_MIN: Final = 10_000
"""Rows of history kept whatever their age."""

AGE_MS_MAX: Final = 2 * 3_600_000
"""Real milliseconds of history kept, beyond REVISIONS_MIN."""

BYTES_MAX: Final = 256 * 1024 * 1024
"""Bytes of documents in one session's log; past it history is cut below REVISIONS_MIN."""

TRACE_BLOBS_MAX: Final = 5_000
"""Traces of a session that keep their matrices; older ones keep the envelope and say `"detail":"compacted"`."""

TRACES_MAX: Final = 50_000
"""Traces of a session that are kept at all; the oldest go first."""


def step(store: SqlStore, now_unix_ms: int) -> bool:
    """Drop one step's worth of what is over the limits; return whether there is more to drop."""
    goal = min(_goal(store, now_unix_ms), _pin(store))
    compacted = store.compacted
    if goal > compacted:
        store.compact(min(goal, compacted + COMPACT_STEP))
    more_traces = _drop_traces(store) or _strip_traces(store)
    return goal > compacted + COMPACT_STEP or more_traces


def _goal(store: SqlStore, now_unix_ms: int) -> int:
    """Return the revision up to which history may go, pins aside."""
    counters = store.counters()
    newest, oldest = counters.revision, counters.compacted
    goal = max(oldest, newest - REVISIONS_MAX)
    with connection.cursor() as cursor:
        if newest - goal > REVISIONS_MIN:
            cursor.execute(
                "SELECT MAX(revision) FROM store_revision WHERE session_id = %s AND revision > %s "
                "AND revision <= %s AND written_ms < %s",
                [store.session_id, goal, newest - REVISIONS_MIN, now_unix_ms - AGE_MS_MAX],
            )
            goal = max(goal, cursor.fetchone()[0] or 0)
        cursor.execute(
            "SELECT COALESCE(SUM(LENGTH(data)), 0) FROM store_revision WHERE session_id = %s AND revision > %s",
            [store.session_id, goal],
        )
        size = int(cursor.fetchone()[0])
    if size > BYTES_MAX and newest > goal:
        goal = newest - (newest - goal) * BYTES_MAX // size
    return goal


def _pin(store: SqlStore) -> int:
    """Return the revision before the oldest one that something still needs: a held cycle's input."""
    return input_of(store.list(REPLICAS)[0], store.revision + 1) - 1


def input_of(replicas: Iterable[Stored], newest: int) -> int:
    """Return the oldest revision that a cycle held by one of the replicas needs to be run again; `newest`: none."""
    for stored in replicas:
        cycle = read(stored.object.get("status"), ReplicaStatus).cycle
        if cycle is not None and is_whole(cycle, Cycle):
            newest = min(newest, cycle["seenRevision"])
    return newest


def _drop_traces(store: SqlStore) -> bool:
    """Delete at most COMPACT_STEP traces over the limit; return whether that many were over it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT revision FROM store_trace WHERE session_id = %s ORDER BY revision DESC LIMIT 1 OFFSET %s",
            [store.session_id, TRACES_MAX],
        )
        row = cursor.fetchone()
        if row is None:
            return False
        cursor.execute(
            "DELETE FROM store_trace WHERE session_id = %s AND (uid, attempt) IN (SELECT uid, attempt "
            "FROM store_trace WHERE session_id = %s AND revision <= %s LIMIT %s)",
            [store.session_id, store.session_id, row[0], COMPACT_STEP],
        )
        return bool(cursor.rowcount >= COMPACT_STEP)


def _strip_traces(store: SqlStore) -> bool:
    """Empty the matrices of at most COMPACT_STEP traces over the limit; return whether that many were over it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT revision FROM store_trace WHERE session_id = %s ORDER BY revision DESC LIMIT 1 OFFSET %s",
            [store.session_id, TRACE_BLOBS_MAX],
        )
        row = cursor.fetchone()
        if row is None:
            return False
        cursor.execute(
            "UPDATE store_trace SET data = %s WHERE session_id = %s AND (uid, attempt) IN (SELECT uid, attempt "
            "FROM store_trace WHERE session_id = %s AND revision <= %s AND LENGTH(data) > 0 LIMIT %s)",
            [b"", store.session_id, store.session_id, row[0], COMPACT_STEP],
        )
        return bool(cursor.rowcount >= COMPACT_STEP)
