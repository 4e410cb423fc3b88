from __future__ import annotations

import msgspec
import pytest

from controllers.log.operations import Bind, Patch
from controllers.scheduler.component import STEP_TIMER
from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from scheduler_core.scheduler.run import POINTS
from tests.controllers.scheduler.plane import IDENTITY, Plane


def test_a_pod_gets_the_only_node_that_fits_and_people_are_told(plane: Plane) -> None:
    plane.node("small", cpu="500m")
    plane.node("large")
    plane.pod("web")
    plane.run(0)
    assert plane.node_of("web") == "large"
    (event,) = plane.events("Scheduled")
    assert event["message"] == "Successfully assigned default/web to large"
    assert event["involvedObject"]["name"] == "web"


def test_a_pod_that_fits_nowhere_says_why_and_gets_its_node_when_one_comes(plane: Plane) -> None:
    plane.node("small", cpu="500m")
    plane.pod("web")
    plane.run(1_000)
    (condition,) = plane.get("web")["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("PodScheduled", "False", "Unschedulable")
    assert condition["message"] == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: "
        "1 Preemption is not helpful for scheduling."
    )
    assert plane.events("FailedScheduling")[0]["message"] == condition["message"]
    (waiting,) = plane.queue()["unschedulable"]
    assert (waiting["pod"], waiting["plugins"], waiting["attempts"]) == ("default/web", ["NodeResourcesFit"], 1)
    assert "Node|Add" not in waiting["wakes"]
    plane.node("large")
    plane.run(5_000)
    assert plane.node_of("web") == "large"
    assert plane.queue()["counts"]["unschedulable"] == 0


def test_without_nodes_the_pod_is_retried_with_backoff(plane: Plane) -> None:
    plane.pod("web")
    plane.run(60_000)
    condition = plane.get("web")["status"]["conditions"][0]
    assert (condition["reason"], condition["message"]) == ("Unschedulable", "no nodes available to schedule pods")
    # Tried at 0, then after 1, 2, 4, 8, 10 … seconds.
    assert plane.events("FailedScheduling")[0]["count"] in range(6, 10)


