"""What each failure of a database is told as, from what SQLite and PostgreSQL really raise."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client

from clustersim.store import failures, open_store, sessions, workers
from clustersim.store.models import Session

PAGE_BYTES = 8192


def _fill(path: Path) -> None:
    """Let the open connection add no page to the file, as a full disk does."""
    pages = connection.cursor().execute("PRAGMA page_count").fetchone()[0]
    connection.cursor().execute(f"PRAGMA max_page_count = {pages}")


def _lock(path: Path) -> None:
    connection.cursor().execute("PRAGMA query_only = ON")


def _damage(path: Path) -> None:
    connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with path.open("r+b") as file:
        file.seek(PAGE_BYTES)
        file.write(b"\xff" * (path.stat().st_size - PAGE_BYTES))


def _open_many() -> None:
    for _ in range(500):
        sessions.create("x" * 100, "empty")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("harm", "told"), [(_fill, failures.FULL), (_lock, failures.READ_ONLY), (_damage, failures.DAMAGED)]
)
def test_what_sqlite_says_is_told_as_what_it_means(database, harm, told):
    harm(Path(database.removeprefix("sqlite:///")))
    with pytest.raises(Exception) as caught:  # noqa: PT011 - its class is Django's choice
        _open_many()
    assert failures.explain(caught.value) == told
    refusal = failures.unavailable(caught.value)
    assert refusal is not None
    assert (refusal.code, refusal.message) == (503, told)
    connection.close()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_use_that_cannot_be_noted_refuses_nobody(database):
    """A session that nobody had used for half a minute could not be read while the database was read-only."""
    row = sessions.create("t", "empty")
    Session.objects.filter(pk=row.id).update(touched_ms=0)
    _lock(Path(database))
    with pytest.raises(Exception, match="readonly"):
        Session.objects.filter(pk=row.id).update(touched_ms=1)
    assert sessions.touch(row.id) is False
    assert sessions.get(row.id).touched_ms == 0
    connection.close()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_what_postgresql_says_is_told_as_what_it_means(database):
    def fail() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            sessions.create("t", "empty")

    with pytest.raises(Exception) as caught:  # noqa: PT011 - its class is Django's choice
        fail()
    assert failures.explain(caught.value) == failures.READ_ONLY


def test_a_fault_of_the_program_is_no_fault_of_the_database():
    assert failures.explain(IntegrityError("UNIQUE constraint failed")) is None
    assert failures.explain(KeyError("x")) is None
    assert failures.explain(sqlite3.OperationalError("database or disk is full")) is None, "Django's are meant"


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
def test_a_probe_writes_and_leaves_nothing(database):
    workers.probe()
    assert workers.every() == []


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_route_answers_503_and_says_why(database, monkeypatch):
    _fill(Path())
    client = Client()
    status, answer = 201, {}
    for _ in range(500):
        response = client.post("/api/sessions", {"title": "t", "template": "empty"}, content_type="application/json")
        status, answer = response.status_code, response.json()
        if status != 201:
            break
        _fill(Path())
    assert (status, answer["message"]) == (503, failures.FULL)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
def test_a_transaction_whose_rows_are_refused_leaves_nothing_and_the_next_one_goes_on(database):
    store = open_store(sessions.create("t", "empty").id, owner=True)

    def write(name: str) -> None:
        with store.transaction("x") as buffer:
            buffer.trace(name, 1, {}, b"")
            buffer.put("pods", "default", name, {"metadata": {"name": name, "uid": name}})

    write("p")
    before = store.revision
    others = "verb, resource, namespace, name, uid, previous_revision, now_ms, written_ms, read_revision, actor, data"
    taken = f"INSERT INTO store_revision (session_id, revision, {others}) SELECT session_id, revision + 1, {others} "
    with connection.cursor() as cursor:
        cursor.execute(
            taken + "FROM store_revision WHERE session_id = %s AND revision = %s", [store.session_id, before]
        )
    with pytest.raises(IntegrityError):
        write("q")
    assert (store.revision, store.seen_revision) == (before, before)
    assert store.get("pods", "default", "q") is None
    assert len(store.newest_traces(5)) == 1
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM store_revision WHERE session_id = %s AND revision > %s", [store.session_id, before])
    write("q")
    assert store.revision == store.seen_revision == before + 1
    assert open_store(store.session_id).get("pods", "default", "q") is not None
