from __future__ import annotations

import msgspec
import pytest

from controllers.log.operations import Create, Patch
from controllers.scheduler.decisions import find, whole
from controllers.scheduler.past import Past
from scheduler_core.scheduler.run import POINTS
from tests.controllers.scheduler.plane import IDENTITY, Plane

HELD_AT = [point for point in POINTS if point not in ("PostFilter", "Bind", "PostBind")]


@pytest.mark.parametrize("point", HELD_AT)
def test_a_new_owner_shows_the_held_cycle_at_the_same_point_with_the_same_scores(store, make_plane, point: str) -> None:
    first = make_plane(store, hold=True)
    for number in range(5):
        first.node(f"n{number}", cpu=str(2 + number))
    first.tell(0, False)
    first.pod("seated", cpu="2")
    first.run(0)
    first.tell(0, True)
    first.pod("web")
    first.run(0)
    first.step_to(point)
    left = first.cycle()
    # What happens between owners is no part of the cycle that is taken up.
    first.node("late", cpu="64")
    second = make_plane(store, hold=True)
    assert second.scheduler.held == {"pod": "default/web", "point": point, "replica": "kube-scheduler-0"}
    taken = second.cycle()
    live = find(Past(store), taken["traceId"])
    assert {**live["result"], **({"explanation": live["explanation"]} if "explanation" in live else {})} == (
        taken.get("trace") or {}
    )
    assert taken["point"] == point
    assert taken.get("trace") == left.get("trace")
    assert taken["input"] == left["input"]
    second.tell(0, False)
    second.run(5_000)
    assert second.node_of("web") not in ("", "late")
    if left.get("trace", {}).get("chosen"):
        assert second.node_of("web") == left["trace"]["chosen"]
    assert second.cycle() is None
    with pytest.raises(Exception, match="epoch"):
        first.pod("too-late")


def test_a_cycle_whose_pod_was_bound_meanwhile_is_not_taken_up(store, make_plane) -> None:
    first = make_plane(store, hold=True)
    first.node("a")
    first.pod("web")
    first.run(0)
    first.step_to("Bind")
    second = make_plane(store)
    second.run(1_000)
    assert second.node_of("web") == "a"
    assert second.cycle() is None
    assert second.scheduler.held is None


def test_pods_that_were_queued_are_queued_again(store, make_plane) -> None:
    first = make_plane(store)
    first.node("a", cpu="1")
    first.pod("seated")
    first.pod("waiting")
    first.run(1_000)
    second = make_plane(store)
    second.run(2_000)
    assert [one["pod"] for one in second.queue()["unschedulable"]] in (["default/waiting"], ["default/seated"])
    assert sorted((second.node_of("seated"), second.node_of("waiting"))) == ["", "a"]


def test_replaying_a_trace_s_input_gives_the_trace(plane: Plane) -> None:
    uids = []
    plane.write(Create("priorityclasses.scheduling.k8s.io", "", {"metadata": {"name": "high"}, "value": 10}))
    for number in range(6):
        plane.node(f"n{number}", cpu=str(1 + number % 3), **({"unschedulable": True} if number == 5 else {}))
    for number in range(14):
        uids.append(plane.pod(f"p{number:02}", cpu="900m", priorityClassName="high" if number % 2 else ""))
        plane.run(plane.loop.now_ms + 300)
    for number in (2, 5, 7):
        plane.delete("pods", f"p{number:02}", grace=0)
    plane.run(plane.loop.now_ms + 30_000)
    compared = 0
    for uid in uids:
        for envelope, blob in plane.store.traces(uid):
            kept = whole(Past(plane.store), envelope, blob)
            again = whole(Past(plane.store), envelope, b"")
            assert kept["result"] == msgspec.json.decode(blob)
            assert again == kept
            compared += 1
    assert compared > 14


def test_a_trace_whose_revision_is_compacted_says_so(plane: Plane) -> None:
    plane.node("a")
    uid = plane.pod("web")
    plane.run(0)
    plane.store.compact(plane.store.revision)
    ((envelope, _),) = plane.store.traces(uid)
    assert whole(Past(plane.store), envelope, b"")["detail"] == "compacted"


def test_a_pod_left_waiting_at_permit_goes_on_waiting_until_its_time_is_up(store, make_plane) -> None:
    first = make_plane(store, hold=True)
    first.node("a", cpu="1")
    uid = first.pod("web")
    plugins = [{"name": "Quorum", "untilMs": 3_000}]
    waiting = [{"pod": "default/web", "uid": uid, "node": "a", "plugins": plugins}]
    first.write(Patch("queues.clustersim.io", "", IDENTITY, {"status": {"waiting": waiting}}, "merge", "status"))
    second = make_plane(store)
    assert second.queue()["waiting"] == waiting
    second.pod("next")
    second.run(2_900)
    assert second.node_of("next") == ""
    second.run(3_000)
    assert "rejected due to timeout after waiting 3s at plugin Quorum" in [
        event["message"].removeprefix("0/1 nodes are available: 1 ").removesuffix(".")
        for event in second.events("FailedScheduling")
    ]
    second.run(20_000)
    assert second.queue()["waiting"] == []
    assert sorted((second.node_of("web"), second.node_of("next"))) == ["", "a"]


def test_a_preemption_held_before_it_is_carried_out_is_carried_out_once_by_the_new_owner(store, make_plane) -> None:
    first = make_plane(store)
    first.write(Create("priorityclasses.scheduling.k8s.io", "", {"metadata": {"name": "high"}, "value": 10}))
    first.node("a", cpu="1")
    first.node("b", cpu="1")
    first.pod("low-a")
    first.pod("low-b")
    first.run(0)
    first.tell(0, True)
    first.pod("boss", priorityClassName="high")
    first.run(0)
    first.step_to("PostFilter")
    left = first.cycle()
    assert left["trace"]["preemption"]["nominatedNode"] in ("a", "b")
    second = make_plane(store, hold=True)
    assert second.cycle().get("trace") == left["trace"]
    assert not second.events("Preempted")
    second.tell(0, False)
    second.run(1_000)
    (event,) = second.events("Preempted")
    victim = event["involvedObject"]["name"]
    assert [f"default/{victim}"] == left["trace"]["preemption"]["victims"]
    assert second.get("boss")["status"]["nominatedNodeName"] == left["trace"]["preemption"]["nominatedNode"]
    second.delete("pods", victim, grace=0)
    second.run(10_000)
    assert second.node_of("boss") == left["trace"]["preemption"]["nominatedNode"]
