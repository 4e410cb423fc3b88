"""The plugins of era framework-1.18: which run by default, what they say and how they score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code
from scheduler_core.legacy.framework118 import FILTERS, SCORES, default_profile
from scheduler_core.legacy.plugins118 import registry118
from scheduler_core.legacy.unresolvable import might_help
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from tests.core import objects
from tests.legacy.era118 import framework
from tests.scheduler.kit import node


def test_the_default_plugins_run_in_their_order_with_their_weights() -> None:
    profile = framework().profile
    assert profile.at("filter") == FILTERS
    assert profile.weights == dict(SCORES)
    assert profile.weights["NodePreferAvoidPods"] == 10_000
    assert profile.at("postFilter") == ("Preemption",)
    assert "preEnqueue" not in profile.plugins


def test_every_plugin_of_the_registry_is_in_the_default_profile() -> None:
    assert set(framework().plugins) == set(registry118())


@pytest.mark.parametrize(
    ("one", "where", "reasons"),
    [
        (
            objects.pod(nodeSelector={"disk": "ssd"}),
            {},
            ("node(s) didn't match node selector",),
        ),
        (
            objects.pod(),
            {"taints": [{"key": "k", "effect": "NoSchedule"}]},
            ("node(s) had taints that the pod didn't tolerate",),
        ),
        (objects.pod(), {"unschedulable": True}, ("node(s) were unschedulable",)),
        (objects.pod(requests={"cpu": "64"}), {}, ("Insufficient cpu",)),
        (
            objects.pod(
                labels={"app": "web"},
                affinity={
                    "podAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}
                        ]
                    }
                },
            ),
            {"labels": {"zone": "z"}},
            ("node(s) didn't match pod affinity/anti-affinity", "node(s) didn't match pod affinity rules"),
        ),
    ],
    ids=["selector", "taint", "cordon", "larger than the node", "affinity"],
)
def test_filters_speak_as_they_did(one: PodInfo, where: dict[str, Any], reasons: tuple[str, ...]) -> None:
    built = framework()
    snapshot = Snapshot([NodeInfo("x", objects.node("x", **where))])
    state = CycleState()
    left, status, narrowing = built.run_pre_filter(state, one, snapshot)
    assert status.ok
    outcome = built.run_filter(state, one, snapshot, left, narrowing)
    refusal = outcome.status_of(0)
    assert refusal.reasons == reasons
    # The code follows the list: a node that is too small is tried in vain, then it was not seen beforehand.
    helps = reasons == ("Insufficient cpu",)
    assert (refusal.code is Code.UNSCHEDULABLE) is helps
    assert might_help(refusal) is helps


def test_the_balance_is_the_difference_of_two_fractions() -> None:
    built = framework({"profiles": [{"plugins": {"score": {
        "disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesBalancedAllocation"}]}}}]})  # fmt: skip
    full = objects.node("full", allocatable={"cpu": "1", "memory": "1Gi"})
    even = objects.node("even", allocatable={"cpu": "4", "memory": "8Gi"})
    odd = objects.node("odd", allocatable={"cpu": "2", "memory": "8Gi"})
    snapshot = Snapshot(NodeInfo(one.name, one) for one in (full, even, odd))
    one, state = objects.pod(requests={"cpu": "1", "memory": "2Gi"}), CycleState()
    raw = built.plugins["NodeResourcesBalancedAllocation"].score(state, one, snapshot, slice(None))
    # cpu 1/1 is full; 1/4 and 2/8 are alike; 1/2 and 2/8 differ by a quarter.
    assert raw.tolist() == [0, 100, 75]


def test_least_allocated_gives_half_to_each_resource() -> None:
    snapshot = Snapshot([NodeInfo("x", objects.node("x", allocatable={"cpu": "4", "memory": "8Gi"}))])
    one, state = objects.pod(requests={"cpu": "1", "memory": "6Gi"}), CycleState()
    plugin = framework().plugins["NodeResourcesLeastAllocated"]
    plugin.pre_score(state, one, snapshot, slice(None))
    assert plugin.score(state, one, snapshot, slice(None)).tolist() == [(75 + 25) // 2]


@pytest.mark.parametrize(
    ("kind", "uid", "score"),
    [("ReplicaSet", "rs-1", 0), ("ReplicaSet", "rs-2", 100), ("StatefulSet", "rs-1", 100)],
)
def test_nodes_can_ask_to_be_spared_a_controller_s_pods(kind: str, uid: str, score: int) -> None:
    annotation = '{"preferAvoidPods": [{"podSignature": {"podController": {"kind": "ReplicaSet", "uid": "rs-1"}}}]}'
    asks = node("asks", annotations={"scheduler.alpha.kubernetes.io/preferAvoidPods": annotation})
    broken = node("broken", annotations={"scheduler.alpha.kubernetes.io/preferAvoidPods": "{"})
    snapshot = Snapshot(NodeInfo(one.name, one) for one in (asks, broken))
    owner = {"kind": kind, "uid": uid, "controller": True, "name": "x", "apiVersion": "apps/v1"}
    one = objects.pod(metadata={"ownerReferences": [owner]})
    plugin = framework().plugins["NodePreferAvoidPods"]
    assert plugin.score(CycleState(), one, snapshot, slice(None)).tolist() == [score, 100]


class Services:
    """Listers of a cluster with one Service."""

    def list(self, resource: str) -> Any:
        service = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
        return [service] if resource == "services" else []

    def get(self, resource: str, namespace: str, name: str) -> None:
        return None


@pytest.mark.parametrize(
    ("zones", "scores"),
    [
        # 2, 1 and 0 pods: (2 − n)/2 · 100.
        (("", "", ""), [0, 50, 100]),
        # Zones a (3 pods) and b (none): a third of the node's, two thirds of the zone's.
        (("a", "a", "b"), [0, 16, 100]),
    ],
    ids=["without zones", "with zones"],
)
def test_pods_of_a_service_are_spread_over_nodes_and_zones(zones: tuple[str, ...], scores: list[int]) -> None:
    built = Framework(default_profile("default-scheduler"), registry118(), listers=Services())
    infos = []
    for index, zone in enumerate(zones):
        labels = {"topology.kubernetes.io/zone": zone} if zone else {}
        info = NodeInfo(f"n{index}", objects.node(f"n{index}", labels=labels))
        for number in range(2 - index):
            info.add_pod(objects.pod(f"p{index}{number}", labels={"app": "web"}, nodeName=info.name))
        infos.append(info)
    snapshot, state = Snapshot(infos), CycleState()
    one = objects.pod(labels={"app": "web"})
    plugin = built.plugins["DefaultPodTopologySpread"]
    rows = np.arange(3)
    plugin.pre_score(state, one, snapshot, rows)
    raw = plugin.score(state, one, snapshot, rows)
    assert raw.tolist() == [2, 1, 0]
    assert plugin.normalize(state, one, raw).tolist() == scores


# Errors and settings.
