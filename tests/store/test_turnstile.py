"""SQLite's writers take turns: transactions and the ORM's single statements alike."""

from __future__ import annotations

import threading

import pytest
from django.db import OperationalError, connection, connections, transaction

from clustersim.store import sessions
from clustersim.store.models import Session
from clustersim.store.sqlite import turnstile as turnstile_module
from clustersim.store.sqlite.turnstile import Turnstile


def test_the_one_who_waits_goes_before_the_one_who_comes_back(tmp_path):
    first, second = Turnstile(str(tmp_path / "db")), Turnstile(str(tmp_path / "db"))
    order: list[str] = []
    first.enter()
    waiting = threading.Event()

    def wait() -> None:
        waiting.set()
        second.enter()
        order.append("waiter")
        second.leave()

    thread = threading.Thread(target=wait)
    thread.start()
    waiting.wait()
    while not _is_taken(tmp_path / "db.gate"):
        pass
    first.leave()
    first.enter()
    order.append("writer")
    first.leave()
    thread.join()
    assert order == ["waiter", "writer"]
    first.close()
    second.close()


def _is_taken(path) -> bool:
    import fcntl

    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_transaction_holds_the_turn_until_it_ends_however_it_ends(database):
    turnstile = connection._own_turnstile()
    with transaction.atomic():
        assert turnstile.held
        with transaction.atomic():
            sessions.create("t", "empty")
        assert turnstile.held
    assert not turnstile.held

    def fail():
        with transaction.atomic():
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not turnstile.held


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_single_statement_waits_for_its_turn(database):
    row = sessions.create("t", "empty")
    done = threading.Event()

    def rename() -> None:
        Session.objects.filter(pk=row.id).update(title="renamed")
        done.set()
        connections.close_all()

    with transaction.atomic():
        thread = threading.Thread(target=rename)
        thread.start()
        assert not done.wait(0.2)
        assert sessions.get(row.id).title == "t"
    thread.join(20)
    assert done.is_set()
    assert sessions.get(row.id).title == "renamed"
    assert not connection._own_turnstile().held


def test_waiting_is_bounded_and_what_was_given_up_is_let_go(tmp_path, monkeypatch):
    monkeypatch.setattr(turnstile_module, "WAIT_SECONDS", 0.2)
    path = str(tmp_path / "db")
    stands, first, second = Turnstile(path), Turnstile(path), Turnstile(path)
    stands.enter()
    for waiter in (first, second, first):  # behind the lock, behind the gate, and once more
        with pytest.raises(OperationalError, match="stands still"):
            waiter.enter()
        assert not waiter.held
    stands.close()
    monkeypatch.undo()
    for waiter in (first, second):
        waiter.enter()
        assert waiter.held
        waiter.leave()
        waiter.close()
