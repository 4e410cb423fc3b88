"""Who owns which session: leases on real time, claims by compare-and-swap. Threads stand for worker processes."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from math import inf

import pytest
from django.db import connections

from clustersim.runtime import leases
from clustersim.runtime import ownership as ownership_module
from clustersim.runtime.leases import Leases
from clustersim.runtime.ownership import Ownership
from clustersim.store import sessions, workers
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import wait_for


@dataclass
class Candidate:
    """An ownership thread whose loop takes every claim up at once, unless it is busy."""

    name: str
    busy: bool = False
    ownership: Ownership = field(init=False)

    def __post_init__(self) -> None:
        self.ownership = Ownership(self.name, self._claimed)
        self.ownership.start()

    def _claimed(self) -> None:
        if not self.busy:
            self.ownership.taken_up()

    def owned(self) -> set[int]:
        return {row.id for row in sessions.every() if row.owner == self.name}

    def die(self) -> None:
        """Stop renewing without giving anything up, as a killed process does."""
        self.ownership._leases.give_up = lambda: None
        self.ownership.stop()


@pytest.fixture
def candidates(database, monkeypatch):
    # No loop moves behind them: a test that waits long must fail with its words, not with its process.
    monkeypatch.setattr(ownership_module, "STUCK_MS", inf)
    made: list[Candidate] = []

    def make(name: str, *, busy: bool = False) -> Candidate:
        made.append(Candidate(name, busy))
        return made[-1]

    yield make
    for candidate in made:
        if not candidate.ownership._stop.is_set():
            candidate.ownership.stop()


def test_a_new_session_is_claimed_once(candidates):
    first = candidates("w1")
    wait_for(lambda: workers.alive() == ["w1"], what="a live worker")
    row = sessions.create("t", "empty")
    claim = first.ownership.claims.get(timeout=PATIENCE_SECONDS)
    assert claim == (row.id, row.epoch + 1)
    candidates("w2")
    wait_for(lambda: workers.alive() == ["w1", "w2"], what="two live workers")
    assert sessions.get(row.id).owner == "w1"
    assert first.ownership.claims.empty()


def test_sessions_are_shared_out(candidates, monkeypatch):
    # However slow the machine: who has more leaves a session to the other for as long as that takes.
    monkeypatch.setattr(ownership_module, "YIELD_MS", inf)
    both = [candidates("w1"), candidates("w2")]
    wait_for(lambda: len(workers.alive()) == 2, what="two live workers")
    wait_for(lambda: all(len(each.ownership._leases.live()) == 2 for each in both), what="they know each other")
    for _ in range(6):
        sessions.create("t", "empty")
    wait_for(lambda: not [row for row in sessions.every() if not row.owner], what="owners for all")
    assert sorted(len(each.owned()) for each in both) == [3, 3]


def test_a_worker_claims_no_second_session_before_the_first_is_taken_up(candidates):
    busy = candidates("busy", busy=True)
    wait_for(lambda: workers.alive() == ["busy"], what="a live worker")
    rows = [sessions.create("t", "empty") for _ in range(3)]
    wait_for(busy.owned, what="one of them")
    free = candidates("free")
    wait_for(lambda: len(free.owned()) == 2, what="the others, with whoever has a hand free")
    assert len(busy.owned()) == 1
    rows.append(sessions.create("t", "empty"))
    rows.append(sessions.create("t", "empty"))
    wait_for(lambda: len(free.owned()) == 4, what="all but the one that is being taken up")
    assert len(busy.owned()) == 1
    free.ownership.stop()
    busy.ownership.taken_up()
    wait_for(lambda: len(busy.owned()) == 2, what="the next one")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_loop_that_moves_is_not_taken_for_dead_however_long_its_round(database, monkeypatch):
    clock = {"now": 1_000_000}
    ended: list[int] = []
    monkeypatch.setattr(ownership_module.realtime, "monotonic_ms", lambda: clock["now"])
    monkeypatch.setattr(ownership_module.os, "_exit", ended.append)
    ownership = Ownership("w1", lambda: None)
    for _ in range(10):
        clock["now"] += ownership_module.STUCK_MS - 1
        ownership._check_loop()
        ownership.progress()
    assert ended == []
    clock["now"] += ownership_module.STUCK_MS + 1
    ownership._check_loop()
    assert ended == [ownership_module.STUCK_EXIT_CODE]


def test_leases_are_renewed_more_rarely_while_no_session_is_awake(candidates, monkeypatch):
    monkeypatch.setattr(ownership_module.hints, "arrive", lambda: True)
    first = candidates("w1")
    wait_for(lambda: workers.alive() == ["w1"], what="a live worker")
    assert first.ownership._turn_ms() == ownership_module.QUIET_TURN_MS < workers.ALIVE_MS / 2
    row = sessions.create("t", "empty")
    first.ownership.look()
    wait_for(lambda: first.ownership._turn_ms() == ownership_module.TURN_MS, what="the owner is on its guard")
    # Only now, or it might be the owner.
    second = candidates("w2")
    wait_for(lambda: second.ownership._turn_ms() == ownership_module.TURN_MS, what="who may take over is, too")
    sessions.release(row.id, "w1", epoch=sessions.get(row.id).epoch, hibernate=True)
    first.ownership.dropped(row.id)
    second.ownership.look()
    wait_for(
        lambda: {each.ownership._turn_ms() for each in (first, second)} == {ownership_module.QUIET_TURN_MS},
        what="both rest again",
    )


def test_a_dead_workers_sessions_move_on_with_a_higher_epoch(candidates):
    first = candidates("w1")
    rows = [sessions.create("t", "empty") for _ in range(3)]
    wait_for(lambda: len(first.owned()) == 3, what="all owned by w1")
    second = candidates("w2")
    wait_for(lambda: "w2" in workers.alive(), what="w2")
    epochs = {row.id: sessions.get(row.id).epoch for row in rows}
    first.die()
    wait_for(lambda: len(second.owned()) == 3, what="all owned by w2")
    assert all(sessions.get(row.id).epoch == epochs[row.id] + 1 for row in rows)


def test_a_worker_that_stops_gives_its_lease_up_at_once(candidates):
    first = candidates("w1")
    wait_for(lambda: workers.alive() == ["w1"], what="w1")
    first.ownership.stop()
    assert workers.every() == []


def test_a_lost_lease_is_told_to_the_loop_and_won_back(candidates):
    first = candidates("w1")
    row = sessions.create("t", "empty")
    wait_for(lambda: first.owned() == {row.id}, what="owned")
    # Somebody with the same name writes the lease: renewals are refused until the deadline.
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            lease = workers.read("w1")
            if lease is not None:
                workers.write("w1", {**lease.record, "holder": "impostor"}, version=lease.version)
            stop.wait(0.02)
        connections.close_all()

    thread = threading.Thread(target=disturb)
    thread.start()
    assert first.ownership.lost.wait(PATIENCE_SECONDS)
    stop.set()
    thread.join()
    first.ownership.lost.clear()
    first.ownership.dropped(row.id)
    wait_for(lambda: first.ownership._leases.held, what="the lease again")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_lease_is_judged_from_when_it_was_seen_to_change(database, monkeypatch):
    """A worker whose wall clock is an hour off is as live as any other."""
    clock = {"now": 1_000_000}
    monkeypatch.setattr(leases.realtime, "monotonic_ms", lambda: clock["now"])
    monkeypatch.setattr(leases.realtime, "unix_ms", lambda: clock["now"] + 3_600_000)
    other = Leases("late")
    other.turn()
    monkeypatch.setattr(leases.realtime, "unix_ms", lambda: clock["now"])
    mine = Leases("mine")
    mine.turn()
    mine.observe()
    assert mine.live() == ["late", "mine"]
    clock["now"] += leases.SETTINGS.lease_duration_ms - 1
    mine.turn()
    mine.observe()
    assert mine.is_live("late")
    clock["now"] += 1
    assert not mine.is_live("late")
    other.turn()
    mine.observe()
    assert mine.is_live("late")
    mine.give_up()
    other.give_up()
    assert workers.every() == []
