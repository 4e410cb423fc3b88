"""The seven priorities of the algorithm provider, each as a table of scores that were worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.legacy.affinity import ANNOTATION
from scheduler_core.legacy.selector_spread import spread_scores
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Snapshot
from tests.core.legacy.asking import custom, framework, priority
from tests.core.objects import info, node, pod
from tests.core.plugins.asking import scored

MEBI = 1024 * 1024
ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "failure-domain.beta.kubernetes.io/region"


def asks(cpu: str | None, memory: str | None, name: str = "x") -> PodInfo:
    return pod(name, requests={key: value for key, value in (("cpu", cpu), ("memory", memory)) if value is not None})


@pytest.mark.parametrize(
    ("cpu", "memory", "held", "one", "score"),
    [
        pytest.param(
            "4", "8Gi", [], asks(None, None), 9, id="defaults: (3900·10/4000 + 7992·10/8192) / 2 = (9 + 9) / 2"
        ),
        pytest.param("4", "8Gi", [], asks("0", "0"), 10, id="asked for nothing in so many words: (10 + 10) / 2"),
        pytest.param("4", "8Gi", [], asks("1", "2Gi"), 7, id="(7 + 7) / 2"),
        pytest.param("4", "8Gi", [], asks("2", "1Gi"), 6, id="(5 + 8) / 2 = 6: halved without the rest"),
        pytest.param("4", "8Gi", [asks("1", "2Gi")], asks("1", "2Gi"), 5, id="what the node holds counts too"),
        pytest.param(
            "4", "8Gi", [asks(None, None)], asks("3", "4Gi"), 3, id="(900·10/4000 + 3896·10/8192) / 2 = (2 + 4) / 2"
        ),
        pytest.param("4", "8Gi", [], asks("4", "8Gi"), 0, id="full"),
        pytest.param("4", "8Gi", [], asks("5", "2Gi"), 3, id="too much of one is 0 of it: (0 + 7) / 2 = 3"),
        pytest.param("0", "8Gi", [], asks("0", "2Gi"), 3, id="no capacity is 0 of it"),
    ],
)
def test_least_requested(cpu: str, memory: str, held: list[PodInfo], one: PodInfo, score: int) -> None:
    on = info(node(allocatable={"cpu": cpu, "memory": memory}), *held)
    assert scored(priority("LeastRequestedPriority"), one, on) == [score]


@pytest.mark.parametrize(
    ("cpu", "memory", "held", "one", "score"),
    [
        pytest.param("4", "8Gi", [], asks("1", "2Gi"), 10, id="a quarter of each"),
        pytest.param("4", "8Gi", [], asks("2", "2Gi"), 7, id="1/2 and 1/4: 10 − 2.5, cut"),
        pytest.param("4", "8Gi", [], asks("2", "0"), 5, id="1/2 and nothing"),
        pytest.param("4", "8Gi", [asks("1", "4Gi", "y")], asks("1", "0"), 10, id="what the node holds evens it out"),
        pytest.param("4", "8Gi", [], asks("4", "4Gi"), 0, id="a fraction of 1"),
        pytest.param("4", "8Gi", [], asks("1", "9Gi"), 0, id="over"),
        pytest.param("0", "8Gi", [], asks("0", "1Gi"), 0, id="no capacity is a fraction of 1"),
        pytest.param("4", "8Gi", [], asks("3900m", "0"), 0, id="10 − 9.75, cut"),
    ],
)
def test_balanced(cpu: str, memory: str, held: list[PodInfo], one: PodInfo, score: int) -> None:
    on = info(node(allocatable={"cpu": cpu, "memory": memory}), *held)
    assert scored(priority("BalancedResourceAllocation"), one, on) == [score]


def service(name: str = "s", namespace: str = "default", **selector: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"selector": selector}}


def controller(**selector: str) -> dict[str, Any]:
    return {"metadata": {"name": "rc", "namespace": "default"}, "spec": {"selector": selector}}


def replica_set(selector: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "rs", "namespace": "default"}, "spec": {"selector": selector}}


def web(number: int, **more: Any) -> PodInfo:
    return pod(f"web-{number}", labels={"app": "web"}, **more)


WEB = {
    "Service": {"services": [service(app="web")]},
    "ReplicationController": {"replicationcontrollers": [controller(app="web")]},
    "ReplicaSet": {"replicasets_apps": [replica_set({"matchLabels": {"app": "web"}})]},
}


@pytest.mark.parametrize("kind", WEB)
def test_spread_over_nodes(kind: str) -> None:
    """10·(max − count)/max over nodes with 0, 1, 2 and 3 pods."""
    nodes = [info(node(f"n{count}"), *(web(10 * count + one) for one in range(count))) for count in range(4)]
    assert scored(priority("SelectorSpreadPriority", **WEB[kind]), web(0), *nodes) == [10, 6, 3, 0]
    by_service = [10, 6, 3, 0] if kind == "Service" else [10] * 4
    assert scored(priority("ServiceSpreadingPriority", **WEB[kind]), web(0), *nodes) == by_service


UNREADABLE = {"matchExpressions": [{"key": "a", "operator": "Near"}]}


@pytest.mark.parametrize(
    ("objects", "one"),
    [
        pytest.param({}, web(0), id="nobody selects it"),
        pytest.param({"services": [service(app="db")]}, web(0), id="a Service of others"),
        pytest.param({"services": [service(namespace="far", app="web")]}, web(0), id="a Service of another namespace"),
        pytest.param({"services": [service() | {"spec": {}}]}, web(0), id="a Service without a selector"),
        pytest.param({"replicationcontrollers": [controller()]}, web(0), id="a controller with an empty selector"),
        pytest.param({"replicasets_apps": [replica_set({})]}, web(0), id="a ReplicaSet with an empty selector"),
        pytest.param({"replicasets_apps": [replica_set(UNREADABLE)]}, web(0), id="a selector that cannot be read"),
        pytest.param({"replicationcontrollers": [controller(app="web")]}, pod(), id="a pod without labels"),
    ],
)
def test_a_pod_that_nobody_selects_is_spread_nowhere(objects: dict[str, Any], one: PodInfo) -> None:
    nodes = [info(node("a"), web(1)), info(node("b"))]
    assert scored(priority("SelectorSpreadPriority", **objects), one, *nodes) == [10, 10]


def test_only_pods_of_the_namespace_that_stay_count() -> None:
    going = web(1, metadata={"deletionTimestamp": "2016-03-17T00:00:00Z"})
    nodes = [info(node("a"), going), info(node("b"), web(2, namespace="far")), info(node("c"), web(3)), info(node("d"))]
    assert scored(priority("SelectorSpreadPriority", **WEB["Service"]), web(0), *nodes) == [10, 10, 0, 10]


def test_one_pod_counts_once_however_many_select_it() -> None:
    objects = {"services": [service(app="web"), service("t", app="web")], **WEB["ReplicaSet"]}
    nodes = [info(node("a"), web(1), web(2)), info(node("b"), web(3))]
    assert scored(priority("SelectorSpreadPriority", **objects), web(0), *nodes) == [0, 5]


@pytest.mark.parametrize(
    ("counts", "zones", "scores"),
    [
        pytest.param([0, 0, 0], [1, 1, 2], [10, 10, 10], id="no pods anywhere: no division by zero"),
        pytest.param(
            [1, 0, 0, 0], [1, 1, 2, 2], [0, 3, 10, 10], id="10/3 for a node that is empty in a zone that is not"
        ),
        pytest.param(
            [1, 1, 0, 0], [1, 2, 1, 2], [0, 0, 3, 3], id="zones alike: the node part alone makes the difference"
        ),
        pytest.param(
            [2, 1, 1, 0], [1, 1, 2, 2], [0, 1, 6, 7], id="zones of 3 and 1: 5/3, 5/3 + 40/9, 10/3 + 40/9, cut"
        ),
        pytest.param([1, 0, 0], [1, 2, 0], [0, 10, 10], id="a node without a zone keeps its node part"),
        pytest.param([3, 1, 0], [0, 0, 0], [0, 6, 10], id="without zones the node part alone"),
        pytest.param([3, 2], [0, 1], [0, 1], id="pods on nodes without a zone are in no zone: 3.33/3 + 0"),
    ],
)
def test_spread_over_zones(counts: list[int], zones: list[int], scores: list[int]) -> None:
    assert spread_scores(np.array(counts), np.array(zones)).tolist() == scores


def test_a_zone_is_of_its_region_and_today_s_labels_say_it_too() -> None:
    nodes = [
        info(node("a", labels={REGION: "r", ZONE: "1"}), web(1)),
        info(node("b", labels={"topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "1"})),
        info(node("c", labels={REGION: "s", ZONE: "1"})),
    ]
    assert scored(priority("SelectorSpreadPriority", **WEB["Service"]), web(0), *nodes) == [0, 3, 10]


def test_only_feasible_nodes_count() -> None:
    """The busiest node is not among the rows, so that it sets no standard."""
    nodes = [info(node("a"), *(web(number) for number in range(1, 5))), info(node("b"), web(8)), info(node("c"))]
    plugin = priority("SelectorSpreadPriority", **WEB["Service"])
    state, rows = CycleState(), np.array([1, 2], dtype=np.intp)
    counts = plugin.score(state, web(0), Snapshot(nodes), rows)
    assert counts.tolist() == [1, 0]
    assert plugin.normalize(state, web(0), counts).tolist() == [0, 10]


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 4)), min_size=1, max_size=30))
def test_spread_stays_in_range_and_fewer_is_never_worse_in_a_zone(nodes: list[tuple[int, int]]) -> None:
    counts, zones = (np.array(column, dtype=np.int64) for column in zip(*nodes, strict=True))
    scores = spread_scores(counts, zones).tolist()
    assert all(0 <= score <= 10 for score in scores)
    for count, zone, score in zip(counts.tolist(), zones.tolist(), scores, strict=True):
        better = [
            other for fewer, where, other in zip(counts, zones, scores, strict=True) if where == zone and fewer <= count
        ]
        assert all(other >= score for other in better)


def prefers(*terms: tuple[int, str, str], key: str = "disk") -> dict[str, Any]:
    listed = []
    for weight, operator, values in terms:
        expression = {"key": key, "operator": operator, "values": values.split()}
        listed.append({"weight": weight, "preference": {"matchExpressions": [expression]}})
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": listed}}


def annotated(affinity: dict[str, Any] | str, /, **spec: Any) -> PodInfo:
    text = affinity if isinstance(affinity, str) else json.dumps(affinity)
    return pod(metadata={"annotations": {ANNOTATION: text}}, **spec)


def disks() -> list[NodeInfo]:
    return [info(node(name, labels={"disk": name})) for name in ("ssd", "hdd", "tape")]


@pytest.mark.parametrize(
    ("one", "scores"),
    [
        pytest.param(pod(), [], id="nothing preferred"),
        pytest.param(annotated({}), [], id="an annotation without preferences"),
        pytest.param(annotated(prefers((1, "In", "ssd"))), [10, 0, 0], id="one term"),
        pytest.param(
            annotated(prefers((7, "In", "ssd"), (3, "In", "ssd hdd"))),
            [10, 3, 0],
            id="weights are added: 10, 3, 0 of 10",
        ),
        pytest.param(annotated(prefers((2, "In", "ssd"), (1, "NotIn", "tape"))), [10, 3, 0], id="10·1/3, cut"),
        pytest.param(annotated(prefers((0, "In", "ssd"))), [], id="a weight of 0 says nothing"),
        pytest.param(annotated(prefers((5, "In", "none"))), [0, 0, 0], id="nowhere"),
        pytest.param(
            annotated(prefers((1, "In", "ssd")), affinity=prefers((3, "In", "hdd"))),
            [3, 10, 0],
            id="annotation and today's field",
        ),
    ],
)
def test_node_affinity(one: PodInfo, scores: list[int]) -> None:
    assert scored(priority("NodeAffinityPriority"), one, *disks()) == scores


@pytest.mark.parametrize(
    "one",
    [annotated("no json"), annotated(prefers((1, "Near", "ssd"))), annotated(prefers((1, "Gt", "many")))],
)
def test_a_preference_that_cannot_be_read_is_an_error(one: PodInfo) -> None:
    plugin = priority("NodeAffinityPriority")
    status = plugin.pre_score(CycleState(), one, Snapshot(disks()), ALL_ROWS)
    assert not status.ok
    assert not status.rejected


def test_equal() -> None:
    assert scored(priority("EqualPriority"), pod(), *disks()) == [1, 1, 1]


@pytest.mark.parametrize(
    ("mebibytes", "score"),
    [(0, 0), (22, 0), (23, 1), (120, 1), (121, 2), (511, 5), (512, 6), (999, 10), (1000, 10), (5000, 10)],
)
def test_image_locality(mebibytes: int, score: int) -> None:
    """10·(sum − 23)/977 + 1 between 23 and 1000 MB."""
    holder = info(node(images=[{"names": ["i:1"], "sizeBytes": mebibytes * MEBI}]))
    assert scored(priority("ImageLocalityPriority"), pod(), holder, info(node("m"))) == [score, 0]


def test_images_are_added_over_containers_and_go_by_their_very_names() -> None:
    small, large = {"names": ["a", "a:latest"], "sizeBytes": 100 * MEBI}, {"names": ["b:2"], "sizeBytes": 900 * MEBI}
    holder = info(node(images=[small, large]))
    plugin = priority("ImageLocalityPriority")

    def of(*images: str) -> PodInfo:
        return pod(containers=[{"name": f"c{number}", "image": image} for number, image in enumerate(images)])

    assert scored(plugin, of("a", "b:2"), holder) == [10]
    assert scored(plugin, of("a", "a"), holder) == [2]
    assert scored(plugin, of("b"), holder) == [0]


def test_label_preference() -> None:
    nodes = info(node("a", labels={"new": ""})), info(node("b"))
    assert scored(custom("priorities", {"labelPreference": {"label": "new", "presence": True}}), pod(), *nodes) == [
        10,
        0,
    ]
    assert scored(custom("priorities", {"labelPreference": {"label": "new"}}), pod(), *nodes) == [0, 10]


def test_service_anti_affinity() -> None:
    plugin = custom("priorities", {"serviceAntiAffinity": {"label": "rack"}}, services=[service(app="web")])
    nodes = [
        info(node("a", labels={"rack": "1"}), web(1), web(2)),
        info(node("b", labels={"rack": "1"})),
        info(node("c", labels={"rack": "2"}), web(3)),
        info(node("d", labels={"rack": "3"})),
        info(node("e")),
    ]
    assert scored(plugin, web(0), *nodes) == [3, 3, 6, 10, 0]
    assert scored(plugin, pod(), *nodes) == [10, 10, 10, 10, 0]


def test_the_total_is_the_weighted_sum() -> None:
    priorities = [{"name": "LeastRequestedPriority", "weight": 2}, {"name": "EqualPriority", "weight": 5}]
    built = framework({"policy": {"priorities": priorities}})
    state, snapshot = CycleState(), Snapshot([info(node("a")), info(node("b"), asks("2", "4Gi"))])
    one = asks("1", "2Gi", "p")
    outcome = built.run_filter(state, one, snapshot)
    scores, status = built.run_score(state, one, snapshot, outcome)
    assert status.ok
    assert scores is not None
    # 2·7 + 5·1 and 2·2 + 5·1.
    assert scores.total.tolist() == [19, 9]
