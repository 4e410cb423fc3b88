"""Time goes as fast as it can until something is true, then it stands."""

from __future__ import annotations

import pytest

from controllers.cluster import Cluster
from controllers.log.operations import Patch
from controllers.rerun import first_difference, rerun
from scheduler_core.api.document import Document
from tests.tools.lab import Lab, node, pod

CLOCKS = "clocks.clustersim.io"


def begun(lab: Lab, until: str, **more: object) -> Document:
    """Ask for a run; return the clock's status as its beginning is told."""
    known = (lab.get(CLOCKS, "clock", "")["spec"].get("run") or {}).get("id", 0)
    return lab.ask(CLOCKS, "clock", {"paused": True, "run": {"id": known + 1, "until": until, **more}})


def driven(lab: Lab, ticks: int = 2_000) -> Document:
    """Drive the run as an owner does; return what is told of it."""
    for _ in range(ticks):
        due_ms = lab.cluster.next_event_ms()
        if due_ms is None or not lab.cluster.clock.runs_on or not lab.cluster.run_tick(due_ms):
            break
    lab.obey()
    told: Document = lab.get(CLOCKS, "clock", "")["status"]["run"]
    return told


@pytest.fixture
def lab() -> Lab:
    made = Lab([node("n1")])
    made.run(3)
    made.create(pod("web"))
    return made


def test_a_run_ends_at_the_tick_in_which_it_became_true_and_time_stands(lab: Lab) -> None:
    assert begun(lab, "pod('web').ready")["run"]["state"] == "running"
    told = driven(lab)
    status = lab.get(CLOCKS, "clock", "")["status"]
    assert (told["state"], told["message"], status["paused"], status["carryRate"]) == ("reached", "", True, 0.0)
    assert told["simTimeMs"] == lab.cluster.now_ms == status["simTimeMs"]
    before = lab.cluster.now_ms
    lab.run(60)
    assert lab.cluster.now_ms == before
    ready = next(one for one in lab.get("pods", "web")["status"]["conditions"] if one["type"] == "Ready")
    assert ready["status"] == "True"


def test_what_is_true_already_moves_no_time(lab: Lab) -> None:
    lab.run(3)
    before = lab.cluster.now_ms
    assert begun(lab, "pod('web').exists")["run"]["state"] == "reached"
    assert lab.cluster.now_ms == before


def test_a_wait_of_minutes_is_no_wait(lab: Lab) -> None:
    begun(lab, "since() >= 350", beganMs=lab.cluster.now_ms)
    began = lab.cluster.now_ms
    assert driven(lab)["state"] == "reached"
    assert 350_000 <= lab.cluster.now_ms - began <= 352_000


def test_real_time_ends_it(lab: Lab) -> None:
    begun(lab, "pod('nobody').exists", seconds=3)
    driven(lab, 20)
    assert lab.get(CLOCKS, "clock", "")["status"]["run"]["state"] == "running"
    lab.unix_ms += 3_000
    told = driven(lab, 20)
    assert (told["state"], told["message"]) == ("timeout", "not reached within 3 s")
    assert lab.get(CLOCKS, "clock", "")["status"]["paused"]


def test_whoever_calls_it_off_decides_how_time_goes_on(lab: Lab) -> None:
    begun(lab, "pod('nobody').exists")
    driven(lab, 20)
    status = lab.ask(CLOCKS, "clock", {"run": None, "paused": False})
    assert (status["run"]["state"], status["paused"]) == ("failed", False)


def test_another_rate_meanwhile_changes_nothing(lab: Lab) -> None:
    begun(lab, "pod('web').ready")
    assert lab.ask(CLOCKS, "clock", {"rate": 5})["run"]["state"] == "running"
    assert driven(lab)["state"] == "reached"


def test_a_pod_at_which_time_stands_ends_it(lab: Lab) -> None:
    lab.ask(CLOCKS, "clock", {"paused": True, "hold": {"id": "p", "pod": "default/web"}})
    begun(lab, "pod('web').ready")
    told = driven(lab)
    assert (told["state"], told["message"]) == ("failed", "time stands at default/web")
    assert begun(lab, "held() == 'web'")["run"]["state"] == "reached"


def test_a_predicate_that_cannot_be_read_fails_at_once(lab: Lab) -> None:
    told = begun(lab, "pod('web').redy")["run"]
    assert told["state"] == "failed"
    assert "did you mean ready?" in told["message"]


def test_the_next_owner_goes_on_with_it(lab: Lab) -> None:
    begun(lab, "pod('web').ready", seconds=20)
    lab.cluster = Cluster(lab.store, fence=lab.store.take_over())
    lab.cluster.start()
    lab.obey()
    assert driven(lab)["state"] == "reached"


def test_a_second_run_from_the_log_is_the_same(lab: Lab) -> None:
    begun(lab, "pod('web').ready")
    driven(lab)
    log = lab.rows()
    again = rerun(log, seed=1, epoch_ms=lab.store.epoch_ms)
    assert first_difference(log, again.events(0, 1_000_000)) == ""


def test_a_fork_that_is_asked_for_no_run_goes_on_at_its_own_pace(lab: Lab) -> None:
    """What its session waited for would else be run to for ever: nobody there ends that run."""
    assert begun(lab, "pod('nobody').ready")["run"]["state"] == "running"
    lab.do(Patch(CLOCKS, "", "clock", {"spec": {"run": None, "paused": False}}))
    forked = Cluster(lab.store)
    forked.start()
    assert not forked.clock.runs_on
    assert not forked.clock.paused
