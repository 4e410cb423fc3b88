"""The era framework-1.18: its points, its plugins and their weights, its words."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest

from scheduler_core.api.errors import ApiError
from scheduler_core.api.pod import PodStatus
from scheduler_core.eras import read_spec
from scheduler_core.framework.asks import RecordEvent
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.status import SUCCESS, Code, Status, unresolvable, unschedulable
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.legacy.framework118 import POINTS
from scheduler_core.legacy.unresolvable import FAILURES, UNRESOLVABLE, might_help
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.queued import Lane
from tests.core import objects
from tests.legacy.era118 import ERA, era_scheduler, framework
from tests.scheduler.kit import Hand, node, pod, scheduler


def at(point: str, *names: str) -> dict[str, Any]:
    return {"profiles": [{"plugins": {point: {"enabled": [{"name": name} for name in names]}}}]}


# Points.


def test_it_has_the_eleven_points_of_the_document() -> None:
    assert list(POINTS) == [
        "queueSort", "preFilter", "filter", "postFilter", "score", "reserve",
        "permit", "preBind", "bind", "postBind", "unreserve",
    ]  # fmt: skip


@pytest.mark.parametrize("point", ["preEnqueue", "preScore", "multiPoint", "preemption"])
def test_points_of_another_time_are_refused(point: str) -> None:
    with pytest.raises(ApiError) as refusal:
        read_spec({"era": ERA, "configuration": at(point, "NodeName")})
    assert [cause.field for cause in refusal.value.causes] == [f"configuration.profiles[0].plugins.{point}"]


class Watcher:
    """A plugin of that time: informed after Filter, reserving, giving back at a point of its own."""

    name: ClassVar[str] = "Watcher"

    def __init__(self, name: str = "Watcher", reserve: Status = SUCCESS) -> None:
        self.name = name  # type: ignore[misc]
        self.heard: list[str] = []
        self._reserve = reserve

    def pre_score(self, state: CycleState, info: PodInfo, snapshot: Snapshot, rows: Any) -> Status:
        self.heard.append(f"informed of {snapshot.count(rows)}")
        return SUCCESS

    def reserve(self, state: CycleState, info: PodInfo, node_name: str) -> Status:
        self.heard.append("reserve")
        return self._reserve

    def unreserve(self, state: CycleState, info: PodInfo, node_name: str) -> None:
        self.heard.append("unreserve")


def test_post_filter_informs_after_filter_even_for_one_node() -> None:
    watcher = Watcher()
    core = era_scheduler(at("postFilter", "Watcher"), watcher)
    core.observe_node(node("a"))
    core.observe_pod(pod("p"))
    hand = Hand(core)
    hand.attempt()
    assert watcher.heard == ["informed of 1"]
    assert hand.points == [
        "QueueSort", "PreFilter", "Filter", "PostFilter",
        "Reserve", "Permit", "PreBind", "Bind", "PostBind",
    ]  # fmt: skip


def test_unreserve_is_a_point_of_its_own_in_its_own_order() -> None:
    order: list[str] = []

    class First(Watcher):
        def unreserve(self, state: CycleState, info: PodInfo, node_name: str) -> None:
            order.append(self.name)

    first, second = First("First", unresolvable("no")), First("Second")
    plugins = {
        "reserve": {"enabled": [{"name": "First"}]},
        "unreserve": {"enabled": [{"name": "Second"}, {"name": "First"}]},
    }
    core = era_scheduler({"profiles": [{"plugins": plugins}]}, first, second)
    core.observe_node(node("a"))
    core.observe_pod(pod("p"))
    run = Hand(core).attempt()
    # Second gives back though it never reserved; today it could not, and the order would be turned round.
    assert order == ["Second", "First"]
    assert run.result == "unschedulable"


class Refuses:
    name: ClassVar[str] = "Refuses"

    def permit(self, state: CycleState, info: PodInfo, node_name: str) -> tuple[Status, int]:
        return unresolvable("not today"), 0


def test_permit_s_refusal_has_the_era_s_words() -> None:
    core = era_scheduler(at("permit", "Refuses"), Refuses())
    core.observe_node(node("a"))
    core.observe_pod(pod("p"))
    hand = Hand(core)
    hand.attempt()
    assert hand.message == 'rejected by "Refuses" at permit: not today'


class Breaks:
    """A plugin that answers one point with a status, or raises where it has none to give."""

    name: ClassVar[str] = "Breaks"

    def __init__(self, point: str, status: Status | None = None) -> None:
        self.at = point
        self.status = status

    def _answer(self, point: str) -> Status:
        if self.at != point:
            return SUCCESS
        if self.status is None:
            raise RuntimeError("out of ideas")
        return self.status

    def pre_filter(self, state: CycleState, info: PodInfo, snapshot: Snapshot) -> tuple[None, Status]:
        return None, self._answer("preFilter")

    def filter(self, state: CycleState, info: PodInfo, snapshot: Snapshot, rows: Any) -> Verdicts:
        self._answer("filter")
        return single_reason(np.zeros(snapshot.count(rows), dtype=np.bool_), Code.UNSCHEDULABLE, "")

    def pre_score(self, state: CycleState, info: PodInfo, snapshot: Snapshot, rows: Any) -> Status:
        return self._answer("postFilter")

    def score(self, state: CycleState, info: PodInfo, snapshot: Snapshot, rows: Any) -> Any:
        self._answer("score")
        return np.full(snapshot.count(rows), 500 if self.at == "weight" else 0, dtype=np.int64)

    def normalize(self, state: CycleState, info: PodInfo, scores: Any) -> Any:
        self._answer("normalize")
        return scores

    def reserve(self, state: CycleState, info: PodInfo, node_name: str) -> Status:
        return self._answer("reserve")

    def unreserve(self, state: CycleState, info: PodInfo, node_name: str) -> None:
        pass

    def permit(self, state: CycleState, info: PodInfo, node_name: str) -> tuple[Status, int]:
        return self._answer("permit"), 0


@pytest.mark.parametrize(
    ("point", "text"),
    [
        ("preFilter", 'error while running "Breaks" prefilter plugin for pod "p": out of ideas'),
        ("filter", 'running "Breaks" filter plugin for pod "p": out of ideas'),
        ("postFilter", 'error while running "Breaks" postfilter plugin for pod "p": out of ideas'),
        ("score", 'error while running score plugin for pod "p": out of ideas'),
        (
            "normalize",
            'error while running normalize score plugin for pod "p": '
            'normalize score plugin "Breaks" failed with error out of ideas',
        ),
        (
            "weight",
            'error while applying score defaultWeights for pod "p": score plugin "Breaks" '
            "returns an invalid score 500, it should in the range of [0, 100] after normalizing",
        ),
        ("reserve", 'error while running "Breaks" reserve plugin for pod "p": out of ideas'),
        ("permit", 'error while running "Breaks" permit plugin for pod "p": out of ideas'),
    ],
)
def test_errors_have_the_era_s_words(point: str, text: str) -> None:
    where = {"normalize": "score", "weight": "score"}.get(point, point)
    core = era_scheduler(at(where, "Breaks"), Breaks(point))
    for name in "ab":
        core.observe_node(node(name))
    core.observe_pod(pod("p"))
    hand = Hand(core)
    run = hand.attempt()
    assert (run.result, hand.message) == ("error", text)


def test_a_prefilter_s_no_ends_the_attempt_in_the_era_s_words() -> None:
    core = era_scheduler(at("preFilter", "Breaks"), Breaks("preFilter", unschedulable("not today")))
    core.observe_node(node("a"))
    core.observe_pod(pod("p"))
    hand = Hand(core)
    run = hand.attempt()
    assert (run.result, hand.message) == ("unschedulable", 'rejected by "Breaks" at prefilter: not today')
    assert run.unschedulable_plugins == {"Breaks"}


def annotated(value: str, **status: Any) -> PodInfo:
    info = pod("p", "64")
    meta = msgspec.structs.replace(info.pod.metadata, annotations={"note": value})
    return PodInfo(msgspec.structs.replace(info.pod, metadata=meta, **status))


def test_a_change_of_an_unschedulable_pod_makes_it_active_at_once() -> None:
    then, today = era_scheduler(), scheduler()
    for core, lane in ((then, Lane.ACTIVE), (today, Lane.UNSCHEDULABLE)):
        core.observe_node(node("a"))
        core.observe_pod(annotated("one"))
        Hand(core).attempt()
        queued = core.queue.get("uid-p")
        assert queued is not None
        assert queued.lane is Lane.UNSCHEDULABLE
        # What the scheduler itself writes into the status is no such change.
        core.observe_pod(annotated("one", status=PodStatus(phase="Pending", message="no room")))
        assert queued.lane is Lane.UNSCHEDULABLE
        core.observe_pod(annotated("two"))
        assert queued.lane is lane


# Plugins.


def test_the_fit_error_does_not_speak_of_preemption() -> None:
    core = era_scheduler()
    core.observe_node(node("a", cpu="1"))
    core.observe_node(node("b", cpu="1"))
    core.observe_pod(pod("big", "2"))
    hand = Hand(core)
    run = hand.attempt()
    assert run.message == "0/2 nodes are available: 2 Insufficient cpu."
    assert hand.message == run.message
    assert hand.points[-1] == "Preemption"


TAINTED = {"key": "k", "value": "v", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("all_filters", "message"),
    [
        (False, "0/1 nodes are available: 1 Insufficient cpu."),
        (True, "0/1 nodes are available: 1 Insufficient cpu, 1 node(s) had taints that the pod didn't tolerate."),
    ],
)
def test_all_filters_are_counted_where_they_all_run(all_filters: bool, message: str) -> None:
    built = framework({"runAllFilters": all_filters})
    snapshot = Snapshot([NodeInfo("x", objects.node("x", taints=[TAINTED]))])
    one, state = objects.pod(requests={"cpu": "5"}), CycleState()
    left, _, narrowing = built.run_pre_filter(state, one, snapshot)
    outcome = built.run_filter(state, one, snapshot, left, narrowing)
    assert built.rules.fit_error(1, outcome.reasons()) == message
    assert outcome.status_of(0).plugin == "NodeResourcesFit"
    # One reason that no eviction mends is enough, if it is asked for.
    assert (outcome.codes.tolist() == [int(Code.UNSCHEDULABLE)]) is not all_filters
    assert outcome.failed_plugins() == (
        {"NodeResourcesFit", "TaintToleration"} if all_filters else {"NodeResourcesFit"}
    )


class Forbids:
    name: ClassVar[str] = "Forbids"

    def pre_filter(self, state: CycleState, info: PodInfo, snapshot: Snapshot) -> tuple[None, Status]:
        return None, unresolvable("nobody may")


def test_a_pre_filter_s_no_is_no_fit_error() -> None:
    core = era_scheduler(at("preFilter", "Forbids"), Forbids())
    core.observe_node(node("a", cpu="1"))
    core.observe_pod(pod("low", "1", on="a"))
    core.observe_pod(pod("boss", "1", priority=9))
    run = Hand(core).attempt()
    assert (run.result, run.message, run.post_filter) == (
        "unschedulable",
        'rejected by "Forbids" at prefilter: nobody may',
        None,
    )


def test_any_change_moves_a_pod_whatever_had_turned_it_away() -> None:
    core = era_scheduler()
    core.observe_node(node("a", cpu="1"))
    core.observe_pod(pod("big", "2"))
    Hand(core).attempt()
    assert core.queue.get("uid-big").lane is Lane.UNSCHEDULABLE
    core.now_ms += 60_000
    # Today NodeResourcesFit would say that a label makes no room.
    core.observe_node(node("a", cpu="1", labels={"x": "y"}))
    assert core.queue.get("uid-big").lane is Lane.ACTIVE


@pytest.mark.parametrize(("core", "seconds"), [(era_scheduler(), 60), (scheduler(), 300)], ids=["then", "now"])
def test_a_pod_that_no_event_helps_is_tried_again(core: Scheduler, seconds: int) -> None:
    core.observe_node(node("a", cpu="1"))
    core.observe_pod(pod("big", "2"))
    Hand(core).attempt()
    lanes = []
    for core.now_ms in (seconds * 1_000, seconds * 1_000 + 30_000):
        core.queue.flush(core.now_ms)
        lanes.append(core.queue.get("uid-big").lane)
    assert lanes == [Lane.UNSCHEDULABLE, Lane.ACTIVE]


@pytest.mark.parametrize(("core", "early"), [(era_scheduler(), False), (scheduler(), True)], ids=["then", "now"])
def test_backoff_is_waited_for_with_nobody_else_active(core: Scheduler, early: bool) -> None:
    core.observe_node(node("a", cpu="1"))
    core.observe_pod(pod("big", "2"))
    Hand(core).attempt()
    core.now_ms += 10
    core.observe_node(node("b", cpu="1", labels={"x": "y"}))
    core.observe_node(node("b", cpu="4"))
    assert core.queue.get("uid-big").lane is Lane.BACKOFF
    assert (core.queue.pop(core.now_ms) is not None) is early


def test_a_session_that_changes_its_era_keeps_the_new_one_s_times() -> None:
    core = scheduler()
    core.observe_node(node("a", cpu="1"))
    core.observe_pod(pod("big", "2"))
    Hand(core).attempt()
    core.next_configuration = era_scheduler().configuration
    core.take_configuration()
    core.queue.flush(90_000)
    assert core.queue.get("uid-big").lane is Lane.ACTIVE


@pytest.mark.parametrize("field", ["disablePreemption", "runAllFilters"])
def test_settings_are_true_or_false(field: str) -> None:
    with pytest.raises(ApiError) as refusal:
        read_spec({"era": ERA, "configuration": {field: "yes"}})
    assert [cause.field for cause in refusal.value.causes] == [f"configuration.{field}"]


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2"])
def test_it_reads_its_own_versions_of_the_document(version: str) -> None:
    document = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration"}
    assert read_spec({"era": ERA, "configuration": document}).profiles
    with pytest.raises(ApiError, match="apiVersion"):
        read_spec({"era": ERA, "configuration": {**document, "apiVersion": "kubescheduler.config.k8s.io/v1"}})


# The list.


def test_the_list_has_fifteen_reasons_that_no_eviction_mends() -> None:
    assert len(UNRESOLVABLE) == 15
    assert FAILURES[:15] == UNRESOLVABLE
    assert len({failure.reason for failure in FAILURES}) == len(FAILURES)


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.error)
def test_the_list_decides_whatever_code_a_plugin_gives(failure: Any) -> None:
    for code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE):
        assert might_help(Status(code, (failure.reason,), "X")) is failure.helps
        # One that no eviction mends is enough.
        assert might_help(Status(code, ("Insufficient cpu", failure.reason), "X")) is failure.helps


@pytest.mark.parametrize(
    ("code", "helps"),
    [(Code.UNSCHEDULABLE, True), (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, False), (Code.ERROR, False)],
)
def test_a_plugin_that_the_list_does_not_know_speaks_by_its_code(code: Code, helps: bool) -> None:
    assert might_help(Status(code, ("my own reason",), "Mine")) is helps


def test_events_of_the_era_are_told_in_its_words() -> None:
    core = era_scheduler()
    core.observe_node(node("a"))
    core.observe_pod(pod("p"))
    hand = Hand(core)
    hand.attempt()
    assert [ask.note for ask in hand.of(RecordEvent)] == ["Successfully assigned default/p to a"]
