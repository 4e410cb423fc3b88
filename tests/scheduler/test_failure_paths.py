"""Every way in which an attempt fails after a node was found gives everything back, in reverse order, and requeues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from scheduler_core.framework.asks import Ask, BindPod, Reply
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Steps
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, error, unschedulable
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import scheduling_cycle
from scheduler_core.scheduler.replay import outcome_of
from scheduler_core.scheduler.run import Point
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Rows, Snapshot
from scheduler_core.state.queued import Lane
from tests.scheduler.kit import Hand, node, pod, scheduler


class Holder:
    """Reserves, permits and prepares a binding as told, and notes what it is asked."""

    name: ClassVar[str] = "Holder"

    def __init__(self, name: str, heard: list[str], **answers: Any) -> None:
        self.name = name  # type: ignore[misc]
        self.heard = heard
        self.answers = answers

    def _say(self, point: str) -> Status:
        self.heard.append(f"{self.name}.{point}")
        answer = self.answers.get(point, SUCCESS)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, Status)
        return answer

    def reserve(self, state: CycleState, one: PodInfo, node_name: str) -> Status:
        return self._say("reserve")

    def unreserve(self, state: CycleState, one: PodInfo, node_name: str) -> None:
        self.heard.append(f"{self.name}.unreserve")

    def permit(self, state: CycleState, one: PodInfo, node_name: str) -> tuple[Status, int]:
        return self._say("permit"), 5_000

    def pre_bind(self, state: CycleState, one: PodInfo, node_name: str) -> Steps:
        yield from ()
        return self._say("pre_bind")


WAIT = Status(Code.WAIT)


def _no_binding(ask: Ask) -> Reply:
    return Reply("the node is gone", code=409) if isinstance(ask, BindPod) else Reply()


def _expired(core: Scheduler) -> None:
    core.now_ms += 5_000
    core.waiting.expire(core.now_ms)


def _rejected(core: Scheduler) -> None:
    core.reject_waiting("uid-p", "Second", "not today")


def _deleted(core: Scheduler) -> None:
    core.remove_pod("uid-p")


@pytest.mark.parametrize(
    ("answers", "replies", "meanwhile", "lane", "message"),
    [
        pytest.param(
            {"reserve": unschedulable("full")}, None, None, Lane.UNSCHEDULABLE,
            "0/1 nodes are available: 1 full.", id="Reserve refuses",
        ),
        pytest.param(
            {"reserve": RuntimeError("boom")}, None, None, Lane.BACKOFF,
            'running Reserve plugin "Second": boom', id="Reserve fails",
        ),
        pytest.param(
            {"permit": unschedulable("no")}, None, None, Lane.UNSCHEDULABLE,
            "0/1 nodes are available: 1 no.", id="Permit refuses",
        ),
        pytest.param(
            {"permit": error("broken")}, None, None, Lane.BACKOFF,
            'running Permit plugin "Second": broken', id="Permit fails",
        ),
        pytest.param(
            {"permit": WAIT}, None, _expired, Lane.UNSCHEDULABLE,
            "0/1 nodes are available: 1 rejected due to timeout after waiting 5s at plugin Second.",
            id="nobody allows in time",
        ),
        pytest.param(
            {"permit": WAIT}, None, _rejected, Lane.UNSCHEDULABLE,
            "0/1 nodes are available: 1 not today.", id="somebody rejects",
        ),
        pytest.param({"permit": WAIT}, None, _deleted, Lane.GONE, "", id="the waiting pod is deleted"),
        pytest.param(
            {"pre_bind": error("no disk")}, None, None, Lane.BACKOFF,
            'running PreBind plugin "Second": no disk', id="PreBind fails",
        ),
        pytest.param(
            {}, _no_binding, None, Lane.BACKOFF,
            'running Bind plugin "DefaultBinder": the node is gone', id="the binding is refused",
        ),
    ],
)  # fmt: skip
def test_a_failure_gives_everything_back(
    answers: dict[str, Any],
    replies: Callable[[Ask], Reply] | None,
    meanwhile: Callable[[Scheduler], None] | None,
    lane: Lane,
    message: str,
) -> None:
    heard: list[str] = []
    core = scheduler(Holder("First", heard), Holder("Second", heard, **answers), Holder("Third", heard))
    core.observe_node(node("n", "1"))
    core.observe_pod(pod("p"))
    hand = Hand(core)
    reply = replies or (lambda ask: Reply())
    run = hand.attempt(reply)
    assert run is not None
    queued = run.queued
    if meanwhile is not None:
        assert (core.cache.is_assumed("uid-p"), len(core.waiting)) == (True, 1)
        meanwhile(core)
        hand.bind(run, reply)
    assert [one for one in heard if one.endswith(".unreserve")] == [
        f"{name}.unreserve" for name in ("Third", "Second", "First")
    ]
    assert (core.cache.is_assumed("uid-p"), core.assumed, len(core.waiting)) == (False, {}, 0)
    assert queued.lane is lane
    if message:
        assert hand.message == message
    # What it had taken is free: another pod that needs the whole node gets it.
    core.now_ms += 60_000
    core.observe_pod(pod("next", priority=5))
    second = core.begin(0)
    assert second is not None
    assert second.info.pod.name == "next"
    (info,) = second.snapshot.infos_of(ALL_ROWS)
    assert len(info.pods) == 0


# Filter: one node's error cancels the rest.


class Breaks:
    """Filter that answers oddly about one node."""

    name: ClassVar[str] = "Breaks"

    def __init__(self, where: str, code: int) -> None:
        self.where = where
        self.code = code

    def filter(self, state: CycleState, one: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        codes = [self.code if info.name == self.where else Code.SUCCESS for info in snapshot.infos_of(rows)]
        return Verdicts(np.array(codes, dtype=np.int8), np.zeros(len(codes), dtype=np.int64), lambda key: ("odd",))


@pytest.mark.parametrize("code", [Code.ERROR, Code.WAIT, Code.SKIP, 77])
def test_a_filter_that_answers_something_else_is_an_error_and_the_rest_is_not_run(code: int) -> None:
    core = scheduler(Breaks("b", int(code)))
    for name in "abcd":
        core.observe_node(node(name, "1" if name in "ad" else "4"))
    core.observe_pod(pod("p", "2"))
    hand = Hand(core)
    run = hand.attempt()
    assert run is not None
    text = 'running "Breaks" filter plugin: odd'
    assert (run.result, hand.message, hand.reason) == ("error", text, "SchedulerError")
    shown = outcome_of(core, run).as_dict()
    assert shown["notRun"] == ["c", "d"]
    assert set(shown["firstFail"]) == set(shown["filters"]) == {"a", "b"}
    assert shown["firstFail"]["b"] == {"code": "Error", "reasons": [text], "plugin": "Breaks"}
    assert shown["filters"]["b"] == {"Breaks": {"code": "Error", "reasons": ["odd"]}}
    assert shown["feasible"] == []


def test_a_filter_that_raises_at_one_node_is_blamed_there() -> None:
    class Raises(Breaks):
        def filter(self, state: CycleState, one: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
            if any(info.name == self.where for info in snapshot.infos_of(rows)):
                raise RuntimeError(f"no idea of {self.where}")
            return super().filter(state, one, snapshot, rows)

    core = scheduler(Raises("n2", 0))
    for name in ("n1", "n2", "n3"):
        core.observe_node(node(name))
    core.observe_pod(pod("p"))
    hand = Hand(core)
    run = hand.attempt()
    assert run is not None
    assert hand.message == 'running "Breaks" filter plugin: no idea of n2'
    shown = outcome_of(core, run).as_dict()
    assert list(shown["filters"]) == list(shown["firstFail"]) == ["n2"]
    assert (shown["feasible"], shown["notRun"]) == (["n1"], ["n3"])


def test_a_filter_must_answer_for_every_node() -> None:
    class Short(Breaks):
        name: ClassVar[str] = "Short"

        def filter(self, state: CycleState, one: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
            return Verdicts(np.zeros(1, dtype=np.int8), np.zeros(1, dtype=np.int64), lambda key: ())

    core = scheduler(Short("", 0))
    for name in "ab":
        core.observe_node(node(name))
    core.observe_pod(pod("p"))
    hand = Hand(core)
    hand.attempt()
    assert hand.message == 'running "Short" filter plugin: 1 verdicts and 1 keys for 2 nodes'


def test_where_nothing_breaks_every_node_was_asked() -> None:
    core = scheduler()
    core.observe_node(node("a"))
    core.observe_pod(pod("p", "9"))
    run = Hand(core).attempt()
    assert run is not None
    assert "notRun" not in outcome_of(core, run).as_dict()


# Bind: the first plugin that does not skip.


class Binder:
    """Binds, or leaves it to the next."""

    name: ClassVar[str] = "Binder"

    def __init__(self, name: str, status: Status, heard: list[str]) -> None:
        self.name = name  # type: ignore[misc]
        self.status = status
        self.heard = heard

    def bind(self, state: CycleState, one: PodInfo, node_name: str) -> Steps:
        yield from ()
        self.heard.append(self.name)
        return self.status


@pytest.mark.parametrize(
    ("statuses", "asked", "message"),
    [
        ((SKIP, SUCCESS, SUCCESS), ["B0", "B1"], ""),
        ((SUCCESS, SUCCESS, SUCCESS), ["B0"], ""),
        ((SKIP, error("no"), SUCCESS), ["B0", "B1"], 'running Bind plugin "B1": no'),
    ],
)
def test_bind_stops_at_the_first_that_does_not_skip(
    statuses: tuple[Status, ...], asked: list[str], message: str
) -> None:
    heard: list[str] = []
    plugins = [Binder(f"B{index}", status, heard) for index, status in enumerate(statuses)]
    core = scheduler(*plugins, drop=("DefaultBinder",))
    core.observe_node(node("n"))
    core.observe_pod(pod("p"))
    hand = Hand(core)
    run = hand.attempt()
    assert run is not None
    assert (heard, run.bound) == (asked, not message)
    if message:
        assert hand.message == message


def test_a_pod_that_another_scheduler_binds_during_the_attempt_is_left_to_it() -> None:
    """Two may lead at once for a while: what the watch shows bound is not assumed, put back or bound again."""
    core = scheduler()
    core.observe_node(node("a"))
    core.observe_node(node("b"))
    core.observe_pod(pod("p"))
    hand = Hand(core)
    run = core.begin(0)
    assert run is not None
    steps = scheduling_cycle(core, run)
    for item in steps:
        if isinstance(item, Point) and item.name == "Filter":
            break
    core.observe_pod(pod("p", on="a"))
    hand.drive(steps, lambda ask: Reply())
    assert (run.result, run.message) == ("error", "pod default/p is in the cache, so can't be assumed")
    assert hand.asks == []
    assert core.cache.node_of("uid-p") == "a"
    assert not core.cache.is_assumed("uid-p")
    assert core.queue.get("uid-p") is None
