"""The owner is killed with -9: the session moves to another worker, and nothing is lost or done twice."""

from __future__ import annotations

import os
import signal

import pytest

from tests.tools.server import running, wait_for
from tests.tools.session import Session

PODS = 40


@pytest.fixture
def server():
    with running({"WORKERS": "2"}) as started:
        yield started


def test_bindings_survive_and_none_is_doubled(server):
    session = Session(server)
    session.wait_for_leader()
    session.clock(pace=0)
    first = session.owner_pid()
    assert first in server.pids("worker")
    for number in range(PODS):
        session.create_pod(f"p{number}")
        if number == PODS // 2:
            os.kill(first, signal.SIGKILL)
    revision = session.clock()["revision"]
    wait_for(lambda: session.clock()["revision"] > revision, what="the next owner's first write")
    assert session.owner_pid() != first
    names = {f"p{number}" for number in range(PODS)}
    wait_for(lambda: names <= session.bound().keys(), what="all bound")
    events = session.api("/api/v1/namespaces/default/events")["items"]
    placed = session.bound()
    told = [event for event in events if event["reason"] == "Scheduled" and event["involvedObject"]["name"] in placed]
    assert told
    for event in told:
        name = event["involvedObject"]["name"]
        assert event["message"].endswith(f"to {placed[name]}"), "an Event tells of another binding"
    assert len(session.pods()) == len({pod["metadata"]["uid"] for pod in session.pods()})


def held_cycle(session: Session):
    """Return (pod, point, verdicts, scores) of the cycle in hand."""
    cycle = session.scheduler().get("cycle")
    if not cycle:
        return None
    trace = cycle.get("trace") or {}
    return cycle["pod"], cycle["point"], trace.get("filters"), trace.get("scores")


def test_a_held_cycle_is_shown_at_the_same_point_with_the_same_scores(server):
    session = Session(server)
    session.wait_for_leader()
    session.clock(rate=20)
    wait_for(lambda: len(session.bound()) == len(session.pods()) > 0, what="the template's pods bound")
    session.clock(paused=True, rate=1)
    session.create_pod("mine")
    held = None
    for _ in range(30):
        held = session.step("point")["held"]
        if held and (held["pod"], held["point"]) == ("default/mine", "Score"):
            break
    assert held == {"pod": "default/mine", "point": "Score", "replica": "kube-scheduler-0"}
    before = held_cycle(session)
    assert before[:2] == ("default/mine", "Score")
    assert before[3], "scores are part of what is held"
    first = session.owner_pid()
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: session.owner_pid() != first, what="another owner")
    # A command that is obeyed shows that the new owner has taken everything up.
    clock = session.clock(pace=1)
    assert (clock["paused"], clock["held"]) == (True, held)
    assert held_cycle(session) == before
    assert session.step("point")["held"] == {**held, "point": "Reserve"}
    session.clock(paused=False, pace=0)
    wait_for(lambda: "mine" in session.bound(), what="bound in the end")
    assert [pod["metadata"]["name"] for pod in session.pods()].count("mine") == 1


def test_an_open_poll_keeps_its_votes_and_its_pod_in_hand(server):
    session = Session(server)
    session.wait_for_leader()
    session.clock(pace=0, paused=True)
    session.create_pod("vip")
    path = f"/api/sessions/{session.code}"
    poll = session.call("POST", f"{path}/polls", {"kind": "node", "pod": "default/vip"}, expect=201)
    held = session.clock()["held"]
    assert (held["pod"], held["point"]) == ("default/vip", "QueueSort")
    status, ann = server.obeyed("POST", f"{path}/join", {"name": "Ann"})
    assert status == 201, ann
    choice = {"choice": poll["options"][0]["id"]}
    status, _ = server.obeyed("POST", f"{path}/polls/{poll['id']}/votes", choice, ann["token"])
    assert status == 200
    first = session.owner_pid()
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: session.owner_pid() != first, what="the next owner")
    assert session.clock()["held"] == held
    assert session.call("GET", f"{path}/polls/{poll['id']}")["counts"] == {"1": {choice["choice"]: 1}}
    session.call("POST", f"{path}/polls/{poll['id']}/reveal")
    wait_for(lambda: session.call("GET", f"{path}/polls/{poll['id']}")["answer"], what="the engine's answer")
    assert session.call("GET", f"{path}/polls/{poll['id']}")["answer"]["chosen"] == session.bound()["vip"]
