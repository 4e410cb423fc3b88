"""How a transaction's rows get into the tables: few statements, whatever their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec
from django.db import connection

from clustersim.store.sessions import real_ms
from controllers.log.store import Verb
from controllers.log.transaction import BufferedTransaction

VERBS: Final[tuple[Verb, ...]] = ("ADDED", "MODIFIED", "DELETED")
"""The log's `verb` column counts them from 1."""

_ARRAYS: Final = {
    **dict.fromkeys(("session_id", "revision", "previous_revision", "now_ms", "written_ms", "read_revision"), "bigint"),
    **dict.fromkeys(("resource", "namespace", "name", "uid", "actor"), "text"),
    **dict.fromkeys(("envelope", "data"), "bytea"),
    "verb": "smallint",
    "attempt": "integer",
}
"""Column → its type over PostgreSQL's wire."""

TRACES_PER_POD: Final = 50
"""Attempts of one pod whose traces are kept; older ones go when a newer one is written."""


def write_log(cursor: Any, session_id: int, buffer: BufferedTransaction) -> None:
    """Append the transaction's rows to the log."""
    written_ms = real_ms()
    _insert(
        cursor,
        "store_revision",
        "session_id, revision, verb, resource, namespace, name, uid, "
        "previous_revision, now_ms, written_ms, read_revision, actor, data",
        [
            (
                session_id,
                row.revision,
                VERBS.index(row.verb) + 1,
                row.resource,
                row.namespace,
                row.name,
                row.uid,
                row.previous_revision,
                row.now_ms,
                written_ms,
                row.read,
                row.actor,
                row.data,
            )
            for row in buffer.rows
        ],
    )


def write_objects(cursor: Any, session_id: int, buffer: BufferedTransaction) -> None:
    """Point the touched keys to the rows that hold them now."""
    current = [(session_id, *key, stored.revision) for key, stored in buffer.objects.items() if stored]
    if current:
        _insert(
            cursor,
            "store_object",
            "session_id, resource, namespace, name, revision",
            current,
            "ON CONFLICT (session_id, resource, namespace, name) DO UPDATE SET revision = excluded.revision",
        )
    deleted = [(session_id, *key) for key, stored in buffer.objects.items() if stored is None]
    if deleted:
        cursor.executemany(
            "DELETE FROM store_object WHERE session_id = %s AND resource = %s AND namespace = %s AND name = %s",
            deleted,
        )


def write_traces(cursor: Any, session_id: int, buffer: BufferedTransaction) -> None:
    """Keep the transaction's traces, and the newest TRACES_PER_POD of each pod."""
    # One statement may not touch a row twice, so of a trace that was kept again only the last counts.
    last = {(row.uid, row.attempt): row for row in buffer.traces}
    _insert(
        cursor,
        "store_trace",
        "session_id, uid, attempt, revision, envelope, data",
        [
            (session_id, row.uid, row.attempt, row.revision, msgspec.json.encode(row.envelope), row.blob)
            for row in last.values()
        ],
        "ON CONFLICT (session_id, uid, attempt) DO UPDATE SET revision = excluded.revision, "
        "envelope = excluded.envelope, data = excluded.data",
    )
    old = [(session_id, row.uid, row.attempt - TRACES_PER_POD) for row in last.values()]
    old = [entry for entry in old if entry[2] > 0]
    if old:
        cursor.executemany("DELETE FROM store_trace WHERE session_id = %s AND uid = %s AND attempt <= %s", old)


@contextmanager
def sent_together() -> Iterator[None]:
    """Have PostgreSQL answer statements when all are sent: it is at the first while the next ones are put together.

    What fails is raised at the end.
    """
    if connection.vendor != "postgresql":
        yield
        return
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield


def _insert(cursor: Any, table: str, columns: str, rows: Sequence[tuple[Any, ...]], conflict: str = "") -> None:
    """Insert many rows: by one prepared statement in SQLite, by one with a binary array for each column in PostgreSQL.

    Values written into the statement's text took PostgreSQL ten times as long, with the session's row locked.
    """
    if connection.vendor == "sqlite":
        marks = ", ".join(["%s"] * len(rows[0]))
        cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks}) {conflict}", rows)
        return
    arrays = ", ".join(f"%b::{_ARRAYS[column]}[]" for column in columns.split(", "))
    statement = f"INSERT INTO {table} ({columns}) SELECT * FROM unnest({arrays}) {conflict}"
    _execute_binary(statement, [list(values) for values in zip(*rows, strict=True)])


def _execute_binary(statement: str, values: list[list[Any]]) -> None:
    """Run a statement whose values are sent beside it, which Django's own cursors write into its text."""
    from psycopg import Cursor

    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(statement.encode(), values)
