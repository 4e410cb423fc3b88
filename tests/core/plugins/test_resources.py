"""NodeResourcesFit, NodeResourcesBalancedAllocation, ImageLocality and the kernels under them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.status import SUCCESS, unresolvable, unschedulable
from scheduler_core.kernels.resources import (
    balanced,
    balanced_one,
    broken_line,
    default_normalize,
    least_allocated,
    least_allocated_one,
    most_allocated,
    most_allocated_one,
)
from scheduler_core.plugins.image_locality import ImageLocality, normalized_name
from scheduler_core.plugins.node_resources_balanced import NodeResourcesBalancedAllocation
from scheduler_core.plugins.node_resources_fit import NodeResourcesFit
from scheduler_core.snapshot.snapshot import ALL_ROWS, Snapshot
from tests.core.objects import info, node, pod
from tests.core.plugins.asking import filtered, hint, scored

GPU = "example.com/gpu"
MEBI = 1024 * 1024


@pytest.mark.parametrize(
    ("requests", "answer"),
    [
        ({}, SUCCESS),
        ({"cpu": "1"}, SUCCESS),
        ({"cpu": "2"}, unschedulable("Insufficient cpu")),
        ({"cpu": "5"}, unresolvable("Insufficient cpu")),
        ({"cpu": "2", "memory": "9Gi"}, unresolvable("Insufficient cpu", "Insufficient memory")),
        ({GPU: "1"}, unresolvable(f"Insufficient {GPU}")),
        ({GPU: "0", "cpu": "0"}, SUCCESS),
        ({"ephemeral-storage": "1"}, unresolvable("Insufficient ephemeral-storage")),
    ],
)
def test_fit(requests: dict[str, str], answer: Any) -> None:
    held = info(node("a"), pod("x", requests={"cpu": "3"}))
    assert filtered(NodeResourcesFit({}), pod(requests=requests), held) == [answer]


def test_too_many_pods_is_never_unresolvable() -> None:
    full = info(node("a", allocatable={"pods": "1"}), pod("x"))
    assert filtered(NodeResourcesFit({}), pod(), full) == [unschedulable("Too many pods")]
    assert filtered(NodeResourcesFit({}), pod(requests={"cpu": "2"}), info(node("a", allocatable={"pods": "0"}))) == [
        unschedulable("Too many pods")
    ]


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"ignoredResources": [GPU]}, SUCCESS),
        ({"ignoredResourceGroups": ["example.com"]}, SUCCESS),
        ({"ignoredResources": ["other/gpu"]}, unresolvable(f"Insufficient {GPU}")),
    ],
)
def test_ignored_extended_resources(arguments: dict[str, Any], answer: Any) -> None:
    assert filtered(NodeResourcesFit(arguments), pod(requests={GPU: "1"}), info(node("a"))) == [answer]


def strategy(kind: str, **more: Any) -> dict[str, Any]:
    return {"scoringStrategy": {"type": kind, **more}}


SHAPE = {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}


@pytest.mark.parametrize(
    ("arguments", "scores"),
    [
        # cpu: (4000-2000)/4000 and (4000-1000)/4000; memory: (8-4)/8 and (8-2)/8.
        ({}, [50, 75]),
        (strategy("MostAllocated"), [50, 25]),
        (strategy("LeastAllocated", resources=[{"name": "cpu", "weight": 3}, {"name": GPU, "weight": 1}]), [50, 75]),
        (strategy("RequestedToCapacityRatio", requestedToCapacityRatio=SHAPE), [50, 25]),
    ],
)
def test_fit_scores(arguments: dict[str, Any], scores: list[int]) -> None:
    busy = info(node("a"), pod("x", requests={"cpu": "1", "memory": "2Gi"}))
    one = pod(requests={"cpu": "1", "memory": "2Gi"})
    assert scored(NodeResourcesFit(arguments), one, busy, info(node("b"))) == scores


def test_fit_refuses_arguments_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="Odd is not supported"):
        NodeResourcesFit(strategy("Odd"))
    with pytest.raises(ValueError, match="at least one point"):
        NodeResourcesFit(strategy("RequestedToCapacityRatio"))


def test_a_pod_with_more_kinds_of_resources_than_reasons_fit_gets_an_error() -> None:
    many = pod(requests={f"example.com/r{number}": "1" for number in range(62)})
    with pytest.raises(ValueError, match="at most 61 kinds"):
        NodeResourcesFit({}).pre_filter(CycleState(), many, Snapshot())


def test_fit_wakes_when_room_may_have_come() -> None:
    plugin, one = NodeResourcesFit({}), pod(requests={"cpu": "2"})
    running = pod("x", requests={"cpu": "3"}, nodeName="a")
    shrunk = pod("x", requests={"cpu": "1"}, nodeName="a")
    assert [hint(plugin, one, 0, running, None), hint(plugin, one, 0, running, shrunk)] == ["Queue", "Queue"]
    assert [hint(plugin, one, 0, shrunk, running), hint(plugin, one, 0, pod("y"), None)] == ["QueueSkip"] * 2
    small, large = node("a", allocatable={"cpu": "1"}), node("a", allocatable={"cpu": "4"})
    assert [hint(plugin, one, 2, None, large), hint(plugin, one, 2, small, large)] == ["Queue", "Queue"]
    assert [hint(plugin, one, 2, None, small), hint(plugin, one, 2, large, large)] == ["QueueSkip"] * 2


def test_balanced_likes_even_use_and_skips_best_effort() -> None:
    plugin = NodeResourcesBalancedAllocation({})
    uneven = info(node("a"), pod("x", requests={"cpu": "2"}))
    one = pod(requests={"cpu": "1", "memory": "2Gi"})
    assert scored(plugin, one, uneven, info(node("b"))) == [75, 100]
    assert scored(plugin, pod(), uneven) == []


def test_image_locality() -> None:
    def image(name: str, size: int) -> dict[str, Any]:
        return {"names": [name], "sizeBytes": size * MEBI}

    held = info(node("a", images=[image("web:1", 2000)])), info(node("b")), info(node("c", images=[image("web:1", 1)]))
    one = pod(containers=[{"name": "c", "image": "web:1"}])
    # The first node's size counts for all: 2000 Mi × 2/3 is past the limit of 1000 Mi a container.
    assert scored(ImageLocality(), one, *held) == [100, 0, 100]
    assert scored(ImageLocality(), pod(), *held) == [0, 0, 0]


@pytest.mark.parametrize(
    ("image", "name"),
    [("web", "web:latest"), ("web:2", "web:2"), ("host:5000/web", "host:5000/web:latest"), ("h:5/w:1", "h:5/w:1")],
)
def test_image_names_get_a_tag(image: str, name: str) -> None:
    assert normalized_name(image) == name


AMOUNT = st.integers(0, 10**15)
PAIRS = st.lists(st.tuples(AMOUNT, AMOUNT), min_size=1, max_size=4)


@given(AMOUNT, st.integers(1, 10**15))
def test_one_node_in_plain_integers_scores_as_in_arrays(requested: int, capacity: int) -> None:
    arrays = np.array([requested]), np.array([capacity])
    assert least_allocated(*arrays)[0] == least_allocated_one(requested, capacity)
    assert most_allocated(*arrays)[0] == most_allocated_one(requested, capacity)


@given(PAIRS)
def test_balance_of_one_node_is_the_same_alone_and_among_others(pairs: list[tuple[int, int]]) -> None:
    empty = [(0, 0)] * len(pairs)
    requested = [np.array([one[0], other[0]]) for one, other in zip(pairs, empty, strict=True)]
    capacity = [np.array([one[1], other[1]]) for one, other in zip(pairs, empty, strict=True)]
    assert balanced(requested, capacity).tolist() == [balanced_one(pairs), 100]
    alone = balanced([column[:1] for column in requested], [column[:1] for column in capacity])
    assert alone.tolist() == [balanced_one(pairs)]


@pytest.mark.parametrize(("x", "y"), [(0, 20), (10, 20), (27, 54), (45, 90), (50, 82), (80, 30), (99, 30)])
def test_broken_line_truncates_toward_zero(x: int, y: int) -> None:
    assert broken_line(np.array([x]), [(10, 20), (45, 90), (80, 30)]).tolist() == [y]


@pytest.mark.parametrize(
    ("scores", "reverse", "normalized"),
    [
        ([0, 5, 10], False, [0, 50, 100]),
        ([0, 5, 10], True, [100, 50, 0]),
        ([0, 0], True, [100, 100]),
        ([0], False, [0]),
    ],
)
def test_default_normalize(scores: list[int], reverse: bool, normalized: list[int]) -> None:
    assert default_normalize(np.array(scores), reverse=reverse).tolist() == normalized


@given(st.lists(st.tuples(st.sampled_from("1234"), st.sampled_from(["0", "1", "2"])), min_size=6, max_size=9))
def test_fit_judges_rows_alone_as_among_all(sizes: list[tuple[str, str]]) -> None:
    held = [info(node(f"n{i}", allocatable={"cpu": cpu, GPU: gpu}), pod(f"x{i}")) for i, (cpu, gpu) in enumerate(sizes)]
    snapshot, plugin, state = Snapshot(held), NodeResourcesFit({}), CycleState()
    one = pod(requests={"cpu": "2", GPU: "1"})
    plugin.pre_filter(state, one, snapshot)
    plugin.pre_score(state, one, snapshot, ALL_ROWS)
    whole = plugin.filter(state, one, snapshot, ALL_ROWS)
    for row in range(len(held)):
        alone = np.array([row])
        assert plugin.filter(state, one, snapshot, alone).status(0) == whole.status(row)
        assert plugin.score(state, one, snapshot, alone)[0] == plugin.score(state, one, snapshot, ALL_ROWS)[row]
