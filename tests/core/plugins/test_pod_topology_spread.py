from __future__ import annotations

from math import log
from typing import Any

import pytest

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.status import SKIP, SUCCESS, error, unresolvable, unschedulable
from scheduler_core.plugins.pod_topology_spread import plugin
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Snapshot
from tests.core.objects import info, node, pod
from tests.core.plugins.asking import built, filtered, filtered_after_moving, hint, scored

NAME = "PodTopologySpread"
SKEWED = unschedulable("node(s) didn't match pod topology spread constraints")
UNLABELLED = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def constraint(key: str = "zone", **changes: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "web"}}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector} | changes


def soft(key: str = "zone", **changes: Any) -> dict[str, Any]:
    return constraint(key, whenUnsatisfiable="ScheduleAnyway", **changes)


def spread(*constraints: dict[str, Any], **more: Any) -> PodInfo:
    return pod(**{"labels": {"app": "web"}, "topologySpreadConstraints": list(constraints)} | more)


def web(name: str, **more: Any) -> PodInfo:
    return pod(name, **{"labels": {"app": "web"}} | more)


def cluster(*counts: int, **more: Any) -> list[NodeInfo]:
    """Return nodes a (zone x), b (x), c (y) with that many web pods each, and d, which has no zone."""
    names = "abcd"[: len(counts)]
    return [
        info(
            node(name, labels={HOST: name} | ({} if name == "d" else {"zone": "y" if name == "c" else "x"})),
            *(web(f"{name}{number}", **more) for number in range(count)),
        )
        for name, count in zip(names, counts, strict=True)
    ]


@pytest.mark.parametrize(
    ("counts", "changes", "answers"),
    [
        ((0, 0, 0), {}, [SUCCESS, SUCCESS, SUCCESS]),
        ((1, 0, 0), {}, [SKEWED, SKEWED, SUCCESS]),
        ((1, 1, 1), {}, [SKEWED, SKEWED, SUCCESS]),
        ((1, 1, 1), {"maxSkew": 2}, [SUCCESS, SUCCESS, SUCCESS]),
        ((1, 0, 1, 0), {}, [SUCCESS, SUCCESS, SUCCESS, UNLABELLED]),
        # Two places are fewer than three, so the emptiest counts as 0.
        ((1, 0, 1), {"minDomains": 3}, [SKEWED, SKEWED, SKEWED]),
        ((1, 0, 1), {"minDomains": 2}, [SUCCESS, SUCCESS, SUCCESS]),
        # None and the empty selector count nobody, but the empty one selects the pod itself.
        ((5, 0, 0), {"labelSelector": None}, [SUCCESS, SUCCESS, SUCCESS]),
        ((5, 0, 0), {"labelSelector": {}}, [SUCCESS, SUCCESS, SUCCESS]),
        ((5, 0, 0), {"labelSelector": {"matchLabels": {"app": "other"}}}, [SUCCESS, SUCCESS, SUCCESS]),
    ],
)
def test_filter_compares_with_the_emptiest_place(counts: Any, changes: dict[str, Any], answers: list[Any]) -> None:
    assert filtered(built(NAME), spread(constraint(**changes)), *cluster(*counts)) == answers


