"""Informers, reflectors, workqueues, the recorder and the loop, each by itself."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.kit.client import Client
from controllers.kit.informer import RELIST_TIMER, Informers
from controllers.kit.recorder import Recorder
from controllers.kit.workqueue import SPINS_MAX, Workqueue
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create, Delete, Patch, Result
from controllers.log.stamps import unix_ms_of, wire_micro_time, wire_time
from controllers.log.store import Event
from controllers.loop.batches import TICK_OPERATIONS_MAX, TICK_OPERATIONS_MORE
from controllers.loop.clock import LocalClock
from controllers.loop.component import Emission
from controllers.loop.loop import AHEAD_MS_MAX, BACKLOG_ROWS_MAX, Answer, Loop, Tick
from scheduler_core.api.document import Document


def config_map(name: str, **data: str) -> Document:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": data}


class Watcher:
    """A component that keeps ConfigMaps level and notes what is called."""

    resources = frozenset({"configmaps"})

    def __init__(self) -> None:
        self.informers = Informers(self.resources, identity="watcher")
        self.calls: list[tuple[str, int]] = []
        self.changes: list[tuple[str, str]] = []
        self.answers: list[Answer] = []
        self.writes: dict[Hashable, Any] = {}
        self.informers["configmaps"].add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        verb = "ADDED" if old is None else "DELETED" if new is None else "MODIFIED"
        self.changes.append((verb, (new or old or {})["metadata"]["name"]))

    def start(self, tick: Tick) -> None:
        self.calls.append(("start", tick.now_ms))
        self.informers.start(tick)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        self.calls.append(("observe", tick.now_ms))
        self.informers.observe(rows)

    def observe_gone(self, tick: Tick) -> None:
        self.calls.append(("gone", tick.now_ms))
        self.informers.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        self.answers += answers

    def fire(self, timer: Hashable, tick: Tick) -> None:
        self.calls.append((str(timer), tick.now_ms))
        if timer == RELIST_TIMER:
            self.informers.relist(tick)
        elif timer in self.writes:
            tick.emit(self.writes[timer], timer)


class Bench:
    """A loop over a store in memory with one watcher."""

    def __init__(self) -> None:
        self.store = MemoryStore(seed=1)
        self.client = Client(self.store)
        self.write(Create("namespaces", "", {"metadata": {"name": "default"}}))
        self.loop = Loop(self.store, self.client.commit, now_ms=0, advance_horizon=self.client.advance_horizon)
        self.loop.promise(1)
        self.slot = self.loop.add("watcher", Watcher)

    @property
    def watcher(self) -> Watcher:
        assert isinstance(self.slot.component, Watcher)
        return self.slot.component

    def write(self, operation: Any) -> None:
        result = self.client.apply(operation, "user:test")
        if result.error is not None:
            raise result.error

    def run(self, until_ms: int) -> None:
        while self.loop.run_tick(until_ms):
            pass
        self.loop.settle_at(until_ms)

    def seen(self) -> dict[str, Document]:
        return {one["metadata"]["name"]: one for one in self.watcher.informers["configmaps"].all()}

    def stored(self) -> dict[str, Document]:
        return {one.name: one.object for one in self.store.list("configmaps")[0]}


# -- the loop -----------------------------------------------------------------------------------------------------


def test_a_row_is_delivered_at_its_stamp_and_not_before() -> None:
    bench = Bench()
    bench.run(500)
    bench.write(Create("configmaps", "default", config_map("a")))
    assert bench.loop.next_event_ms() is None
    bench.loop.pull()
    assert bench.loop.next_event_ms() == 501
    bench.run(900)
    assert bench.watcher.calls == [("start", 0), ("observe", 501)]


def test_own_writes_come_back_as_an_answer_first_and_then_through_the_watch() -> None:
    bench = Bench()
    bench.run(0)
    bench.watcher.writes["write"] = Create("configmaps", "default", config_map("a"))
    bench.loop.plan(bench.slot, "write", 50)
    bench.run(100)
    (answer,) = bench.watcher.answers
    assert answer.token == "write"
    assert answer.result.error is None
    assert bench.watcher.changes == [("ADDED", "a")]
    row = next(row for row in bench.store.events(0) if row.resource == "configmaps")
    assert (row.actor, row.now_ms, row.read) == ("watcher", 50, 1)


def test_somebody_who_writes_amid_a_long_advance_holds_the_watch_up_for_a_second_at_most() -> None:
    bench = Bench()
    bench.run(0)
    bench.watcher.writes["write"] = Create("configmaps", "default", config_map("own"))
    bench.loop.plan(bench.slot, "first", 50)
    bench.loop.plan(bench.slot, "write", 60)
    assert bench.loop.run_tick(10_000) == 1
    bench.write(Create("configmaps", "default", config_map("of-somebody")))
    bench.run(10_000)
    heard_ms = AHEAD_MS_MAX + 1
    assert bench.watcher.calls == [("start", 0), ("first", 50), ("write", 60), ("observe", heard_ms)]
    assert bench.watcher.changes == [("ADDED", "of-somebody"), ("ADDED", "own")]
    assert [row.now_ms for row in bench.store.events(0) if row.resource == "configmaps"] == [heard_ms, heard_ms]


def test_a_refusal_is_an_answer_and_does_not_touch_the_others() -> None:
    bench = Bench()
    bench.run(0)
    for number, name in enumerate("aab"):
        bench.watcher.writes[number] = Create("configmaps", "default", config_map(name, number=str(number)))
        bench.loop.plan(bench.slot, number, 50)
    bench.run(100)
    codes = [answer.result.error.code if answer.result.error else 0 for answer in bench.watcher.answers]
    assert codes == [0, 409, 0]
    assert sorted(bench.seen()) == ["a", "b"]


def test_a_later_plan_of_a_timer_replaces_the_earlier_one() -> None:
    bench = Bench()
    bench.loop.plan(bench.slot, "once", 100)
    bench.loop.plan(bench.slot, "once", 300)
    bench.loop.plan(bench.slot, "never", 200)
    Tick(bench.loop, bench.slot).cancel("never")
    bench.run(1_000)
    assert bench.watcher.calls[1:] == [("once", 300)]


def test_a_crash_loses_memory_timers_and_rows_and_recovery_lists_again() -> None:
    bench = Bench()
    bench.run(0)
    first = bench.watcher
    bench.loop.plan(bench.slot, "lost", 100)
    bench.loop.crash(bench.slot)
    bench.write(Create("configmaps", "default", config_map("a")))
    bench.run(200)
    bench.loop.recover_at(bench.slot, 700)
    bench.run(900)
    assert bench.watcher is not first
    assert bench.watcher.calls == [("start", 700)]
    assert bench.seen() == bench.stored()
    assert ("lost", 100) not in first.calls


def test_a_watch_that_fell_behind_compaction_lists_again_after_a_wait() -> None:
    bench = Bench()
    bench.run(0)
    bench.write(Create("configmaps", "default", config_map("before")))
    bench.run(10)
    bench.slot.behind = True
    bench.loop._push(10, bench.slot, "observe", None)
    bench.write(Create("configmaps", "default", config_map("after")))
    bench.write(Delete("configmaps", "default", "before"))
    bench.store.compact(bench.store.revision)
    bench.loop.position = bench.store.revision
    bench.run(5_000)
    gone, relist = bench.watcher.calls[-2:]
    assert gone == ("gone", 10)
    assert relist[0] == RELIST_TIMER
    assert 10 + 800 <= relist[1] < 10 + 1_600
    assert bench.seen() == bench.stored()
    assert bench.watcher.changes == [("ADDED", "before"), ("DELETED", "before"), ("ADDED", "after")]


def test_a_backlog_beyond_its_limit_is_read_from_the_store_instead() -> None:
    bench = Bench()
    bench.run(0)
    row = bench.store.events(0)[0]
    bench.slot.inbox = [row] * BACKLOG_ROWS_MAX
    bench.write(Create("configmaps", "default", config_map("a")))
    bench.loop._push(0, bench.slot, "observe", None)
    bench.loop.now_ms = 1
    bench.loop._take_rows()
    assert bench.slot.behind
    assert bench.slot.inbox == []
    bench.run(100)
    assert not bench.slot.behind
    assert bench.seen() == bench.stored()


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["create", "change", "delete", "run", "crash"]), st.sampled_from("abc"), st.text()),
        max_size=40,
    )
)
def test_old_view_and_messages_make_a_fresh_list(moves: list[tuple[str, str, str]]) -> None:
    """Whatever happens in between, a copy that has caught up is the list."""
    bench = Bench()
    bench.run(0)
    for number, (what, name, text) in enumerate(moves):
        at_ms = 1 + number * 10
        exists = name in bench.stored()
        if what == "create" and not exists:
            bench.write(Create("configmaps", "default", config_map(name, text=text)))
        elif what == "change" and exists:
            bench.write(Patch("configmaps", "default", name, {"data": {"text": text}}))
        elif what == "delete" and exists:
            bench.write(Delete("configmaps", "default", name))
        elif what == "crash":
            bench.loop.crash(bench.slot)
            bench.loop.recover(bench.slot)
        elif what == "run":
            bench.run(at_ms)
            assert bench.seen() == bench.stored()
    bench.run(10_000)
    assert bench.seen() == bench.stored()
    assert bench.slot.position == bench.store.revision or not bench.watcher.changes


# -- clocks -------------------------------------------------------------------------------------------------------


def test_a_clock_that_runs_slow_or_skewed_converts_both_ways() -> None:
    slow = LocalClock(world_ms=1_000, local_ms=1_000, rate=500)
    assert slow.local(3_000) == 2_000
    assert slow.world(2_000) == 3_000
    skewed = LocalClock(world_ms=0, local_ms=700)
    assert (skewed.local(100), skewed.world(800)) == (800, 100)


@given(st.integers(0, 10**7), st.integers(1, 4_000), st.integers(0, 10**7))
def test_the_world_time_of_a_local_time_is_the_first_that_shows_it(world_ms: int, rate: int, ahead_ms: int) -> None:
    clock = LocalClock(world_ms=world_ms, local_ms=5, rate=rate)
    at_ms = clock.world(5 + ahead_ms)
    assert clock.local(at_ms) >= 5 + ahead_ms
    assert ahead_ms == 0 or clock.local(at_ms - 1) < 5 + ahead_ms


def test_wire_times() -> None:
    assert wire_time(1_767_225_600_999) == "2026-01-01T00:00:00Z"
    assert wire_micro_time(1_767_225_600_250) == "2026-01-01T00:00:00.250000Z"
    assert unix_ms_of("2026-01-01T00:00:00.250000Z") == 1_767_225_600_250
    assert unix_ms_of("2026-01-01T01:00:00+01:00") == 1_767_225_600_000


# -- workqueue ----------------------------------------------------------------------------------------------------


def test_a_key_is_worked_on_once_at_a_time_and_again_if_it_was_added_meanwhile() -> None:
    queue = Workqueue()
    queue.add("a")
    queue.add("b")
    queue.add("a")
    assert [queue.get(0), queue.get(0), queue.get(0)] == ["a", "b", None]
    queue.add("a")
    assert queue.get(0) is None
    queue.done("a")
    assert queue.get(0) == "a"


def test_whoever_plans_is_told_once_that_keys_came_until_that_is_put_down() -> None:
    told: list[bool] = []
    queue = Workqueue(lambda: told.append(True))
    queue.add("a")
    queue.add("b")
    queue.add_at("c", 5)
    assert (queue.stirred, told) == (True, [True])
    queue.stirred = False
    queue.add("a")
    assert not queue.stirred, "it is ready already"
    assert queue.get(0) == "a"
    queue.add("a")
    assert not queue.stirred, "it is worked on"
    queue.done("a")
    assert (queue.stirred, told) == (True, [True, True])


def test_failures_wait_twice_as_long_each_time_until_forgotten() -> None:
    queue = Workqueue()
    waits = []
    now_ms = 0
    for _ in range(6):
        queue.add_limited("a", now_ms)
        due_ms = queue.next_ms(now_ms)
        assert due_ms is not None
        waits.append(due_ms - now_ms)
        now_ms = due_ms
        assert queue.get(now_ms) == "a"
        queue.done("a")
    assert waits == [5, 10, 20, 40, 80, 160]
    queue.forget("a")
    assert queue.limiter.delay_ms("a", now_ms) == 5


def test_many_failing_keys_share_ten_a_second_after_a_burst_of_a_hundred() -> None:
    queue = Workqueue()
    waits = [queue.limiter.delay_ms(f"key-{number}", 0) for number in range(120)]
    assert set(waits[:100]) == {5}
    assert waits[100:103] == [100, 200, 300]


def test_the_earliest_of_several_times_holds() -> None:
    queue = Workqueue()
    queue.add_at("a", 500)
    queue.add_at("a", 200)
    queue.add_at("a", 900)
    assert queue.get(199) is None
    assert queue.get(200) == "a"
    queue.done("a")
    assert queue.next_ms(200) is None


def test_a_key_that_is_added_without_end_cannot_stop_time() -> None:
    queue = Workqueue()
    worked = 0
    queue.add("a")
    while queue.get(7) is not None:
        worked += 1
        queue.done("a")
        queue.add("a")
    assert worked == SPINS_MAX
    assert queue.next_ms(7) == 8


def spun(queue: Workqueue, until_ms: int) -> int:
    """Return how often a key is worked on until then that is added anew each time."""
    worked, now_ms = 0, 0
    queue.add("a")
    while now_ms < until_ms:
        while queue.get(now_ms) is not None:
            worked += 1
            queue.done("a")
            queue.add("a")
        now_ms += 1
        queue.add("a")
    return worked


def test_a_key_that_spins_rests_longer_and_longer_whoever_adds_it() -> None:
    """Two leaders with clocks of their own undo each other's work: that must not fill the log."""
    queue = Workqueue()
    assert spun(queue, 10_000) <= 20 * SPINS_MAX
    # It has been quiet for long: its first rest is short again.
    for _ in range(SPINS_MAX):
        assert queue.get(60_000) == "a"
        queue.done("a")
        queue.add("a")
    assert queue.get(60_000) is None
    assert queue.get(60_001) == "a"


