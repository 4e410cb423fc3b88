"""Coscheduling: who is held, who lets the others go, who gives up."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.profile import MULTI_POINT, PluginSet, ProfileConfiguration
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code
from scheduler_core.plugins.coscheduling import GROUP_LABEL, MIN_AVAILABLE_LABEL, NAME
from scheduler_core.profiles.arguments import argument_errors
from scheduler_core.profiles.defaults import DEFAULT_ORDER, in_tree_registry
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.waiting import WaitingPods


def framework(waiting: WaitingPods, *placed: PodInfo, **arguments: Any) -> Framework:
    """Return a framework with the plugin, on one node with these pods."""
    sets = {MULTI_POINT: PluginSet((*DEFAULT_ORDER, (NAME, 0)))}
    profile = ProfileConfiguration(sets=sets, arguments={NAME: arguments})
    built = Framework(profile, in_tree_registry(), waiting=waiting)
    node = NodeInfo("n1", view({"metadata": {"name": "n1"}}, Node))
    for one in placed:
        node.add_pod(one)
    built.snapshot = Snapshot([node])
    return built


def pod(name: str, group: str = "train", wanted: str = "2", namespace: str = "default") -> PodInfo:
    """Return a pod of a group."""
    labels = {GROUP_LABEL: group, MIN_AVAILABLE_LABEL: wanted}
    return PodInfo.of({"metadata": {"name": name, "namespace": namespace, "uid": name, "labels": labels}})


def held(waiting: WaitingPods, *pods: PodInfo) -> list[Any]:
    """Let pods wait at Permit, as of the beginning of the attempt in hand."""
    found = [waiting.add(one, "n1", {NAME: 60_000}, now_ms=0) for one in pods]
    waiting.note([one.uid for one in pods])
    return found


def test_the_first_of_a_group_waits_for_as_long_as_is_said() -> None:
    assert framework(WaitingPods()).run_permit(CycleState(), pod("a"), "n1")[1] == {NAME: 60_000}
    told = framework(WaitingPods(), permitWaitingTimeSeconds=5).run_permit(CycleState(), pod("a"), "n1")
    assert (told[0].code, told[1]) == (Code.WAIT, {NAME: 5_000})


def test_the_last_of_a_group_lets_the_others_go() -> None:
    waiting = WaitingPods()
    (first,) = held(waiting, pod("a"))
    assert framework(waiting).run_permit(CycleState(), pod("b"), "n1")[0].ok
    assert (first.is_decided, first.reason) == (True, "")


def test_who_has_a_node_counts_and_who_waits_there_counts_once() -> None:
    waiting = WaitingPods()
    one, two = pod("a", wanted="3"), pod("b", wanted="3")
    held(waiting, two)
    assert framework(waiting, one, two).run_permit(CycleState(), pod("c", wanted="3"), "n1")[0].ok
    assert not framework(waiting, two).run_permit(CycleState(), pod("c", wanted="3"), "n1")[0].ok


@pytest.mark.parametrize(
    "other", [pod("b", group="other"), pod("b", namespace="elsewhere")], ids=["group", "namespace"]
)
def test_pods_of_others_do_not_count(other: PodInfo) -> None:
    waiting = WaitingPods()
    (theirs,) = held(waiting, other)
    assert framework(waiting).run_permit(CycleState(), pod("a"), "n1")[0].code is Code.WAIT
    framework(waiting).run_unreserve(CycleState(), pod("a"), "n1")
    assert not theirs.is_decided


@pytest.mark.parametrize(
    "one", [pod("a", group=""), pod("a", wanted="1"), pod("a", wanted=""), pod("a", wanted="many")],
    ids=["no group", "one is enough", "no number", "no whole number"],
)  # fmt: skip
def test_who_needs_nobody_is_not_held(one: PodInfo) -> None:
    status, waits = framework(WaitingPods()).run_permit(CycleState(), one, "n1")
    assert (status.code, waits) == (Code.SUCCESS, {})


def test_when_one_loses_its_place_all_who_wait_lose_theirs() -> None:
    waiting = WaitingPods()
    (first,) = held(waiting, pod("a", wanted="3"))
    framework(waiting).run_unreserve(CycleState(), pod("b", wanted="3"), "n1")
    assert first.reason == "rejected due to default/b of its group losing its place"


@pytest.mark.parametrize("arguments", [{"permitWaitingTimeSeconds": 0}, {"permitWaitingTimeSeconds": "9"}, {"wait": 9}])
def test_wrong_arguments_are_refused_with_their_field(arguments: dict[str, Any]) -> None:
    causes = list(argument_errors(NAME, arguments, "args"))
    assert [cause.field for cause in causes] == [f"args.{next(iter(arguments))}"]
