"""What a finder strikes out by arithmetic alone: nothing that the engine would have been asked about with any hope."""

from __future__ import annotations

import pytest

from controllers.rules.cases import SORTS, Case, Size, drawn, names
from controllers.rules.deciding import decide
from controllers.rules.finding import disagree, find, is_clear
from controllers.rules.pruning import HOPES, Room, is_worth_a_look
from controllers.rules.rule import ENGINE
from controllers.rules.table import RULES
from scheduler_core.scheduler.run import CycleInput

SIZES = (Size(1, 0), Size(1, 1), Size(1, 3), Size(2, 0), Size(2, 2), Size(2, 3), Size(3, 4))


def some(rule: str, each: int) -> list[Case]:
    return [
        drawn(rule, 9, f"prune/{size.nodes}/{size.pods}", number, names("n", size.nodes), names("p", size.pods))
        for size in SIZES
        for number in range(each)
    ]


def overfull(case: Case) -> bool:
    """Return the engine's own sums: whether a node's pods ask for more than it has."""
    scene = case.scene()
    snapshot = scene.seen.snapshot(CycleInput.of(dict(scene.given)))
    return any(
        number > info.allocatable.get(resource, 0)
        for info in snapshot.infos
        for resource, number in info.requested.items()
    )


def test_every_rule_that_has_clusters_says_when_there_is_hope() -> None:
    assert set(HOPES) == set(SORTS)


@pytest.mark.parametrize("rule", sorted(SORTS))
def test_what_is_struck_out_sets_nobody_apart(rule: str) -> None:
    hopeless = [case for case in some(rule, 6) if not Room.of(case).is_overfull and not is_worth_a_look(rule, case)]
    assert hopeless
    for case in hopeless:
        engine, believed = decide(case.scene(), RULES[ENGINE]), decide(case.scene(), RULES[rule])
        assert engine is not None
        assert believed is not None
        assert not (is_clear(engine) and disagree(engine, believed)), case


@pytest.mark.parametrize("rule", ["fewest-victims", "only-bound-counts"])
def test_the_sums_are_the_engines(rule: str) -> None:
    every = some(rule, 12)
    sums = [Room.of(case).is_overfull for case in every]
    assert sums == [overfull(case) for case in every]
    assert True in sums
    assert False in sums


@pytest.mark.parametrize("seed", range(4))
def test_the_engine_is_asked_about_few(seed: int) -> None:
    """About 400 were looked at for each of these before hopeless ones were struck out."""
    found = find(RULES["fewest-victims"], seed)
    assert found is not None
    assert found.looked < 60
