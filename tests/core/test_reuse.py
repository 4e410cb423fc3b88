"""Reuse between pods of one shape gives the decisions of the slow path, whatever happens in between."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import PreFilterResult, Reads
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.scores import Scores
from scheduler_core.framework.status import Code
from scheduler_core.framework.verdicts import FilterOutcome, Verdicts, single_reason
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot
from scheduler_core.state.cache import Cache
from scheduler_core.state.nominator import Nominator
from tests.core.objects import node, pod

TAINTS = st.lists(
    st.sampled_from(
        [
            {"key": "a", "value": "1", "effect": "NoSchedule"},
            {"key": "b", "value": "2", "effect": "PreferNoSchedule"},
            {"key": "c", "value": "", "effect": "NoExecute"},
        ]
    ),
    max_size=2,
)
NODES = st.fixed_dictionaries(
    {
        "labels": st.fixed_dictionaries({"zone": st.sampled_from("xyz"), "gen": st.sampled_from(["1", "5", "q"])}),
        "taints": TAINTS,
        "unschedulable": st.booleans(),
        "allocatable": st.fixed_dictionaries(
            {"cpu": st.sampled_from(["1", "2", "4"]), "example.com/gpu": st.sampled_from(["0", "2"])}
        ),
        "images": st.lists(
            st.sampled_from([{"names": ["i:1"], "sizeBytes": 500_000_000}, {"names": ["j:1"], "sizeBytes": 10**9}]),
            max_size=2,
        ),
    }
)
AFFINITY = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 7, "preference": {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["2"]}]}}
        ]
    }
}
WEB = {"labelSelector": {"matchLabels": {"app": "web"}}}
AWAY = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}
SPREAD = [
    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **WEB},
    {"maxSkew": 1, "topologyKey": "gen", "whenUnsatisfiable": "ScheduleAnyway", "nodeTaintsPolicy": "Honor", **WEB},
]
ALONE = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [AWAY]}}
BESIDE = {
    "podAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 9, "podAffinityTerm": {"topologyKey": "gen", **WEB}},
            {"weight": 4, "podAffinityTerm": AWAY},
        ]
    }
}
RATHER_ALONE = {
    "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": AWAY}]}
}
RATHER_SPREAD = [
    {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": AWAY["labelSelector"]}
    for key in ("zone", "kubernetes.io/hostname")
]
SHAPES: list[dict[str, Any]] = [
    {"requests": {"cpu": "500m", "memory": "1Gi"}},
    {"requests": {"cpu": "1", "example.com/gpu": "1"}, "nodeSelector": {"zone": "x"}},
    {"requests": {}, "tolerations": [{"operator": "Exists"}], "affinity": AFFINITY},
    {
        "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 1, "hostPort": 80}]}],
        "tolerations": [{"key": "a", "operator": "Exists"}],
    },
    {"labels": {"app": "web"}, "topologySpreadConstraints": SPREAD},
    {"labels": {"app": "db"}, "affinity": ALONE, "tolerations": [{"key": "a", "operator": "Exists"}]},
    {"labels": {"app": "web"}, "affinity": BESIDE, "nodeSelector": {"gen": "5"}},
    {"labels": {"app": "db"}, "affinity": RATHER_ALONE, "topologySpreadConstraints": RATHER_SPREAD},
]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("schedule"), st.integers(0, len(SHAPES) - 1), st.integers(0, 3), st.just(1)),
        st.tuples(st.just("schedule"), st.integers(0, len(SHAPES) - 1), st.integers(0, 3), st.integers(1, 6)),
        st.tuples(st.just("delete"), st.integers(0, 40)),
        st.tuples(st.just("confirm"), st.integers(0, 40)),
        st.tuples(st.just("node"), st.integers(0, 11), NODES),
        st.tuples(st.just("drop"), st.integers(0, 11)),
        st.tuples(st.just("nominate"), st.integers(0, len(SHAPES) - 1), st.integers(0, 11), st.integers(0, 3)),
    ),
    min_size=5,
    max_size=30,
)


def asking_for(shape: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the shape with other requests: what plugins keep by what they read of a pod is then shared by many."""
    if not number or "containers" in shape:
        return shape
    return {**shape, "requests": {**shape.get("requests", {}), "memory": f"{100 * number}Mi"}}


