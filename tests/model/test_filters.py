"""Each filter formula beside the plugin: with everything granted they agree, and each difference has its name."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.model import deviations as names
from scheduler_core.model.deviations import AS_WRITTEN, TODAY
from scheduler_core.model.filters import FILTERS
from scheduler_core.model.objects import Objects
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Snapshot
from scheduler_core.state.cache import Cache
from tests.core.plugins.asking import built
from tests.model.clusters import HOST, ZONE, draw_objects, near, node, pod, required

PLUGINS: dict[str, tuple[str, ...]] = {
    "NodeUnschedulable": ("1.1",),
    "NodeResourcesFit": ("1.2",),
    "NodeAffinity": ("1.3", "1.5 node"),
    "TaintToleration": ("1.4",),
    "InterPodAffinity": ("1.5 pod", "1.5 anti"),
    "NodePorts": ("…",),
}
"""Plugin → the sections of which it is the conjunction."""

MAY_DIFFER: dict[str, frozenset[str]] = {
    "1.1": frozenset({names.CORDON, names.CONDITIONS, names.EMPTY_OPERATOR, names.EMPTY_COVERS_ALL}),
    "1.2": frozenset({names.SIDECARS, names.NOTHING_ASKED}),
    "1.3": frozenset(),
    "1.4": frozenset({names.PREFER, names.EMPTY_OPERATOR, names.EMPTY_COVERS_ALL}),
    "1.5 node": frozenset({names.EMPTY_TERM, names.MATCH_FIELDS, names.UNREADABLE}),
    "1.5 pod": frozenset({names.ONE_FOR_ALL, names.FIRST_OF_KIND, names.UNREADABLE}),
    "1.5 anti": frozenset({names.MUTUAL}),
    "…": frozenset({names.MORE_FILTERS}),
}
"""Section → every name of a difference that it may have."""


def snapshot_of(objects: Objects) -> Snapshot:
    cache = Cache()
    for one in objects.nodes:
        cache.add_node(one)
    for other in objects.pods:
        if other.pod.spec.node_name:
            cache.add_pod(other)
    return cache.snapshot()


def plugin_says(plugin: Any, one: PodInfo, snapshot: Snapshot) -> dict[str, bool]:
    state = CycleState()
    names_left: Sequence[str] | None = None
    if hasattr(plugin, "pre_filter"):
        left, status = plugin.pre_filter(state, one, snapshot)
        if status.skipped:
            return dict.fromkeys(snapshot.names, True)
        if not status.ok:
            return dict.fromkeys(snapshot.names, False)
        names_left = None if left is None else left.node_names
    codes = plugin.filter(state, one, snapshot, ALL_ROWS).codes
    return {
        name: int(code) == 0 and (names_left is None or name in names_left)
        for name, code in zip(snapshot.names, codes, strict=True)
    }


@pytest.fixture(scope="module")
def plugins() -> dict[str, Any]:
    return {name: built(name) for name in PLUGINS}


@settings(max_examples=250)
@given(random=st.randoms(use_true_random=False))
def test_with_everything_granted_a_formula_says_what_its_plugin_says(plugins: dict[str, Any], random: Random) -> None:
    objects = draw_objects(random)
    snapshot = snapshot_of(objects)
    for one in objects.pods:
        rest = objects.without((one,))
        level = snapshot if not one.pod.spec.node_name else snapshot_of(rest)
        for name, sections in PLUGINS.items():
            told = {
                each.name: all(FILTERS[section](one, each, rest, TODAY) for section in sections) for each in rest.nodes
            }
            assert told == plugin_says(plugins[name], one, level), (name, one.pod.spec)


@settings(max_examples=250)
@given(random=st.randoms(use_true_random=False))
def test_a_formula_as_written_differs_from_its_plugin_by_named_differences_alone(random: Random) -> None:
    objects = draw_objects(random)
    for one in objects.pods:
        rest = objects.without((one,))
        for each in rest.nodes:
            for section, holds in FILTERS.items():
                others = TODAY - MAY_DIFFER[section]
                assert holds(one, each, rest, others) == holds(one, each, rest, AS_WRITTEN), section


UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
SIDECAR = {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


def node_terms(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": list(terms)}}}}  # fmt: skip


EXAMPLES: dict[str, tuple[str, Objects, PodInfo, bool]] = {
    names.CORDON: (
        "1.1", Objects((), (node("n", unschedulable=True),)), pod("p", tolerations=[UNSCHEDULABLE]), False,
    ),
    names.CONDITIONS: ("1.1", Objects((), (node("n", ready="False"),)), pod("p"), False),
    names.SIDECARS: (
        "1.2",
        Objects((), (node("n", "1"),)),
        pod("p", "1", initContainers=[SIDECAR]),
        True,
    ),
    names.NOTHING_ASKED: ("1.2", Objects((pod("q", "2", on="n"),), (node("n", "1"),)), pod("p", "0"), False),
    names.PREFER: ("1.4", Objects((), (node("n", taints=[TAINT | {"effect": "PreferNoSchedule"}]),)), pod("p"), False),
    names.EMPTY_OPERATOR: (
        "1.4",
        Objects((), (node("n", taints=[TAINT]),)),
        pod("p", tolerations=[{"key": "k", "value": "v", "effect": "NoSchedule"}]),
        False,
    ),
    names.EMPTY_COVERS_ALL: (
        "1.4", Objects((), (node("n", taints=[TAINT]),)), pod("p", tolerations=[{"operator": "Exists"}]), False,
    ),
    names.EMPTY_TERM: ("1.5 node", Objects((), (node("n"),)), pod("p", **node_terms({})), True),
    names.MATCH_FIELDS: (
        "1.5 node",
        Objects((), (node("n"),)),
        pod("p", **node_terms({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["m"]}]})),
        True,
    ),
    names.UNREADABLE: (
        "1.5 node",
        Objects((), (node("n"),)),
        pod("p", **node_terms({"matchExpressions": [{"key": "disk", "operator": "NotIn", "values": []}]})),
        True,
    ),
    names.ONE_FOR_ALL: (
        "1.5 pod",
        Objects((pod("q", on="n", labels={"app": "x"}), pod("r", on="n", labels={"tier": "y"})), (node("n"),)),
        pod("p", affinity=required("podAffinity", near(HOST, app="x"), near(HOST, tier="y"))),
        True,
    ),
    names.FIRST_OF_KIND: (
        "1.5 pod",
        Objects((), (node("n"),)),
        pod("p", labels={"app": "x"}, affinity=required("podAffinity", near(HOST, app="x"))),
        False,
    ),
    names.MUTUAL: (
        "1.5 anti",
        Objects((pod("q", on="n", affinity=required("podAntiAffinity", near(HOST, app="x"))),), (node("n"),)),
        pod("p", labels={"app": "x"}),
        True,
    ),
    names.MORE_FILTERS: (
        "…",
        Objects(
            (pod("q", on="n", containers=[{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]),),
            (node("n"),),
        ),
        pod("p", containers=[{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]),
        True,
    ),
}  # fmt: skip
"""Difference → the smallest example: (section, objects, pod, what the formula says as written)."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_smallest_example_of_each_difference(plugins: dict[str, Any], name: str) -> None:
    section, objects, one, written = EXAMPLES[name]
    (only,) = objects.nodes
    assert FILTERS[section](one, only, objects, AS_WRITTEN) is written
    assert FILTERS[section](one, only, objects, frozenset({name})) is not written
    plugin = next(plugin for plugin, sections in PLUGINS.items() if section in sections)
    assert plugin_says(plugins[plugin], one, snapshot_of(objects)) == {"n": not written}


