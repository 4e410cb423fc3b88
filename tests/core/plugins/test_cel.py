"""CEL as a plugin: verdicts, scores, arguments and their errors, reuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.api.errors import ApiError
from scheduler_core.eras import read_spec
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads
from scheduler_core.framework.profile import ProfileConfiguration
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code
from scheduler_core.profiles.defaults import in_tree_registry
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.cache import Cache
from tests.core.objects import info, node, pod


def profile(arguments: dict[str, Any], weight: int = 1) -> ProfileConfiguration:
    """Return the default profile with CEL enabled, as a session's command object says it."""
    written = {
        "plugins": {"multiPoint": {"enabled": [{"name": "CEL", "weight": weight}]}},
        "pluginConfig": [{"name": "CEL", "args": arguments}],
    }
    return read_spec({"configuration": {"profiles": [written]}}).profiles[0]


def named(*expressions: str) -> list[dict[str, str]]:
    return [{"name": f"e{index}", "expression": one} for index, one in enumerate(expressions)]


def decision(framework: Framework, one: PodInfo, snapshot: Snapshot) -> dict[str, Any]:
    """Return what CEL says of every node, and the totals."""
    state = CycleState()
    left, status, narrowing = framework.run_pre_filter(state, one, snapshot)
    assert status.ok
    outcome = framework.run_filter(state, one, snapshot, left, narrowing)
    said: dict[str, Any] = {"reasons": dict(outcome.reasons()), "feasible": outcome.feasible.tolist()}
    if "CEL" in outcome.verdicts:
        said["verdicts"] = [outcome.verdicts["CEL"].status(row) for row in range(len(snapshot))]
    if len(outcome.feasible):
        assert framework.run_pre_score(state, one, snapshot, outcome.feasible).ok
        scores, status = framework.run_score(state, one, snapshot, outcome)
        said["status"] = status
        if scores is not None:
            said["total"] = scores.total.tolist()
            detail = scores.detail().get("CEL")
            said["scores"] = None if detail is None else (detail.raw.tolist(), detail.normalized.tolist())
    return said


NODES = (
    info(node("a", labels={"zone": "x", "gen": "1"}), pod("p1", labels={"app": "web"}, requests={"cpu": "2"})),
    info(node("b", labels={"zone": "y", "gen": "3"})),
    info(node("c", labels={"zone": "x", "gen": "2"}), pod("p2", labels={"app": "db"}), pod("p3")),
)
WEB = pod("web", labels={"app": "web", "zone": "x"}, requests={"cpu": "1"})


def asked(arguments: dict[str, Any], one: PodInfo = WEB) -> dict[str, Any]:
    return decision(Framework(profile(arguments), in_tree_registry()), one, Snapshot(NODES))


def test_a_filter_says_no_in_its_own_words() -> None:
    same_zone = "pod.metadata.labels['zone'] == node.metadata.labels['zone']"
    filters = [*named(same_zone), {"name": "new", "expression": "int(node.metadata.labels.gen) > 1", "message": "old"}]
    said = asked({"filters": filters})
    assert said["feasible"] == [2]
    assert [one.code for one in said["verdicts"]] == [Code.UNSCHEDULABLE_AND_UNRESOLVABLE] * 2 + [Code.SUCCESS]
    assert said["reasons"] == {'node(s) didn\'t satisfy expression "e0"': 1, "old": 1}
    assert said["scores"] is None


@pytest.mark.parametrize(
    "expression", ["pods.size() > 5", "requested.cpu > 100000", "pods.exists(p, p.metadata.name == 'no')"]
)
def test_a_no_for_the_pods_on_a_node_can_be_resolved_by_evicting_them(expression: str) -> None:
    said = asked({"filters": named(expression)})
    assert {one.code for one in said["verdicts"]} == {Code.UNSCHEDULABLE}


def test_an_expression_without_a_value_is_an_error_that_names_it() -> None:
    said = asked({"filters": named("true", "node.metadata.labels.rack == 'r'")})
    assert {one.code for one in said["verdicts"]} == {Code.ERROR}
    text = 'filter expression "e1" has no value on node b: Key not found in map : "rack"'
    assert said["verdicts"][1].reasons == (text,)


def test_a_node_that_an_earlier_filter_turns_away_cannot_end_the_attempt() -> None:
    cordoned = (info(node("shut", unschedulable=True)), info(node("open", labels={"rack": "r"})))
    built = Framework(profile({"filters": named("node.metadata.labels.rack == 'r'")}), in_tree_registry())
    said = decision(built, WEB, Snapshot(cordoned))
    assert [one.code for one in said["verdicts"]] == [Code.ERROR, Code.SUCCESS]
    assert (said["feasible"], said["reasons"]) == ([1], {"node(s) were unschedulable": 1})


