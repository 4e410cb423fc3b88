"""What every store's forks do: they go on from a moment of another session, and neither sees the other again."""

from __future__ import annotations

import pytest

from controllers.log.store import Gone
from tests.contract.test_store import document, put


def values(store, resource="pods"):
    return {stored.name: stored.object["spec"]["value"] for stored in store.list(resource)[0]}


@pytest.fixture
def parent(backend):
    """Return a session with five revisions: a and b made, a changed, b deleted, c made; simulated time goes along."""
    session = backend.new_session()
    store = session.open()
    for at_ms, name, value in ((100, "a", 1), (200, "b", 2), (300, "a", 3)):
        put(store, name, value, now_ms=at_ms)
    with store.transaction("user:mei", now_ms=400) as transaction:
        transaction.delete("pods", "default", "b")
        transaction.trace("uid-a", 1, {"id": "uid-a-1"}, b"")
    put(store, "c", 5, now_ms=500)
    return session


@pytest.mark.parametrize(
    ("revision", "there", "at_ms"),
    [(1, {"a": 1}, 100), (2, {"a": 1, "b": 2}, 200), (4, {"a": 3}, 400), (5, {"a": 3, "c": 5}, 500)],
)
def test_a_fork_holds_what_was_there_at_that_moment_and_no_history_before_it(parent, revision, there, at_ms):
    fork = parent.fork(revision).open()
    assert (fork.revision, fork.compacted, fork.horizon_ms, fork.seed) == (revision, revision, at_ms, 7)
    assert values(fork) == there
    assert {stored.name: stored.revision for stored in fork.list_at("pods", revision)} == {
        stored.name: stored.revision for stored in parent.open().list_at("pods", revision)
    }
    assert list(fork.events(revision)) == []
    for of_the_past in (lambda: fork.events(revision - 1), lambda: fork.list_at("pods", revision - 1)):
        with pytest.raises(Gone):
            of_the_past()


def test_numbers_and_time_go_on_in_each_for_itself(parent):
    store, fork = parent.open(), parent.fork(4).open()
    written = put(fork, "a", "forked", expected=3)
    assert (written.revision, fork.events(4)[0].previous["spec"]["value"]) == (5, 3)
    assert fork.events(4)[0].now_ms == 400
    put(store, "a", "parent", expected=3)
    assert (values(store), values(fork)) == ({"a": "parent", "c": 5}, {"a": "forked"})
    assert [event.name for event in store.events(5)] == ["a"]
    fork.compact(5)
    assert values(fork) == {"a": "forked"}
    assert {stored.name for stored in store.list_at("pods", 2)} == {"a", "b"}, "the parent's history is its own"


def test_a_fork_takes_history_along_where_it_is_asked_to(parent):
    fork = parent.fork(5, since=2).open()
    assert (fork.compacted, [event.revision for event in fork.events(2)]) == (2, [3, 4, 5])
    assert fork.events(3)[0].previous["spec"]["value"] == 2
    assert {stored.name: stored.object["spec"]["value"] for stored in fork.list_at("pods", 2)} == {"a": 1, "b": 2}
    assert values(fork) == {"a": 3, "c": 5}
    with pytest.raises(Gone):
        fork.list_at("pods", 1)


def test_decisions_until_then_come_along(parent):
    assert parent.fork(3).open().traces("uid-a") == []
    assert [envelope["id"] for envelope, _ in parent.fork(5).open().traces("uid-a")] == ["uid-a-1"]


def test_what_is_compacted_cannot_be_gone_on_from(parent):
    parent.open().compact(3)
    with pytest.raises(Gone):
        parent.fork(2)
    assert values(parent.fork(3).open()) == {"a": 3, "b": 2}


def test_the_time_of_a_revision(parent):
    store = parent.open()
    assert [store.ms_at(revision) for revision in (1, 3, 5)] == [100, 300, 500]
    store.compact(3)
    assert [store.ms_at(revision) for revision in (3, 4, 5)] == [300, 400, 500]
    with pytest.raises(Gone):
        store.ms_at(2)


def test_a_fork_of_a_fork(parent):
    first = parent.fork(3)
    put(first.open(), "d", 4)
    second = first.fork(4).open()
    assert (second.revision, values(second)) == (4, {"a": 3, "b": 2, "d": 4})
    with second.transaction("user:mei") as transaction:
        transaction.put("pods", "default", "e", document("e"))
    assert "e" not in values(first.open())


def test_what_a_fork_mixes_into_its_draws_is_its_own(parent):
    assert parent.open().branch == ""
    assert parent.fork(3).open().branch != ""
