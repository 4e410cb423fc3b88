"""Which nodes a sampled search looks at: worked examples, and a search written down node by node."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import PreFilterResult
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.sampling import feasible_nodes_to_find
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.cache import Cache
from scheduler_core.state.node_tree import NodeTree
from tests.core.objects import node, pod

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


@pytest.mark.parametrize(
    ("count", "percentage", "wanted"),
    [
        (50, 10, 50),
        (99, 1, 99),
        (100, 1, 100),
        (1000, 100, 1000),
        (1000, 0, 420),
        (5000, 0, 500),
        (5624, 0, 337),
        (6000, 0, 300),
        (1000, 5, 100),
        (1000, 30, 300),
    ],
)
def test_how_many_feasible_nodes_are_looked_for(count: int, percentage: int, wanted: int) -> None:
    assert feasible_nodes_to_find(count, percentage) == wanted


# The order of the nodes.


def tree(**zones: str) -> NodeTree:
    found = NodeTree()
    for name, zone in zones.items():
        found.put(node(name, labels={ZONE: zone} if zone else {}))
    return found


def test_zones_are_passed_in_turns() -> None:
    assert tree(a="x", b="x", c="x", d="y", e="z", f="z").names() == ["a", "d", "e", "b", "f", "c"]


def test_nodes_without_a_zone_make_up_one() -> None:
    assert tree(a="", b="x", c="", d="x").names() == ["a", "b", "c", "d"]


def test_a_node_that_changes_its_zone_goes_to_the_end_of_the_new_one() -> None:
    found = tree(a="x", b="y", c="y")
    found.put(node("a", labels={ZONE: "y"}))
    assert found.names() == ["b", "c", "a"]


def test_a_zone_goes_with_its_last_node_and_comes_back_last() -> None:
    found = tree(a="x", b="y")
    found.remove("a")
    found.put(node("c", labels={ZONE: "x"}))
    assert found.names() == ["b", "c"]
    with pytest.raises(KeyError):
        found.remove("a")


def test_one_zone_name_in_two_regions_is_two_zones() -> None:
    found = NodeTree()
    for name, region in (("a", "r1"), ("b", "r1"), ("c", "r2")):
        found.put(node(name, labels={ZONE: "x", REGION: region}))
    assert found.names() == ["a", "c", "b"]


def test_the_deprecated_label_counts_before_the_new_one() -> None:
    found = NodeTree()
    for name, labels in (("a", {OLD_ZONE: "x", ZONE: "y"}), ("b", {ZONE: "x"}), ("c", {ZONE: "y"})):
        found.put(node(name, labels=labels))
    assert found.names() == ["a", "c", "b"]


def test_snapshots_have_that_order_and_take_another_one_on_request() -> None:
    cache = Cache()
    for name, zone in (("a", "x"), ("b", "x"), ("c", "y")):
        cache.add_node(node(name, labels={ZONE: zone}))
    assert cache.snapshot().names == ["a", "c", "b"]
    assert cache.snapshot(["b", "a"]).names == ["b", "a", "c"]
    held = cache.snapshot()
    cache.add_node(node("b", labels={ZONE: "y"}))
    cache.update_snapshot(held)
    # As upstream, a label alone moves no row; the next node that comes or goes does.
    assert held.names == ["a", "c", "b"]
    cache.add_node(node("d", labels={ZONE: "x"}))
    cache.update_snapshot(held)
    assert held.names == ["a", "c", "d", "b"]


# The search.


def searched(
    count: int, refused: set[int], *, start: int, percentage: int = 1, left: set[int] | None = None, nominated: str = ""
) -> FilterOutcome:
    where = Snapshot(NodeInfo(f"n{row}", node(f"n{row}", unschedulable=row in refused)) for row in range(count))
    status: dict[str, Any] = {"nominatedNodeName": nominated} if nominated else {}
    one: PodInfo = pod("p", status=status)
    framework = Framework(default_configuration(), in_tree_registry())
    state = CycleState()
    _, answer, _ = framework.run_pre_filter(state, one, where)
    assert answer.ok
    names = PreFilterResult(None if left is None else frozenset(f"n{row}" for row in left))
    narrowing = frozenset() if left is None else frozenset({"NodeAffinity"})
    return framework.run_filter(state, one, where, names, narrowing, percentage=percentage, start=start)


def searched_plainly(rows: list[int], refused: set[int], wanted: int, start: int) -> tuple[list[int], list[int]]:
    """Return (rows taken, rows refused) as one worker finds them."""
    taken: list[int] = []
    turned_away: list[int] = []
    for step in range(len(rows)):
        row = rows[(start + step) % len(rows)]
        if row in refused:
            turned_away.append(row)
        elif len(taken) == wanted:
            break
        else:
            taken.append(row)
    return taken, turned_away


def test_a_search_ends_where_it_meets_one_node_too_many() -> None:
    # Rows 0, 5, 10 … refuse. From row 0 on, the hundredth that passes is 124; 125 refuses; 126 is one too many.
    outcome = searched(150, set(range(0, 150, 5)), start=0)
    assert len(outcome.feasible) == 100
    assert outcome.feasible[-1] == 124
    assert outcome.processed == 126
    # The next search begins there: 20 of the rows to the end pass, and 80 up to 99; 100 refuses, 101 is one too many.
    outcome = searched(150, set(range(0, 150, 5)), start=126)
    assert set(outcome.feasible.tolist()) == {row for row in (*range(126, 150), *range(100)) if row % 5}
    assert outcome.processed == 24 + 101


def test_too_few_nodes_that_pass_mean_that_all_are_looked_at() -> None:
    outcome = searched(150, set(range(60)), start=7)
    assert (len(outcome.feasible), outcome.processed) == (90, 150)
    assert len(list(outcome.failed())) == 60


def test_nodes_that_prefilter_left_are_a_search_of_their_own() -> None:
    # 120 of 200 are left: their number says how many are looked for, and the start goes round it.
    left = set(range(80, 200))
    outcome = searched(200, set(), start=130, left=left)
    assert set(outcome.feasible.tolist()) == set(range(90, 190))
    assert outcome.processed == 100
    few = searched(200, set(), start=130, left={3, 4})
    assert (few.feasible.tolist(), few.processed) == ([3, 4], 2)


def test_a_nominated_node_that_refused_counts_as_looked_at() -> None:
    outcome = searched(150, {149}, start=0, nominated="n149")
    assert outcome.processed == 101
    assert [row for row, _ in outcome.failed()] == [149]
    taken = searched(150, {149}, start=0, nominated="n140")
    assert (taken.feasible.tolist(), taken.used_nominated_node) == ([140], True)


@settings(max_examples=60)
@given(
    st.integers(100, 160),
    st.sets(st.integers(0, 159)),
    st.integers(0, 400),
    st.integers(0, 100),
    st.none() | st.sets(st.integers(0, 159), min_size=1),
)
def test_searches_are_those_of_one_worker(
    count: int, refused: set[int], start: int, percentage: int, left: set[int] | None
) -> None:
    rows = [row for row in range(count) if left is None or row in left]
    taken, turned_away = searched_plainly(rows, refused, feasible_nodes_to_find(len(rows), percentage), start)
    outcome = searched(count, refused, start=start, percentage=percentage, left=left)
    assert outcome.feasible.tolist() == sorted(taken)
    assert outcome.processed == len(taken) + len(turned_away)
    present = {row for row, _ in outcome.failed()} & set(rows)
    assert present == set(turned_away)
