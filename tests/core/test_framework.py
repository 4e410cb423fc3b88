from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from scheduler_core.framework.cycle_state import CycleState
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
from scheduler_core.framework.filtering import feasible_nodes_to_find
from scheduler_core.framework.fit_error import event_note, fit_error
from scheduler_core.framework.interface import BindPod, PostFilterResult, PreFilterResult, Reply, Steps
from scheduler_core.framework.node_info import NodeInfo, PodInfo
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration, ProfileError
from scheduler_core.framework.registry import PluginRegistry, RegistryError
from scheduler_core.framework.runtime import PERMIT_TIMEOUT_MS_MAX, Framework
from scheduler_core.framework.snapshot import Ints, Rows, Snapshot
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable, unschedulable
from scheduler_core.framework.verdicts import FilterOutcome, Verdicts, single_reason
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from tests.core.objects import node, pod

Answers = dict[str, Any]


class Teller:
    """A plugin for every point that answers as told and notes what it was asked."""

    name: ClassVar[str] = "Teller"

    def __init__(self, name: str, answers: Answers, heard: list[str]) -> None:
        self.name = name  # type: ignore[misc]
        self.answers = answers
        self.heard = heard

    def _say(self, point: str) -> Any:
        self.heard.append(f"{self.name}.{point}")
        answer = self.answers.get(point, SUCCESS)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pre_enqueue(self, one: PodInfo) -> Status:
        return self._say("pre_enqueue")

    def sort_key(self, one: PodInfo, queued_at_ms: int) -> tuple[int, ...]:
        return (queued_at_ms,)

    def pre_filter(self, state: CycleState, one: PodInfo, nodes: Snapshot) -> tuple[PreFilterResult | None, Status]:
        names = self.answers.get("names")
        return (None if names is None else PreFilterResult(frozenset(names))), self._say("pre_filter")

    def filter(self, state: CycleState, one: PodInfo, nodes: Snapshot, rows: Rows) -> Verdicts:
        failing = self._say("filter")
        failing = () if failing is SUCCESS else failing
        failed = np.array([info.name in failing for info in nodes.infos_of(rows)], dtype=np.bool_)
        return single_reason(failed, Code.UNSCHEDULABLE, f"{self.name} says no")

    def post_filter(
        self, state: CycleState, one: PodInfo, outcome: FilterOutcome
    ) -> tuple[PostFilterResult | None, Status]:
        return self.answers.get("result"), self._say("post_filter")

    def pre_score(self, state: CycleState, one: PodInfo, nodes: Snapshot, rows: Rows) -> Status:
        return self._say("pre_score")

    def score(self, state: CycleState, one: PodInfo, nodes: Snapshot, rows: Rows) -> Ints:
        said = self._say("score")
        return np.full(nodes.count(rows), 0 if said is SUCCESS else said, dtype=np.int64)

    def reserve(self, state: CycleState, one: PodInfo, node_name: str) -> Status:
        return self._say("reserve")

    def unreserve(self, state: CycleState, one: PodInfo, node_name: str) -> None:
        self._say("unreserve")

    def permit(self, state: CycleState, one: PodInfo, node_name: str) -> tuple[Status, int]:
        return self._say("permit"), self.answers.get("timeout_ms", 0)

    def pre_bind(self, state: CycleState, one: PodInfo, node_name: str) -> Steps:
        reply = yield BindPod("", "", "", "")
        return error(reply.error) if reply.error else self._say("pre_bind")

    def bind(self, state: CycleState, one: PodInfo, node_name: str) -> Steps:
        reply = yield BindPod("", one.pod.name, one.uid, node_name)
        return error(reply.error) if reply.error else self._say("bind")

    def post_bind(self, state: CycleState, one: PodInfo, node_name: str) -> None:
        self._say("post_bind")


def framework(*answers: Answers, heard: list[str] | None = None, **sets: PluginSet) -> Framework:
    """Return a framework of plugins A, B … with these answers at every point; only A sorts the queue."""
    heard = [] if heard is None else heard
    registry = PluginRegistry()
    names = [chr(ord("A") + index) for index in range(len(answers))]
    for name, own in zip(names, answers, strict=True):
        registry.register(name, lambda arguments, handle, name=name, own=own: Teller(name, own, heard))
    points = ("preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind")
    everywhere = PluginSet(tuple((name, 0) for name in names))
    found = dict.fromkeys((*points, "bind", "postBind"), everywhere) | {"queueSort": PluginSet((("A", 0),))}
    return Framework(ProfileConfiguration("test", found | sets), registry)