# -- events -------------------------------------------------------------------------------------------------------


def recorded(*messages: str, spaced_ms: int = 0) -> list[Any]:
    """Return what a recorder asks for when these messages are said about one pod."""
    bench = Bench()
    recorder = Recorder("kubelet", host="n1")
    about = {"metadata": {"name": "web", "namespace": "default", "uid": "u"}}
    operations = []
    for number, message in enumerate(messages):
        bench.loop.now_ms = number * spaced_ms
        recorder.event(Tick(bench.loop, bench.slot), about, "Pod", "BackOff", message, event_type="Warning")
    for emission in bench.loop.emitted:
        operations.append(emission.operation)
    return operations


def test_the_same_event_again_counts_up() -> None:
    create, first, second = recorded("no", "no", "no")
    assert isinstance(create, Create)
    assert create.object["count"] == 1
    assert create.object["source"] == {"component": "kubelet", "host": "n1"}
    assert create.object["involvedObject"]["uid"] == "u"
    assert [patch.patch["count"] for patch in (first, second)] == [2, 3]
    assert {patch.name for patch in (first, second)} == {create.object["metadata"]["name"]}


def test_more_than_ten_that_differ_in_their_message_are_combined() -> None:
    operations = recorded(*(f"try {number}" for number in range(13)))
    created = [one for one in operations if isinstance(one, Create)]
    assert len(created) == 11
    assert created[-1].object["message"] == "(combined from similar events): try 10"
    assert [one.patch["message"] for one in operations[11:]] == [
        "(combined from similar events): try 11",
        "(combined from similar events): try 12",
    ]


