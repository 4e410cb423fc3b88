"""The finder: the real engine and a rule disagree on what it finds, a seed says which, and nothing is to spare."""

from __future__ import annotations

import pytest

from controllers.rules.cases import SORTS, Case, Size
from controllers.rules.deciding import decide
from controllers.rules.finding import LOOKED_MAX, Found, disagree, find, is_clear, sizes
from controllers.rules.pruning import is_worth_a_look
from controllers.rules.rule import ENGINE
from controllers.rules.scheduling import MISTAKES
from controllers.rules.table import RULES
from scheduler_core.scheduler.replay import Seen


def found(rule: str, seed: int, size: Size | None = None) -> Found:
    one = find(RULES[rule], seed, size=size)
    assert one is not None, f"{rule} agrees with the engine on all that was looked at"
    return one


def still_disagrees(rule: str, case: Case) -> bool:
    engine, believed = (decide(case.scene(), RULES[name]) for name in (ENGINE, rule))
    assert engine is not None
    assert believed is not None
    return is_worth_a_look(rule, case) and is_clear(engine) and disagree(engine, believed)


def test_every_rule_that_decides_where_pods_go_has_its_clusters() -> None:
    assert set(SORTS) == set(MISTAKES)


@pytest.mark.parametrize("rule", sorted(SORTS))
def test_the_engine_and_the_rule_disagree_and_nothing_can_be_left_out(rule: str) -> None:
    one = found(rule, 3)
    assert one.looked <= LOOKED_MAX
    assert still_disagrees(rule, one.case)
    assert [case.size for case in one.case.smaller() if still_disagrees(rule, case)] == []


def test_a_seed_says_which_it_is() -> None:
    again = [found("fullest-node", seed).case for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]


def test_the_smallest_comes_first() -> None:
    totals = [size.nodes + size.pods for size in sizes()]
    assert totals == sorted(totals)
    assert found("always-preempts", 0).case.size == Size(1, 1)


@pytest.mark.parametrize("rule", ["fewest-victims", "emptiest-node"])
def test_a_cluster_is_grown_to_a_size(rule: str) -> None:
    size = Size(3, 4)
    first, second = (found(rule, seed, size).case for seed in (102, 103))
    assert first.size == second.size == size
    assert first != second
    assert still_disagrees(rule, first)


def test_who_says_stop_is_heard() -> None:
    looks = iter([True, True, False])
    assert find(RULES["fewest-victims"], 1, go_on=lambda: next(looks)) is None


def test_a_rule_without_clusters_finds_none() -> None:
    assert find(RULES["choice-is-fact"], 1) is None


def test_what_is_found_can_be_opened_as_a_session() -> None:
    case = found("pdb-forbids", 1).case
    kinds = [document["kind"] for document in case.objects()]
    assert kinds == ["Node", *["Pod"] * case.size.pods, "PodDisruptionBudget", "Pod"]
    assert all(document["apiVersion"] for document in case.objects())
    pods = [document for document in case.objects() if document["kind"] == "Pod"]
    assert len(Seen.of(case.nodes, pods).pods) == len(pods)
