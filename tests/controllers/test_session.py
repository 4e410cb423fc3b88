"""Command objects: pause, steps, pace, crash and recovery; what a new owner takes up."""

from __future__ import annotations

import pytest

from controllers.log.operations import Patch
from tests.tools.lab import Document, Lab, node, pod, workload

CLOCKS = "clocks.clustersim.io"
REPLICAS = "replicas.clustersim.io"
NODES = [node("n1"), node("n2"), node("n3")]


def leader(lab: Lab, component: str = "kube-scheduler") -> str:
    holder: str = lab.get("leases.coordination.k8s.io", component, "kube-system")["spec"]["holderIdentity"]
    return holder


def believers(lab: Lab, component: str = "kube-scheduler") -> list[str]:
    return [
        one["metadata"]["name"]
        for one in lab.list(REPLICAS)
        if one["spec"]["component"] == component and one["status"]["leading"]
    ]


def fault(lab: Lab, identity: str, kind: str) -> Document:
    known = lab.get(REPLICAS, identity, "")["spec"].get("fault") or {}
    return lab.ask(REPLICAS, identity, {"fault": {"id": known.get("id", 0) + 1, "kind": kind}})


def held_lab(store: Lab | None = None) -> Lab:
    """Return a lab whose clock stands, a pod being there that nobody has looked at yet."""
    lab = Lab(NODES)
    lab.run(3)
    lab.ask(CLOCKS, "clock", {"paused": True})
    lab.create(pod("web"))
    return lab


def test_nothing_runs_while_the_clock_stands() -> None:
    lab = held_lab()
    before = (lab.cluster.now_ms, lab.cluster.events_run)
    lab.run(60)
    assert (lab.cluster.now_ms, lab.cluster.events_run) == before
    assert "nodeName" not in lab.get("pods", "web")["spec"]
    status = lab.ask(CLOCKS, "clock", {"paused": False})
    assert (status["paused"], status["observedGeneration"]) == (False, 3)
    lab.run(5)
    assert lab.get("pods", "web")["spec"]["nodeName"]


def test_the_clock_says_what_it_obeys() -> None:
    lab = Lab(NODES)
    status = lab.ask(CLOCKS, "clock", {"rate": 10, "pace": 250})
    assert {key: status.get(key) for key in ("paused", "rate", "pace", "simTimeMs", "anchorUnixMs", "held")} == {
        "paused": False,
        "rate": 10.0,
        "pace": 250,
        "simTimeMs": lab.cluster.now_ms,
        "anchorUnixMs": lab.unix_ms,
        "held": None,
    }


def test_steps_by_point_stop_at_every_extension_point_in_order() -> None:
    lab = held_lab()
    points: list[str] = []
    for _ in range(30):
        status = lab.step("point")
        if status["stepped"] == 0 or status.get("held") is None:
            break
        assert status["paused"]
        assert status["held"]["pod"] == "default/web"
        assert status["held"]["replica"] == "kube-scheduler-0"
        points.append(status["held"]["point"])
    order = [
        "PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind",
    ]  # fmt: skip
    assert [point for point in points if point in order] == order
    assert lab.get("pods", "web")["spec"]["nodeName"]


def test_a_step_by_cycle_decides_one_pod() -> None:
    lab = held_lab()
    lab.create(pod("second"))
    status = lab.step("cycle")
    assert (status["stepped"], status["paused"]) == (1, True)
    lab.step("event", 20)
    bound = [one["metadata"]["name"] for one in lab.list("pods") if one["spec"].get("nodeName")]
    assert "web" in bound


def test_nothing_to_step_steps_nothing_and_takes_next_to_no_time() -> None:
    lab = Lab(NODES)
    lab.run(3)
    lab.ask(CLOCKS, "clock", {"paused": True})
    before_ms = lab.cluster.now_ms
    for by in ("point", "cycle"):
        assert lab.step(by)["stepped"] == 0
    # Each looked at what people may have written meanwhile, which is stamped one millisecond later.
    assert lab.cluster.now_ms == before_ms + 2


