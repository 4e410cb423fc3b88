from __future__ import annotations

import msgspec
import pytest

from controllers.log.operations import Create, Patch
from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from scheduler_core.state.queued import Lane
from tests.controllers.scheduler.plane import Plane


@pytest.fixture
def ranked(plane: Plane) -> Plane:
    for name, value, policy in (("high", 1000, None), ("mid", 500, None), ("polite", 1000, "Never")):
        document = {"metadata": {"name": name}, "value": value}
        if policy is not None:
            document["preemptionPolicy"] = policy
        plane.write(Create("priorityclasses.scheduling.k8s.io", "", document))
    return plane


def fill(plane: Plane, node: str, *pods: tuple[str, str, str]) -> None:
    """Run pods on one node: (name, cpu, priority class)."""
    for name, cpu, priority in pods:
        plane.pod(name, cpu, priorityClassName=priority, nodeSelector={"kubernetes.io/hostname": node})
    plane.run(plane.loop.now_ms)
    assert all(plane.node_of(name) == node for name, _, _ in pods)


def test_the_least_important_pod_goes_and_its_node_is_nominated(ranked: Plane) -> None:
    ranked.node("a")
    fill(ranked, "a", ("keep", "2", "mid"), ("go", "2", ""))
    uid = ranked.pod("boss", "2", priorityClassName="high")
    ranked.run(0)
    boss, gone = ranked.get("boss"), ranked.get("go")
    assert boss["status"]["nominatedNodeName"] == "a"
    assert gone["metadata"]["deletionTimestamp"]
    assert gone["metadata"]["deletionGracePeriodSeconds"] == 30
    condition = next(one for one in gone["status"]["conditions"] if one["type"] == "DisruptionTarget")
    assert (condition["status"], condition["reason"]) == ("True", "PreemptionByScheduler")
    assert condition["message"] == "default-scheduler: preempting to accommodate a higher priority pod"
    assert "deletionTimestamp" not in ranked.get("keep")["metadata"]
    (event,) = ranked.events("Preempted")
    assert event["message"] == f"Preempted by pod {uid} on node a"
    assert event["involvedObject"]["name"] == "go"


def test_when_the_victim_is_gone_the_preemptor_lands(ranked: Plane) -> None:
    ranked.node("a")
    fill(ranked, "a", ("go", "4", ""))
    ranked.pod("boss", "2", priorityClassName="high")
    ranked.run(0)
    ranked.delete("pods", "go", grace=0)
    ranked.run(10_000)
    assert ranked.node_of("boss") == "a"
    assert ranked.scheduler.scheduler.nominator.items() == []


def test_a_lesser_pod_does_not_take_the_nominated_place(ranked: Plane) -> None:
    ranked.node("a")
    fill(ranked, "a", ("go", "4", ""))
    ranked.pod("boss", "4", priorityClassName="high")
    ranked.run(0)
    ranked.delete("pods", "go", grace=0)
    ranked.pod("thief", "1")
    ranked.run(0)
    assert ranked.node_of("thief") == ""
    ranked.run(10_000)
    assert (ranked.node_of("boss"), ranked.node_of("thief")) == ("a", "")


def test_a_pod_that_may_not_preempt_waits(ranked: Plane) -> None:
    ranked.node("a")
    fill(ranked, "a", ("stays", "4", ""))
    ranked.pod("boss", "2", priorityClassName="polite")
    ranked.run(5_000)
    assert "deletionTimestamp" not in ranked.get("stays")["metadata"]
    message = ranked.get("boss")["status"]["conditions"][0]["message"]
    assert message.endswith("preemption: not eligible due to preemptionPolicy=Never.")


def test_a_higher_preemptor_clears_the_nomination_of_a_lesser_one(ranked: Plane) -> None:
    ranked.node("a")
    fill(ranked, "a", ("go", "4", ""))
    ranked.pod("first", "4", priorityClassName="mid")
    ranked.run(0)
    assert ranked.get("first")["status"]["nominatedNodeName"] == "a"
    ranked.delete("pods", "go", grace=0)
    fill_pod = ranked.pod("second", "4", priorityClassName="high")
    ranked.run(20_000)
    # The higher one goes first and fits; the lesser one finds its place taken.
    assert ranked.node_of("second") == "a"
    assert ranked.store.traces(fill_pod)
    assert ranked.node_of("first") == ""


