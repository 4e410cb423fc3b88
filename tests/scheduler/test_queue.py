from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from scheduler_core.api.meta import view
from scheduler_core.api.pod import Pod
from scheduler_core.framework.events import (
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    WILDCARD_ALL,
    ActionType,
    ClusterEvent,
    EventRegistration,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.status import SUCCESS, Status, unresolvable
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.nominator import Nominator
from scheduler_core.state.queue import SchedulingQueue
from scheduler_core.state.queued import Lane, QueuedPod

GATES_GONE = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
POD_DELETE = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)


def pod(name: str, priority: int = 0, gates: tuple[str, ...] = ()) -> PodInfo:
    document = {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"priority": priority, "schedulingGates": [{"name": gate} for gate in gates]},
    }
    return PodInfo(view(document, Pod))


def only_big(_pod: PodInfo, _old: object, new: object) -> QueueingHint:
    return QueueingHint.QUEUE if new == "big" else QueueingHint.SKIP


REGISTERED = (
    ("Fit", EventRegistration(NODE_ADD, only_big)),
    ("Fit", EventRegistration(POD_DELETE)),
    ("Gates", EventRegistration(GATES_GONE)),
    ("Device", EventRegistration(NODE_ADD)),
)


def hints(_scheduler_name: str, event: ClusterEvent) -> list[tuple[str, EventRegistration]]:
    return [(plugin, registered) for plugin, registered in REGISTERED if registered.event.covers(event)]


def gate(info: PodInfo) -> Status:
    return unresolvable("waiting for scheduling gates").by("Gates") if info.pod.spec.scheduling_gates else SUCCESS


def sort_key(queued: QueuedPod) -> tuple[int, ...]:
    return (-queued.priority, queued.timestamp_ms, queued.order)


def make(**options: bool) -> SchedulingQueue:
    return SchedulingQueue(sort_key=sort_key, pre_enqueue=gate, hints=hints, nominator=Nominator(), **options)


def reject(queue: SchedulingQueue, now_ms: int, *plugins: str, pending: tuple[str, ...] = ()) -> QueuedPod:
    queued = queue.pop(now_ms)
    assert queued is not None
    queued.unschedulable_plugins = frozenset(plugins)
    queued.pending_plugins = frozenset(pending)
    queue.put_back(queued, now_ms)
    return queued


def test_higher_priority_goes_first_and_then_whoever_came_first() -> None:
    queue = make()
    for name, priority, at_ms in (("late", 0, 5), ("high", 7, 9), ("early", 0, 1), ("same", 0, 1)):
        queue.add(pod(name, priority), at_ms)
    assert [queue.pop(10).key for _ in range(4)] == ["default/high", "default/early", "default/same", "default/late"]
    assert queue.pop(10) is None


def test_a_rejected_pod_waits_for_an_event_and_then_for_its_backoff() -> None:
    queue = make()
    queue.add(pod("a"), 0)
    queued = reject(queue, 500, "Fit")
    assert queued.lane is Lane.UNSCHEDULABLE
    assert queue.move(NODE_ADD, None, "small", 600) == []
    assert queue.move(NODE_ADD, None, "big", 700) == [queued]
    assert (queued.lane, queued.moved_by) == (Lane.BACKOFF, NODE_ADD.name)
    # 500 + 1000, cut to 1000, over at the end of that window.
    assert queue.next_flush_ms() == 2_000
    queue.flush(1_999)
    assert queued.lane is Lane.BACKOFF
    queue.flush(2_000)
    assert (queued.lane, queued.moved_by) == (Lane.ACTIVE, "BackoffComplete")


@pytest.mark.parametrize(
    ("attempt", "wait_ms"), [(1, 1_000), (2, 2_000), (3, 4_000), (4, 8_000), (5, 10_000), (12, 10_000)]
)
def test_backoff_doubles_up_to_ten_seconds(attempt: int, wait_ms: int) -> None:
    queue = make(pop_from_backoff=False)
    queue.add(pod("a"), 0)
    now_ms = 0
    for _ in range(attempt):
        queued = reject(queue, now_ms, "Fit")
        queue.move(POD_DELETE, "x", None, now_ms)
        assert queued.lane is Lane.BACKOFF
        ready_ms = queue.ready_at_ms(queued)
        waited_ms, now_ms = ready_ms - now_ms, ready_ms
        queue.flush(now_ms)
    assert waited_ms == wait_ms


def test_a_pod_past_its_backoff_goes_straight_to_active() -> None:
    queue = make()
    queue.add(pod("a"), 0)
    queued = reject(queue, 0, "Fit")
    queue.move(NODE_ADD, None, "big", 60_000)
    assert queued.lane is Lane.ACTIVE