@pytest.mark.parametrize("more", [{"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}}, {"namespace": "other"}])
def test_pods_that_go_and_those_of_other_namespaces_do_not_count(more: dict[str, Any]) -> None:
    assert filtered(built(NAME), spread(constraint()), *cluster(3, 0, 0, **more)) == [SUCCESS] * 3


def test_the_first_constraint_that_fails_speaks() -> None:
    nodes = cluster(1, 0, 0, 1)
    both = spread(constraint(HOST), constraint("zone"))
    # d has no zone, so it does not count for hosts either, and a's emptiest rival is b.
    assert filtered(built(NAME), both, *nodes) == [SKEWED, SKEWED, SUCCESS, UNLABELLED]
    assert filtered(built(NAME), spread(constraint("zone"), constraint(HOST)), *nodes)[0] == SKEWED


@pytest.mark.parametrize(
    ("policy", "answers"), [({}, [SUCCESS] * 3), ({"nodeAffinityPolicy": "Ignore"}, [SKEWED, SKEWED, SUCCESS])]
)
def test_nodes_that_the_pod_may_not_use_count_only_if_told(policy: dict[str, Any], answers: list[Any]) -> None:
    one = spread(constraint(**policy), nodeSelector={"zone": "x"})
    assert filtered(built(NAME), one, *cluster(1, 0, 0)) == answers


def test_taints_count_only_if_told() -> None:
    tainted = info(node("t", labels={"zone": "z"}, taints=[{"key": "k", "effect": "NoSchedule"}]))
    nodes = [*cluster(1, 0, 1), tainted]
    assert filtered(built(NAME), spread(constraint()), *nodes)[0] == SKEWED
    honoring = constraint(nodeTaintsPolicy="Honor")
    assert filtered(built(NAME), spread(honoring), *nodes)[0] == SUCCESS
    assert filtered(built(NAME), spread(honoring, tolerations=[{"operator": "Exists"}]), *nodes)[0] == SKEWED


def test_match_label_keys_narrow_the_selector_to_the_pods_own_values() -> None:
    nodes = [info(one.node, web(f"p{one.name}", labels={"app": "web", "v": "1"})) for one in cluster(0, 0, 0)[:2]]
    nodes.append(cluster(0, 0, 0)[2])
    narrowed = constraint(matchLabelKeys=["v", "absent"])
    assert filtered(built(NAME), spread(narrowed, labels={"app": "web", "v": "2"}), *nodes) == [SUCCESS] * 3
    assert filtered(built(NAME), spread(narrowed, labels={"app": "web", "v": "1"}), *nodes)[0] == SKEWED


def test_is_left_out_for_pods_without_constraints() -> None:
    snapshot = Snapshot(cluster(1, 0, 0))
    assert built(NAME).pre_filter(CycleState(), pod(), snapshot) == (None, SKIP)
    assert built(NAME).pre_filter(CycleState(), spread(soft()), snapshot) == (None, SKIP)
    assert scored(built(NAME), spread(constraint()), *cluster(1, 0, 0)) == []


def test_dry_runs_move_pods() -> None:
    nodes, one = cluster(1, 0, 0), spread(constraint())
    (first,) = nodes[0].pods
    assert filtered_after_moving(built(NAME), one, nodes, 0, [first], []) == SUCCESS
    assert filtered_after_moving(built(NAME), one, nodes, 0, [first], [first]) == SKEWED
    assert filtered_after_moving(built(NAME), one, nodes, 2, [], [web("n")]) == SUCCESS
    assert filtered_after_moving(built(NAME), one, nodes, 2, [], [web("n"), web("m")]) == SKEWED
    assert filtered_after_moving(built(NAME), one, nodes, 2, [], [web("n", namespace="o"), web("m")]) == SUCCESS
    # The state that a dry run works on is its own.
    assert filtered(built(NAME), one, *nodes)[0] == SKEWED


def test_score_prefers_the_emptier_place() -> None:
    # Zone x holds 3 pods, y 1: 3 ln 4 and 1 ln 4 round to 4 and 1.
    assert [round(count * log(4)) for count in (3, 1)] == [4, 1]
    assert scored(built(NAME), spread(soft()), *cluster(2, 1, 1, 4)) == [25, 25, 100, 0]
    assert scored(built(NAME), spread(soft(HOST)), *cluster(2, 1, 0)) == [0, 33, 100]
    assert scored(built(NAME), spread(soft()), *cluster(0, 0, 0)) == [100, 100, 100]


@pytest.mark.parametrize("counts", [(0, 0, 0), (2, 1, 0), (7, 3, 5)])
@pytest.mark.parametrize("skew", [1, 3])
def test_a_score_by_number_is_the_score_of_each_node(
    counts: tuple[int, ...], skew: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scores(numbers: int) -> list[int]:
        plugin._by_number.cache_clear()
        monkeypatch.setattr(plugin, "_NUMBERS_MAX", numbers)
        found: list[int] = scored(built(NAME), spread(soft(HOST, maxSkew=skew)), *cluster(*counts))
        return found

    # All of them are worked out at once, some nodes have more pods than that, none is.
    assert scores(256) == scores(3) == scores(0)


def test_system_defaults_need_someone_who_selects_the_pod() -> None:
    nodes = [
        info(node("a", labels={HOST: "a", ZONE: "x"}), web("p"), web("q"), web("r")),
        info(node("b", labels={HOST: "b", ZONE: "x"})),
        info(node("c", labels={HOST: "c"})),
    ]
    assert scored(built(NAME), web("one"), *nodes) == []
    service = {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    scores = scored(built(NAME, services=[service]), web("one"), *nodes)
    # c is in no zone and is scored all the same: it is the best.
    assert scores[2] == 100
    assert scores[0] < scores[1] < scores[2]
    elsewhere = service | {"metadata": {"name": "s", "namespace": "other"}}
    without = service | {"spec": {}}
    other = service | {"spec": {"selector": {"app": "web", "v": "1"}}}
    assert scored(built(NAME, services=[elsewhere, without, other]), web("one"), *nodes) == []


@pytest.mark.parametrize(
    ("resource", "version", "kind", "selector"),
    [
        ("replicasets_apps", "apps/v1", "ReplicaSet", {"matchLabels": {"app": "web"}}),
        ("statefulsets_apps", "apps/v1", "StatefulSet", {"matchExpressions": [{"key": "app", "operator": "Exists"}]}),
        ("replicationcontrollers", "v1", "ReplicationController", {"app": "web"}),
    ],
)
def test_a_controller_selects_the_pods_that_it_owns(resource: str, version: str, kind: str, selector: Any) -> None:
    owner = {"metadata": {"name": "o", "namespace": "default"}, "spec": {"selector": selector}}
    reference = {"apiVersion": version, "kind": kind, "name": "o", "uid": "u", "controller": True}
    args = {"defaultingType": "List", "defaultConstraints": [constraint(labelSelector=None)]}
    plugin = built(NAME, args, **{resource: [owner]})
    owned = web("one", metadata={"ownerReferences": [reference]})
    assert filtered(plugin, owned, *cluster(1, 0, 0)) == [SKEWED, SKEWED, SUCCESS]
    assert plugin.pre_filter(CycleState(), web("one"), Snapshot(cluster(1, 0, 0))) == (None, SKIP)
    lost = web("one", metadata={"ownerReferences": [reference | {"name": "gone"}]})
    assert plugin.pre_filter(CycleState(), lost, Snapshot(cluster(1, 0, 0))) == (None, SKIP)


def test_a_selector_that_cannot_be_read_is_an_error() -> None:
    broken = {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "In"}]}}
    snapshot = Snapshot(cluster(1, 0, 0))
    _, status = built(NAME).pre_filter(CycleState(), spread(constraint(**broken)), snapshot)
    assert status == error(
        "get constraints from pod: obtaining pod's hard topology spread constraints: values: Invalid value: null: "
        "for 'in', 'notin' operators, values set can't be empty"
    )
    odd = {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Gt", "values": ["1"]}]}}
    status = built(NAME).pre_score(CycleState(), spread(soft(**odd)), snapshot, ALL_ROWS)
    assert status == error(
        "calculating preScoreState: obtaining pod's soft topology spread constraints: "
        '"Gt" is not a valid label selector operator'
    )


RUNNING = {"nodeName": "a"}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (None, web("q", **RUNNING), "Queue"),
        (web("q", **RUNNING), None, "Queue"),
        (None, web("q", namespace="o", **RUNNING), "QueueSkip"),
        (None, web("q"), "QueueSkip"),
        (None, pod("q", **RUNNING), "QueueSkip"),
        (web("q", **RUNNING), pod("q", **RUNNING), "Queue"),
        (web("q", **RUNNING), web("q", labels={"app": "web", "v": "1"}, **RUNNING), "QueueSkip"),
    ],
)
def test_wakes_when_a_pod_begins_or_ceases_to_count(old: Any, new: Any, says: str) -> None:
    assert hint(built(NAME), spread(constraint()), 0, old, new) == says


def test_wakes_when_the_pod_itself_may_use_other_places() -> None:
    before = spread(constraint(nodeTaintsPolicy="Honor"))
    after = spread(constraint(nodeTaintsPolicy="Honor"), tolerations=[{"operator": "Exists"}])
    assert hint(built(NAME), before, 1, before, after) == "Queue"
    assert hint(built(NAME), before, 1, before, before) == "QueueSkip"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (None, {"zone": "x"}, "Queue"),
        ({"zone": "x"}, None, "Queue"),
        (None, {}, "QueueSkip"),
        ({}, {"zone": "x"}, "Queue"),
        ({"zone": "x"}, {"zone": "y"}, "Queue"),
        ({"zone": "x"}, {"zone": "x", "other": "1"}, "QueueSkip"),
        ({}, {"other": "1"}, "QueueSkip"),
    ],
)
def test_wakes_when_a_node_changes_place(old: Any, new: Any, says: str) -> None:
    nodes = [None if labels is None else node("n", labels=labels) for labels in (old, new)]
    assert hint(built(NAME), spread(constraint()), 2, *nodes) == says
