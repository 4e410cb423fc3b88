"""A session that runs the framework of 1.18: preemption by the scheduler itself, points by the era's names."""

from __future__ import annotations

import pytest

from controllers.log.operations import Create, Patch
from controllers.scheduler.decisions import find, whole
from controllers.scheduler.past import Past
from tests.controllers.scheduler.plane import Plane

CONFIGS = "schedulerconfigs.clustersim.io"


@pytest.fixture
def era(plane: Plane) -> Plane:
    plane.write(Patch(CONFIGS, "", "default", {"spec": {"era": "framework-1.18"}}, "merge"))
    plane.write(Create("priorityclasses.scheduling.k8s.io", "", {"metadata": {"name": "high"}, "value": 1000}))
    plane.node("a")
    plane.pod("go", "4")
    plane.run(0)
    assert plane.node_of("go") == "a"
    return plane


def test_the_status_names_the_era_s_points(era: Plane) -> None:
    stored = era.store.get(CONFIGS, "", "default")
    assert stored is not None
    (profile,) = stored.object["status"]["profiles"]
    points = {plugin["name"]: plugin["points"] for plugin in profile["plugins"]}
    assert points["TaintToleration"] == ["filter", "postFilter", "score"]
    assert points["Preemption"] == ["preemption"]


def test_a_preemption_is_carried_out_and_its_trace_replayed(era: Plane) -> None:
    uid = era.pod("boss", "2", priorityClassName="high")
    era.run(0)
    assert era.get("boss")["status"]["nominatedNodeName"] == "a"
    assert era.get("go")["metadata"]["deletionTimestamp"]
    assert not [one for one in era.get("go")["status"]["conditions"] if one["type"] == "DisruptionTarget"]
    (event,) = era.events("Preempted")
    assert event["message"] == "Preempted by default/boss on node a"
    ((envelope, blob),) = era.store.traces(uid)
    kept = whole(Past(era.store), envelope, blob)
    assert kept["point"] == "Preemption"
    assert kept["explanation"]["preemption"]["reasons"][0]["helps"]
    assert whole(Past(era.store), envelope, b"") == kept
    era.delete("pods", "go", grace=0)
    era.run(15_000)
    assert era.node_of("boss") == "a"


def test_the_nominated_node_is_one_among_the_others(era: Plane) -> None:
    uid = era.pod("boss", "2", priorityClassName="high")
    era.run(0)
    assert era.get("boss")["status"]["nominatedNodeName"] == "a"
    era.delete("pods", "go", grace=0)
    era.node("b")
    era.run(15_000)
    assert era.node_of("boss")
    envelope, blob = max(era.store.traces(uid), key=lambda trace: trace[0]["attempt"])
    assert sorted(whole(Past(era.store), envelope, blob)["result"]["feasible"]) == ["a", "b"]


def test_a_held_cycle_stands_at_the_era_s_points_and_is_taken_up_there(era: Plane, make_plane) -> None:
    era.node("b")
    era.node("c")
    era.tell(0, True)
    era.pod("web")
    era.run(0)
    era.step_to("PostFilter")
    assert "scores" not in era.cycle()["trace"]
    second = make_plane(era.store, hold=True)
    assert second.scheduler.held == {"pod": "default/web", "point": "PostFilter", "replica": "kube-scheduler-0"}
    found, shown = find(Past(era.store), second.cycle()["traceId"]), dict(second.cycle()["trace"])
    assert found["explanation"] == shown.pop("explanation")
    assert found["result"] == shown
    assert second.step() == "Score"
