from __future__ import annotations

from typing import Any, ClassVar

import pytest

from scheduler_core.framework.asks import BindPod, Reply
from scheduler_core.framework.status import SUCCESS, Code, Status, error, unresolvable, unschedulable
from scheduler_core.scheduler.cycle import scheduling_cycle
from scheduler_core.scheduler.run import POINTS
from scheduler_core.state.queued import Lane
from scheduler_core.state.waiting import go_duration
from tests.scheduler.kit import Hand, node, pod, scheduler


class Ledger:
    """Reserve plugin that notes what it was asked, and refuses on demand."""

    def __init__(self, name: str, log: list[str], answer: Status = SUCCESS) -> None:
        self.name = name  # type: ignore[misc]
        self.log, self.answer = log, answer

    def reserve(self, state: Any, pod: Any, node_name: str) -> Status:
        self.log.append(f"{self.name} reserve")
        return self.answer

    def unreserve(self, state: Any, pod: Any, node_name: str) -> None:
        self.log.append(f"{self.name} unreserve")


class Gate:
    """Permit plugin."""

    def __init__(self, name: str, status: Status, timeout_ms: int = 0) -> None:
        self.name = name  # type: ignore[misc]
        self.status, self.timeout_ms = status, timeout_ms

    def permit(self, state: Any, pod: Any, node_name: str) -> tuple[Status, int]:
        return self.status, self.timeout_ms


class Slow:
    """PreBind plugin that refuses."""

    name: ClassVar[str] = "Slow"

    def __init__(self, status: Status) -> None:
        self.status = status

    def pre_bind(self, state: Any, pod: Any, node_name: str) -> Any:
        return self.status
        yield


def test_points_are_passed_in_order() -> None:
    core = scheduler()
    for name in ("a", "b"):
        core.observe_node(node(name))
    core.observe_pod(pod("web"))
    hand = Hand(core)
    run = hand.attempt()
    assert hand.points == [point for point in POINTS if point != "PostFilter"]
    assert run.chosen in ("a", "b")
    assert hand.of(BindPod) == [BindPod("default", "web", "uid-web", run.chosen)]
    assert core.assumed == {"uid-web": run.chosen}
    assert core.queue.get("uid-web") is None


def test_with_one_feasible_node_nothing_is_scored() -> None:
    core = scheduler()
    core.observe_node(node("a"))
    core.observe_pod(pod("web"))
    hand = Hand(core)
    hand.attempt()
    assert "Score" not in hand.points


def test_the_lot_among_equals_depends_on_seed_pod_and_attempt_alone() -> None:
    def chosen(seed: int, nodes: list[str]) -> str:
        core = scheduler(seed=seed)
        for name in nodes:
            core.observe_node(node(name))
        core.observe_pod(pod("web"))
        return Hand(core).attempt().chosen

    names = [f"n{number}" for number in range(8)]
    assert chosen(1, names) == chosen(1, names[::-1])
    assert len({chosen(seed, names) for seed in range(12)}) > 1


def test_the_confirmed_pod_replaces_the_assumed_one() -> None:
    core = scheduler()
    core.observe_node(node("a"))
    core.observe_pod(pod("web"))
    Hand(core).attempt()
    core.observe_pod(pod("web", on="a"))
    assert core.assumed == {}
    assert not core.cache.is_assumed("uid-web")
    assert core.cache.node_of("uid-web") == "a"