def test_an_event_during_the_attempt_is_not_missed() -> None:
    queue = make()
    queue.add(pod("a"), 0)
    queued = queue.pop(0)
    queue.move(NODE_ADD, None, "small", 1)
    queue.move(NODE_ADD, None, "big", 2)
    queued.unschedulable_plugins = frozenset({"Fit"})
    assert queue.put_back(queued, 3) is Lane.BACKOFF
    assert queued.moved_by == NODE_ADD.name


def test_an_event_before_the_attempt_does_not_count() -> None:
    queue = make()
    queue.add(pod("other"), 0)
    queue.pop(0)
    queue.move(NODE_ADD, None, "big", 1)
    queue.add(pod("a"), 2)
    assert reject(queue, 3, "Fit").lane is Lane.UNSCHEDULABLE


def test_an_error_is_retried_after_backoff_but_never_popped_from_it_early() -> None:
    queue = make()
    queue.add(pod("a"), 0)
    queued = reject(queue, 0)
    assert queued.lane is Lane.BACKOFF
    assert not queue.has_next
    assert queue.pop(1) is None
    assert queued.consecutive_errors == 1


def test_an_idle_scheduler_takes_a_rejected_pod_out_of_backoff() -> None:
    queue = make()
    queue.add(pod("a"), 0)
    queued = reject(queue, 0, "Fit")
    queue.move(NODE_ADD, None, "big", 1)
    assert queued.lane is Lane.BACKOFF
    assert queue.pop(2) is queued
    assert queued.attempts == 2


def test_without_the_gate_backoff_is_waited_out() -> None:
    queue = make(pop_from_backoff=False)
    queue.add(pod("a"), 0)
    queued = reject(queue, 0, "Fit")
    queue.move(NODE_ADD, None, "big", 1)
    assert queue.pop(2) is None
    queue.flush(1_000)
    assert queue.pop(1_000) is queued


def test_a_pending_plugin_s_event_skips_backoff() -> None:
    queue = make()
    queue.add(pod("a"), 0)
    queued = reject(queue, 0, "Fit", pending=("Device",))
    queue.move(NODE_ADD, None, "small", 1)
    assert queued.lane is Lane.ACTIVE


def test_five_minutes_without_help_are_enough() -> None:
    queue = make()
    queue.add(pod("a"), 0)
    queued = reject(queue, 10_000, "Fit")
    assert queue.next_flush_ms() == 330_000
    queue.flush(329_999)
    assert queued.lane is Lane.UNSCHEDULABLE
    queue.flush(330_000)
    assert (queued.lane, queued.moved_by) == (Lane.ACTIVE, "UnschedulableTimeout")
    assert queue.next_flush_ms() is None


def test_an_attempt_during_which_others_were_let_go_for_their_age_is_tried_again() -> None:
    queue = make()
    queue.add(pod("a"), 0)
    reject(queue, 0, "Fit")
    queue.add(pod("b"), 329_000)
    queued = queue.pop(329_000)
    queue.flush(330_000)
    queued.unschedulable_plugins = frozenset({"Fit"})
    assert queue.put_back(queued, 330_001) is Lane.BACKOFF
    queue.add(pod("c"), 659_000)
    for _ in range(3):
        queued = queue.pop(659_000)
    queued.unschedulable_plugins = frozenset({"Fit"})
    # None was let go meanwhile.
    queue.flush(660_000)
    assert queue.put_back(queued, 660_001) is Lane.UNSCHEDULABLE


def test_a_gated_pod_waits_for_its_gates_only() -> None:
    queue = make()
    gated, free = pod("a", gates=("x",)), pod("a")
    queue.add(gated, 0)
    queued = queue.get("uid-a")
    assert queued.lane is Lane.GATED
    assert queue.counts()["gated"] == 1
    assert queue.next_flush_ms() is None
    queue.move(NODE_ADD, None, "big", 1)
    assert queued.lane is Lane.GATED
    queue.update(gated, free, (GATES_GONE,), 2)
    assert (queued.lane, queued.attempts) == (Lane.ACTIVE, 0)


def test_a_forced_pod_goes_at_once_and_one_in_flight_comes_back() -> None:
    queue = make()
    queue.add(pod("a"), 0)
    queued = reject(queue, 0, "Fit")
    assert queue.activate("uid-a")
    assert queued.moved_by == "ForceActivate"
    queue.pop(1)
    queue.activate("uid-a")
    queued.unschedulable_plugins = frozenset({"Fit"})
    assert queue.put_back(queued, 2) is Lane.BACKOFF


def test_an_update_in_flight_counts_when_the_pod_comes_back() -> None:
    queue = make()
    before, after = pod("a"), pod("a", 3)
    queue.add(before, 0)
    queued = queue.pop(0)
    queue.update(before, after, (NODE_ADD,), 1)
    queued.unschedulable_plugins = frozenset({"Device"})
    assert queue.put_back(queued, 2) is Lane.BACKOFF


