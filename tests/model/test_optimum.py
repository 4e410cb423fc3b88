"""The solver's optimum is that of trying every placement; the engine's own is never better."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.api.errors import ApiError
from scheduler_core.model.deviations import TODAY
from scheduler_core.model.multistep import place_one_by_one
from scheduler_core.model.objects import Objects
from scheduler_core.model.optimum import solve
from scheduler_core.model.placement import Placement, is_feasible, utility, viable_placements
from scheduler_core.profiles.configuration import read_configuration
from scheduler_core.profiles.defaults import in_tree_registry
from scheduler_core.snapshot.node_info import PodInfo
from tests.model.clusters import HOST, ZONE, draw_objects, near, node, pod, preferred, required


def by_engine(pods: tuple[PodInfo, ...], objects: Objects) -> Placement:
    return place_one_by_one(pods, objects, read_configuration({}), in_tree_registry(), seed=1)


@settings(max_examples=120)
@given(random=st.randoms(use_true_random=False))
def test_the_solver_finds_what_trying_everything_finds(random: Random) -> None:
    objects = draw_objects(random, nodes=3, pods=5)
    pods = tuple(one for one in objects.pods if random.random() < 0.8)[:4]
    best, _ = viable_placements(pods, objects, TODAY)
    found = solve(pods, objects)
    assert is_feasible(pods, found.placement, objects, TODAY)
    assert (found.utility, found.proven, found.gap) == (best, True, 0.0)


@settings(max_examples=60)
@given(random=st.randoms(use_true_random=False))
def test_the_engine_is_never_better_than_the_optimum(random: Random) -> None:
    objects = draw_objects(random)
    placed = by_engine(objects.pods, objects)
    if is_feasible(objects.pods, placed, objects, TODAY):
        assert utility(objects.pods, placed, objects) <= solve(objects.pods, objects).utility


def test_one_step_sees_what_many_steps_cannot() -> None:
    """The small pod, placed first where there is most room, takes the only place that the large one could have."""
    objects = Objects((), (node("large", "4"), node("small", "1")))
    pods = (pod("first", "1"), pod("second", "4"))
    assert by_engine(pods, objects) == {"uid-first": "large"}
    found = solve(pods, objects)
    assert found.placement == {"uid-first": "small", "uid-second": "large"}
    assert found.utility.placed == (2,)


def test_a_higher_priority_is_worth_more_than_any_number_of_lesser_pods() -> None:
    pods = (pod("big", "2", priority=5), pod("a"), pod("b"))
    found = solve(pods, Objects((), (node("n", "2"),)))
    assert found.placement == {"uid-big": "n"}
    assert found.utility.placed == (1, 0)


def test_weights_of_terms_between_the_pods_themselves_count() -> None:
    nodes = (node("n", "1", labels={ZONE: "a"}), node("m", "1", labels={ZONE: "b"}), node("o", "1", labels={ZONE: "b"}))
    friends = (pod("x", labels={"app": "x"}), pod("y", affinity=preferred("podAffinity", 7, near(ZONE, app="x"))))
    found = solve(friends, Objects((), nodes))
    assert found.utility.viability == 7
    assert set(found.placement.values()) == {"m", "o"}


def test_pods_of_one_kind_that_need_each_other_find_one_place() -> None:
    nodes = tuple(node(name, "1", labels={ZONE: zone}) for name, zone in (("n", "a"), ("m", "b"), ("o", "b")))
    kin = required("podAffinity", near(ZONE, app="x"))
    pods = tuple(pod(name, labels={"app": "x"}, affinity=kin) for name in ("p", "q"))
    found = solve(pods, Objects((), nodes))
    assert set(found.placement.values()) == {"m", "o"}


def test_what_is_too_large_is_refused_with_the_number() -> None:
    pods = tuple(pod(f"p{index}") for index in range(101))
    with pytest.raises(ApiError) as refused:
        solve(pods, Objects((), tuple(node(f"n{index}") for index in range(100))))
    assert refused.value.code == 422
    assert "101 pods × 100 nodes are more than 10,000" in refused.value.causes[0].message


def test_what_the_model_has_no_formula_for_is_refused_by_its_path() -> None:
    spread = {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule"}
    with pytest.raises(ApiError) as refused:
        solve((pod("p", topologySpreadConstraints=[spread]),), Objects((), (node("n"),)))
    assert refused.value.causes[0].field == "pods[default/p].spec.topologySpreadConstraints[0]"


def test_hundreds_of_equal_pods_are_no_harder_than_a_few() -> None:
    objects = Objects((), tuple(node(f"n{index}", "4") for index in range(20)))
    found = solve(tuple(pod(f"p{index}", "1500m") for index in range(200)), objects)
    assert (found.utility.placed, found.proven) == ((40,), True)


def test_out_of_time_the_best_so_far_is_the_answer_with_its_gap() -> None:
    objects = Objects((), tuple(node(f"n{index}", "7") for index in range(12)))
    pods = tuple(pod(f"p{index}", f"{900 + index * 17}m") for index in range(100))
    found = solve(pods, objects, seconds=0.0)
    assert is_feasible(pods, found.placement, objects, TODAY)
    assert not found.proven
    assert 0.0 < found.gap <= len(pods)
    placed = by_engine(pods, objects)
    again = solve(pods, objects, seconds=0.0, known=placed)
    assert again.utility >= utility(pods, placed, objects)
    assert not again.proven
