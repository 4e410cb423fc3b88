"""Homework: one seed a person, one size for all, and the engine's own word on what is right."""

from __future__ import annotations

import pytest

from controllers.rules.cases import SORTS, Size
from controllers.rules.homework import NONE, SIZE, TOPICS, asked, believed, is_right, question, solution, task
from controllers.rules.table import RULES


def test_every_task_of_a_topic_is_about_a_rule_that_goes_wrong_somewhere() -> None:
    assert {rule for rules in TOPICS.values() for rule in rules} <= set(SORTS)


@pytest.mark.parametrize("rule", ["fewest-victims", "lowest-first", "first-in-list", "formula-is-code"])
def test_each_person_has_a_cluster_of_their_own_of_the_same_size(rule: str) -> None:
    mine, same, other = (task(rule, seed) for seed in (11, 11, 12))
    assert mine is same
    assert mine.case != other.case
    assert mine.case.size == other.case.size == SIZE


def test_what_is_asked_tells_nothing_of_the_answer() -> None:
    found = task("fewest-victims", 5)
    put = question(RULES["fewest-victims"], found)
    assert sorted(put) == ["kind", "nodes", "options", "pod", "question"]
    assert put["options"] == [*(node["name"] for node in put["nodes"]), NONE]
    assert set(put["question"]) == {"en", "zh"}


def test_the_engine_marks_nodes() -> None:
    rule, found = RULES["fewest-victims"], task("fewest-victims", 5)
    (right,) = found.engine.nodes
    marks = {name: is_right(rule, found.engine, [name]) for name in question(rule, found)["options"]}
    assert [name for name, good in marks.items() if good] == [right]
    assert believed(rule, found, [right]) == "engine"
    assert believed(rule, found, [found.believed.nodes[0]]) == "fewest-victims"
    assert not is_right(rule, found.engine, [right, NONE])


def test_the_engine_marks_sets_of_victims_whole() -> None:
    rule, found = RULES["lowest-first"], task("lowest-first", 5)
    assert asked(rule) == "victims"
    (right,) = found.engine.dying
    assert is_right(rule, found.engine, list(reversed(right)))
    assert not is_right(rule, found.engine, [])
    assert not is_right(rule, found.engine, right[1:])
    (wrong,) = found.believed.dying
    assert believed(rule, found, wrong) == "lowest-first"


def test_that_nobody_dies_is_an_answer() -> None:
    rule, found = RULES["always-preempts"], task("always-preempts", 1)
    assert is_right(rule, found.engine, [NONE])


def test_what_no_rule_comes_to_has_no_name() -> None:
    rule, found = RULES["first-in-list"], task("first-in-list", 3)
    assert believed(rule, found, ["n9"]) == ""


def test_a_size_that_nothing_grows_to_is_said() -> None:
    with pytest.raises(LookupError, match="no cluster of 1 nodes and 0 pods leads fewest-victims astray"):
        task("fewest-victims", 1, Size(1, 0))


def test_the_solution_has_both_answers_and_the_cluster_as_objects() -> None:
    told = solution(task("fewest-victims", 5))
    assert set(told["answers"]) == {"engine", "fewest-victims"}
    assert {one["kind"] for one in told["objects"]} >= {"Node", "Pod"}
