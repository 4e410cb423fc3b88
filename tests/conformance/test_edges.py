"""Edges of the scheduler's rules that few recorded cases reach, worked out by hand from what upstream says of each."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.api.document import Document
from scheduler_core.oracle import answer


def node(
    name: str, *, labels: dict[str, str] | None = None, allocatable: Document | None = None, **spec: Any
) -> Document:
    size = {"cpu": "4", "memory": "8Gi", "pods": "9"} | (allocatable or {})
    return {
        "metadata": {"name": name, "uid": name, "labels": labels or {}},
        "spec": spec,
        "status": {"allocatable": size},
    }


def pod(
    name: str = "p", *, cpu: str = "", status: Document | None = None, meta: Document | None = None, **spec: Any
) -> Document:
    requests = {"cpu": cpu} if cpu else {}
    containers = [{"name": "c", "image": "i:1", "resources": {"requests": requests}}]
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name} | (meta or {}),
        "spec": {"schedulerName": "default-scheduler", "containers": containers} | spec,
        "status": status or {},
    }


def decided(of: Document, *nodes: Document, pods: list[Document] | None = None, **profile: Any) -> Document:
    config = {"profiles": [{"schedulerName": "default-scheduler", **profile}]} if profile else {}
    return answer({"id": "x", "objects": {"nodes": list(nodes), "pods": pods or []}, "config": config, "pod": of})


def without(point: str, *names: str) -> Document:
    return {point: {"disabled": [{"name": name} for name in names]}}


# A point that the profile leaves out.

HARD = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]
PORT = [{"name": "c", "image": "i", "ports": [{"containerPort": 1, "hostPort": 1}]}]


@pytest.mark.parametrize(
    ("plugin", "text"),
    [
        ("NodeResourcesFit", 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'),
        ("NodePorts", 'reading "PreFilterNodePorts" from cycleState: not found'),
        ("PodTopologySpread", 'reading "PreFilterPodTopologySpread" from cycleState: not found'),
        ("InterPodAffinity", 'error reading "PreFilterInterPodAffinity" from cycleState: not found'),
        ("VolumeRestrictions", 'cannot read "PreFilterVolumeRestrictions" from cycleState'),
        ("VolumeBinding", "not found"),
        ("DynamicResources", "not found"),
    ],
)
def test_a_filter_is_broken_without_its_prefilter(plugin: str, text: str) -> None:
    got = decided(pod(), node("a"), plugins=without("preFilter", plugin))
    assert (got["result"], got["fitError"]) == ("error", f'running "{plugin}" filter plugin: {text}')
    assert got["filters"] == {"a": {plugin: {"code": "Error", "reasons": [text]}}}


@pytest.mark.parametrize("plugin", ["NodeAffinity", "VolumeZone", "NodeVolumeLimits"])
def test_other_filters_work_out_what_they_need(plugin: str) -> None:
    got = decided(
        pod(nodeSelector={"disk": "ssd"}),
        node("a"),
        node("b", labels={"disk": "ssd"}),
        plugins=without("preFilter", plugin),
    )
    assert (got["result"], got["best"]) == ("scheduled", ["b"])
    assert plugin not in got["preFilter"]["skip"]


def test_a_missing_claim_is_told_by_the_zone_filter_where_its_prefilter_is_left_out() -> None:
    claiming = pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    profile = {
        "preFilter": {"disabled": [{"name": "*"}]},
        "filter": {"disabled": [{"name": "*"}], "enabled": [{"name": "VolumeZone"}]},
    }
    got = decided(claiming, node("a"), plugins=profile)
    told = {
        "code": "UnschedulableAndUnresolvable",
        "plugin": "VolumeZone",
        "reasons": ['persistentvolumeclaim "c" not found'],
    }
    assert got["firstFail"] == {"a": told}


def test_a_prefilter_keeps_its_state_level_although_its_filter_is_left_out() -> None:
    hoping = pod("q", cpu="1", priority=9, status={"nominatedNodeName": "a"})
    got = decided(
        pod(cpu="1"), node("a"), pods=[hoping], plugins=without("filter", "InterPodAffinity", "PodTopologySpread")
    )
    assert got["result"] == "scheduled"


@pytest.mark.parametrize(
    ("plugin", "text"),
    [
        ("TaintToleration", 'failed to read "PreScoreTaintToleration" from cycleState: not found'),
        ("PodTopologySpread", 'error reading "PreScorePodTopologySpread" from cycleState: not found'),
        ("InterPodAffinity", 'failed to read "PreScoreInterPodAffinity" from cycleState: not found'),
    ],
)
def test_a_score_is_broken_without_its_prescore(plugin: str, text: str) -> None:
    got = decided(pod(), node("a"), node("b"), plugins=without("preScore", plugin))
    assert (got["result"], got["fitError"]) == (
        "error",
        f'running Score plugins: plugin "{plugin}" failed with: {text}',
    )


def test_the_first_plugin_that_breaks_is_named() -> None:
    spread_first = {
        "enabled": [{"name": "PodTopologySpread"}, {"name": "TaintToleration"}],
        "disabled": [{"name": "*"}],
    }
    got = decided(
        pod(), node("a"), node("b"), plugins={"score": spread_first, "preScore": {"disabled": [{"name": "*"}]}}
    )
    assert got["fitError"].startswith('running Score plugins: plugin "PodTopologySpread" failed with:')


@pytest.mark.parametrize(
    "plugin", ["NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation", "VolumeBinding"]
)
def test_other_scores_work_out_what_they_need(plugin: str) -> None:
    whole = decided(pod(cpu="1"), node("a"), node("b", allocatable={"cpu": "2"}))
    got = decided(pod(cpu="1"), node("a"), node("b", allocatable={"cpu": "2"}), plugins=without("preScore", plugin))
    assert got["scores"]["total"] == whole["scores"]["total"]
    assert plugin not in got["scores"]["skip"]


def test_a_pod_that_asks_for_nothing_is_balanced_nowhere() -> None:
    got = decided(pod(), node("a"), node("b"), plugins=without("preScore", "NodeResourcesBalancedAllocation"))
    assert got["scores"]["plugins"]["NodeResourcesBalancedAllocation"]["raw"] == [0, 0]


# Who counts.


def full_unless(*pods: Document) -> str:
    """Return what becomes of a pod that takes the only node's whole processor."""
    result: str = decided(pod(cpu="4"), node("a"), pods=list(pods))["result"]
    return result


