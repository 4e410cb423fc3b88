"""Placements by trying them all: possible ⊇ feasible ⊇ viable, and the loop's definitions beside the same search."""

from __future__ import annotations

from itertools import chain, combinations
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.model.deviations import AS_WRITTEN, TODAY
from scheduler_core.model.filters import feasibility
from scheduler_core.model.loop import (
    PREEMPTION,
    SCHEDULING,
    UNCHANGED,
    bound,
    bound_to,
    case,
    casualty,
    jeopardy,
    least_casualties,
    may_go,
    preemption_enabled,
    scheduling_enabled,
    unbound,
    viable,
)
from scheduler_core.model.objects import Objects
from scheduler_core.model.placement import (
    feasible_placements,
    is_feasible,
    possible,
    utility,
    viable_placements,
)
from tests.model.clusters import draw_objects, node, pod


def key(placement: object) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(dict(placement).items()))  # type: ignore[call-overload]


def test_a_placement_is_partial_and_two_pods_may_share_a_node() -> None:
    pods = (pod("a"), pod("b"))
    objects = Objects(pods, (node("n"),))
    assert [dict(one) for one in possible(pods, objects)] == [
        {}, {"uid-b": "n"}, {"uid-a": "n"}, {"uid-a": "n", "uid-b": "n"},
    ]  # fmt: skip


@settings(max_examples=60)
@given(random=st.randoms(use_true_random=False))
def test_possible_feasible_and_viable_are_nested(random: Random) -> None:
    objects = draw_objects(random, nodes=3, pods=4)
    pods = unbound(objects)
    everything = {key(one) for one in possible(pods, objects)}
    assert len(everything) == (len(objects.nodes) + 1) ** len(pods)
    for granted in (AS_WRITTEN, TODAY):
        allowed = {key(one) for one in feasible_placements(pods, objects, granted)}
        best, chosen = viable_placements(pods, objects, granted)
        assert {key(one) for one in chosen} <= allowed <= everything
        assert chosen
        assert all(utility(pods, dict(one), objects) <= best for one in allowed)


@settings(max_examples=100)
@given(random=st.randoms(use_true_random=False))
def test_a_step_of_scheduling_is_a_viable_placement_of_one_pod(random: Random) -> None:
    objects = draw_objects(random)
    for one in unbound(objects):
        best, chosen = viable_placements((one,), objects)
        assert scheduling_enabled(one, objects) == (best.placed == (1,))
        if best.placed == (1,):
            assert {placement[one.uid] for placement in chosen} == {each.name for each in viable(one, objects)}


@settings(max_examples=100)
@given(random=st.randoms(use_true_random=False))
def test_preemption_is_found_by_trying_every_subset_of_the_lesser_pods(random: Random) -> None:
    objects = draw_objects(random)
    for one in unbound(objects):
        costs = []
        for each in objects.nodes:
            lesser = [
                other for other in objects.pods if bound_to(other, each, objects) and other.priority < one.priority
            ]
            assert sorted(other.uid for other in jeopardy(one, each, objects)) == sorted(other.uid for other in lesser)
            for gone in chain.from_iterable(combinations(lesser, size) for size in range(len(lesser) + 1)):
                if is_feasible((one,), {one.uid: each.name}, objects.without(gone)):
                    costs.append(casualty(gone, objects))
        least, chosen = least_casualties(one, objects)
        assert preemption_enabled(one, objects) == bool(costs)
        assert least == (min(costs) if costs else None)
        for each, gone in chosen:
            assert casualty(gone, objects) == least
            assert feasibility(one, each, objects.without(gone))


def test_the_loop_picks_the_highest_priority_and_the_first_branch_that_holds() -> None:
    first, second, huge = pod("first", priority=5), pod("second", "2", priority=5), pod("huge", "9", priority=9)
    lesser = pod("lesser", "2", on="n")
    objects = Objects((first, second, huge, lesser), (node("n", "3"),))
    assert [one.uid for one in unbound(objects)] == ["uid-first", "uid-second", "uid-huge"]
    assert bound(lesser, objects)
    assert bound_to(lesser, objects.nodes[0], objects)
    assert not bound(pod("gone", on="elsewhere"), objects)
    assert may_go(huge, unbound(objects))
    assert not may_go(first, unbound(objects))
    assert case(first, objects) == SCHEDULING
    assert case(second, objects) == PREEMPTION
    assert case(huge, objects) == UNCHANGED
    least, chosen = least_casualties(second, objects)
    assert least == (0, 1)
    assert [(each.name, [one.uid for one in pods]) for each, pods in chosen] == [("n", ["uid-lesser"])]
