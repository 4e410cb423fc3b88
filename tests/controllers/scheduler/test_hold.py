"""Time stands when a pod comes in hand, before PreFilter: what a class is asked about has not been reckoned yet."""

from __future__ import annotations

import pytest

from controllers.rerun import first_difference, rerun
from scheduler_core.api.document import Document
from tests.tools.lab import Lab, node, pod

CLOCKS = "clocks.clustersim.io"
REPLICAS = "replicas.clustersim.io"
HELD = {"pod": "default/web", "point": "QueueSort", "replica": "kube-scheduler-0"}


def clock(lab: Lab, **spec: object) -> Document:
    return lab.ask(CLOCKS, "clock", dict(spec))


def held(pace: int = 0, **spec: object) -> Lab:
    lab = Lab([node("n1"), node("n2")], pace=pace)
    lab.run(3)
    clock(lab, hold={"id": "poll-1", "pod": "default/web"}, **spec)
    lab.create(pod("other"), pod("web"), pod("after"))
    lab.run(30)
    lab.obey()
    return lab


def node_of(lab: Lab, name: str) -> str:
    return str(lab.get("pods", name)["spec"].get("nodeName", ""))


@pytest.mark.parametrize("pace", [0, 250])
def test_time_stands_when_the_pod_comes_in_hand(pace: int) -> None:
    lab = held(pace)
    status = lab.get(CLOCKS, "clock", "")["status"]
    assert (status["paused"], status["held"], status["carryRate"]) == (True, HELD, 0.0)
    assert (bool(node_of(lab, "other")), node_of(lab, "web"), node_of(lab, "after")) == (True, "", "")
    cycle = lab.get(REPLICAS, "kube-scheduler-0", "")["status"]["cycle"]
    assert cycle["point"] == "QueueSort"
    assert not cycle["trace"].get("nodes"), "nothing of the decision stands anywhere yet"
    before = lab.cluster.now_ms
    lab.run(60)
    assert lab.cluster.now_ms == before


def test_the_pod_goes_on_when_nobody_holds_it_and_time_runs() -> None:
    lab = held()
    status = clock(lab, hold=None)
    assert (status["paused"], status.get("held")) == (False, None)
    lab.run(10)
    assert node_of(lab, "web")
    assert node_of(lab, "after")


def test_where_the_clock_is_to_stand_the_pod_waits_for_it_to_run() -> None:
    lab = held()
    assert clock(lab, hold=None, paused=True)["held"] == HELD
    lab.run(10)
    assert not node_of(lab, "web")
    clock(lab, paused=False)
    lab.run(10)
    assert node_of(lab, "web")


@pytest.mark.parametrize("by", ["point", "cycle", "event"])
def test_no_step_leads_past_the_place(by: str) -> None:
    lab = held()
    for _ in range(3):
        status = lab.step(by, 20)
    assert status["held"] == HELD
    assert not node_of(lab, "web")
    assert by == "event" or status["stepped"] == 0
    clock(lab, hold=None)
    assert lab.step("cycle")["stepped"] == 1
    assert node_of(lab, "web")


def test_seconds_that_are_stepped_leave_the_pod_in_hand() -> None:
    lab = held()
    assert lab.step("seconds", 20)["held"] == HELD
    assert not node_of(lab, "web")


def test_a_pod_whose_cycle_is_past_the_place_is_held_at_its_next_attempt() -> None:
    lab = Lab([node("n1", cpu="100m")], pace=250)
    lab.run(3)
    lab.create(pod("first"), pod("web"))
    lab.run(5)
    assert lab.get("pods", "web")["status"]["conditions"][0]["reason"] == "Unschedulable"
    clock(lab, hold={"id": "poll-1", "pod": "default/web"})
    lab.run(5)
    assert not lab.cluster.clock.paused
    lab.create(node("n2"))
    lab.run(30)
    lab.obey()
    assert lab.get(CLOCKS, "clock", "")["status"]["held"] == HELD


@pytest.mark.parametrize("told", [True, False], ids=["told", "before anybody was told"])
def test_the_next_owner_holds_the_same_pod_at_the_same_place(told: bool) -> None:
    lab = Lab([node("n1"), node("n2")])
    lab.run(3)
    clock(lab, hold={"id": "poll-1", "pod": "default/web"})
    lab.create(pod("web"))
    lab.run(5)
    if told:
        lab.obey()
    again = Lab(store=lab.store)
    again.run(20)
    again.obey()
    status = again.get(CLOCKS, "clock", "")["status"]
    assert (status["paused"], status["held"]) == (True, HELD)
    assert not node_of(again, "web")
    assert again.step("point", 3)["held"] == HELD
    clock(again, hold=None, paused=False)
    again.run(10)
    assert node_of(again, "web")


def test_an_owner_that_finds_the_hold_gone_lets_the_pod_go_on() -> None:
    lab = held()
    again = Lab(store=lab.store)
    clock(again, hold=None)
    again.run(10)
    assert node_of(again, "web")


@pytest.mark.parametrize("era", ["round-robin", "algorithm-provider", "framework-1.18"])
def test_every_era_has_the_place(era: str) -> None:
    lab = Lab([node("n1"), node("n2")])
    lab.run(3)
    lab.ask("schedulerconfigs.clustersim.io", "default", {"era": era})
    lab.run(3)
    clock(lab, hold={"id": "poll-1", "pod": "default/web"})
    lab.create(pod("web"))
    lab.run(5)
    lab.obey()
    assert lab.get(CLOCKS, "clock", "")["status"]["held"] == HELD


def test_readers_see_no_time_go_back() -> None:
    lab = Lab([node("n1")])
    lab.run(3)
    clock(lab, hold={"id": "poll-1", "pod": "default/web"})
    lab.create(pod("web"))
    shown_ms = lab.cluster.teller.shown_ms(lab.unix_ms + 100)
    lab.run(5)
    lab.obey()
    assert lab.get(CLOCKS, "clock", "")["status"]["simTimeMs"] >= shown_ms > 3_000


def test_a_run_from_the_log_comes_to_the_same() -> None:
    lab = held()
    clock(lab, hold=None)
    lab.run(10)
    assert node_of(lab, "web")
    rows = lab.rows()
    again = rerun(rows, seed=1, epoch_ms=lab.store.epoch_ms)
    assert first_difference(rows, list(again.events(0, 1_000_000))) == ""