def decision(framework: Framework, one: PodInfo, snapshot: Snapshot) -> dict[str, Any]:
    """Return everything that Filter and Score say, and the nodes that are best."""
    state = CycleState()
    again = framework.run_again(state, one, snapshot)
    if again is None:
        left, status, narrowing = framework.run_pre_filter(state, one, snapshot)
        assert status.ok
        outcome = framework.run_filter(state, one, snapshot, left, narrowing)
    else:
        outcome = again[1]
    said: dict[str, Any] = {
        "verdicts": {
            plugin: [verdicts.status(row) for row in range(len(snapshot))]
            for plugin, verdicts in outcome.verdicts.items()
        },
        "first": outcome.first.tolist(),
        "statuses": [outcome.status_of(row) for row in range(len(snapshot))],
        "reasons": dict(outcome.reasons()),
    }
    assert outcome.codes.tolist() == [int(status.code) for status in said["statuses"]]
    rows = outcome.feasible
    if len(rows):
        scores = again[2] if again is not None else None
        if scores is None:
            assert framework.run_pre_score(state, one, snapshot, rows).ok
            scores, status = framework.run_score(state, one, snapshot, outcome)
            assert status.ok
            framework.learn(state, one, snapshot, outcome, scores)
        assert scores is not None
        said["kept"] = [key for key, _ in state.items()], state.skip_filter, state.skip_score
        said["scores"] = scores.as_dict(snapshot.names)
        said["best"] = [snapshot.names[row] for row in scores.best()]
        if scores.ranking is not None:
            ranked = [snapshot.names[scores.ranking.row(number)] for number in range(scores.ranking.count)]
            assert (ranked, scores.top) == (sorted(said["best"]), max(scores.total))
        weighted = [part.weighted for part in scores.detail().values()]
        assert np.array_equal(sum(weighted), scores.total)
    return said


@settings(max_examples=60)
@given(st.lists(NODES, min_size=1, max_size=12), STEPS)
def test_decisions_are_the_same_with_reuse_and_without(nodes: list[dict[str, Any]], steps: list[Any]) -> None:
    cache, snapshot = Cache(), Snapshot()
    for number, one in enumerate(nodes):
        cache.add_node(node(f"n{number}", **one))
    nominator = Nominator()
    fast = Framework(default_configuration(), in_tree_registry(), nominator=nominator, reuse=True)
    slow = Framework(default_configuration(), in_tree_registry(), nominator=nominator, reuse=False)
    placed: list[str] = []
    for number, step in enumerate(steps):
        if step[0] == "schedule":
            for same in range(step[3]):
                one = pod(f"p{number}-{same}", **asking_for(SHAPES[step[1]], step[2]))
                cache.update_snapshot(snapshot)
                if not len(snapshot):
                    continue
                said = decision(fast, one, snapshot)
                assert said == decision(slow, one, cache.snapshot())
                if "best" in said:
                    cache.assume_pod(one.placed(said["best"][0]), said["best"][0])
                    placed.append(one.uid)
        elif step[0] == "nominate":
            # The same few pods hope for one node, then for another: what was remembered of both is stale.
            nominator.add(pod(f"rival{step[3]}", **SHAPES[step[1]], priority=step[3] - 1), f"n{step[2]}")
        elif step[0] == "delete" and placed:
            uid = placed.pop(step[1] % len(placed))
            (cache.forget_pod if cache.is_assumed(uid) else cache.remove_pod)(uid)
        elif step[0] == "confirm" and placed:
            known = cache.pod(placed[step[1] % len(placed)])
            assert known is not None
            cache.add_pod(known.placed(known.pod.spec.node_name, "2026-01-01T00:00:00Z"))
        elif step[0] == "node":
            cache.add_node(node(f"n{step[1]}", **step[2]))
        elif step[0] == "drop" and cache.node(f"n{step[1]}") is not None:
            cache.remove_node(f"n{step[1]}")


class CountsAgain(Framework):
    """Counts the pods that go like the one before them."""

    count = 0

    def run_again(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot
    ) -> tuple[PreFilterResult, FilterOutcome, Scores] | None:
        found = super().run_again(state, pod, snapshot)
        self.count += found is not None
        return found