def test_an_event_is_one_event_of_the_loop() -> None:
    lab = held_lab()
    before = lab.cluster.events_run
    assert lab.step("event", 3)["stepped"] == 3
    assert lab.cluster.events_run - before == 3


def test_seconds_pass_exactly() -> None:
    lab = held_lab()
    before_ms = lab.cluster.now_ms
    assert lab.step("seconds", 7)["stepped"] == 7
    assert lab.cluster.now_ms == before_ms + 7_000
    assert lab.get(CLOCKS, "clock", "")["status"]["simTimeMs"] == before_ms + 7_000


def test_a_step_pauses_a_running_clock() -> None:
    lab = Lab(NODES)
    lab.run(3)
    lab.do(Patch(CLOCKS, "", "clock", {"spec": {"step": {"id": 1, "by": "event", "count": 1}}}))
    lab.obey()
    assert lab.get(CLOCKS, "clock", "")["status"]["paused"]
    before_ms = lab.cluster.now_ms
    lab.run(10)
    assert lab.cluster.now_ms == before_ms


def test_pace_makes_a_cycle_take_its_time() -> None:
    quick, slow = Lab([*NODES, pod("web")]), Lab([*NODES, pod("web")], pace=250)
    times = []
    for lab in (quick, slow):
        lab.run(20)
        bound = next(row for row in lab.rows() if row.resource == "pods" and row.object["spec"].get("nodeName"))
        times.append(bound.now_ms)
    assert times[0] == 0
    assert times[1] >= 5 * 250


@pytest.mark.parametrize("points", [1, 3, 5, 7])
def test_a_new_owner_takes_a_held_cycle_up_at_the_same_point_with_the_same_scores(points: int) -> None:
    lab = held_lab()
    status = lab.step("point", points)
    assert status.get("held")
    before = lab.get(REPLICAS, "kube-scheduler-0", "")["status"]["cycle"]
    again = Lab(store=lab.store)
    again.obey()
    held = again.get(CLOCKS, "clock", "")["status"]["held"]
    after = again.get(REPLICAS, "kube-scheduler-0", "")["status"]["cycle"]
    assert held == status["held"]
    assert after["input"] == before["input"]
    assert after.get("trace") == before.get("trace")
    again.ask(CLOCKS, "clock", {"paused": False})
    again.run(30)
    assert again.get("pods", "web")["spec"]["nodeName"]
    bound = [row for row in again.rows() if row.resource == "pods" and row.object["spec"].get("nodeName")]
    assert len({row.object["spec"]["nodeName"] for row in bound}) == 1


def test_all_replicas_elect_and_one_leads() -> None:
    lab = Lab(NODES, replicas=3)
    lab.run(10)
    for component in ("kube-scheduler", "kube-controller-manager"):
        assert believers(lab, component) == [leader(lab, component)]
    followers = [one for one in lab.list(REPLICAS) if not one["status"]["leading"]]
    assert len(followers) == 4
    assert {one["status"]["lastBranch"] for one in followers} == {"held"}
    assert {one["status"]["lease"]["holder"] for one in followers} == {
        leader(lab),
        leader(lab, "kube-controller-manager"),
    }


def test_after_a_crash_another_leads_when_the_lease_has_run_out() -> None:
    lab = Lab(NODES, replicas=3)
    lab.run(10)
    first = leader(lab)
    assert fault(lab, first, "crash")["state"] == "Crashed"
    assert believers(lab) == []
    crashed_ms = lab.cluster.now_ms
    lab.create(pod("waits"))
    lab.run(13)
    assert "nodeName" not in lab.get("pods", "waits")["spec"]
    lab.run(12)
    second = leader(lab)
    assert second != first
    assert believers(lab) == [second]
    assert lab.get("pods", "waits")["spec"]["nodeName"]
    spec = lab.get("leases.coordination.k8s.io", "kube-scheduler", "kube-system")["spec"]
    assert spec["leaseTransitions"] == 1
    took = next(row.now_ms for row in lab.rows() if row.resource.startswith("leases") and row.actor == second)
    # A follower sees a renewal at its next try, up to 4.4 s later, waits 15 s from there, and tries again.
    assert 13_000 <= took - crashed_ms <= 15_000 + 2 * 4_400
    assert fault(lab, first, "recover")["state"] == "Running"
    lab.run(10)
    assert believers(lab) == [second]
    lines = [
        row.object["message"]
        for row in lab.rows()
        if row.resource == "events" and row.object["reason"] == "LeaderElection"
    ]
    assert [line for line in lines if "scheduler" in line] == [f"{first} became leader", f"{second} became leader"]