@pytest.mark.parametrize(
    ("answer", "lane", "reason", "message"),
    [
        (unschedulable("no"), Lane.UNSCHEDULABLE, "Unschedulable", "0/1 nodes are available: 1 no."),
        (error("broken"), Lane.BACKOFF, "SchedulerError", 'running Reserve plugin "Second": broken'),
    ],
    ids=["a refusal parks the pod", "an error is retried"],
)
def test_a_failed_reserve_is_undone_in_reverse_order(answer: Status, lane: Lane, reason: str, message: str) -> None:
    log: list[str] = []
    core = scheduler(Ledger("First", log), Ledger("Second", log, answer), Ledger("Third", log))
    core.observe_node(node("a"))
    core.observe_pod(pod("web"))
    hand = Hand(core)
    run = hand.attempt()
    assert log == [
        "First reserve", "Second reserve",
        "Third unreserve", "Second unreserve", "First unreserve",
    ]  # fmt: skip
    assert core.assumed == {}
    assert core.cache.node_of("uid-web") is None
    assert run.queued.lane is lane
    assert (hand.reason, hand.message) == (reason, message)


def test_a_binding_conflict_gives_everything_back_and_retries() -> None:
    log: list[str] = []
    core = scheduler(Ledger("First", log))
    core.observe_node(node("a"))
    core.observe_pod(pod("web"))
    hand = Hand(core)
    run = hand.attempt(lambda ask: Reply("taken", code=409) if isinstance(ask, BindPod) else Reply())
    assert log == ["First reserve", "First unreserve"]
    assert core.assumed == {}
    assert (run.queued.lane, run.queued.consecutive_errors) == (Lane.BACKOFF, 1)
    assert (hand.reason, hand.message) == ("SchedulerError", 'running Bind plugin "DefaultBinder": taken')


def test_a_refusal_by_pre_bind_names_the_plugin() -> None:
    core = scheduler(Slow(unschedulable("volume is away")))
    core.observe_node(node("a"))
    core.observe_pod(pod("web"))
    hand = Hand(core)
    run = hand.attempt()
    assert run.unschedulable_plugins == {"Slow"}
    assert hand.message == "0/1 nodes are available: 1 volume is away."
    assert hand.of(BindPod) == []


def test_permit_waits_until_every_plugin_allows() -> None:
    core = scheduler(Gate("One", Status(Code.WAIT), 5_000), Gate("Two", Status(Code.WAIT), 9_000))
    core.observe_node(node("a"))
    core.observe_pod(pod("web"))
    hand = Hand(core)
    run = hand.attempt()
    assert core.waiting.get("uid-web").until_ms == {"One": 5_000, "Two": 9_000}
    assert core.assumed == {"uid-web": "a"}
    assert not core.waiting.allow("uid-web", "One")
    assert core.waiting.allow("uid-web", "Two")
    hand.bind(run)
    assert run.bound
    assert len(core.waiting) == 0


@pytest.mark.parametrize(
    ("decide", "plugin", "reason"),
    [
        (lambda core: core.waiting.expire(5_000), "One", "rejected due to timeout after waiting 5s at plugin One"),
        (lambda core: core.waiting.reject("uid-web", "Two", "no"), "Two", "no"),
    ],
    ids=["the first timer to expire rejects", "one plugin's no is enough"],
)
def test_a_wait_that_ends_with_no_is_undone(decide: Any, plugin: str, reason: str) -> None:
    log: list[str] = []
    gates = Gate("One", Status(Code.WAIT), 5_000), Gate("Two", Status(Code.WAIT), 9_000)
    core = scheduler(Ledger("First", log), *gates)
    core.observe_node(node("a"))
    core.observe_pod(pod("web"))
    hand = Hand(core)
    run = hand.attempt()
    decide(core)
    hand.bind(run)
    assert log == ["First reserve", "First unreserve"]
    assert hand.message == f"0/1 nodes are available: 1 {reason}."
    assert run.queued.unschedulable_plugins == {plugin}
    assert core.assumed == {}
    assert len(core.waiting) == 0


def test_a_waiting_pod_that_is_deleted_is_rejected_and_its_room_is_free() -> None:
    core = scheduler(Gate("One", Status(Code.WAIT), 60_000))
    core.observe_node(node("a", cpu="1"))
    core.observe_pod(pod("web"))
    hand = Hand(core)
    run = hand.attempt()
    core.observe_pod(pod("next"))
    assert hand.attempt().result == "unschedulable"
    core.remove_pod("uid-web")
    hand.bind(run)
    assert core.cache.node_of("uid-web") is None
    assert core.queue.get("uid-web") is None
    assert core.queue.get("uid-next").lane in (Lane.BACKOFF, Lane.ACTIVE)