def test_a_gated_pod_waits_until_its_gates_are_gone(plane: Plane) -> None:
    plane.node("n")
    plane.pod("web", schedulingGates=[{"name": "hold"}])
    plane.run(1_000)
    (condition,) = plane.get("web")["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "SchedulingGated")
    (gated,) = plane.queue()["gated"]
    assert gated["plugin"] == "SchedulingGates"
    plane.write(Patch("pods", "default", "web", {"spec": {"schedulingGates": None}}))
    plane.run(2_000)
    assert plane.node_of("web") == "n"


def test_another_scheduler_s_pod_is_left_alone(plane: Plane) -> None:
    plane.node("n")
    plane.pod("web", schedulerName="other")
    plane.run(1_000)
    assert plane.node_of("web") == ""
    assert plane.queue()["counts"]["active"] == 0


def test_many_pods_fill_the_nodes_evenly_and_no_node_is_overcommitted(plane: Plane) -> None:
    for number in range(4):
        plane.node(f"n{number}")
    for number in range(17):
        plane.pod(f"p{number:02}")
    plane.run(5_000)
    placed = [plane.node_of(f"p{number:02}") for number in range(17)]
    assert sorted(placed.count(f"n{number}") for number in range(4)) == [4, 4, 4, 4]
    assert placed.count("") == 1


def test_a_pod_bound_by_somebody_else_is_let_go(plane: Plane) -> None:
    plane.node("a")
    plane.node("b", unschedulable=True)
    uid = plane.pod("web")
    plane.write(Bind("default", "web", uid, "b"))
    plane.run(2_000)
    assert plane.node_of("web") == "b"
    assert plane.queue()["counts"] == {
        "active": 0, "backoff": 0, "unschedulable": 0, "gated": 0, "waiting": 0, "binding": 0, "assumed": 0,
    }  # fmt: skip


@pytest.mark.parametrize("seen", [True, False], ids=["the scheduler sees it first", "it learns by the conflict"])
def test_a_binding_that_comes_too_late_is_undone(store, make_plane, seen: bool) -> None:
    plane = make_plane(store, hold=True)
    plane.node("a", cpu="1")
    plane.node("b", unschedulable=True)
    uid = plane.pod("web")
    plane.run(0)
    plane.step_to("PreBind")
    plane.write(Bind("default", "web", uid, "b"))
    if not seen:
        plane.loop.plan(plane.slot, STEP_TIMER, plane.loop.now_ms)
        plane.loop.run_tick(plane.loop.now_ms)
    plane.tell(0, False)
    plane.run(1_000)
    assert plane.node_of("web") == "b"
    assert plane.scheduler.scheduler.assumed == {}
    assert plane.scheduler.held is None
    ((envelope, blob),) = plane.store.traces(uid)
    assert envelope["undone"]["result"] == msgspec.json.decode(blob)["result"] == "error"
    assert 'pod web is already assigned to node "b"' in envelope["undone"]["fitError"]
    assert whole(Past(plane.store), envelope, b"") == whole(Past(plane.store), envelope, blob)
    plane.pod("next")
    plane.run(2_000)
    assert plane.node_of("next") == "a"


def test_every_decision_leaves_a_trace(plane: Plane) -> None:
    plane.node("a")
    plane.node("b")
    uid = plane.pod("web")
    plane.run(0)
    ((envelope, blob),) = plane.store.traces(uid)
    result = msgspec.json.decode(blob)
    assert envelope["id"] == f"{uid}-1"
    assert envelope["point"] == "Bind"
    assert (envelope["pod"], envelope["replica"], envelope["profile"]) == ("default/web", IDENTITY, "default-scheduler")
    assert result["result"] == "scheduled"
    assert result["best"] == ["a", "b"]
    assert result["lot"]["of"] == ["a", "b"]
    assert result["chosen"] == result["best"][result["lot"]["draw"]] == plane.node_of("web")
    assert sum(part["weighted"][0] for part in result["scores"]["plugins"].values()) == result["scores"]["total"][0]


def test_a_cycle_in_slow_motion_rests_at_every_point(store, make_plane) -> None:
    plane = make_plane(store, pace_ms=250)
    plane.node("a")
    plane.node("b")
    plane.pod("web")
    plane.run(0)
    begun_ms = plane.cycle()["startedAtMs"]
    seen: list[str] = []
    while (cycle := plane.cycle()) is not None:
        assert (cycle["pod"], cycle["startedAtMs"]) == ("default/web", begun_ms)
        assert cycle["dueAtMs"] == begun_ms + 250 * (len(seen) + 1)
        assert plane.scheduler.held == {"pod": "default/web", "point": cycle["point"], "replica": IDENTITY}
        plane.run(cycle["dueAtMs"] - 10)
        assert plane.cycle() == cycle
        seen.append(cycle["point"])
        plane.run(cycle["dueAtMs"])
    assert seen == [point for point in POINTS if point != "PostFilter"]
    assert plane.node_of("web") != ""
    assert plane.scheduler.held is None


def test_the_status_of_a_cycle_grows_point_by_point(store, make_plane) -> None:
    plane = make_plane(store, pace_ms=100)
    plane.node("a")
    plane.node("b")
    plane.pod("web")
    plane.run(0)
    keys: dict[str, set[str]] = {}
    while (cycle := plane.cycle()) is not None:
        keys[cycle["point"]] = set(cycle.get("trace") or ())
        plane.run(cycle["dueAtMs"])
    assert "filters" not in keys["PreFilter"]
    assert {"preFilter", "filters", "feasible"} <= keys["Filter"]
    assert "scores" not in keys["Filter"]
    assert "scores" in keys["Score"]
    assert {"best", "chosen"} <= keys["Reserve"]


def test_stepping_rests_at_points_without_time_passing(store, make_plane) -> None:
    plane = make_plane(store, pace_ms=250, hold=True)
    plane.node("a")
    plane.node("b")
    plane.pod("web")
    plane.run(0)
    assert plane.scheduler.held is None
    assert plane.scheduler.can_step
    points = [plane.step()]
    began_ms = plane.loop.now_ms
    points += [plane.step() for _ in range(10)]
    assert points == [point for point in POINTS if point != "PostFilter"]
    assert (plane.scheduler.points, plane.scheduler.cycles, plane.loop.now_ms - began_ms) == (11, 0, 0)
    assert plane.step() == ""
    assert (plane.scheduler.cycles, plane.scheduler.can_step) == (1, False)
    assert plane.node_of("web") != ""


def test_a_held_cycle_goes_on_at_the_pace_when_the_clock_runs_again(store, make_plane) -> None:
    plane = make_plane(store, pace_ms=250, hold=True)
    plane.node("a")
    plane.pod("web")
    plane.run(0)
    plane.step_to("Filter")
    plane.tell(250, False)
    plane.run(plane.loop.now_ms)
    due_ms = plane.loop.now_ms + 250
    plane.run(due_ms - 10)
    assert plane.scheduler.held["point"] == "Filter"
    plane.run(due_ms)
    assert plane.scheduler.held["point"] == "Reserve"
    plane.tell(0, False)
    plane.run(due_ms)
    assert plane.node_of("web") == "a"


def test_with_many_pods_waiting_only_some_cycles_are_told(store, make_plane) -> None:
    plane = make_plane(store, pace_ms=100)
    plane.node("a", cpu="64")
    for number in range(40):
        plane.pod(f"p{number:02}")
    assert plane.scheduler.narrated_one_in == 1
    plane.run(0)
    assert plane.scheduler.narrated_one_in == 4
    plane.run(60_000)
    assert all(plane.node_of(f"p{number:02}") == "a" for number in range(40))
    assert 80 < plane.scheduler.points < 200


def test_the_configuration_object_says_what_runs(plane: Plane) -> None:
    plane.run(0)
    stored = plane.store.get("schedulerconfigs.clustersim.io", "", "default")
    status = stored.object["status"]
    assert status["observedGeneration"] == stored.object["metadata"]["generation"]
    (profile,) = status["profiles"]
    fit = next(plugin for plugin in profile["plugins"] if plugin["name"] == "NodeResourcesFit")
    assert fit["weight"] == 1
    assert {"preFilter", "filter", "preScore", "score"} <= set(fit["points"])


def test_a_changed_configuration_takes_effect_at_the_next_cycle(plane: Plane) -> None:
    plane.node("a", unschedulable=True)
    configuration = {"profiles": [{"plugins": {"filter": {"disabled": [{"name": "NodeUnschedulable"}]}}}]}
    plane.write(Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": {"configuration": configuration}}))
    plane.pod("web", tolerations=[])
    plane.run(1_000)
    assert plane.scheduler.scheduler.configuration.frameworks["default-scheduler"].profile.at("filter")
    assert "NodeUnschedulable" not in plane.scheduler.scheduler.configuration.frameworks[
        "default-scheduler"
    ].profile.at("filter")


def test_at_a_high_rate_traces_keep_their_input_alone_and_are_replayed(plane: Plane) -> None:
    for number in range(20):
        plane.node(f"n{number:02}", cpu="64")
    plane.run(0)
    uids = [plane.pod(f"p{number:04}", cpu="10m") for number in range(900)]
    plane.run(0)
    traces = [plane.store.traces(uid)[0] for uid in uids]
    kept = [bool(blob) for _, blob in traces]
    assert kept[0]
    assert not kept[-1]
    assert all(kept[: kept.index(False)])
    assert not any(kept[kept.index(False) :])
    told = whole(Past(plane.store), *traces[-1])
    assert told["result"]["chosen"] == plane.node_of("p0899")
    assert told["result"]["lot"]["of"][told["result"]["lot"]["draw"]] == plane.node_of("p0899")
