"""One weight changed alone, added up from what traces keep: the engine, asked each time, says the same."""

from __future__ import annotations

import pytest

from controllers.cluster import found
from controllers.log.memory import MemoryStore
from controllers.scheduler.past import Past
from controllers.whatif.changes import read_changes
from controllers.whatif.many import again
from controllers.whatif.weights import WEIGHTS, Alone, alone, summed
from tests.controllers.scheduler.plane import Plane

SOFT = [{"key": "slow", "effect": "PreferNoSchedule"}]
NEAR = {
    "podAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 50,
                "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}},
            }
        ]
    }
}


@pytest.fixture
def plane() -> Plane:
    """Return a scheduler that has placed pods of many kinds, some by lot, some where one node alone was left."""
    store = MemoryStore(seed=11)
    found(store)
    plane = Plane(store)
    plane.node("a", cpu="8")
    plane.node("b", cpu="4", memory="32Gi")
    plane.node("c", cpu="6", taints=SOFT)
    plane.node("d", cpu="6")
    for number in range(18):
        plane.pod(f"p{number}", ("250m", "1", "500m")[number % 3], **({"affinity": NEAR} if number % 4 == 3 else {}))
        plane.run(plane.loop.now_ms)
    plane.pod("none", "64")
    plane.pod("one", "3500m")
    plane.run(plane.loop.now_ms)
    return plane


def test_each_weight_moves_what_the_engine_would_have_moved(plane: Plane) -> None:
    past = Past(plane.store)
    kept = plane.store.newest_traces(20)
    asked = 0
    for envelope, blob in kept:
        told = alone(past, envelope, blob)
        for plugin, moved in told.moved.items():
            for weight, elsewhere in zip(WEIGHTS, moved, strict=True):
                change = read_changes([{"weight": {"plugin": plugin, "weight": weight}}])
                row = again(past, envelope, blob, change)
                assert elsewhere == (row["before"] != row["after"]), (envelope["pod"], plugin, weight)
                asked += 1
    assert asked > 20 * len(WEIGHTS)
    sums = {row["plugin"]: row for row in summed(alone(past, *one) for one in kept)}
    assert {row["decided"] for row in sums.values()} == {20}, "an attempt without scores is not moved by any weight"
    assert sums["TaintToleration"]["elsewhere"][3] == 0, "its own weight moves nothing"
    assert any(sum(row["elsewhere"]) for row in sums.values())


def test_a_trace_without_its_matrices_is_told_the_same(plane: Plane) -> None:
    past = Past(plane.store)
    for envelope, blob in plane.store.newest_traces(6):
        assert alone(past, envelope, blob) == alone(past, envelope, b"")


def test_a_plugin_that_does_not_score_in_a_profile_is_no_part_of_its_decisions() -> None:
    both = Alone({"X": [True] * 6, "Y": [False] * 6})
    one = Alone({"Y": [True, *[False] * 5]}, idle=frozenset({"Z"}))
    assert summed([both, one, Alone({}, scored=False)]) == [
        {"plugin": "X", "decided": 2, "elsewhere": [1, 1, 1, 1, 1, 1]},
        {"plugin": "Y", "decided": 3, "elsewhere": [1, 0, 0, 0, 0, 0]},
        {"plugin": "Z", "decided": 2, "elsewhere": [0, 0, 0, 0, 0, 0]},
    ]