def test_a_flood_about_one_object_is_cut_off() -> None:
    assert len(recorded(*(["no"] * 60))) == 25
    assert len(recorded(*(["no"] * 40), spaced_ms=300_000)) == 40


# -- transactions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pods", [1, 50, 51, 100, 105, 111, 250])
def test_a_trace_is_written_with_its_operation_and_no_transaction_is_a_remnant(pods: int) -> None:
    bench = Bench()
    sizes: list[tuple[int, int]] = []

    def commit(emissions: Sequence[Emission], now_ms: int, read: int) -> tuple[list[Result], int]:
        operations = [one for one in emissions if one.operation is not None]
        sizes.append((len(operations), len(emissions) - len(operations)))
        assert [one.trace is None for one in emissions] == [False, True] * len(operations)
        return bench.client.commit(emissions, now_ms, read)

    bench.loop._commit = commit
    tick = Tick(bench.loop, bench.slot)
    for number in range(pods):
        tick.trace(f"uid-{number}", 1, {}, b"")
        tick.emit(Create("configmaps", "default", {"metadata": {"name": f"note-{number}"}}))
    bench.loop._flush()
    assert sum(operations for operations, _ in sizes) == pods
    assert all(operations <= TICK_OPERATIONS_MAX + TICK_OPERATIONS_MORE for operations, _ in sizes)
    assert len(sizes) == 1 or min(operations for operations, _ in sizes) > TICK_OPERATIONS_MORE
    assert set(bench.stored()) == {f"note-{number}" for number in range(pods)}
