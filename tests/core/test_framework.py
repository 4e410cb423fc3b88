from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduler_core.framework.asks import complete
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.extending import extends
from scheduler_core.framework.interface import EXTENSION_POINTS, PostFilterResult
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration, ProfileError
from scheduler_core.framework.registry import PluginRegistry, RegistryError
from scheduler_core.framework.runtime import PERMIT_TIMEOUT_MS_MAX, Framework
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable, unschedulable
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from tests.core.framework_parts import Answers, Teller, finish, framework, nodes
from tests.core.objects import pod


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
    result, status = complete(one.run_post_filter(CycleState(), pod(), outcome))
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
        ({"filter": PluginSet((("A", 0), ("A", 0)))}, 'plugin "A" already registered as "FilterPlugin"'),
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
    with pytest.raises(ProfileError, match='plugin "NodeName" does not extend ScorePlugin plugin'):
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


def test_what_a_plugin_extends_is_what_its_protocols_say() -> None:
    built = Framework(default_configuration(), in_tree_registry())
    for plugin in built.plugins.values():
        for protocol in EXTENSION_POINTS.values():
            assert extends(plugin, protocol) == isinstance(plugin, protocol)
