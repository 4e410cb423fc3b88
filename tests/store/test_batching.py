"""Writes that come at one moment share a transaction, and none of them notices."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections, transaction
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from clustersim.classroom.batching import GROUP, Batches, Job
from clustersim.classroom.writing import _together, apply, web_context
from clustersim.store import SqlStore, open_store, sessions
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create, Patch
from controllers.log.store import DELETED, RevisionConflict, Stored
from controllers.registry.context import Context
from scheduler_core.api.errors import ApiError
from tests.tools.patience import PATIENCE_SECONDS

real = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
THREADS = 12
EACH = 8


def config(name: str, **data: str) -> Create:
    return Create("configmaps", "default", {"metadata": {"name": name}, "data": data})


def context(store: SqlStore) -> Context:
    return web_context("user:mei", store)


@pytest.fixture
def store(database) -> SqlStore:
    store = open_store(sessions.create("t", "empty").id)
    apply(store, Create("namespaces", "", {"metadata": {"name": "default"}}), context(store))
    return store


class Line:
    """Jobs of one session whose transactions begin and end when the test says so."""

    def __init__(self, store: SqlStore) -> None:
        self.batches = Batches()
        self.store = store
        self.pool = ThreadPoolExecutor(GROUP + 8)
        self.begun: list[list[str]] = []
        self.may_end = threading.Semaphore(0)
        self.changed = threading.Condition()
        self.most = GROUP
        self.fails: type[Exception] | None = None

    def ask(self, name: str) -> Future[Stored]:
        """Have a job carried out in a thread of its own, when those before it stand in the line."""
        before = self.standing()
        job = Job(config(name), context(self.store))
        asked = self.pool.submit(self.batches.carry_out, self.store, job, self.together)
        with self.changed:
            assert self.changed.wait_for(lambda: self.standing() > before or asked.done(), PATIENCE_SECONDS)
        return asked

    def standing(self) -> int:
        return sum(len(line._waiting) for line in self.batches._lines.values())

    def together(self, _: SqlStore, jobs: Sequence[Job]) -> int:
        with self.changed:
            self.begun.append([job.operation.object["metadata"]["name"] for job in jobs])  # type: ignore[union-attr]
            self.changed.notify_all()
        assert self.may_end.acquire(timeout=PATIENCE_SECONDS)
        if self.fails is not None:
            raise self.fails("the disk is full")
        for job in jobs[: self.most]:
            job.stored = Stored("configmaps", "default", job.operation.object["metadata"]["name"], "u", 1, b"{}")  # type: ignore[union-attr]
        return min(self.most, len(jobs))

    def wait_begun(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.begun) == count, PATIENCE_SECONDS)


@pytest.fixture
def line(store):
    line = Line(store)
    ticking = threading.Event()

    def tick() -> None:
        # A job joins inside the code under test, which tells nobody.
        while not ticking.wait(0.005):
            with line.changed:
                line.changed.notify_all()

    ticker = threading.Thread(target=tick)
    ticker.start()
    yield line
    ticking.set()
    ticker.join()
    line.pool.shutdown()


sqlite = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@sqlite
def test_who_comes_meanwhile_waits_and_has_the_next_one_together(line):
    first = line.ask("a")
    line.wait_begun(1)
    others = [line.ask(name) for name in "bcd"]
    assert not first.done()
    line.may_end.release()
    line.wait_begun(2)
    late = line.ask("e")
    line.may_end.release(2)
    assert [one.result(PATIENCE_SECONDS).name for one in (first, *others, late)] == list("abcde")
    assert line.begun == [["a"], ["b", "c", "d"], ["e"]]
    assert line.batches._lines == {}, "nothing is kept of a session in which nobody writes"


@sqlite
def test_a_transaction_is_no_longer_than_it_may_be(line):
    first = line.ask("a")
    line.wait_begun(1)
    asked = [line.ask(f"p{number}") for number in range(GROUP + 3)]
    line.most = GROUP - 5
    line.may_end.release(4)
    assert [one.result(PATIENCE_SECONDS).name for one in (first, *asked)] == [
        "a",
        *(f"p{number}" for number in range(GROUP + 3)),
    ]
    assert [len(names) for names in line.begun] == [1, GROUP, 8]
    assert line.begun[2][0] == f"p{GROUP - 5}", "whoever was not reached goes on where it ended"


@sqlite
def test_what_hits_the_transaction_hits_all_in_it_and_nobody_after(line):
    first = line.ask("a")
    line.wait_begun(1)
    others = [line.ask(name) for name in "bc"]
    line.fails = OSError
    line.may_end.release(2)
    for one in (first, *others):
        with pytest.raises(OSError, match="the disk is full"):
            one.result(PATIENCE_SECONDS)
    line.fails = None
    line.may_end.release()
    assert line.ask("d").result(PATIENCE_SECONDS).name == "d"


@real
def test_each_has_its_own_result(store):
    def unanswerable(_: Stored) -> None:
        raise ApiError(406, "NotAcceptable", "no form of it")

    before = store.revision
    wrong = Create("configmaps", "default", {"metadata": {"name": "Wrong"}})
    jobs = [
        Job(config("a", at="first"), context(store)),
        Job(config("a", at="second"), context(store)),
        Job(config("b"), context(store), unanswerable),
        Job(wrong, context(store)),
        Job(Patch("configmaps", "default", "a", {"data": {"more": "x"}}, "merge"), context(store)),
        Job(Patch("configmaps", "default", "b", {"data": {"more": "x"}}, "merge"), context(store)),
        Job(config("c"), context(store)),
    ]
    while waiting := [job for job in jobs if job.stored is None and job.error is None]:
        # A slow machine takes two turns.
        assert _together(store, waiting) > 0
    told = [job.error.code if isinstance(job.error, ApiError) else job.stored and job.stored.name for job in jobs]
    assert told == ["a", 409, 406, 422, "a", 404, "c"]
    assert store.revision == before + 3
    rows = store.events(before)
    assert [(row.revision - before, row.name, row.verb) for row in rows] == [
        (1, "a", "ADDED"),
        (2, "a", "MODIFIED"),
        (3, "c", "ADDED"),
    ]
    assert rows[1].object["data"] == {"at": "first", "more": "x"}
    assert store.get("configmaps", "default", "b") is None


@real
def test_many_at_once_lose_nothing_and_each_is_told_its_own(store):
    def person(number: int) -> list[Any]:
        own, told = open_store(store.session_id), []
        try:
            for each in range(EACH):
                # One in four asks for what another one has made, or is about to make.
                name = f"shared-{each}" if each % 4 == 0 else f"p{number}-{each}"
                try:
                    told.append(apply(own, config(name, by=str(number)), context(own)))
                except ApiError as refusal:
                    told.append(refusal)
        finally:
            connections.close_all()
        return told

    before = store.revision
    with ThreadPoolExecutor(THREADS) as pool:
        told = list(pool.map(person, range(THREADS)))
    made = [one for own in told for one in own if isinstance(one, Stored)]
    refused = [one for own in told for one in own if isinstance(one, ApiError)]
    assert len(made) == THREADS * EACH - (THREADS - 1) * 2
    assert {one.code for one in refused} == {409}
    rows = store.events(before)
    assert [row.revision for row in rows] == list(range(before + 1, before + len(made) + 1))
    assert {(row.name, row.revision, row.object["data"]["by"]) for row in rows} == {
        (one.name, one.revision, one.object["data"]["by"]) for one in made
    }
    for number, own in enumerate(told):
        assert all(one.object["data"]["by"] == str(number) for one in own if isinstance(one, Stored))


@real
def test_who_wrote_nothing_has_moved_no_time(store, monkeypatch):
    monkeypatch.setattr(SqlStore, "_present", lambda *_: 5_000)
    before = store.counters()
    wrong = Job(Create("configmaps", "default", {"metadata": {"name": "Wrong"}}), context(store))
    assert _together(store, [wrong]) == 1
    assert isinstance(wrong.error, ApiError)
    assert store.counters() == before
    assert apply(store, config("a"), context(store)).name == "a"
    assert (store.counters().last_ms, store.counters().horizon_ms) == (5_000, 5_000)


@sqlite
def test_a_write_inside_another_transaction_goes_with_it(store):
    class TakenBack(Exception):
        pass

    with contextlib.suppress(TakenBack), transaction.atomic():
        assert apply(store, config("a"), context(store)).name == "a"
        raise TakenBack
    assert store.get("configmaps", "default", "a") is None
    assert apply(store, config("a"), context(store)).name == "a"


def test_a_refusal_is_in_the_language_of_whoever_asked():
    with translation.override("zh-hans"):
        job = Job(config("a"), None)  # type: ignore[arg-type]
    with translation.override("en"), job.told():
        assert translation.get_language() == "zh-hans"
        raise ValueError("which language it was")
    assert isinstance(job.error, ValueError)


write = st.tuples(st.sampled_from(["put", "put", "delete", "trace"]), st.sampled_from("xyz"), st.integers(0, 9))


def carry_out(tx, operations) -> None:
    for verb, name, value in operations:
        try:
            match verb:
                case "put":
                    tx.put("pods", "default", name, {"metadata": {"name": name, "uid": name}, "spec": value})
                case "trace":
                    tx.trace(name, value, {}, b"")
                case _:
                    tx.delete("pods", "default", name)
        except RevisionConflict:
            assert tx.get("pods", "default", name) is None


def seen(tx) -> tuple:
    places = [tx.get("pods", "default", name) for name in "xyz"]
    listed = [(one.name, one.revision, one.data) for one in tx.list("pods")]
    rows = [(row.revision, row.name, row.verb, row.data) for row in tx.rows]
    return tx.revision, [one and one.data for one in places], listed, rows, list(tx.traces), sorted(tx.objects)


@given(committed=st.lists(write), kept=st.lists(write), undone=st.lists(write), after=st.lists(write))
def test_what_is_undone_was_never_there(committed, kept, undone, after):
    def stepped(*, tries: bool) -> tuple:
        store = MemoryStore(seed=1)
        with store.transaction("x") as tx:
            carry_out(tx, committed)
        with store.transaction("x") as tx:
            carry_out(tx, kept)
            if tries:
                before, was = tx.mark(), seen(tx)
                carry_out(tx, undone)
                tx.undo(before)
                assert seen(tx) == was
            carry_out(tx, after)
            told = seen(tx)
        return told, [(row.revision, row.name, row.verb == DELETED) for row in store.events(0)]

    assert stepped(tries=True) == stepped(tries=False)
