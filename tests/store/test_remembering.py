"""What a process remembers between its writes is never older than the log, whoever else has written."""

from __future__ import annotations

import contextlib

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clustersim.store import open_store, remembering, sessions
from clustersim.store.remembering import ANSWERS_MAX, BYTES_MAX, REVISIONS_MAX, SESSIONS_MAX, Remembered, remembered
from controllers.log.store import RevisionConflict, Stored

pytestmark = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)

PLACES = [("pods", "a", "x"), ("pods", "a", "y"), ("limits", "a", "x"), ("limits", "b", "x")]
RELAXED = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

who = st.sampled_from(["person", "person", "owner", "refused", "nested"])
write = st.tuples(st.sampled_from(["put", "put", "delete"]), st.sampled_from(PLACES), st.integers(0, 99))
steps = st.lists(st.one_of(st.tuples(who, st.lists(write, max_size=3)), st.just(("compaction", []))), max_size=8)


class Refused(Exception):
    """A writer's own change of mind."""


def body(name: str, value: object) -> dict:
    return {"metadata": {"name": name, "uid": f"{name}-{value}"}, "spec": value}


def carry_out(tx, operations) -> None:
    for verb, (resource, namespace, name), value in operations:
        if verb == "put":
            tx.put(resource, namespace, name, body(name, value))
        else:
            with contextlib.suppress(RevisionConflict):
                tx.delete(resource, namespace, name)


def seen(reader) -> dict:
    """Return what a reader says of each place, one by one and in lists."""
    found: dict = {}
    for resource, namespace, name in PLACES:
        stored = reader.get(resource, namespace, name)
        found[resource, namespace, name] = stored and (stored.revision, stored.data)
    for resource in ("pods", "limits"):
        for within in (None, "a", "b"):
            listed = reader.list(resource, within)
            rows = listed[0] if isinstance(listed, tuple) else listed
            found[resource, within] = [(row.namespace, row.name, row.revision, row.data) for row in rows]
    return found


def questions(call) -> int:
    """Return how many statements read objects while something is done."""
    asked = 0

    def count(execute, sql, *more):
        nonlocal asked
        asked += "store_object o" in sql
        return execute(sql, *more)

    with connection.execute_wrapper(count):
        call()
    return asked


@pytest.fixture
def store(database):
    remembering._sessions.clear()
    return open_store(sessions.create("t", "empty").id)


@RELAXED
@given(history=steps)
def test_every_writer_sees_what_the_database_holds(database, history):
    store = open_store(sessions.create("t", "empty").id)
    owner = open_store(store.session_id, owner=True)
    for kind, operations in history:
        match kind:
            case "owner":
                with owner.transaction("engine") as tx:
                    carry_out(tx, operations)
            case "compaction":
                seen(owner)  # it has read what goes
                owner.compact(max(0, owner.revision - 1))
            case "refused":
                with contextlib.suppress(Refused), store.transaction("user:mei") as tx:
                    seen(tx)
                    carry_out(tx, operations)
                    raise Refused
            case "nested":
                with contextlib.suppress(Refused), transaction.atomic():
                    with store.transaction("user:mei") as tx:
                        seen(tx)
                        carry_out(tx, operations)
                    with store.transaction("user:mei") as tx:
                        assert seen(tx) == seen(store)
                    raise Refused
            case _:
                with store.transaction("user:mei") as tx:
                    assert seen(tx) == seen(store)
                    carry_out(tx, operations)
        with store.transaction("user:mei") as tx:
            assert seen(tx) == seen(store)


def test_what_has_not_changed_is_not_asked_for_again(store):
    def look() -> None:
        with store.transaction("user:mei") as tx:
            seen(tx)

    assert questions(look) == len(seen(store))
    assert questions(look) == 0
    with store.transaction("user:mei") as tx:
        tx.put("pods", "a", "x", body("x", 1))
    of_pods = sum(key[0] == "pods" for key in seen(store))
    assert questions(look) == of_pods, "only what was written is asked for"
    with open_store(store.session_id, owner=True).transaction("engine") as tx:
        tx.put("limits", "b", "x", body("x", 1))
    assert questions(look) == len(seen(store)) - of_pods


def test_a_log_that_went_far_on_is_not_looked_through(store):
    known = Remembered()
    known.catch_up(1, 0, lambda *_: [])
    known.get("pods", ("a",), lambda: ())
    asked: list[tuple[int, int]] = []

    def changed(after: int, until: int) -> list[str]:
        asked.append((after, until))
        return []

    known.catch_up(2, 0, changed)
    assert asked == [(1, 2)]
    known.catch_up(2 + REVISIONS_MAX + 1, 0, changed)
    assert asked == [(1, 2)]
    assert known.get("pods", ("a",), lambda: [stored(1)]) != (), "all of it is forgotten"


def stored(size: int) -> Stored:
    return Stored("pods", "a", "x", "u", 1, b" " * size)


def test_memory_is_bounded(store):
    known = Remembered()
    for number in range(3 * ANSWERS_MAX):
        known.get("pods", ("a", f"p{number}"), lambda: None)
    assert known._count <= ANSWERS_MAX
    for number in range(100):
        known.get("pods", ("b", f"p{number}"), lambda: stored(BYTES_MAX // 7))
    assert known._bytes <= BYTES_MAX
    known.get("pods", ("c",), lambda: [stored(BYTES_MAX), stored(1)])
    assert questions_of(known, "c") == 1, "what is larger is not kept"
    for number in range(2 * SESSIONS_MAX):
        remembered(("test", number))
    assert len(remembering._sessions) <= SESSIONS_MAX


def questions_of(known: Remembered, place: str) -> int:
    asked = 0

    def ask() -> None:
        nonlocal asked
        asked += 1

    known.get("pods", (place,), ask)
    return asked