def nodes(*names: str) -> Snapshot:
    return Snapshot(NodeInfo(name, node(name)) for name in names)


def finish(steps: Steps, *replies: str) -> Status:
    """Run an extension point that waits for the loop, with these errors (empty: done) as the loop's answers."""
    next(steps)
    for text in replies[:-1]:
        steps.send(Reply(text))
    with pytest.raises(StopIteration) as caught:
        steps.send(Reply(replies[-1]))
    status: Status = caught.value.value
    return status


def test_pre_enqueue_names_the_first_that_refuses() -> None:
    status = framework({}, {"pre_enqueue": unresolvable("wait")}).run_pre_enqueue(pod())
    assert status == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("wait",), "B")


def test_pre_filter_stops_at_unresolvable_but_goes_on_after_unschedulable() -> None:
    heard: list[str] = []
    one = framework({"pre_filter": unschedulable("a")}, {"pre_filter": unschedulable("b")}, {}, heard=heard)
    _, status, _ = one.run_pre_filter(CycleState(), pod(), nodes("n"))
    assert (status, heard) == (unschedulable("b").by("B"), ["A.pre_filter", "B.pre_filter", "C.pre_filter"])
    heard.clear()
    one = framework({"pre_filter": unresolvable("a")}, {}, heard=heard)
    _, status, _ = one.run_pre_filter(CycleState(), pod(), nodes("n"))
    assert (status, heard) == (unresolvable("a").by("A"), ["A.pre_filter"])


def test_pre_filter_skip_leaves_the_filter_out() -> None:
    one, state = framework({"pre_filter": SKIP, "filter": ["n"]}, {}), CycleState()
    left, status, narrowing = one.run_pre_filter(state, pod(), nodes("n"))
    assert status.ok
    outcome = one.run_filter(state, pod(), nodes("n"), left, narrowing)
    assert (state.skip_filter, outcome.plugins, outcome.feasible.tolist()) == (frozenset("A"), ("B",), [0])


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([], None, "node(s) didn't satisfy plugin A"),
        (["x"], ["y"], "node(s) didn't satisfy plugin(s) [A B] simultaneously"),
    ],
)
def test_nothing_left_by_pre_filter(first: list[str], second: list[str] | None, message: str) -> None:
    one = framework({"names": first}, {"names": second})
    _, status, _ = one.run_pre_filter(CycleState(), pod(), nodes("x", "y"))
    assert status == unresolvable(message)


def test_absent_nodes_say_which_plugins_left_them_out() -> None:
    one, state, where = framework({"names": ["x", "nowhere"]}, {}), CycleState(), nodes("x", "y")
    left, _, narrowing = one.run_pre_filter(state, pod(), where)
    outcome = one.run_filter(state, pod(), where, left, narrowing)
    assert dict(outcome.failed()) == {1: unresolvable("node(s) didn't satisfy plugin(s) [A]")}


def test_filter_records_the_first_failing_plugin_and_every_verdict() -> None:
    one, where = framework({"filter": ["x"]}, {"filter": ["x", "y"]}), nodes("x", "y", "z")
    outcome = one.run_filter(CycleState(), pod(), where)
    assert {row: status.plugin for row, status in outcome.failed()} == {0: "A", 1: "B"}
    assert outcome.verdicts["B"].codes.tolist() == [Code.UNSCHEDULABLE, Code.UNSCHEDULABLE, 0]
    assert dict(outcome.reasons()) == {"A says no": 1, "B says no": 1}
    assert outcome.rows_with(Code.UNSCHEDULABLE) == [0, 1]
    assert outcome.failed_plugins() == {"A", "B"}


def test_a_plugin_that_raises_has_answered_error() -> None:
    one = framework({"filter": RuntimeError("boom")})
    outcome = one.run_filter(CycleState(), pod(), nodes("x"))
    assert outcome.status_of(0) == Status(Code.ERROR, ('running "A" filter plugin: boom',), "A")
    one = framework({"pre_filter": RuntimeError("boom")})
    _, status, _ = one.run_pre_filter(CycleState(), pod(), nodes("x"))
    assert status == error('running PreFilter plugin "A": boom').by("A")