def test_a_controller_manager_that_takes_over_finishes_what_the_first_had_begun() -> None:
    lab = Lab([*NODES, workload("ReplicaSet", "web", 5)], replicas=2)
    lab.run(20)
    fault(lab, leader(lab, "kube-controller-manager"), "crash")
    lab.do(Patch("replicasets.apps", "default", "web", {"spec": {"replicas": 9}}, "merge", "scale"))
    lab.run(10)
    assert len(lab.list("pods")) == 5
    lab.run(20)
    assert len(lab.list("pods")) == 9


def test_crash_and_recovery_are_kept_across_owners() -> None:
    lab = Lab(NODES, replicas=2)
    lab.run(5)
    first = leader(lab)
    fault(lab, first, "crash")
    again = Lab(store=lab.store)
    again.obey()
    again.run(30)
    assert again.get(REPLICAS, first, "")["status"]["state"] == "Crashed"
    assert leader(again) != first
    assert fault(again, first, "recover")["state"] == "Running"


def test_the_only_replica_goes_on_under_its_identity_with_another_owner() -> None:
    lab = Lab(NODES)
    lab.run(5)
    again = Lab(store=lab.store)
    again.run(5)
    spec = again.get("leases.coordination.k8s.io", "kube-scheduler", "kube-system")["spec"]
    assert (spec["leaseTransitions"], spec["acquireTime"]) == (0, "2026-01-01T00:00:00.000000Z")
    again.create(pod("web"))
    again.run(5)
    assert again.get("pods", "web")["spec"]["nodeName"]


def test_a_configuration_counts_as_observed_also_while_time_stands() -> None:
    lab = held_lab()
    configuration = {"percentageOfNodesToScore": 50}
    status = lab.ask("schedulerconfigs.clustersim.io", "default", {"era": "v1.34", "configuration": configuration})
    generation = lab.get("schedulerconfigs.clustersim.io", "default", "")["metadata"]["generation"]
    assert status["observedGeneration"] == generation


def test_an_idle_cluster_writes_its_election_renewals_and_nothing_else() -> None:
    lab = Lab([*NODES, workload("Deployment", "web", 3)], replicas=3)
    lab.run(60)
    after = lab.store.revision
    lab.run(120)
    resources = {row.resource for row in lab.rows(after)}
    assert resources == {"leases.coordination.k8s.io"}


def test_events_live_an_hour() -> None:
    lab = Lab([*NODES, pod("web")])
    lab.run(30)
    assert any(one["involvedObject"]["name"] == "web" for one in lab.list("events"))
    lab.run(3_500)
    assert any(one["involvedObject"]["name"] == "web" for one in lab.list("events"))
    lab.run(200)
    assert not any(one["involvedObject"]["name"] == "web" for one in lab.list("events"))


def test_a_component_that_fails_is_told_of_and_started_again() -> None:
    from controllers.cluster import Cluster

    lab = Lab(NODES)
    failures: list[str] = []
    cluster = Cluster(lab.store, on_failure=lambda name, error: failures.append(f"{name}: {error}"))
    cluster.start()
    cluster.advance(3_000)
    slot = cluster.slot_of("kube-scheduler-0")
    assert slot is not None
    assert slot.component is not None
    slot.component.inner = None  # type: ignore[attr-defined]
    lab.create(pod("web"))
    cluster.advance(10_000)
    assert len(failures) == 1
    assert failures[0].startswith("kube-scheduler-0: ")
    assert lab.get("pods", "web")["spec"]["nodeName"]