def test_a_raised_priority_moves_a_waiting_pod_ahead() -> None:
    queue = make()
    queue.add(pod("a"), 0)
    queue.add(pod("b"), 1)
    queue.update(pod("b"), pod("b", 5), (), 2)
    assert queue.pop(3).key == "default/b"


def test_the_pod_whose_own_failure_is_the_event_stays() -> None:
    queue = make()
    queue.add(pod("a"), 0)
    queued = reject(queue, 0, "Fit")
    assert queue.move(ASSIGNED_POD_DELETE, "x", None, 1, spare_uid="uid-a") == []
    assert queued.lane is Lane.UNSCHEDULABLE


def test_a_deleted_pod_leaves_its_lane_and_its_nomination() -> None:
    nominator = Nominator()
    queue = SchedulingQueue(sort_key=sort_key, pre_enqueue=gate, hints=hints, nominator=nominator)
    queue.add(pod("a"), 0)
    nominator.add(pod("a"), "n1")
    queue.delete("uid-a")
    assert queue.get("uid-a") is None
    assert not queue.has_next
    assert list(nominator.nodes()) == []


class QueueMachine(RuleBasedStateMachine):
    """No pod is lost: each known pod without a node is in exactly one lane, or in flight."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = make()
        self.now_ms = 0
        self.known: set[str] = set()
        self.in_flight: dict[str, QueuedPod] = {}
        self.number = 0

    @rule(priority=st.integers(0, 3), gates=st.sampled_from([(), ("g",)]))
    def add(self, priority: int, gates: tuple[str, ...]) -> None:
        self.number += 1
        info = pod(f"p{self.number}", priority, gates)
        self.queue.add(info, self.now_ms)
        self.known.add(info.uid)

    @rule()
    def pop(self) -> None:
        queued = self.queue.pop(self.now_ms)
        if queued is not None:
            assert queued.uid not in self.in_flight
            self.in_flight[queued.uid] = queued

    @precondition(lambda self: self.in_flight)
    @rule(data=st.data(), plugins=st.sets(st.sampled_from(["Fit", "Device"])), pending=st.booleans())
    def fail(self, data: st.DataObject, plugins: set[str], pending: bool) -> None:
        uid = data.draw(st.sampled_from(sorted(self.in_flight)))
        queued = self.in_flight.pop(uid)
        queued.unschedulable_plugins = frozenset(plugins)
        queued.pending_plugins = frozenset({"Device"} if pending else ())
        if uid in self.known:
            self.queue.put_back(queued, self.now_ms)
        else:
            self.queue.done(uid)

    @precondition(lambda self: self.in_flight)
    @rule(data=st.data())
    def bind(self, data: st.DataObject) -> None:
        uid = data.draw(st.sampled_from(sorted(self.in_flight)))
        del self.in_flight[uid]
        self.queue.done(uid)
        self.known.discard(uid)

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        uid = data.draw(st.sampled_from(sorted(self.known)))
        self.queue.delete(uid)
        self.known.discard(uid)

    @precondition(lambda self: self.known)
    @rule(data=st.data(), priority=st.integers(0, 3))
    def update(self, data: st.DataObject, priority: int) -> None:
        uid = data.draw(st.sampled_from(sorted(self.known)))
        name = uid.removeprefix("uid-")
        self.queue.update(pod(name), pod(name, priority), (GATES_GONE,), self.now_ms)

    @rule(event=st.sampled_from([NODE_ADD, POD_DELETE, GATES_GONE, WILDCARD_ALL]), new=st.sampled_from(["big", "no"]))
    def move(self, event: ClusterEvent, new: str) -> None:
        self.queue.move(event, None, new, self.now_ms)

    @rule(ms=st.sampled_from([1, 900, 4_000, 31_000, 400_000]))
    def wait(self, ms: int) -> None:
        self.now_ms += ms
        self.queue.flush(self.now_ms)
        due_ms = self.queue.next_flush_ms()
        assert due_ms is None or due_ms > self.now_ms

    @invariant()
    def each_pod_is_in_one_place(self) -> None:
        lanes = (Lane.ACTIVE, Lane.BACKOFF, Lane.UNSCHEDULABLE, Lane.GATED)
        listed = [queued.uid for lane in lanes for queued in self.queue.listed(lane, 1_000)]
        assert len(listed) == len(set(listed)) == len(self.queue) == sum(self.queue.counts().values())
        assert set(listed) | (set(self.in_flight) & self.known) == self.known
        assert not set(listed) & set(self.in_flight)

    @invariant()
    def the_active_lane_is_in_order(self) -> None:
        active = self.queue.listed(Lane.ACTIVE, 1_000)
        assert active == sorted(active, key=sort_key)


QueueMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40)
TestQueue = QueueMachine.TestCase
