"""What reads cost, counted in the database's own steps: the planner must not go through the log once per object."""

from __future__ import annotations

import pytest
from django.db import connection

from clustersim.store import open_store, sessions

OBJECTS = 1500
ROUNDS = 4
STEPS_PER_ROW_MAX = 100


def steps(call) -> int:
    """Return how many virtual-machine instructions of SQLite a call takes, in hundreds rounded down."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    connection.ensure_connection()
    connection.connection.set_progress_handler(tick, 100)
    try:
        call()
    finally:
        connection.connection.set_progress_handler(None, 0)
    return count * 100


@pytest.fixture
def store():
    opened = open_store(sessions.create("t", "empty").id)
    writer = open_store(opened.session_id, owner=True)
    for number in range(ROUNDS):
        with writer.transaction("x") as transaction:
            for each in range(OBJECTS):
                body = {"metadata": {"name": f"p{each}", "uid": f"u{each}"}, "spec": number}
                transaction.put("pods", "default", f"p{each}", body)
    return opened


@pytest.mark.usefixtures("own_database")
@pytest.mark.parametrize(
    ("what", "call"),
    [
        ("a list", lambda store: store.list("pods")),
        ("a list of one namespace", lambda store: store.list("pods", "default")),
        ("a list long ago", lambda store: store.list_at("pods", OBJECTS + 10)),
        ("a list just now", lambda store: store.list_at("pods", OBJECTS * ROUNDS - 10, "default")),
        ("the log", lambda store: store.events(OBJECTS, OBJECTS)),
        ("opening as owner", lambda store: open_store(store.session_id, owner=True)),
        ("compaction", lambda store: store.compact(OBJECTS * 2)),
    ],
)
def test_a_read_costs_in_proportion_to_its_rows(store, what, call):
    assert steps(lambda: call(store)) < OBJECTS * ROUNDS * STEPS_PER_ROW_MAX, what


@pytest.mark.usefixtures("own_database")
def test_one_object_costs_no_more_in_a_large_session(store):
    assert steps(lambda: store.get("pods", "default", "p700")) <= 200
    assert steps(lambda: store.events(OBJECTS * ROUNDS)) <= 300


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_postgresql_spends_no_time_on_compressing_rows(database):
    store = open_store(sessions.create("t", "empty").id)
    body = {"metadata": {"name": "p", "uid": "u"}, "spec": "as a pod " * 400}
    with store.transaction("x") as transaction:
        transaction.put("pods", "default", "p", body)
        transaction.trace("u", 1, {"input": body}, b"matrix " * 400)
    with connection.cursor() as cursor:
        for table, column in (("store_revision", "data"), ("store_trace", "envelope"), ("store_trace", "data")):
            cursor.execute(
                f"SELECT pg_column_size({column}), octet_length({column}) FROM {table} WHERE session_id = %s",
                [store.session_id],
            )
            ((kept, written),) = cursor.fetchall()
            assert kept >= written > 2000, (table, column)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_rows_of_pods_share_pages(database):
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA page_size")
        assert cursor.fetchone() == (8192,)