def test_scores_add_up() -> None:
    said = asked({"scores": named("int(node.metadata.labels.gen) * 10", "2.5", "pods.size()")})
    assert said["scores"] == ([13, 32, 24], [13, 32, 24])


def test_normalised_scores_reach_from_0_to_100() -> None:
    arguments = {"scores": named("-1000.0 * double(node.metadata.labels.gen)"), "normalize": True}
    assert asked(arguments)["scores"] == ([-1000, -3000, -2000], [100, 0, 50])
    assert asked({"scores": named("7"), "normalize": True})["scores"][1] == [0, 0, 0]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("101", "invalid score 101, it should in the range of [0, 100]"),
        ("-1", "invalid score -1"),
        ("1.0 / 0.0", "come to inf"),
        ("2000000000", "more than 1000000000"),
        ("int(node.metadata.labels.zone)", 'score expression "e0" has no value on node a'),
    ],
)
def test_a_score_out_of_range_ends_the_attempt(expression: str, text: str) -> None:
    status = asked({"scores": named(expression)})["status"]
    assert status.code is Code.ERROR
    assert text in status.message


def test_nodes_that_are_turned_away_need_no_score() -> None:
    arguments = {
        "filters": named("node.metadata.labels.gen != '3'"),
        "scores": named("node.metadata.labels.gen == '3' ? 1 / (requests.cpu - 1000) : 7"),
    }
    said = asked(arguments)
    assert (said["feasible"], said["scores"]) == ([0, 2], ([7, 7], [7, 7]))
    assert said["status"].ok
    assert asked(arguments | {"normalize": True})["scores"] == ([7, 7], [0, 0])
    status = asked(arguments | {"filters": []})["status"]
    assert status.code is Code.ERROR
    assert status.message.endswith('score expression "e0" has no value on node b: divide by zero')


def test_without_expressions_nothing_is_asked() -> None:
    assert "verdicts" not in asked({})
    assert asked({})["scores"] is None


@pytest.mark.parametrize(
    ("arguments", "field", "text"),
    [
        ({"filters": named("true", "pod.spec.x == 1 &&\n tru")}, "filters[1].expression", "line 2, column 2: there is"),
        ({"filters": named("pod.spec.x == 1")}, "filters[0].expression", "line 1, column 9: undefined field 'x'"),
        ({"scores": named("true")}, "scores[0].expression", "line 1, column 1: it comes to the type bool"),
        ({"filters": [{"expression": "true"}]}, "filters[0].name", "Required value"),
        ({"filters": [{"name": "a"}]}, "filters[0].expression", "Required value"),
        ({"filters": [{"name": "a", "expression": 1}]}, "filters[0].expression", "must be a text"),
        ({"filters": [{"name": "a" * 64, "expression": "true"}]}, "filters[0].name", "Too long"),
        ({"filters": [*named("true"), *named("true")]}, "filters[1].name", 'Duplicate value: "e0"'),
        ({"filters": [{"name": "a", "expression": "true", "weight": 1}]}, "filters[0].weight", "unknown field"),
        ({"filters": named(*["true"] * 33)}, "filters", "at most 32"),
        ({"filters": "true"}, "filters", "must be a list"),
        ({"filters": ["true"]}, "filters[0]", "must be an object"),
        ({"normalize": 1}, "normalize", "true or false"),
        ({"filter": []}, "filter", 'unknown field "filter"'),
    ],
)
def test_wrong_arguments_are_refused_at_their_path(arguments: dict[str, Any], field: str, text: str) -> None:
    with pytest.raises(ApiError) as refused:
        profile(arguments)
    assert refused.value.code == 422
    first = refused.value.causes[0]
    assert first.field == f"configuration.profiles[0].pluginConfig[0].args.{field}"
    assert text in first.message


@pytest.mark.parametrize(
    ("expression", "reads"),
    [
        ("node.metadata.labels.a == pod.metadata.labels.a", Reads.NODE),
        ("pod.spec.priority > 1 && allocatable.cpu > requests.cpu", Reads.NODE),
        ("pods.size() < 3", Reads.NODE_AND_PODS),
        ("requested.cpu < 3", Reads.NODE_AND_PODS),
        ("pod.metadata.name == 'a'", Reads.CLUSTER),
        ("pod.metadata.annotations.a == 'a'", Reads.CLUSTER),
        ("pod.status.phase == ''", Reads.CLUSTER),
        ("pod == pod", Reads.CLUSTER),
        ("pod.metadata == pod.metadata", Reads.CLUSTER),
        ("pod.spec == pod.spec", Reads.CLUSTER),
        ("pod.spec.volumes.size() > 0", Reads.CLUSTER),
        ("pod.spec.containers.size() > 1", Reads.NODE),
    ],
)
def test_what_answers_depend_on(expression: str, reads: Reads) -> None:
    plugin: Any = Framework(profile({"filters": named(expression)}), in_tree_registry()).plugins["CEL"]
    assert plugin.filter_reads is reads


