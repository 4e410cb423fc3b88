from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.status import SKIP, SUCCESS, error, unresolvable, unschedulable
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Snapshot
from tests.core.objects import info, node, pod
from tests.core.plugins.asking import built, filtered, filtered_after_moving, hint, scored

NAME = "InterPodAffinity"
FAR = unresolvable("node(s) didn't match pod affinity rules")
NEAR = unschedulable("node(s) didn't match pod anti-affinity rules")
UNWANTED = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
UNREADABLE = {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "In"}]}}


def term(key: str = "zone", app: str = "web", **changes: Any) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}} | changes


def near(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAffinity": {REQUIRED: list(terms)}}


def away(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def liking(*terms: tuple[int, dict[str, Any]], kind: str = "podAffinity") -> dict[str, Any]:
    return {kind: {PREFERRED: [{"weight": weight, "podAffinityTerm": one} for weight, one in terms]}}


def disliking(*terms: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    return liking(*terms, kind="podAntiAffinity")


def web(name: str = "w", **more: Any) -> PodInfo:
    return pod(name, **{"labels": {"app": "web"}} | more)


def cluster(*on_a: PodInfo, c: tuple[PodInfo, ...] = ()) -> list[NodeInfo]:
    """Return nodes a and b in zone x, c in zone y, d in none, with these pods on a and c."""
    return [
        info(node("a", labels={"host": "a", "zone": "x"}), *on_a),
        info(node("b", labels={"host": "b", "zone": "x"})),
        info(node("c", labels={"host": "c", "zone": "y"}), *c),
        info(node("d", labels={"host": "d"})),
    ]


@pytest.mark.parametrize(
    ("affinity", "answers"),
    [
        (near(term()), [SUCCESS, SUCCESS, FAR, FAR]),
        (near(term("host")), [SUCCESS, FAR, FAR, FAR]),
        # One pod must satisfy all terms.
        (near(term(), term(app="db")), [FAR] * 4),
        (near(term(labelSelector=None)), [FAR] * 4),
        (near(term(labelSelector={})), [SUCCESS, SUCCESS, FAR, FAR]),
        (away(term()), [NEAR, NEAR, SUCCESS, SUCCESS]),
        (away(term("host")), [NEAR, SUCCESS, SUCCESS, SUCCESS]),
        # Any of the anti-affinity terms forbids.
        (away(term(app="db"), term()), [NEAR, NEAR, SUCCESS, SUCCESS]),
        (away(term(labelSelector=None)), None),
        (near(term()) | away(term("host")), [NEAR, SUCCESS, FAR, FAR]),
    ],
)
def test_own_demands(affinity: dict[str, Any], answers: list[Any] | None) -> None:
    assert filtered(built(NAME), pod(affinity=affinity), *cluster(web())) == (answers or [SUCCESS] * 4)


def test_the_first_of_a_group_that_means_itself_may_go_where_there_is_a_place() -> None:
    one = web("one", affinity=near(term()))
    assert filtered(built(NAME), one, *cluster()) == [SUCCESS, SUCCESS, SUCCESS, FAR]
    assert filtered(built(NAME), one, *cluster(web())) == [SUCCESS, SUCCESS, FAR, FAR]
    assert filtered(built(NAME), pod(affinity=near(term())), *cluster()) == [FAR] * 4


def test_pods_that_run_refuse_newcomers() -> None:
    guard = pod("g", affinity=away(term()))
    assert filtered(built(NAME), web("one"), *cluster(guard)) == [UNWANTED, UNWANTED, SUCCESS, SUCCESS]
    # The pod's own demands speak first.
    both = web("one", affinity=away(term("host", "guard")))
    named = pod("g", labels={"app": "guard"}, affinity=away(term()))
    assert filtered(built(NAME), both, *cluster(named)) == [NEAR, UNWANTED, SUCCESS, SUCCESS]
    assert built(NAME).pre_filter(CycleState(), pod("one"), Snapshot(cluster(guard))) == (None, SKIP)


def namespace(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}}


PROD = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
NO_ENV = {"namespaceSelector": {"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]}}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, False),
        ({"namespaces": ["team"]}, True),
        ({"namespaces": ["default"]}, False),
        ({"namespaceSelector": {}}, True),
        (PROD, True),
        ({"namespaces": ["default"], **PROD}, True),
        ({"namespaceSelector": {"matchLabels": {"env": "dev"}}}, False),
        # Asked about namespaces as if they had no labels, as upstream does.
        (NO_ENV, True),
    ],
)
def test_namespaces_of_the_pods_own_terms(changes: dict[str, Any], found: bool) -> None:
    plugin = built(NAME, namespaces=[namespace("team", env="prod"), namespace("default", env="test")])
    one = pod(affinity=away(term(**changes)))
    answers = filtered(plugin, one, *cluster(web(namespace="team")))
    assert answers == ([NEAR, NEAR, SUCCESS, SUCCESS] if found else [SUCCESS] * 4)


@pytest.mark.parametrize(
    ("changes", "labels", "refused"),
    [
        (PROD, {"env": "prod"}, True),
        (PROD, {"env": "dev"}, False),
        (PROD, None, False),
        (NO_ENV, {"env": "dev"}, False),
        # A namespace without an object has no labels.
        (NO_ENV, None, True),
        ({}, {"env": "prod"}, False),
    ],
)
def test_namespaces_of_the_terms_of_pods_that_run(changes: dict[str, Any], labels: Any, refused: bool) -> None:
    plugin = built(NAME, namespaces=[] if labels is None else [namespace("team", **labels)])
    nodes = cluster(pod("g", affinity=away(term(**changes))))
    answers = filtered(plugin, web("one", namespace="team"), *nodes) if refused else None
    result, status = plugin.pre_filter(CycleState(), web("one", namespace="team"), Snapshot(nodes))
    assert (result, status) == (None, SUCCESS if refused else SKIP)
    assert answers == ([UNWANTED, UNWANTED, SUCCESS, SUCCESS] if refused else None)


@pytest.mark.parametrize(
    ("one", "running", "scores"),
    [
        (pod("o", affinity=liking((10, term()))), web(), [100, 100, 0, 0]),
        (pod("o", affinity=disliking((10, term("host")))), web(), [0, 100, 100, 100]),
        (pod("o", affinity=liking((10, term()), (30, term("host")))), web(), [100, 25, 0, 0]),
        # What pods that run like or dislike counts as much.
        (web("o"), pod("g", affinity=liking((10, term()))), [100, 100, 0, 0]),
        (web("o"), pod("g", affinity=disliking((10, term()))), [0, 0, 100, 100]),
        (web("o"), pod("g", affinity=near(term("host"))), [100, 0, 0, 0]),
        # Weights that cancel out still leave the plugin in.
        (pod("o", affinity=liking((5, term())) | disliking((5, term()))), web(), [0, 0, 0, 0]),
        (pod("o", affinity=liking((5, term(app="db")))), web(), []),
        (pod("o"), web(), []),
    ],
)
def test_score_sums_what_speaks_for_and_against_a_place(one: PodInfo, running: PodInfo, scores: list[int]) -> None:
    assert scored(built(NAME), one, *cluster(running)) == scores


def test_weight_of_required_terms_of_pods_that_run() -> None:
    nodes = cluster(pod("g", affinity=near(term("host"))), c=(pod("h", affinity=liking((10, term("host")))),))
    assert scored(built(NAME), web("o"), *nodes) == [10, 0, 100, 0]
    assert scored(built(NAME, {"hardPodAffinityWeight": 20}), web("o"), *nodes) == [100, 0, 50, 0]
    assert scored(built(NAME, {"hardPodAffinityWeight": 0}), web("o"), *nodes) == [0, 0, 100, 0]


def test_what_pods_that_run_prefer_can_be_ignored() -> None:
    plugin = built(NAME, {"ignorePreferredTermsOfExistingPods": True})
    nodes = cluster(pod("g", affinity=liking((10, term()))))
    assert scored(plugin, web("o"), *nodes) == []
    assert scored(plugin, web("o", affinity=liking((1, term("host", "none")))), *nodes) == [100, 100, 0, 0]


def test_dry_runs_move_pods() -> None:
    plugin, one = built(NAME), web("one", affinity=away(term("zone", "db")) | near(term("zone", "lb")))
    database, balancer = pod("d", labels={"app": "db"}), pod("l", labels={"app": "lb"})
    guard = pod("g", affinity=away(term()))
    nodes = cluster(database, balancer)
    assert filtered_after_moving(plugin, one, nodes, 0, [], []) == NEAR
    assert filtered_after_moving(plugin, one, nodes, 0, [database], []) == SUCCESS
    assert filtered_after_moving(plugin, one, nodes, 0, [database, balancer], []) == FAR
    assert filtered_after_moving(plugin, one, nodes, 0, [database], [guard]) == UNWANTED
    # Pods elsewhere in the place still count, and a node outside all places moves nothing.
    assert filtered_after_moving(plugin, one, nodes, 1, [], []) == NEAR
    assert filtered_after_moving(plugin, one, nodes, 3, [], [balancer]) == FAR
    assert filtered(plugin, one, *nodes)[0] == NEAR


def test_terms_that_cannot_be_read() -> None:
    broken = pod("one", affinity=near(term(**UNREADABLE)))
    _, status = built(NAME).pre_filter(CycleState(), broken, Snapshot(cluster()))
    assert status.code is unresolvable().code
    assert status.message.startswith("parsing pod: requiredAffinityTerms: values: Invalid value")
    preferring = pod("one", affinity=liking((1, term(**UNREADABLE))))
    answer = built(NAME).pre_score(CycleState(), preferring, Snapshot(cluster()), ALL_ROWS)
    assert answer.code is error().code
    assert answer.message.startswith("failed to parse pod: preferredAffinityTerms")
    # On a node such terms say nothing.
    assert built(NAME).pre_filter(CycleState(), web("o"), Snapshot(cluster(broken))) == (None, SKIP)


ON_NODE = {"nodeName": "a"}


@pytest.mark.parametrize(
    ("affinity", "old", "new", "says"),
    [
        (near(term()), None, web(**ON_NODE), "Queue"),
        (near(term()), None, pod("w", **ON_NODE), "QueueSkip"),
        (near(term()), pod("w", **ON_NODE), web(**ON_NODE), "Queue"),
        (near(term()), web(**ON_NODE), None, "QueueSkip"),
        (away(term()), web(**ON_NODE), None, "Queue"),
        (away(term()), web(**ON_NODE), pod("w", **ON_NODE), "Queue"),
        (away(term()), web(**ON_NODE), web(**ON_NODE), "QueueSkip"),
        (away(term()), None, web(**ON_NODE), "QueueSkip"),
        # Terms hold together: one that does not mean the pod keeps the others from waking.
        (away(term(), term(app="db")), web(**ON_NODE), None, "QueueSkip"),
        (near(term(), term(app="db")), None, web(**ON_NODE), "QueueSkip"),
        # A pod without a node was counted where it was nominated to.
        (away(term()), web(), None, "QueueSkip"),
        # What others demand of the pod is not asked about.
        ({}, pod("g", affinity=away(term(app="me")), **ON_NODE), None, "QueueSkip"),
    ],
)
def test_wakes_when_a_wanted_pod_comes_or_an_unwanted_one_goes(
    affinity: dict[str, Any], old: Any, new: Any, says: str
) -> None:
    assert hint(built(NAME), pod("me", labels={"app": "me"}, affinity=affinity), 0, old, new) == says


@pytest.mark.parametrize(
    ("affinity", "old", "new", "says"),
    [
        (near(term()), None, {"zone": "x"}, "Queue"),
        (near(term()), None, {}, "QueueSkip"),
        (near(term()), {}, {"zone": "x"}, "Queue"),
        (near(term()), {"zone": "x"}, {"zone": "x", "v": "1"}, "QueueSkip"),
        (near(term()), {"zone": "x"}, {"zone": "y"}, "Queue"),
        (near(term()), {"zone": "x"}, {}, "QueueSkip"),
        (away(term()), None, {}, "Queue"),
        (away(term()), {"zone": "x"}, {}, "Queue"),
        (away(term()), {"zone": "x"}, {"zone": "y"}, "Queue"),
        (away(term()), {}, {"zone": "x"}, "QueueSkip"),
        # Turned away by the demands of others: their keys are not asked about.
        ({}, None, {}, "QueueSkip"),
        ({}, {"zone": "x"}, {"zone": "y"}, "QueueSkip"),
    ],
)
def test_wakes_when_a_node_comes_to_a_place_or_leaves_one(
    affinity: dict[str, Any], old: Any, new: Any, says: str
) -> None:
    nodes = [None if labels is None else node("n", labels=labels) for labels in (old, new)]
    assert hint(built(NAME), pod("me", affinity=affinity), 1, *nodes) == says