def test_a_row_of_pods_of_one_shape_is_decided_as_each_alone_would_be() -> None:
    cache, snapshot = Cache(), Snapshot()
    for number in range(7):
        size = {"cpu": str(2 + number % 3), "memory": "8Gi", "pods": "40"}
        cache.add_node(node(f"n{number}", labels={"kubernetes.io/hostname": f"n{number}"}, allocatable=size))
    fast = CountsAgain(default_configuration(), in_tree_registry())
    slow = Framework(default_configuration(), in_tree_registry(), reuse=False)
    spread = [{"maxSkew": 2, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway", **WEB}]
    web = {"labels": {"app": "web"}, "topologySpreadConstraints": spread, "requests": {"cpu": "100m"}}
    for number in range(60):
        one = pod(f"p{number}", **(web if number % 20 else {"requests": {"cpu": "300m"}}))
        cache.update_snapshot(snapshot)
        said = decision(fast, one, snapshot)
        assert said == decision(slow, one, cache.snapshot())
        cache.assume_pod(one.placed(said["best"][0]), said["best"][0])
        if number % 25 == 24:
            # Two nodes have changed since the pod before, and a node has other labels.
            cache.forget_pod("uid-p3")
            cache.add_node(node("n2", labels={"kubernetes.io/hostname": f"new{number}"}))
            cache.add_pod(pod("uid-p3", **web).placed("n1"))
    assert fast.count >= 40


WEB_POD = {
    "labels": {"app": "web"},
    "topologySpreadConstraints": [
        {"maxSkew": 2, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway", **WEB}
    ],
    "requests": {"cpu": "100m"},
}


def confirmed(one: PodInfo, name: str) -> PodInfo:
    """Return a web pod as the watch shows it once it is bound."""
    shown = pod(one.pod.name, **WEB_POD, nodeName=name, metadata={"resourceVersion": "2"}, status={"phase": "Running"})
    shown.adopt(one)
    return shown


def test_pods_that_are_confirmed_in_between_change_nothing_for_the_next_ones() -> None:
    cache, snapshot = Cache(), Snapshot()
    for number in range(7):
        cache.add_node(node(f"n{number}", labels={"kubernetes.io/hostname": f"n{number}"}))
    fast = CountsAgain(default_configuration(), in_tree_registry())
    slow = Framework(default_configuration(), in_tree_registry(), reuse=False)
    assumed: list[tuple[PodInfo, str]] = []
    for number in range(30):
        one = pod(f"p{number}", **WEB_POD)
        cache.update_snapshot(snapshot)
        said = decision(fast, one, snapshot)
        assert said == decision(slow, one, cache.snapshot())
        cache.assume_pod(one.placed(said["best"][0]), said["best"][0])
        assumed.append((one, said["best"][0]))
        if number % 5 == 4:
            for pair in assumed:
                cache.add_pod(confirmed(*pair))
            assumed.clear()
    # All but the first two, from which the others are known.
    assert fast.count == 28


class Unwilling:
    """A filter that turns nodes down on which a pod runs."""

    name: ClassVar[str] = "Unwilling"
    filter_reads: ClassVar[Reads] = Reads.NODE_AND_PODS

    def filter(self, state: CycleState, one: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        running = [any(there.pod.status.phase == "Running" for there in row.pods) for row in snapshot.infos_of(rows)]
        return single_reason(np.array(running, dtype=np.bool_), Code.UNSCHEDULABLE, "a pod runs there")


def test_a_plugin_that_looks_at_pods_themselves_is_asked_again_when_one_is_confirmed() -> None:
    registry = in_tree_registry()
    registry.register("Unwilling", lambda arguments, handle: Unwilling())
    enabled = default_configuration().sets["multiPoint"].enabled
    sets = {"multiPoint": PluginSet((*enabled, ("Unwilling", 0)))}
    framework = Framework(ProfileConfiguration(sets=sets), registry)
    cache, snapshot = Cache(), Snapshot()
    for name in "abcd":
        cache.add_node(node(name))
    one = pod("there", **WEB_POD)
    cache.assume_pod(one.placed("b"), "b")

    def best() -> list[str]:
        cache.update_snapshot(snapshot)
        return list(decision(framework, pod("p", **WEB_POD), snapshot)["best"])

    assert [best(), best(), best()] == [["a", "c", "d"]] * 3
    cache.add_pod(confirmed(one, "b"))
    cache.update_snapshot(snapshot)
    verdicts = framework.run_filter(CycleState(), pod("p", **WEB_POD), snapshot).verdicts["Unwilling"]
    assert [verdicts.status(row).code for row in range(4)].index(Code.UNSCHEDULABLE) == 1


class Dislikes:
    """A filter that breaks when it is asked about a node that holds a pod."""

    name: ClassVar[str] = "Dislikes"
    filter_reads: ClassVar[Reads] = Reads.NODE_AND_PODS

    def filter(self, state: CycleState, one: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        if any(row.pods for row in snapshot.infos_of(rows)):
            raise ValueError("a pod is there")
        return single_reason(np.zeros(snapshot.count(rows), dtype=np.bool_), Code.UNSCHEDULABLE, "")


def test_an_error_is_forgotten_with_its_cause() -> None:
    registry = in_tree_registry()
    registry.register("Dislikes", lambda arguments, handle: Dislikes())
    enabled = default_configuration().sets["multiPoint"].enabled
    sets = {"multiPoint": PluginSet((*enabled, ("Dislikes", 0)))}
    framework = Framework(ProfileConfiguration(sets=sets), registry)
    cache, snapshot = Cache(), Snapshot()
    for name in "abcd":
        cache.add_node(node(name))
    cache.add_pod(pod("there").placed("a"))

    def statuses() -> list[Code]:
        cache.update_snapshot(snapshot)
        verdicts = framework.run_filter(CycleState(), pod("p"), snapshot).verdicts["Dislikes"]
        return [verdicts.status(row).code for row in range(4)]

    # Over four nodes the plugin broke; asked about each alone it breaks at one.
    assert statuses() == [Code.ERROR, Code.SUCCESS, Code.SUCCESS, Code.SUCCESS]
    cache.remove_pod("uid-there")
    assert statuses() == [Code.SUCCESS] * 4
