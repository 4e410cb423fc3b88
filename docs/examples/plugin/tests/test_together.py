"""Together, asked alone: no cluster, no server. Run with `python -m pytest` where Clustersim is importable."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.profile import MULTI_POINT, PluginSet, ProfileConfiguration, ProfileError
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code
from scheduler_core.profiles.defaults import DEFAULT_ORDER, in_tree_registry
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Snapshot
from scheduler_core.state.waiting import WaitingPods
from together.plugin import REASON, Together


class Namespaces:
    """Listers of a cluster whose namespace `red` belongs to tier r1."""

    def list(self, resource: str) -> list[dict[str, Any]]:
        return []

    def get(self, resource: str, namespace: str, name: str) -> dict[str, Any] | None:
        found = (resource, name) == ("namespaces", "red")
        return {"metadata": {"name": "red", "labels": {"tier": "r1"}}} if found else None


def framework(arguments: dict[str, Any] | None = None, waiting: WaitingPods | None = None) -> Framework:
    registry = in_tree_registry()
    registry.register("Together", Together)
    sets = {MULTI_POINT: PluginSet((*DEFAULT_ORDER, ("Together", 1)))}
    profile = ProfileConfiguration(sets=sets, arguments={"Together": arguments or {}})
    return Framework(profile, registry, listers=Namespaces(), waiting=waiting)


def pod(name: str, namespace: str = "default", **labels: str) -> PodInfo:
    labelled = {key.replace("_", "-"): value for key, value in labels.items()}
    return PodInfo.of({"metadata": {"name": name, "namespace": namespace, "uid": name, "labels": labelled}})


def nodes(*pods: PodInfo) -> Snapshot:
    infos = []
    for name, tier in (("n1", "r1"), ("n2", "r2"), ("n3", "r1")):
        infos.append(NodeInfo(name, view({"metadata": {"name": name, "labels": {"tier": tier}}}, Node)))
    for one in pods:
        infos[0].add_pod(one)
    return Snapshot(infos)


@pytest.mark.parametrize(
    ("one", "passed"),
    [
        (pod("a", tier="r1"), [True, False, True]),
        (pod("a", tier="r2"), [False, True, False]),
        (pod("a"), [True, True, True]),
        (pod("a", namespace="red"), [True, False, True]),
    ],
)
def test_tiers(one: PodInfo, passed: list[bool]) -> None:
    plugin: Any = framework().plugins["Together"]
    verdicts = plugin.filter(CycleState(), one, nodes(), ALL_ROWS)
    assert [verdicts.status(row).ok for row in range(3)] == passed
    assert all(verdicts.status(row).reasons == (REASON,) for row in range(3) if not passed[row])


def test_quiet_nodes_are_liked() -> None:
    plugin: Any = framework().plugins["Together"]
    raw = plugin.score(CycleState(), pod("a"), nodes(pod("x"), pod("y")), ALL_ROWS)
    assert raw.tolist() == [2, 0, 0]
    assert plugin.normalize(CycleState(), pod("a"), raw).tolist() == [0, 100, 100]


def test_a_group_starts_when_it_is_complete() -> None:
    waiting = WaitingPods()
    built = framework({"waitSeconds": 5}, waiting)
    first, last = pod("a", group="g", group_size="2"), pod("b", group="g", group_size="2")
    built.snapshot = nodes()
    assert built.run_permit(CycleState(), first, "n1")[1] == {"Together": 5000}
    held = waiting.add(first, "n1", {"Together": 5000}, now_ms=0)
    waiting.note([first.uid])
    assert built.run_permit(CycleState(), last, "n2")[0].ok
    assert held.is_decided
    assert held.reason == ""


def test_a_group_that_loses_one_gives_up() -> None:
    waiting = WaitingPods()
    built = framework(waiting=waiting)
    first, last = pod("a", group="g", group_size="3"), pod("b", group="g", group_size="3")
    held = waiting.add(first, "n1", {"Together": 5000}, now_ms=0)
    waiting.note([first.uid])
    built.run_unreserve(CycleState(), last, "n2")
    assert held.reason == "default/b of its group has lost its place"


def test_others_do_not_wait() -> None:
    status, waits = framework().run_permit(CycleState(), pod("a"), "n1")
    assert (status.code, waits) == (Code.SUCCESS, {})


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ProfileError, match="waitSeconds"):
        framework({"waitSeconds": -1})