def test_a_score_that_raises_has_answered_error_and_is_asked_again() -> None:
    answers: Answers = {"score": RuntimeError("boom")}
    one, state, where = framework(answers), CycleState(), nodes("x", "y")
    outcome = one.run_filter(state, pod(), where)
    assert one.run_score(state, pod(), where, outcome) == (
        None,
        error('running Score plugins: plugin "A" failed with: boom'),
    )
    answers["score"] = 7
    scores, status = one.run_score(state, pod(), where, outcome)
    assert status.ok
    assert scores is not None
    assert scores.total.tolist() == [7, 7]


def test_without_score_plugins_every_feasible_node_has_one_point() -> None:
    one, where = framework({}, score=PluginSet()), nodes("x", "y")
    state = CycleState()
    scores, _ = one.run_score(state, pod(), where, one.run_filter(state, pod(), where))
    assert scores is not None
    assert (scores.total.tolist(), scores.best().tolist()) == ([1, 1], [0, 1])


def test_pre_score_skip_leaves_the_score_out() -> None:
    one, state, where = framework({"pre_score": SKIP, "score": 9}, {"score": 2}), CycleState(), nodes("x", "y")
    outcome = one.run_filter(state, pod(), where)
    assert one.run_pre_score(state, pod(), where, outcome.feasible).ok
    scores, _ = one.run_score(state, pod(), where, outcome)
    assert scores is not None
    assert scores.as_dict(where.names) == {
        "nodes": ["x", "y"],
        "skip": ["A"],
        "plugins": {"B": {"raw": [2, 2], "normalized": [2, 2], "weighted": [2, 2]}},
        "total": [2, 2],
    }


@pytest.mark.parametrize(
    ("answers", "code", "reasons", "plugin", "nominated"),
    [
        ([unschedulable("a"), unschedulable("b")], Code.UNSCHEDULABLE, ("a", "b"), "A", None),
        ([unschedulable("a"), SUCCESS], Code.SUCCESS, (), "", "n"),
        ([unresolvable("a"), SUCCESS], Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("a",), "A", None),
        ([error("a"), SUCCESS], Code.ERROR, ("a",), "A", None),
    ],
)
def test_post_filter(
    answers: list[Status], code: Code, reasons: tuple[str, ...], plugin: str, nominated: str | None
) -> None:
    results = [None, PostFilterResult("n") if answers[1].ok else None]
    told = [{"post_filter": status, "result": result} for status, result in zip(answers, results, strict=True)]
    one = framework(*told)
    outcome = one.run_filter(CycleState(), pod(), nodes("n"))
    result, status = one.run_post_filter(CycleState(), pod(), outcome)
    assert (status.code, status.reasons, status.plugin) == (code, reasons, plugin)
    assert (result.nominated_node_name if result else None) == nominated


def test_reserve_stops_at_the_first_refusal_and_unreserve_runs_backwards_over_all() -> None:
    heard: list[str] = []
    one = framework({}, {"reserve": unschedulable("full")}, {}, heard=heard)
    assert one.run_reserve(CycleState(), pod(), "n") == unschedulable("full").by("B")
    one.run_unreserve(CycleState(), pod(), "n")
    assert heard == ["A.reserve", "B.reserve", "C.unreserve", "B.unreserve", "A.unreserve"]
    broken = framework({"reserve": error("boom")})
    assert broken.run_reserve(CycleState(), pod(), "n") == error('running Reserve plugin "A": boom').by("A")


def test_permit_waits_for_all_that_ask_and_at_most_fifteen_minutes() -> None:
    wait = Status(Code.WAIT)
    one = framework({"permit": wait, "timeout_ms": 5_000}, {}, {"permit": wait, "timeout_ms": 10**9})
    status, waits = one.run_permit(CycleState(), pod(), "n")
    assert (status.code, waits) == (Code.WAIT, {"A": 5_000, "C": PERMIT_TIMEOUT_MS_MAX})


def test_permit_refusal_outweighs_waiting() -> None:
    one = framework({"permit": Status(Code.WAIT)}, {"permit": unschedulable("no")})
    assert one.run_permit(CycleState(), pod(), "n") == (unschedulable("no").by("B"), {})
    broken = framework({"permit": RuntimeError("boom")})
    assert broken.run_permit(CycleState(), pod(), "n")[0] == error('running Permit plugin "A": boom').by("A")


def test_bind_goes_on_to_the_next_plugin_after_skip() -> None:
    heard: list[str] = []
    one = framework({"bind": SKIP}, {}, {}, heard=heard)
    assert finish(one.run_bind(CycleState(), pod(), "n"), "", "").ok
    assert heard == ["A.bind", "B.bind"]
    everybody = framework({"bind": SKIP}, {"bind": SKIP})
    assert finish(everybody.run_bind(CycleState(), pod(), "n"), "", "").skipped