def test_pods_that_have_ended_hold_nothing() -> None:
    assert full_unless(pod("q", cpu="1", nodeName="a", status={"phase": "Running"})) == "unschedulable"
    for phase in ("Succeeded", "Failed"):
        assert full_unless(pod("q", cpu="1", nodeName="a", status={"phase": phase})) == "scheduled"


def test_only_own_pods_that_may_go_hope_for_a_node() -> None:
    hopes = {"nominatedNodeName": "a"}
    assert full_unless(pod("q", cpu="1", status=hopes)) == "unschedulable"
    assert full_unless(pod("q", cpu="1", status=hopes, priority=-1)) == "scheduled"
    assert full_unless(pod("q", cpu="1", status=hopes, schedulerName="another")) == "scheduled"
    assert full_unless(pod("q", cpu="1", status=hopes, schedulingGates=[{"name": "g"}])) == "scheduled"
    assert full_unless(pod("q", cpu="1", status=hopes | {"phase": "Failed"})) == "scheduled"
    # Until it is gone a pod that is being deleted keeps its place, but a gated one never had it.
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    assert full_unless(pod("q", cpu="1", status=hopes, meta=going)) == "unschedulable"
    assert full_unless(pod("q", cpu="1", status=hopes, meta=going, schedulingGates=[{"name": "g"}])) == "scheduled"


# Preemption.


def victims_of(*pods: Document) -> list[str]:
    got = decided(pod(cpu="4", priority=9), node("a"), pods=list(pods))
    names: list[str] = [name.partition("/")[2] for name in got["preemption"]["victims"]]
    return names


def test_a_dry_run_that_breaks_tells_of_the_nodes_that_it_tried() -> None:
    low = [pod(f"q{name}", cpu="4", priority=-1, nodeName=name) for name in "ab"]
    # The filter's first turn is NodeResourcesFit's no; with the room made it is NodePorts that breaks.
    got = decided(
        pod(cpu="4"),
        node("a", allocatable={"cpu": "3"}),
        node("b"),
        pods=low,
        plugins={
            "preFilter": {"disabled": [{"name": "NodePorts"}]},
            "filter": {"disabled": [{"name": "NodePorts"}], "enabled": [{"name": "NodePorts"}]},
        },
    )
    broken = 'running "NodePorts" filter plugin: reading "PreFilterNodePorts" from cycleState: not found'
    assert (got["preemption"]["code"], got["preemption"]["reasons"]) == ("Error", [f"preemption: {broken}"])
    assert got["preemption"]["nodeStatus"] == {"b": {"code": "Error", "plugin": "NodePorts", "reasons": [broken]}}
    assert got["preemption"]["clearsNomination"] is False