def test_the_trace_tells_every_candidate_s_cost_and_every_pod_s_fate(ranked: Plane) -> None:
    ranked.node("a")
    ranked.node("b")
    ranked.node("c", unschedulable=True)
    fill(ranked, "a", ("a1", "2", "mid"), ("a2", "2", ""))
    fill(ranked, "b", ("b1", "2", "mid"), ("b2", "2", "mid"))
    uid = ranked.pod("boss", "2", priorityClassName="high")
    ranked.run(0)
    ((envelope, blob),) = ranked.store.traces(uid)
    preemption = msgspec.json.decode(blob)["preemption"]
    assert preemption["nominatedNode"] == "a"
    assert preemption["candidates"]["a"]["victims"] == ["default/a2"]
    assert preemption["ties"] == ["a"]
    told = envelope["explanation"]["preemption"]
    by_node = {candidate["node"]: candidate for candidate in told["candidates"]}
    assert by_node["b"]["eliminatedBy"] == "highestPriority"
    assert by_node["a"]["eliminatedBy"] == ""
    assert [(fate["pod"], fate["fate"]) for fate in by_node["a"]["fates"]] == [
        ("default/a1", "reprieved"),
        ("default/a2", "victim"),
    ]
    assert by_node["a"]["fates"][1]["reasons"] == ["Insufficient cpu"]


def test_the_trace_tells_what_came_of_it_however_it_is_read(ranked: Plane) -> None:
    ranked.node("a")
    fill(ranked, "a", ("go", "4", ""))
    uid = ranked.pod("boss", "2", priorityClassName="high")
    ranked.run(0)
    ((envelope, blob),) = ranked.store.traces(uid)
    kept, replayed = whole(Past(ranked.store), envelope, blob), whole(Past(ranked.store), envelope, b"")
    assert replayed == kept
    steps = [step["step"] for step in kept["explanation"]["preemption"]["steps"]]
    assert steps == [
        "triggered", "readAfresh", "potentialNodes", "dryRun", "chosen",
        "held", "nominatedInQueue", "nominationWritten", "victimDeleted", "released",
    ]  # fmt: skip


def test_both_verdicts_on_a_node_that_others_hope_for_are_in_the_trace(ranked: Plane) -> None:
    ranked.node("a")
    fill(ranked, "a", ("go", "4", ""))
    ranked.pod("boss", "2", priorityClassName="high")
    ranked.run(0)
    ranked.delete("pods", "go", grace=0)
    uid = ranked.pod("late", "3", priorityClassName="mid")
    ranked.run(0)
    ((envelope, blob),) = ranked.store.traces(uid)
    ((both,), trace) = envelope["explanation"]["nominated"], whole(Past(ranked.store), envelope, b"")
    assert both == {
        "node": "a",
        "pods": ["default/boss"],
        "with": {"code": "Unschedulable", "reasons": ["Insufficient cpu"], "plugin": "NodeResourcesFit"},
        "without": {"code": "Success", "reasons": []},
    }
    assert trace == whole(Past(ranked.store), envelope, blob)


def test_while_victims_are_told_the_preemptor_is_held_back(ranked: Plane) -> None:
    ranked.node("a")
    for name in ("go1", "go2", "go3", "go4"):
        ranked.pod(name, "1", terminationGracePeriodSeconds=0)
    ranked.run(0)
    uid = ranked.pod("boss", "4", priorityClassName="high")
    ranked.loop.pull()
    ranked.loop.single_events = True
    lanes: list[str] = []
    while ranked.loop.run_tick(0):
        queued = ranked.scheduler.scheduler.queue.get(uid)
        if queued is not None and (not lanes or lanes[-1] != queued.lane):
            lanes.append(queued.lane)
            if queued.lane is Lane.GATED:
                assert queued.gate_message == "waiting for the preemption for this pod to be finished"
    # The first victim's end would have woken it for an attempt that fails; the last one's lets it go.
    assert lanes == [Lane.ACTIVE, Lane.UNSCHEDULABLE, Lane.GATED, Lane.BACKOFF]
    ranked.loop.single_events = False
    ranked.run(10_000)
    assert ranked.node_of("boss") == "a"
    assert [envelope["attempt"] for envelope, _ in ranked.store.traces(uid)] == [2, 1]


@pytest.mark.parametrize("era", ["v1.34", "framework-1.18"])
def test_an_edited_unschedulable_pod_becomes_active_and_says_why(store, make_plane, era: str) -> None:
    plane = make_plane(store)
    plane.write(Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": {"era": era}}, "merge"))
    plane.node("a", taints=[{"key": "k", "effect": "NoSchedule"}])
    plane.pod("edited")
    plane.run(20_000)
    assert [one["pod"] for one in plane.queue()["unschedulable"]] == ["default/edited"]
    plane.tell(0, True)
    tolerations = [{"key": "k", "operator": "Exists"}]
    plane.write(Patch("pods", "default", "edited", {"spec": {"tolerations": tolerations}}, "merge"))
    plane.run(21_000)
    (active,) = plane.queue()["active"]
    assert (active["pod"], active["movedBy"]) == ("default/edited", "UnschedulablePodPodTolerations")