def test_off_unless_a_profile_enables_it() -> None:
    (default,) = read_spec({}).profiles
    assert "CEL" not in default.names()
    assert "CEL" in profile({}).names()


RULES = {
    "filters": named(
        "pods.filter(p, p.metadata.?labels[?'app'].orValue('') == pod.metadata.?labels[?'app'].orValue('')).size() < 2",
        "requested.cpu + requests.cpu <= allocatable.cpu / 2",
        "node.metadata.labels.zone != pod.metadata.?labels[?'zone'].orValue('')",
    ),
    "scores": named("100 - 100 * requested.cpu / allocatable.cpu"),
}
BREAKING = {
    "filters": named("requested.cpu == 0 || 2000 / (requested.cpu - 900) > 1"),
    "scores": named("requested.cpu < 1900 ? 100 / (1 + pods.size()) : 1 / (pods.size() - pods.size())"),
}
"""No value on some nodes: of a filter and of a score."""
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("place"), st.sampled_from(["web", "db"]), st.sampled_from(["100m", "900m"])),
        st.tuples(st.just("gone"), st.integers(0, 20)),
        st.tuples(st.just("node"), st.integers(0, 6), st.sampled_from(["x", "y"]), st.sampled_from(["2", "4"])),
    ),
    min_size=3,
    max_size=20,
)


@settings(max_examples=40)
@given(STEPS, st.sampled_from([RULES, BREAKING]))
def test_reuse_decides_as_the_slow_path(steps: list[tuple[Any, ...]], rules: dict[str, Any]) -> None:
    fast = Framework(profile(rules), in_tree_registry(), reuse=True)
    slow = Framework(profile(rules), in_tree_registry(), reuse=False)
    cache, snapshot = Cache(), Snapshot()
    for index in range(7):
        cache.add_node(node(f"n{index}", labels={"zone": "x"}))
    placed: list[PodInfo] = []
    for number, step in enumerate(steps):
        match step:
            case ("gone", int(index)) if placed:
                cache.remove_pod(placed.pop(index % len(placed)))
            case ("node", int(index), zone, cpu):
                cache.add_node(node(f"n{index}", labels={"zone": zone}, allocatable={"cpu": cpu}))
            case ("place", app, cpu):
                one = pod(f"p{number}", labels={"app": app, "zone": "y"}, requests={"cpu": cpu})
                cache.update_snapshot(snapshot)
                said = decision(fast, one, snapshot)
                assert said == decision(slow, one, snapshot)
                if "total" in said:
                    best = said["feasible"][int(np.argmax(said["total"]))]
                    placed.append(one.placed(snapshot.names[best]))
                    cache.add_pod(placed[-1])


ONES = "[" + ", ".join(["1"] * 40) + "]"
LONG = f"{ONES}.all(a, {ONES}.all(b, a * b > 0))"
"""Some 25,000 units of work."""


def test_a_filter_that_looks_at_pods_has_a_smaller_share_where_there_are_many() -> None:
    crowded = Snapshot([info(node("a"), *(pod(f"p{index}") for index in range(500))), info(node("b"))])
    framework = Framework(profile({"filters": named(f"pods.size() >= 0 && {LONG}")}), in_tree_registry())
    verdicts = decision(framework, WEB, crowded)["verdicts"]
    assert [one.code for one in verdicts] == [Code.ERROR, Code.SUCCESS]
    assert "its share with so many nodes, pods and expressions" in verdicts[0].reasons[0]


@pytest.mark.parametrize("expression", ["node.metadata.labels.zone == 'x'", "pods.size() < 2", LONG])
def test_victims_are_tried_with_the_answers_that_hold_without_them(expression: str) -> None:
    framework = Framework(profile({"filters": named(expression)}), in_tree_registry())
    snapshot, state = Snapshot(NODES), CycleState()
    framework.run_pre_filter(state, WEB, snapshot)
    trial = snapshot.what_if([2])
    for gone in (None, "p2", "p3"):
        if gone is not None:
            trial.remove_pod(0, next(one.uid for one in trial.infos[0].pods if one.pod.name == gone))
        there = Snapshot([*NODES[:2], info(node("c", labels={"zone": "x", "gen": "2"}), *trial.infos[0].pods)])
        fresh = Framework(profile({"filters": named(expression)}), in_tree_registry())
        found = framework.plugins["CEL"].filter(state, WEB, trial, slice(None))  # type: ignore[attr-defined]
        assert found.status(0) == decision(fresh, WEB, there)["verdicts"][2]