def test_every_difference_of_a_section_has_an_example() -> None:
    assert set(EXAMPLES) == frozenset().union(*MAY_DIFFER.values())


SELECTORS = [
    ("In", ["ssd"], {"disk": "ssd"}, True),
    ("In", ["ssd"], {}, False),
    ("NotIn", ["ssd"], {"disk": "ssd"}, False),
    ("NotIn", ["ssd"], {}, True),
    ("Exists", [], {"disk": "x"}, True),
    ("DoesNotExist", [], {"disk": "x"}, False),
    ("Gt", ["2"], {"disk": "3"}, True),
    ("Gt", ["2"], {"disk": "2"}, False),
    ("Gt", ["2"], {"disk": "x"}, False),
    ("Lt", ["2"], {"disk": "1"}, True),
    ("Lt", ["2"], {"disk": "2"}, False),
    ("Lt", ["2"], {}, False),
]


@pytest.mark.parametrize(("operator", "values", "labels", "matched"), SELECTORS)
def test_the_six_operators(operator: str, values: list[str], labels: dict[str, str], matched: bool) -> None:
    term = {"matchExpressions": [{"key": "disk", "operator": operator, "values": values}]}
    one = node("n", labels=labels | {ZONE: "a"})
    for granted in (AS_WRITTEN, TODAY):
        assert FILTERS["1.5 node"](pod("p", **node_terms(term)), one, Objects((), (one,)), granted) is matched


def test_a_pod_asks_the_larger_of_its_largest_init_container_and_the_sum_of_its_containers() -> None:
    several = [{"name": name, "resources": {"requests": {"cpu": "1"}}} for name in "ab"]
    large = {"name": "i", "resources": {"requests": {"cpu": "3"}}}
    objects = Objects((), (node("two", "2"), node("three", "3")))
    two, three = objects.nodes
    fits = FILTERS["1.2"]
    assert fits(pod("p", containers=several, initContainers=[several[0], several[1]]), two, objects, AS_WRITTEN)
    assert not fits(pod("p", containers=several, initContainers=[large]), two, objects, AS_WRITTEN)
    assert fits(pod("p", containers=several, initContainers=[large]), three, objects, AS_WRITTEN)