def test_what_the_loop_could_not_do_is_an_error() -> None:
    status = finish(framework({}).run_bind(CycleState(), pod(), "n"), "conflict")
    assert status == error('running Bind plugin "A": conflict').by("A")
    status = finish(framework({}).run_pre_bind(CycleState(), pod(), "n"), "lost")
    assert status == error('running PreBind plugin "A": lost').by("A")


@pytest.mark.parametrize(
    ("sets", "says"),
    [
        ({"queueSort": PluginSet()}, "no queue sort plugin is enabled"),
        ({"queueSort": PluginSet((("A", 0), ("B", 0)))}, "only one queue sort plugin required"),
        ({"bind": PluginSet()}, "at least one bind plugin is needed"),
        ({"filter": PluginSet((("A", 0), ("A", 0)))}, 'plugin "A" already registered as "filter"'),
        ({"filter": PluginSet((("Z", 0),))}, "Z does not exist"),
        ({"score": PluginSet((("A", 2**62), ("B", 2**62)))}, "total score of Score plugins could overflow"),
    ],
)
def test_profiles_that_cannot_run_are_refused(sets: dict[str, PluginSet], says: str) -> None:
    with pytest.raises(ProfileError, match=says):
        framework({}, {}, **sets)


def test_a_plugin_that_does_not_implement_its_point_is_refused() -> None:
    default = default_configuration()
    sets = {**default.sets, "score": PluginSet((("NodeName", 1),))}
    with pytest.raises(ProfileError, match='plugin "NodeName" does not extend score plugin'):
        Framework(ProfileConfiguration("x", sets), in_tree_registry())


def test_arguments_that_a_plugin_refuses_name_the_plugin() -> None:
    configuration = ProfileConfiguration(
        "x", default_configuration().sets, {"NodeResourcesFit": {"scoringStrategy": {"type": "Odd"}}}
    )
    with pytest.raises(ProfileError, match='initializing plugin "NodeResourcesFit": scoring strategy Odd'):
        Framework(configuration, in_tree_registry())


def test_registry() -> None:
    registry = PluginRegistry()
    make: Callable[..., Any] = lambda arguments, handle: Teller("A", {}, [])  # noqa: E731
    registry.register("A", make)
    with pytest.raises(RegistryError, match="a plugin named A already exists"):
        registry.register("A", make)
    with pytest.raises(RegistryError, match="a plugin named A already exists"):
        registry.merge(PluginRegistry({"A": make}))
    registry.merge(PluginRegistry({"B": make}))
    assert list(registry) == ["A", "B"]
    registry.unregister("A")
    with pytest.raises(RegistryError, match="no plugin named A exists"):
        registry.unregister("A")
    assert "A" not in registry


class Nominations:
    """Pods nominated to one node."""

    def __init__(self, node_name: str, *pods: PodInfo) -> None:
        self.node_name = node_name
        self.pods = pods

    def nominated_to(self, node_name: str) -> tuple[PodInfo, ...]:
        return self.pods if node_name == self.node_name else ()

    def nodes(self) -> tuple[str, ...]:
        return (self.node_name,)


def decided(one: PodInfo, rival: PodInfo, start: Snapshot) -> FilterOutcome:
    nominator = Nominations("x", rival)
    built = Framework(default_configuration(), in_tree_registry(), nominator=nominator)
    state = CycleState()
    left, _, narrowing = built.run_pre_filter(state, one, start)
    return built.run_filter(state, one, start, left, narrowing)


@pytest.mark.parametrize(("priority", "fits"), [(5, True), (10, False), (20, False)])
def test_pods_nominated_with_at_least_this_priority_count(priority: int, fits: bool) -> None:
    one = pod("p", requests={"cpu": "3"}, priority=10)
    rival = pod("r", requests={"cpu": "3"}, priority=priority)
    outcome = decided(one, rival, nodes("x", "y"))
    assert outcome.status_of(0).ok is fits
    assert outcome.status_of(1).ok
    # The verdict of the filter on its own does not know of nominations.
    assert outcome.verdicts["NodeResourcesFit"].codes.tolist() == [0, 0]


def test_a_pod_is_no_rival_of_itself() -> None:
    one = pod("p", requests={"cpu": "3"})
    assert decided(one, one, nodes("x")).status_of(0).ok


