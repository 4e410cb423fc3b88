from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import (
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    WILDCARD_ALL,
    ActionType,
    ClusterEvent,
    EventRegistration,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.fit_error import event_note, fit_error
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from tests.core.framework_parts import framework, nodes
from tests.core.objects import node, pod


class Nominations:
    """Pods nominated to one node."""

    def __init__(self, node_name: str, *pods: PodInfo) -> None:
        self.node_name = node_name
        self.pods = pods

    def nominated_to(self, node_name: str) -> tuple[PodInfo, ...]:
        return self.pods if node_name == self.node_name else ()

    def nodes(self) -> tuple[str, ...]:
        return (self.node_name,)


def decided(one: PodInfo, rival: PodInfo, start: Snapshot) -> FilterOutcome:
    nominator = Nominations("x", rival)
    return filtered(Framework(default_configuration(), in_tree_registry(), nominator=nominator), one, start)


def filtered(built: Framework, one: PodInfo, where: Snapshot, **sampling: int) -> FilterOutcome:
    state = CycleState()
    left, _, narrowing = built.run_pre_filter(state, one, where)
    return built.run_filter(state, one, where, left, narrowing, **sampling)


@pytest.mark.parametrize(("priority", "fits"), [(5, True), (10, False), (20, False)])
def test_pods_nominated_with_at_least_this_priority_count(priority: int, fits: bool) -> None:
    one = pod("p", requests={"cpu": "3"}, priority=10)
    rival = pod("r", requests={"cpu": "3"}, priority=priority)
    outcome = decided(one, rival, nodes("x", "y"))
    assert outcome.status_of(0).ok is fits
    assert outcome.status_of(1).ok
    # The verdict of the filter on its own does not know of nominations.
    assert outcome.verdicts["NodeResourcesFit"].codes.tolist() == [0, 0]


def anti(name: str, **more: Any) -> PodInfo:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return pod(name, labels={"app": "web"}, affinity=affinity, **more)


def test_both_verdicts_are_kept_where_only_the_one_with_nominated_pods_fails() -> None:
    start = Snapshot(NodeInfo(name, node(name, labels={"kubernetes.io/hostname": name})) for name in ("x", "y"))
    outcome = decided(anti("p", priority=5), anti("hopes", priority=9), start)
    (both,) = outcome.both_verdicts()
    assert both.node_name == "x"
    assert both.pods == ("default/hopes",)
    assert both.added.reasons == ("node(s) didn't match pod anti-affinity rules",)
    assert both.plain.ok
    assert not outcome.status_of(0).ok


def test_both_verdicts_are_kept_where_only_the_one_without_nominated_pods_fails() -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    start = Snapshot([NodeInfo("x", node("x", labels={"kubernetes.io/hostname": "x"}))])
    outcome = decided(pod("p", affinity=affinity), pod("hopes", labels={"app": "db"}, priority=9), start)
    # The nominated pod may never arrive, so nothing may rely on it.
    (both,) = outcome.both_verdicts()
    assert both.added.ok
    assert both.plain.reasons == ("node(s) didn't match pod affinity rules",)
    assert not outcome.status_of(0).ok


def test_nominated_pods_of_lower_priority_are_not_asked_about() -> None:
    outcome = decided(anti("p", priority=5), anti("hopes", priority=4), nodes("x"))
    assert outcome.both_verdicts() == []


def test_a_pod_is_no_rival_of_itself() -> None:
    one = pod("p", requests={"cpu": "3"})
    assert decided(one, one, nodes("x")).status_of(0).ok


def test_the_nominated_node_is_taken_alone_when_it_passes() -> None:
    one = pod("p", requests={"cpu": "1"}, status={"nominatedNodeName": "y"})
    built, where = Framework(default_configuration(), in_tree_registry()), nodes("x", "y", "z")
    outcome = filtered(built, one, where)
    assert (outcome.used_nominated_node, outcome.feasible.tolist()) == (True, [1])
    assert list(outcome.failed()) == []


def test_a_nominated_node_that_fails_is_one_among_all() -> None:
    where = nodes("x", "y")
    where.add_pod(1, pod("big", requests={"cpu": "4"}))
    one = pod("p", requests={"cpu": "1"}, status={"nominatedNodeName": "y"})
    outcome = filtered(Framework(default_configuration(), in_tree_registry()), one, where)
    assert (outcome.used_nominated_node, outcome.feasible.tolist()) == (False, [0])


def test_cycle_state_clones_what_can_be_cloned_and_shares_the_rest() -> None:
    class Counts(dict[str, int]):
        def clone(self) -> Counts:
            return Counts(self)

    state = CycleState()
    state.write("counts", Counts(a=1))
    state.write("shared", shared := ["x"])
    state.skip_filter = frozenset("F")
    copy = state.clone()
    copy.read("counts")["a"] = 2
    assert (state.read("counts"), copy.read("shared") is shared, copy.skip_filter) == ({"a": 1}, True, frozenset("F"))
    copy.delete("counts")
    assert copy.get("counts") is None
    with pytest.raises(KeyError):
        copy.read("counts")


@pytest.mark.parametrize(
    ("registered", "happened", "covers"),
    [
        (NODE_ADD, NODE_ADD, True),
        (NODE_ADD, ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL), False),
        (
            ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT),
            ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT),
            True,
        ),
        (ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ALL), NODE_ADD, False),
        (WILDCARD_ALL, ASSIGNED_POD_DELETE, True),
        (ASSIGNED_POD_DELETE, WILDCARD_ALL, True),
    ],
)
def test_which_events_a_registration_covers(registered: ClusterEvent, happened: ClusterEvent, covers: bool) -> None:
    assert registered.covers(happened) is covers


def test_a_hint_function_that_raises_queues_the_pod() -> None:
    def broken(one: Any, old: Any, new: Any) -> QueueingHint:
        raise RuntimeError("boom")

    assert EventRegistration(NODE_ADD, broken).ask(pod(), None, None) is QueueingHint.QUEUE


def test_a_plugin_that_registers_no_events_hears_of_all() -> None:
    registered = framework({}).events_to_register()
    assert [one.event.covers(NODE_ADD) and one.event.covers(ASSIGNED_POD_DELETE) for one in registered["A"]] == [True]


def test_fit_error_texts() -> None:
    reasons = {"b": 10, "a": 2}
    assert fit_error(12, reasons) == "0/12 nodes are available: 10 b, 2 a."
    assert fit_error(12, reasons, post_filter="x: y") == "0/12 nodes are available: 10 b, 2 a. x: y"
    assert fit_error(12, {}, pre_filter="no", post_filter="x") == "0/12 nodes are available: no. x"
    assert event_note("a" * 1024) == "a" * 1024
    assert event_note("a" * 1025) == "a" * 1020 + " ..."
    assert event_note("é" * 600) == "é" * 510 + " ..."