def test_of_equal_pods_that_have_not_started_the_last_counts_most() -> None:
    waiting = [pod(name, cpu="1", nodeName="a") for name in "qrs"]
    assert victims_of(*waiting) == ["s", "r", "q"]
    started = pod("t", cpu="1", nodeName="a", status={"startTime": "2026-01-01T00:00:00Z"})
    assert victims_of(waiting[0], started, waiting[1]) == ["t", "r", "q"]
    assert victims_of(pod("low", cpu="1", priority=-1, nodeName="a"), *waiting) == ["s", "r", "q", "low"]


# Configurations.


def test_a_weight_below_zero_leaves_no_room_for_the_next() -> None:
    weights = [{"name": "ImageLocality", "weight": -1}, {"name": "NodeResourcesFit", "weight": 1}]
    score = {"disabled": [{"name": "*"}], "enabled": weights}
    assert (
        decided(pod(), node("a"), plugins={"score": score})["fitError"] == "total score of Score plugins could overflow"
    )
    alone = {"disabled": [{"name": "*"}], "enabled": weights[1:]}
    assert decided(pod(), node("a"), plugins={"score": alone})["result"] == "scheduled"


def test_a_resource_of_weight_0_counts_once() -> None:
    def fit(*weights: int) -> list[int]:
        resources = [{"name": name, "weight": weight} for name, weight in zip(("cpu", "memory"), weights, strict=True)]
        arguments = {"scoringStrategy": {"type": "MostAllocated", "resources": resources}}
        got = decided(
            pod(cpu="2"), node("a"), node("b", allocatable={"cpu": "8"}),
            pluginConfig=[{"name": "NodeResourcesFit", "args": arguments}],
        )  # fmt: skip
        raw: list[int] = got["scores"]["plugins"]["NodeResourcesFit"]["raw"]
        return raw

    assert fit(0, 0) == fit(1, 1)
    assert fit(3, 0) == fit(3, 1)


# Amounts that 64 bits do not hold: they wrap round and are negative then.

HUGE = str(2**63 + 2**60)


@pytest.mark.parametrize("others", [1, 5])
def test_a_capacity_that_wraps_round_is_negative_when_shares_are_balanced(others: int) -> None:
    wrapped = node("w", allocatable={"cpu": "9223372036854776", "memory": "1Gi"})
    nodes = [wrapped, *(node(f"n{number}") for number in range(others))]
    # What is free there wraps round once more, and so there is room.
    scores = decided(pod(cpu="1"), *nodes, pods=[pod("on", cpu="1", nodeName="w")])["scores"]
    balanced = dict(zip(scores["nodes"], scores["plugins"]["NodeResourcesBalancedAllocation"]["raw"], strict=True))
    assert (balanced["w"], balanced["n0"]) == (99, 87)


@pytest.mark.parametrize("others", [1, 5])
@pytest.mark.parametrize("plugin", ["NodeResourcesFit", "NodeResourcesBalancedAllocation"])
def test_a_score_that_wraps_out_of_range_is_an_error(plugin: str, others: int) -> None:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": HUGE}}}]
    nodes = [node(f"n{number}") for number in range(others + 1)]
    enabled = {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": plugin}]}}
    got = decided(pod(containers=containers), *nodes, plugins=enabled)
    assert got["result"] == "error"
    assert got["fitError"].startswith(
        f'applying score defaultWeights on Score plugins: plugin "{plugin}" returns an invalid score '
    )
    assert got["fitError"].endswith(", it should in the range of [0, 100] after normalizing")


@pytest.mark.parametrize("others", [1, 5])
def test_a_node_that_is_not_feasible_may_score_what_it_will(others: int) -> None:
    wrapped = node("w", allocatable={"cpu": "9223372036854776"})
    nodes = [wrapped, *(node(f"n{number}") for number in range(others + 1))]
    assert len(decided(pod(cpu="1"), *nodes)["scores"]["nodes"]) == others + 1
