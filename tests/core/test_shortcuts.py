"""What is not asked, or asked in another way for speed, is what the long way would have answered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.trial import LightTrial, SnapshotTrial
from scheduler_core.kernels.resources import (
    PLAIN_MAX,
    balanced_one,
    balanced_pair,
    least_allocated_one,
    least_allocated_pair,
)
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.snapshot.name_order import NameOrder
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import ALLOCATABLE, LEFT, PLACES, REQUESTED, Snapshot
from scheduler_core.snapshot.traits import HAS_VOLUMES
from tests.core.objects import info, node, pod


def test_volumes_that_need_no_place_do_not_tell_pods_apart() -> None:
    def mounted(name: str) -> PodInfo:
        return pod(volumes=[{"name": name, "projected": {"sources": []}}, {"name": "tmp", "emptyDir": {}}])

    claimed = pod(volumes=[{"name": "a", "persistentVolumeClaim": {"claimName": "data"}}])
    inline = pod(volumes=[{"name": "a", "csi": {"driver": "x"}}])
    assert mounted("kube-api-access-bcdfg").shape == mounted("kube-api-access-xzxzx").shape == pod().shape
    assert len({one.shape for one in (pod(), claimed, inline)}) == 3
    assert [bool(one.traits & HAS_VOLUMES) for one in (mounted("a"), claimed, inline)] == [False, True, True]


AMOUNTS = st.integers(0, 2 * PLAIN_MAX)
SIZES = st.integers(1, PLAIN_MAX)
PLAIN_PODS = [
    pod(requests={"cpu": "1", "memory": "1Gi"}),
    pod(requests={}),
    pod(labels={"app": "web"}, requests={"memory": "1Gi"}, tolerations=[{"operator": "Exists"}]),
    pod(volumes=[{"name": "token", "projected": {"sources": []}}]),
]


def default_framework() -> Framework:
    """Return the default profile, built."""
    return Framework(default_configuration(), in_tree_registry())


@given(st.lists(st.tuples(SIZES, SIZES, AMOUNTS, AMOUNTS), min_size=1, max_size=20), AMOUNTS, AMOUNTS)
def test_two_resources_in_doubles_score_as_one_node_does_in_integers(
    nodes: list[tuple[int, int, int, int]], cpu: int, memory: int
) -> None:
    capacity = np.array([[one[0] for one in nodes], [one[1] for one in nodes]], dtype=np.float64)
    requested = np.array([[one[2] for one in nodes], [one[3] for one in nodes]], dtype=np.float64)
    left = np.array([[100 * (a - c) for a, _, c, _ in nodes], [100 * (b - d) for _, b, _, d in nodes]], np.float64)
    least = [(least_allocated_one(c + cpu, a) + least_allocated_one(d + memory, b)) // 2 for a, b, c, d in nodes]
    even = [balanced_one([(c + cpu, a), (d + memory, b)]) for a, b, c, d in nodes]
    assert least_allocated_pair(left, capacity, (cpu, memory)).tolist() == least
    assert balanced_pair(requested, capacity, (cpu, memory)).tolist() == even


PLACED = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["100m", "1", "3", "5"]), st.booleans()), min_size=1, max_size=12
)


@given(PLACED, st.integers(0, 6000), st.integers(0, 11))
def test_what_fits_everywhere_fits_on_every_node(
    steps: list[tuple[int, str, bool]], millicores: int, places: int
) -> None:
    infos = [info(node(name)) for name in ("a", "b", "c")]
    snapshot = Snapshot(one.clone() for one in infos)
    for number, (row, cpu, goes) in enumerate(steps):
        if goes and infos[row].pods:
            infos[row].remove_pod(infos[row].pods[0].uid)
        else:
            infos[row].add_pod(pod(f"p{number}", requests={"cpu": cpu}))
        snapshot.replace_row(row, infos[row].clone())
        left = [one.allocatable["cpu"] - one.requested.get("cpu", 0) for one in infos]
        assert snapshot.fits_everywhere("cpu", millicores) == (min(left) >= millicores)
        assert snapshot.fits_everywhere(PLACES, places) == (10 - max(len(one.pods) for one in infos) >= places)
    assert not snapshot.fits_everywhere("example.com/gpu", 1)
    snapshot.replace_row(0, info(node("a", allocatable={"cpu": "100m"})))
    assert not snapshot.fits_everywhere("cpu", 101)


def test_what_is_known_to_fit_everywhere_is_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    infos = [info(node(name)) for name in ("a", "b", "c")]
    snapshot = Snapshot(one.clone() for one in infos)
    assert snapshot.fits_everywhere("cpu", 100)
    assert snapshot.fits_everywhere(PLACES, 1)
    infos[0].add_pod(pod("p", requests={"cpu": "100m"}))
    snapshot.replace_row(0, infos[0].clone())
    for column in ("allocatable", "requested", "pod_limit", "pod_count"):
        monkeypatch.delattr(snapshot, column)
    assert snapshot.fits_everywhere("cpu", 100)
    assert snapshot.fits_everywhere(PLACES, 1)


@given(st.lists(st.text("ab1", max_size=3), min_size=1, max_size=9, unique=True), st.data())
def test_the_nth_of_some_rows_is_that_of_their_sorted_names(names: list[str], data: st.DataObject) -> None:
    rows = sorted(data.draw(st.sets(st.integers(0, len(names) - 1), min_size=1)))
    order = NameOrder(names)
    found = [order.nth(np.array(rows, dtype=np.intp), number) for number in range(len(rows))]
    assert found == sorted(rows, key=names.__getitem__)


@given(st.lists(st.integers(0, 7), max_size=6))
def test_pairs_of_some_rows_are_those_rows_of_all(rows: list[int]) -> None:
    snapshot = Snapshot(
        info(node(f"n{row}", allocatable={"cpu": str(row + 1), "memory": f"{row + 1}Gi"})) for row in range(8)
    )
    wanted = np.array(sorted(set(rows)), dtype=np.intp)
    for asked in (wanted, np.arange(2, 5), wanted):
        for which in (ALLOCATABLE, REQUESTED, LEFT):
            assert snapshot.pairs_of(asked, which).tolist() == snapshot.pairs[which][:, asked].tolist()


@pytest.mark.parametrize("one", PLAIN_PODS, ids=lambda one: str(dict(one.asked)))
def test_a_plugin_that_is_not_asked_would_have_had_nothing_to_say(one: PodInfo) -> None:
    framework, snapshot = default_framework(), Snapshot([info(node())])
    left_out: set[tuple[str, str]] = set()
    for plugin in framework.plugins.values():
        for point, wants in getattr(plugin, "idle_without", {}).items():
            if wants & one.traits:
                continue
            left_out.add((plugin.name, point))
            state, asked = CycleState(), plugin
            answers: dict[str, Any] = {
                "preEnqueue": lambda asked=asked: asked.pre_enqueue(one).ok,
                "preFilter": lambda asked=asked, state=state: asked.pre_filter(state, one, snapshot)[1].skipped,
                "preScore": lambda asked=asked, state=state: (
                    asked.pre_score(state, one, snapshot, snapshot.every_row).skipped
                ),
                "reserve": lambda asked=asked, state=state: asked.reserve(state, one, "n").ok,
                "preBind": lambda asked=asked, state=state: not list(asked.pre_bind(state, one, "n")),
            }
            assert answers[point](), (plugin.name, point)
            assert not list(state.items()), "where it is timed it is asked, and the trace shows what it writes"
    assert {("VolumeBinding", "preFilter"), ("NodePorts", "preFilter"), ("NodeAffinity", "preScore")} <= left_out
    state = CycleState()
    framework.run_pre_filter(state, one, snapshot)
    assert {"VolumeBinding", "VolumeZone", "NodePorts", "NodeAffinity", "PodTopologySpread"} <= state.skip_filter


LESSER = st.lists(st.sampled_from(["500m", "1", "2", "3"]), min_size=1, max_size=6)


@given(LESSER, st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=12), st.sampled_from(["1", "3", "5"]))
def test_a_dry_run_on_the_node_alone_says_what_one_on_a_snapshot_says(
    held: list[str], steps: list[tuple[int, bool]], wanted: str
) -> None:
    framework = default_framework()
    pods = [pod(f"p{number}", requests={"cpu": cpu}) for number, cpu in enumerate(held)]
    snapshot = Snapshot([info(node("a"), *pods), info(node("b"))])
    state, preemptor = CycleState(), pod("new", requests={"cpu": wanted})
    left, _, narrowing = framework.run_pre_filter(state, preemptor, snapshot)
    framework.run_filter(state, preemptor, snapshot, left, narrowing)
    handle: Handle = framework
    light = handle.trial(state, preemptor, snapshot, 0)
    full = SnapshotTrial(framework._filtering, state, preemptor, snapshot, 0)
    assert isinstance(light, LightTrial)
    there = dict(enumerate(pods))
    for number, comes in [(0, False), *steps]:
        moved = pods[number % len(pods)]
        if comes == (number % len(pods) in there):
            continue
        for trial in (light, full):
            assert (trial.add(moved) if comes else trial.remove(moved)).ok
        if comes:
            there[number % len(pods)] = moved
        else:
            del there[number % len(pods)]
        assert light.verdict() == full.verdict()


CHANGES: list[dict[str, Any]] = [
    {"nodeName": "n"},
    {"nodeName": "n", "status": {"phase": "Running", "startTime": "2030-01-01T00:00:00Z"}},
    {
        "nodeName": "n",
        "status": {
            "phase": "Running",
            "containerStatuses": [
                {"name": "c", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "1"}}
            ],
        },
    },
    {"nodeName": "n", "labels": {"app": "db"}},
    {"nodeName": "n", "requests": {"cpu": "2"}},
    {"nodeName": "n", "metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}},
    {"nodeName": "n", "status": {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_what_was_worked_out_for_an_earlier_view_of_a_pod_holds_for_the_one_that_takes_it_over(
    changes: dict[str, Any],
) -> None:
    given = {"labels": {"app": "web"}, "requests": {"cpu": "1"}}
    before = pod(**given)
    worked_out = (before.sums, before.terms, before.kin, before.traits)
    after, fresh = pod(**{**given, **changes}), pod(**{**given, **changes})
    after.adopt(before)
    assert (after.sums, after.terms, after.kin, after.traits) == (fresh.sums, fresh.terms, fresh.kin, fresh.traits)
    same = len(changes) == 1 or changes.get("status", {}).get("phase") == "Running"
    assert (after.sums is worked_out[0]) == same


GIVEN: list[tuple[dict[str, Any], bool]] = [
    ({"name": "c"}, True),
    ({"name": "c", "resources": {"requests": {"cpu": "1"}}}, True),
    ({"name": "c", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "1"}}, True),
    ({"name": "c", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "2"}}, False),
    ({"name": "c", "resources": {}}, False),
    ({"name": "c", "resources": {"requests": {"cpu": "2"}}}, False),
]


@pytest.mark.parametrize(("told", "alike"), GIVEN, ids=str)
def test_pods_that_were_given_what_they_ask_for_are_alike(told: dict[str, Any], alike: bool) -> None:
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z"}]
    plain = pod(requests={"cpu": "1"})
    one = pod(requests={"cpu": "1"}, status={"containerStatuses": [told], "conditions": conditions})
    assert (one.shape == plain.shape) == (one.sums is plain.sums) == alike
