"""Preemption with extenders that see it: they take candidates out and name other victims, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.framework.asks import DeletePod, Reply, Spawn
from scheduler_core.framework.status import Code
from tests.extender.server import Odd, extender
from tests.legacy.era118 import era_scheduler
from tests.scheduler.kit import Hand, node, pod, scheduler


def crowded(configured, *documents: dict[str, Any]) -> Hand:
    """Return a full cluster: two lesser pods on each of a, b and c, those of a the least."""
    core = scheduler(extenders=configured(*documents))
    for priority, name in enumerate("abc", start=1):
        core.observe_node(node(name, cpu="2"))
        for number in range(2):
            core.observe_pod(pod(f"{name}{number}", cpu="1", on=name, priority=priority))
    core.observe_pod(pod("boss", cpu="1", priority=100))
    return Hand(core)


def deleted(hand: Hand) -> list[str]:
    """Carry out what the attempt left to be done, and return the pods that go."""
    for ask in hand.of(Spawn):
        hand.drive(ask.steps, lambda one: Reply())
    return [ask.pod.name for ask in hand.of(DeletePod)]


def meta(**nodes: list[str] | None) -> Any:
    """Answer with these victims, by name."""
    found = {
        name: None if pods is None else {"Pods": [{"UID": f"uid-{one}"} for one in pods], "NumPDBViolations": 0}
        for name, pods in nodes.items()
    }
    return lambda body: {"NodeNameToMetaVictims": found}


@pytest.mark.parametrize("names_only", [False, True])
def test_it_sees_every_candidate_with_its_victims_and_may_take_some_out(configured, over_http, names_only) -> None:
    with extender(preempt=meta(b=["b1"], c=["c1"])) as first, extender(preempt=meta(c=["c0", "c1"])) as second:
        hand = crowded(
            configured,
            {"urlPrefix": first.url, "preemptVerb": "preempt", "nodeCacheCapable": names_only},
            {"urlPrefix": second.url, "preemptVerb": "preempt", "nodeCacheCapable": True},
        )
        run = hand.attempt(over_http)
    body = first.calls[0][1]
    key, absent = "NodeNameToMetaVictims", "NodeNameToVictims"
    if not names_only:
        key, absent = absent, key
    assert body[absent] is None
    assert sorted(body[key]) == ["a", "b", "c"]
    victim = body[key]["a"]["Pods"][0]
    assert (victim["UID"] if names_only else victim["metadata"]["uid"]) in ("uid-a0", "uid-a1")
    assert sorted(second.calls[0][1]["NodeNameToMetaVictims"]) == ["b", "c"]
    assert run.nominated_node_name == "c"
    assert sorted(deleted(hand)) == ["c0", "c1"]
    told = run.post_filter.detail.explain()["candidates"]
    assert {one["node"]: one["eliminatedBy"] for one in told} == {"a": first.url, "b": second.url, "c": ""}
    assert run.post_filter.detail.as_dict()["candidates"]["c"]["victims"] == ["default/c0", "default/c1"]
    steps = [step["step"] for step in run.post_filter.detail.told()]
    assert steps[:6] == ["triggered", "readAfresh", "potentialNodes", "dryRun", "extended", "chosen"]


def test_the_scheduler_of_1_18_asks_them_too(configured, over_http) -> None:
    with extender(preempt=meta(b=["b1"])) as one:
        extenders = configured({"urlPrefix": one.url, "preemptVerb": "preempt"})
        core = era_scheduler(extenders=extenders)
        for name in "ab":
            core.observe_node(node(name, cpu="2"))
            for number in range(2):
                core.observe_pod(pod(f"{name}{number}", cpu="1", on=name, priority=1))
        core.observe_pod(pod("boss", cpu="1", priority=100))
        hand = Hand(core)
        run = hand.attempt(over_http)
    assert run.nominated_node_name is None
    assert core.nominator.node_of("uid-boss") == "b"
    assert [ask.pod.name for ask in hand.of(DeletePod)] == ["b1"]


def test_the_choice_among_what_is_left_follows_the_criteria(configured, over_http) -> None:
    with extender(preempt=meta(b=["b0"], c=["c0"])) as one:
        hand = crowded(configured, {"urlPrefix": one.url, "preemptVerb": "preempt"})
        assert hand.attempt(over_http).nominated_node_name == "b"


def test_nothing_left_means_no_preemption(configured, over_http) -> None:
    with extender(preempt=meta()) as one:
        hand = crowded(configured, {"urlPrefix": one.url, "preemptVerb": "preempt"})
        run = hand.attempt(over_http)
    assert run.post_filter_status.code is Code.UNSCHEDULABLE
    assert run.post_filter.nominated_node_name is None
    assert hand.message == (
        "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, "
        "preemption: no candidate node for preemption"
    )
    assert hand.of(Spawn) == []


BROKEN = {
    "status": (lambda body: Odd(status=500), "failed preempt with extender at URL {url}/preempt, code 500"),
    "a pod that is elsewhere": (
        meta(b=["a0"]),
        "extender: {url} claims to preempt pod (UID: uid-a0) on node: b, but the pod is not found on that node",
    ),
    "a node that is not there": (meta(z=["a0"]), 'nodeinfo not found for node name "z"'),
    "no victims": (meta(b=[]), 'expected at least one victim pod on node "b"'),
}


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("ignorable", [False, True])
def test_an_extender_that_breaks_ends_the_preemption_unless_it_may_be_ignored(
    configured, over_http, what: str, ignorable: bool
) -> None:
    answer, text = BROKEN[what]
    with extender(preempt=answer) as one:
        hand = crowded(configured, {"urlPrefix": one.url, "preemptVerb": "preempt", "ignorable": ignorable})
        run = hand.attempt(over_http)
        expected = text.format(url=one.url)
    if not ignorable:
        assert run.post_filter_status.code is Code.ERROR
        assert run.post_filter_status.message == f"preemption: {expected}"
        assert hand.message.endswith(expected)
        assert hand.of(Spawn) == []
        return
    # A node that an ignorable extender names without victims is left out; any other failure leaves all as it was.
    assert run.nominated_node_name == (None if what == "no victims" else "a")


def test_an_extender_without_the_verb_or_without_interest_is_not_asked(configured, over_http) -> None:
    managed = [{"name": "example.com/gpu"}]
    with extender() as one:
        hand = crowded(
            configured,
            {"urlPrefix": one.url, "bindVerb": "bind"},
            {"urlPrefix": one.url, "preemptVerb": "preempt", "managedResources": managed},
        )
        assert hand.attempt(over_http).nominated_node_name == "a"
    assert one.calls == []


def test_a_node_refused_for_now_is_tried_and_one_refused_for_good_is_not(configured, over_http) -> None:
    told = {"NodeNames": [], "FailedNodes": {"a": "busy"}, "FailedAndUnresolvableNodes": {"b": "wrong"}}
    with extender(filter=lambda body: told) as one:
        document = {"urlPrefix": one.url, "filterVerb": "filter", "nodeCacheCapable": True}
        core = scheduler(extenders=configured(document))
        for name in "ab":
            core.observe_node(node(name, cpu="2"))
            core.observe_pod(pod(f"{name}0", cpu="1", on=name))
        core.observe_pod(pod("boss", cpu="1", priority=100))
        run = Hand(core).attempt(over_http)
    # Dry runs do not ask extenders: the pod fits there without evicting anybody, which is an error upstream, too.
    assert run.post_filter_status.message == 'preemption: expected at least one victim pod on node "a"'


def test_a_full_node_is_freed_beside_one_that_an_extender_refused(configured, over_http) -> None:
    with extender(filter=lambda body: {"NodeNames": [], "FailedNodes": {"b": "busy"}}) as one:
        document = {"urlPrefix": one.url, "filterVerb": "filter", "nodeCacheCapable": True}
        core = scheduler(extenders=configured(document))
        for name, cpu in (("a", "1"), ("b", "2")):
            core.observe_node(node(name, cpu=cpu))
            core.observe_pod(pod(f"{name}0", cpu="1", on=name))
        core.observe_pod(pod("boss", cpu="1", priority=100))
        run = Hand(core).attempt(over_http)
    assert [body["NodeNames"] for _, body in one.calls] == [["b"]]
    assert run.nominated_node_name == "a"
    found = run.post_filter.detail.as_dict()
    assert list(found["candidates"]) == ["a"]
    assert found["nodeStatus"]["b"]["reasons"] == ['expected at least one victim pod on node "b"']
