"""Commands: asked of the owner, obeyed or undone."""

from __future__ import annotations

import threading

import pytest
from django.db import connections

from clustersim.feed import hints
from clustersim.runtime import commands
from clustersim.runtime.driver import Driver
from clustersim.store import open_store, sessions
from controllers.cluster import found
from controllers.log.store import Fenced
from scheduler_core.api.errors import ApiError, forbidden

CLOCKS = "clocks.clustersim.io"


@pytest.fixture
def session(database):
    row = sessions.create("t", "empty", seed=5)
    assert not [result.error for result in found(open_store(row.id)) if result.error]
    return row


class Owner:
    """A driver in a thread of its own, as a worker runs it."""

    def __init__(self, row) -> None:
        self.epoch = sessions.claim(row.id, "here", epoch=sessions.get(row.id).epoch)
        self.row = row
        self.error: Exception | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            driver = Driver(self.row.id, self.epoch, lambda: None)
            while not self._stop.wait(0.005):
                driver.run_slice()
        except Fenced as error:
            self.error = error
        finally:
            connections.close_all()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(30)

    def end(self) -> None:
        """Wait until it has ended by itself."""
        self._thread.join(30)


def pause(document) -> None:
    document["spec"]["paused"] = True


def test_the_answer_is_what_the_owner_made_of_it(session):
    owner = Owner(session)
    try:
        observed = commands.ask(session.id, CLOCKS, "clock", pause, actor="user:mei")
    finally:
        owner.stop()
    assert observed["spec"]["paused"] is True
    assert observed["status"]["paused"] is True
    assert observed["status"]["observedGeneration"] == observed["metadata"]["generation"]
    asked = [event for event in open_store(session.id).events(0) if event.actor == "user:mei"]
    assert [event.resource for event in asked] == [CLOCKS]


def test_without_an_owner_the_answer_is_503_and_nothing_is_changed(session):
    store = open_store(session.id)
    before = store.get(CLOCKS, "", "clock").object
    with pytest.raises(ApiError) as refused:
        commands.ask(session.id, CLOCKS, "clock", pause, actor="user:mei", timeout=0.2)
    assert refused.value.code == 503
    assert refused.value.retry_after_seconds == 1
    assert store.get(CLOCKS, "", "clock").object["spec"] == before["spec"]
    owner = Owner(session)
    try:
        observed = commands.ask(
            session.id, CLOCKS, "clock", lambda document: document["spec"].update(rate=2.0), actor="user:mei"
        )
    finally:
        owner.stop()
    assert (observed["status"]["paused"], observed["status"]["rate"]) == (False, 2.0)


def test_who_reads_the_log_is_told_of_a_change_and_of_its_undoing(session):
    store = open_store(session.id)
    told: list[int] = []

    def listen(kind: str, session_id: int, revision: int) -> None:
        if kind == hints.LOG and session_id == session.id:
            told.append(revision)

    before = store.revision
    hints.listen(listen)
    try:
        with pytest.raises(ApiError):
            commands.ask(session.id, CLOCKS, "clock", pause, actor="user:mei", timeout=0.2)
    finally:
        hints.unlisten(listen)
    assert store.revision == before + 2
    assert told == [before + 1, before + 2]


def test_what_somebody_else_asked_meanwhile_stands(session):
    store = open_store(session.id)

    def interfere(document) -> None:
        document["spec"]["rate"] = 3.0

    others: list[int] = []

    def listen(kind: str, session_id: int, revision: int) -> None:
        """Ask for something else as soon as the first question stands in the log."""
        if others or kind != hints.LOG or session_id != session.id:
            return
        assert store.get(CLOCKS, "", "clock").object["spec"]["paused"] is True
        others.append(revision)
        with pytest.raises(ApiError) as refused:
            commands.ask(session.id, CLOCKS, "clock", interfere, actor="user:two", timeout=0.2)
        others.append(refused.value.code)

    hints.listen(listen)
    try:
        with pytest.raises(ApiError) as refused:
            commands.ask(session.id, CLOCKS, "clock", pause, actor="user:one", timeout=0.2)
    finally:
        hints.unlisten(listen)
    assert (others[1], refused.value.code) == (503, 503)
    spec = store.get(CLOCKS, "", "clock").object["spec"]
    assert spec["rate"] == 1.0, "the second was undone in its turn"
    assert spec["paused"] is True, "to what it had found"


def test_refusals_come_before_anything_is_written(session):
    store = open_store(session.id)
    revision = store.revision

    def guard(operation, old, new) -> None:
        raise forbidden(CLOCKS, "clock", "the clock is the teacher's")

    with pytest.raises(ApiError) as refused:
        commands.ask(session.id, CLOCKS, "clock", pause, actor="user:mei", guard=guard)
    assert refused.value.code == 403
    with pytest.raises(ApiError) as missing:
        commands.ask(session.id, CLOCKS, "another", pause, actor="user:mei")
    assert missing.value.code == 404
    assert store.revision == revision


def test_a_driver_whose_epoch_is_over_stops_by_itself(session):
    owner = Owner(session)
    commands.ask(session.id, CLOCKS, "clock", lambda document: document["spec"].update(rate=2.0), actor="user:mei")
    sessions.claim(session.id, "there", epoch=owner.epoch)
    owner.end()
    assert isinstance(owner.error, Fenced)
