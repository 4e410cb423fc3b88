"""NodeUnschedulable, NodeName, TaintToleration, NodePorts, SchedulingGates, PrioritySort, DynamicResources."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import EventResource, HintFunction, QueueingHint
from scheduler_core.framework.status import SKIP, SUCCESS, error, unresolvable, unschedulable
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.plugins.dynamic_resources import DynamicResources
from scheduler_core.plugins.node_name import NodeName
from scheduler_core.plugins.node_ports import NodePorts, conflicts
from scheduler_core.plugins.node_unschedulable import NodeUnschedulable
from scheduler_core.plugins.priority_sort import PrioritySort
from scheduler_core.plugins.scheduling_gates import SchedulingGates
from scheduler_core.plugins.taint_toleration import TaintToleration
from scheduler_core.snapshot.snapshot import Snapshot
from tests.core.objects import info, node, pod
from tests.core.plugins.asking import built, filtered, hint, scored

CORDON = "node.kubernetes.io/unschedulable"


@pytest.mark.parametrize(
    ("tolerations", "answer"),
    [
        ([], unresolvable("node(s) were unschedulable")),
        ([{"key": CORDON, "operator": "Exists"}], SUCCESS),
        ([{"key": CORDON, "operator": "Exists", "effect": "NoExecute"}], unresolvable("node(s) were unschedulable")),
        ([{"operator": "Exists"}], SUCCESS),
    ],
)
def test_node_unschedulable(tolerations: list[dict[str, str]], answer: Any) -> None:
    one = pod(tolerations=tolerations)
    nodes = info(node("a", unschedulable=True)), info(node("b"))
    assert filtered(NodeUnschedulable(), one, *nodes) == [answer, SUCCESS]


def test_node_unschedulable_wakes_on_uncordon_and_own_toleration() -> None:
    plugin, one = NodeUnschedulable(), pod()
    open_node, cordoned = node("a"), node("a", unschedulable=True)
    assert [hint(plugin, one, 0, cordoned, open_node), hint(plugin, one, 0, None, open_node)] == ["Queue", "Queue"]
    assert hint(plugin, one, 0, open_node, open_node) == "QueueSkip"
    assert hint(plugin, one, 0, open_node, cordoned) == "QueueSkip"
    tolerant = pod(tolerations=[{"operator": "Exists"}])
    assert hint(plugin, one, 1, one, tolerant) == "Queue"
    assert hint(plugin, one, 1, one, one) == "QueueSkip"


def test_node_name() -> None:
    nodes = info(node("a")), info(node("b"))
    missed = unresolvable("node(s) didn't match the requested node name")
    assert filtered(NodeName(), pod(nodeName="b"), *nodes) == [missed, SUCCESS]
    assert filtered(NodeName(), pod(), *nodes) == [SUCCESS, SUCCESS]


def taint(key: str, effect: str, value: str = "v") -> dict[str, str]:
    return {"key": key, "value": value, "effect": effect}


@pytest.mark.parametrize(
    ("tolerations", "refused"),
    [
        ([], "{k: v}"),
        ([{"key": "k", "operator": "Equal", "value": "v"}], None),
        ([{"key": "k", "value": "w"}], "{k: v}"),
        ([{"key": "k", "operator": "Exists", "effect": "NoSchedule"}], None),
        ([{"key": "k", "operator": "Exists", "effect": "NoExecute"}], "{k: v}"),
        ([{"operator": "Exists"}], None),
        ([{"key": "k", "operator": "Near"}], "{k: v}"),
    ],
)
def test_taints_keep_away(tolerations: list[dict[str, str]], refused: str | None) -> None:
    nodes = info(node("a", taints=[taint("k", "NoSchedule")])), info(node("b"))
    answer = SUCCESS if refused is None else unresolvable(f"node(s) had untolerated taint {refused}")
    assert filtered(TaintToleration(), pod(tolerations=tolerations), *nodes) == [answer, SUCCESS]


def test_the_first_untolerated_taint_is_named_and_prefer_no_schedule_never() -> None:
    taints = [taint("soft", "PreferNoSchedule"), taint("x", "NoExecute", ""), taint("y", "NoSchedule")]
    assert filtered(TaintToleration(), pod(), info(node(taints=taints))) == [
        unresolvable("node(s) had untolerated taint {x: }")
    ]


def test_untolerated_soft_taints_cost_points() -> None:
    soft = [taint("p", "PreferNoSchedule"), taint("q", "PreferNoSchedule")]
    nodes = info(node("a", taints=soft)), info(node("b", taints=soft[:1])), info(node("c"))
    assert scored(TaintToleration(), pod(), *nodes) == [0, 50, 100]
    tolerant = pod(tolerations=[{"key": "p", "operator": "Exists", "effect": "PreferNoSchedule"}])
    assert scored(TaintToleration(), tolerant, *nodes) == [0, 100, 100]
    assert scored(TaintToleration(), tolerant, nodes[1], nodes[2]) == [100, 100]


def test_taint_toleration_wakes_when_a_node_loses_its_taint() -> None:
    plugin, tainted = TaintToleration(), node("a", taints=[taint("k", "NoSchedule")])
    assert hint(plugin, pod(), 0, tainted, node("a")) == "Queue"
    assert hint(plugin, pod(), 0, None, tainted) == "QueueSkip"
    assert hint(plugin, pod(), 0, node("a"), node("a")) == "QueueSkip"


@pytest.mark.parametrize(
    ("wanted", "used", "conflict"),
    [
        (("TCP", "0.0.0.0", 80), ("TCP", "10.0.0.1", 80), True),
        (("TCP", "10.0.0.1", 80), ("TCP", "0.0.0.0", 80), True),
        (("TCP", "10.0.0.1", 80), ("TCP", "10.0.0.2", 80), False),
        (("TCP", "10.0.0.1", 80), ("TCP", "10.0.0.1", 80), True),
        (("UDP", "0.0.0.0", 80), ("TCP", "0.0.0.0", 80), False),
        (("TCP", "0.0.0.0", 80), ("TCP", "0.0.0.0", 81), False),
    ],
)
def test_port_conflicts(wanted: tuple[str, str, int], used: tuple[str, str, int], conflict: bool) -> None:
    assert conflicts([wanted], [used]) is conflict


def ported(name: str, port: int, **spec: Any) -> Any:
    return pod(name, containers=[{"name": "c", "ports": [{"containerPort": 1, "hostPort": port}]}], **spec)


def test_node_ports() -> None:
    reason = unschedulable("node(s) didn't have free ports for the requested pod ports")
    nodes = info(node("a"), ported("x", 80)), info(node("b"), ported("y", 81))
    assert filtered(NodePorts(), ported("p", 80), *nodes) == [reason, SUCCESS]
    assert NodePorts().pre_filter(CycleState(), pod(), Snapshot()) == (None, SKIP)


def test_node_ports_wakes_when_a_pod_gives_the_port_back() -> None:
    plugin, one = NodePorts(), ported("p", 80)
    assert hint(plugin, one, 0, ported("x", 80, nodeName="a"), None) == "Queue"
    assert hint(plugin, one, 0, ported("x", 81, nodeName="a"), None) == "QueueSkip"
    assert hint(plugin, one, 0, ported("x", 80), None) == "QueueSkip"


def test_scheduling_gates() -> None:
    gated = pod(schedulingGates=[{"name": "a"}, {"name": "b"}])
    assert SchedulingGates().pre_enqueue(gated) == unresolvable("waiting for scheduling gates: [a b]")
    assert SchedulingGates().pre_enqueue(pod()) == SUCCESS
    assert hint(SchedulingGates(), gated, 0, gated, pod()) == "Queue"
    assert hint(SchedulingGates(), gated, 0, None, pod("other")) == "QueueSkip"


def test_priority_sort() -> None:
    key = PrioritySort().sort_key
    waiting = [
        (pod("old", priority=1), 5),
        (pod("new", priority=1), 9),
        (pod("high", priority=7), 10),
        (pod("none"), 1),
    ]
    assert [one.pod.name for one, at in sorted(waiting, key=lambda pair: key(*pair))] == ["high", "old", "new", "none"]


def claimless(*claims: dict[str, object]) -> DynamicResources:
    plugin: DynamicResources = built("DynamicResources", resourceclaims_resource_k8s_io=list(claims))
    return plugin


def test_dynamic_resources_words() -> None:
    plugin, state = claimless(), CycleState()
    outcome = FilterOutcome(Snapshot(), (), {}, first=None)  # type: ignore[arg-type]
    assert plugin.post_filter(state, pod(), outcome) == (None, error("not found"))
    assert plugin.pre_filter(state, pod(), Snapshot()) == (None, SKIP)
    assert plugin.post_filter(state, pod(), outcome) == (None, unschedulable("no new claims to deallocate"))
    assert plugin.pre_enqueue(pod()) == SUCCESS


@pytest.mark.parametrize(
    ("claim", "status", "text"),
    [
        ({"resourceClaimName": "card"}, [], 'could not find ResourceClaim "default/card"'),
        ({"resourceClaimName": "there"}, [], ""),
        ({"resourceClaimName": "going"}, [], 'resourceclaim "going" is being deleted'),
        ({"resourceClaimTemplateName": "t"}, [], 'pod "default/p": ResourceClaim not created yet'),
        ({"resourceClaimTemplateName": "t"}, [{"name": "gpu"}], ""),
        ({"resourceClaimTemplateName": "t"}, [{"name": "gpu", "resourceClaimName": "own"}], ""),
        (
            {"resourceClaimTemplateName": "t"},
            [{"name": "gpu", "resourceClaimName": "there"}],
            "ResourceClaim default/there was not created for pod default/p (pod is not owner)",
        ),
        ({}, [], 'pod "default/p", spec.resourceClaim "gpu": none of the supported fields are set'),
    ],
)
def test_a_pod_waits_for_its_claims(claim: dict[str, str], status: list[dict[str, str]], text: str) -> None:
    owner = {"uid": "uid-p", "controller": True}
    plugin = claimless(
        {"metadata": {"name": "there", "namespace": "default"}},
        {"metadata": {"name": "going", "namespace": "default", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
        {"metadata": {"name": "own", "namespace": "default", "ownerReferences": [owner]}},
    )
    claiming = pod("p", resourceClaims=[{"name": "gpu", **claim}], status={"resourceClaimStatuses": status})
    assert plugin.pre_enqueue(claiming) == (unresolvable(text) if text else SUCCESS)


def claim(name: str, status: dict[str, object] | None = None) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"}, "status": status or {}}


TAKEN: dict[str, object] = {"allocation": {"devices": {}}}


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        (None, claim("mine"), QueueingHint.QUEUE),
        (None, claim("other"), QueueingHint.SKIP),
        (claim("mine"), claim("mine"), QueueingHint.SKIP),
        (claim("mine"), claim("mine", TAKEN), QueueingHint.QUEUE),
        (claim("other"), claim("other", TAKEN), QueueingHint.SKIP),
        (claim("other", TAKEN), claim("other"), QueueingHint.QUEUE),
    ],
)
def test_a_claim_wakes_whom_it_concerns(old: Any, new: Any, hint: QueueingHint) -> None:
    plugin = claimless(claim("mine"))
    claiming = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}])
    assert asked(plugin, EventResource.RESOURCE_CLAIM)(claiming, old, new) is hint
    lacking = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "none"}])
    assert asked(plugin, EventResource.RESOURCE_CLAIM)(lacking, old, new) is QueueingHint.SKIP


def test_a_pod_wakes_by_the_name_of_a_claim_that_is_there() -> None:
    plugin = claimless(claim("mine"))
    waiting, other = (pod(name, resourceClaims=[{"name": "g", "resourceClaimName": "mine"}]) for name in ("p", "q"))
    lacking = pod("p", resourceClaims=[{"name": "g", "resourceClaimName": "none"}])
    hint = asked(plugin, EventResource.UNSCHEDULED_POD)
    assert hint(waiting, waiting, waiting) is QueueingHint.QUEUE
    assert hint(waiting, other, other) is QueueingHint.SKIP
    assert hint(waiting, waiting, lacking) is QueueingHint.SKIP


def asked(plugin: DynamicResources, resource: EventResource) -> HintFunction:
    found = next(one.hint for one in plugin.events_to_register() if one.event.resource is resource)
    assert found is not None
    return found