def test_a_permit_wait_is_cut_to_fifteen_minutes() -> None:
    core = scheduler(Gate("One", Status(Code.WAIT), 3_600_000))
    core.observe_node(node("a"))
    core.observe_pod(pod("web"))
    Hand(core).attempt()
    assert core.waiting.get("uid-web").until_ms == {"One": 900_000}


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0s"), (250, "250ms"), (1_500, "1.5s"), (60_000, "1m0s"), (900_000, "15m0s"), (3_725_000, "1h2m5s")],
)
def test_durations_are_spelled_as_upstream_spells_them(ms: int, text: str) -> None:
    assert go_duration(ms) == text


def test_a_pod_deleted_during_its_attempt_is_not_put_back() -> None:
    core = scheduler()
    core.observe_node(node("a", cpu="1"))
    core.observe_pod(pod("web", "2"))
    run = core.begin(0)
    core.remove_pod("uid-web")
    hand = Hand(core)
    hand.drive(scheduling_cycle(core, run), lambda ask: Reply())
    assert hand.asks == []
    assert core.queue.get("uid-web") is None
    assert len(core.queue) == 0


def test_without_nodes_the_attempt_says_so() -> None:
    core = scheduler()
    core.observe_pod(pod("web"))
    hand = Hand(core)
    run = hand.attempt()
    assert (run.result, hand.reason, hand.message) == (
        "no_nodes", "Unschedulable", "no nodes available to schedule pods",
    )  # fmt: skip


def test_a_node_that_grows_wakes_the_pod_and_one_that_is_only_relabelled_does_not() -> None:
    core = scheduler()
    core.observe_node(node("a", cpu="1"))
    core.observe_pod(pod("web", "2"))
    run = Hand(core).attempt()
    core.observe_node(node("a", cpu="1", labels={"x": "y"}))
    assert run.queued.lane is Lane.UNSCHEDULABLE
    core.observe_node(node("a", cpu="2", labels={"x": "y"}))
    assert run.queued.lane is Lane.BACKOFF
    assert "Allocatable" in run.queued.moved_by


def test_an_unresolvable_refusal_is_not_answered_by_preemption() -> None:
    core = scheduler()
    core.observe_node(node("a", cpu="1"))
    core.observe_pod(pod("small", on="a"))
    core.observe_pod(pod("web", "2", priority=10))
    hand = Hand(core)
    run = hand.attempt()
    assert run.outcome.status_of(0).code is unresolvable().code
    assert run.nominated_node_name == ""


def test_a_bound_pod_whose_end_is_all_that_a_list_shows_leaves_no_trace_in_the_cache() -> None:
    core = scheduler()
    core.observe_node(node("a", cpu="1"))
    core.observe_pod(pod("web"))
    assert Hand(core).attempt().bound
    core.remove_pod("uid-web")
    assert core.cache.node_of("uid-web") is None
    assert core.assumed == {}
    core.observe_pod(pod("next"))
    assert Hand(core).attempt().chosen == "a"


def test_an_update_of_an_assumed_pod_does_not_nominate_it_again() -> None:
    core = scheduler()
    core.observe_node(node("a", cpu="2"))
    core.observe_pod(pod("web", priority=5, status={"nominatedNodeName": "a"}))
    assert [info.key for _, info in core.nominator.items()] == ["default/web"]
    assert Hand(core).attempt().chosen == "a"
    core.observe_pod(pod("web", priority=5, status={"nominatedNodeName": "a", "phase": "Pending"}))
    assert core.nominator.items() == []
    core.observe_pod(pod("next"))
    assert Hand(core).attempt().chosen == "a"