def test_the_nominated_node_is_taken_alone_when_it_passes() -> None:
    one = pod("p", requests={"cpu": "1"}, status={"nominatedNodeName": "y"})
    built, where = Framework(default_configuration(), in_tree_registry()), nodes("x", "y", "z")
    outcome = built.run_filter(CycleState(), one, where)
    assert (outcome.used_nominated_node, outcome.feasible.tolist()) == (True, [1])
    assert list(outcome.failed()) == []


def test_a_nominated_node_that_fails_is_one_among_all() -> None:
    where = nodes("x", "y")
    where.add_pod(1, pod("big", requests={"cpu": "4"}))
    one = pod("p", requests={"cpu": "1"}, status={"nominatedNodeName": "y"})
    outcome = Framework(default_configuration(), in_tree_registry()).run_filter(CycleState(), one, where)
    assert (outcome.used_nominated_node, outcome.feasible.tolist()) == (False, [0])


@pytest.mark.parametrize(
    ("count", "percentage", "wanted"),
    [(50, 10, 50), (1000, 100, 1000), (1000, 0, 420), (5000, 0, 500), (6000, 0, 300), (1000, 5, 100), (1000, 30, 300)],
)
def test_how_many_feasible_nodes_sampling_looks_for(count: int, percentage: int, wanted: int) -> None:
    assert feasible_nodes_to_find(count, percentage) == wanted


@pytest.mark.parametrize("start", [0, 37, 149])
def test_sampling_stops_at_the_last_feasible_node_that_is_needed(start: int) -> None:
    where = Snapshot(NodeInfo(f"n{i}", node(f"n{i}", unschedulable=i % 5 == 0)) for i in range(150))
    built = Framework(default_configuration(), in_tree_registry())
    outcome = built.run_filter(CycleState(), pod(), where, percentage=1, start=start)
    order = [(start + i) % 150 for i in range(150)]
    expected = [row for row in order if row % 5][:100]
    assert sorted(expected) == outcome.feasible.tolist()
    assert outcome.processed == order.index(expected[-1]) + 1
    assert sorted(row for row, _ in outcome.failed()) == sorted(
        row for row in order[: outcome.processed] if row % 5 == 0
    )


def test_cycle_state_clones_what_can_be_cloned_and_shares_the_rest() -> None:
    class Counts(dict[str, int]):
        def clone(self) -> Counts:
            return Counts(self)

    state = CycleState()
    state.write("counts", Counts(a=1))
    state.write("shared", shared := ["x"])
    state.skip_filter = frozenset("F")
    copy = state.clone()
    copy.read("counts")["a"] = 2
    assert (state.read("counts"), copy.read("shared") is shared, copy.skip_filter) == ({"a": 1}, True, frozenset("F"))
    copy.delete("counts")
    assert copy.get("counts") is None
    with pytest.raises(KeyError):
        copy.read("counts")


@pytest.mark.parametrize(
    ("registered", "happened", "covers"),
    [
        (NODE_ADD, NODE_ADD, True),
        (NODE_ADD, ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL), False),
        (
            ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT),
            ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT),
            True,
        ),
        (ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ALL), NODE_ADD, False),
        (WILDCARD_ALL, ASSIGNED_POD_DELETE, True),
        (ASSIGNED_POD_DELETE, WILDCARD_ALL, True),
    ],
)
def test_which_events_a_registration_covers(registered: ClusterEvent, happened: ClusterEvent, covers: bool) -> None:
    assert registered.covers(happened) is covers


def test_a_hint_function_that_raises_queues_the_pod() -> None:
    def broken(one: Any, old: Any, new: Any) -> QueueingHint:
        raise RuntimeError("boom")

    assert EventRegistration(NODE_ADD, broken).ask(pod(), None, None) is QueueingHint.QUEUE


def test_a_plugin_that_registers_no_events_hears_of_all() -> None:
    registered = framework({}).events_to_register()
    assert [one.event.covers(NODE_ADD) and one.event.covers(ASSIGNED_POD_DELETE) for one in registered["A"]] == [True]


def test_fit_error_texts() -> None:
    reasons = {"b": 10, "a": 2}
    assert fit_error(12, reasons) == "0/12 nodes are available: 10 b, 2 a."
    assert fit_error(12, reasons, post_filter="x: y") == "0/12 nodes are available: 10 b, 2 a. x: y"
    assert fit_error(12, {}, pre_filter="no", post_filter="x") == "0/12 nodes are available: no. x"
    assert event_note("a" * 1024) == "a" * 1024
    assert event_note("a" * 1025) == "a" * 1020 + " ..."
    assert event_note("é" * 600) == "é" * 510 + " ..."
