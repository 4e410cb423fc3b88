"""The owner is killed with -9: the session moves to another worker, and nothing is lost or done twice."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest

from tests.tools.server import Server, running, wait_for

PODS = 40


@pytest.fixture(scope="module")
def server():
    with running({"WORKERS": "2"}) as started:
        yield started


class Session:
    """One session as its teacher uses it."""

    def __init__(self, server: Server, template: str) -> None:
        self.server = server
        status, body = server.request("POST", "/api/sessions", {"title": "fault", "template": template, "seed": 3})
        assert status == 201, body
        self.code = body["code"].replace("-", "")
        self.token = body["token"]

    def call(self, method: str, path: str, body=None, *, expect: int = 200):
        status, answer = self.server.request(method, path, body, token=self.token)
        assert status == expect, (status, answer)
        return answer

    def api(self, path: str, **options):
        return self.call("GET", f"/clusters/{self.code}{path}", **options)

    def clock(self, **changes):
        path = f"/api/sessions/{self.code}/clock"
        return self.call("PATCH", path, changes) if changes else self.call("GET", path)

    def step(self, by: str, count: int = 1):
        return self.call("POST", f"/api/sessions/{self.code}/clock/step", {"by": by, "count": count})

    def pods(self):
        return self.api("/api/v1/namespaces/default/pods")["items"]

    def create_pod(self, name: str) -> None:
        container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "10m"}}}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}
        self.call("POST", f"/clusters/{self.code}/api/v1/namespaces/default/pods", pod, expect=201)

    def events_of(self, reason: str):
        return [event for event in self.api("/api/v1/events")["items"] if event["reason"] == reason]

    def scheduler(self):
        replicas = self.api("/apis/clustersim.io/v1/replicas")["items"]
        return next(each for each in replicas if each["metadata"]["name"] == "kube-scheduler-0")

    def owner_pid(self) -> int:
        """Return the pid of the worker that owns the session, from the log line of its claim."""
        claims = [line for line in self.server.log.read_text().splitlines() if " claimed " in line]
        assert claims
        return int(claims[-1].partition("ownership[")[2].partition("]")[0])


def bound_names(session: Session) -> Counter:
    return Counter(pod["metadata"]["name"] for pod in session.pods() if pod["spec"].get("nodeName"))


def test_bindings_survive_and_none_is_doubled(server):
    session = Session(server, "three-nodes")
    session.clock(pace=0)
    wait_for(lambda: session.scheduler().get("status", {}).get("leading"), 30, "a leading scheduler")
    first = session.owner_pid()
    assert first in server.pids("worker")
    for number in range(PODS):
        session.create_pod(f"p{number}")
        if number == PODS // 2:
            os.kill(first, signal.SIGKILL)
    revision = session.clock()["revision"]
    wait_for(lambda: session.clock()["revision"] > revision, 5, "the next owner's first write")
    assert session.owner_pid() != first
    wait_for(lambda: len([name for name in bound_names(session) if name.startswith("p")]) == PODS, 30, "all bound")
    placed = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in session.pods()}
    scheduled = [event for event in session.events_of("Scheduled") if event["involvedObject"]["name"] in placed]
    for event in scheduled:
        name = event["involvedObject"]["name"]
        assert f"to {placed[name]}" in event["message"], "an Event tells of another binding"
    assert all(count == 1 for count in bound_names(session).values())


def held_cycle(session: Session):
    """Return (pod, point, scores so far) of the cycle in hand."""
    cycle = session.scheduler().get("status", {}).get("cycle")
    if not cycle:
        return None
    trace = cycle.get("trace") or {}
    return cycle["pod"], cycle["point"], trace.get("filters"), trace.get("scores")


def test_a_held_cycle_is_shown_at_the_same_point_with_the_same_scores(server):
    session = Session(server, "three-nodes")
    wait_for(lambda: session.scheduler().get("status", {}).get("leading"), 30, "a leading scheduler")
    wait_for(lambda: all(pod["spec"].get("nodeName") for pod in session.pods()), 60, "the template's pods bound")
    session.clock(paused=True)
    session.create_pod("mine")
    for _ in range(30):
        answer = session.step("point")
        if answer["held"] and answer["held"]["point"] == "Score":
            break
    assert answer["held"] == {"pod": "default/mine", "point": "Score", "replica": "kube-scheduler-0"}
    before = held_cycle(session)
    assert before[:2] == ("default/mine", "Score")
    assert before[3], "scores are part of what is held"
    first = session.owner_pid()
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: session.owner_pid() != first, 6, "another owner")
    wait_for(lambda: session.clock()["held"] == answer["held"], 5, "held again")
    assert held_cycle(session) == before
    assert session.clock()["paused"]
    bound = session.step("cycle")
    assert bound["stepped"] == 1
    session.clock(paused=False, pace=0)
    wait_for(lambda: "mine" in bound_names(session), 10, "bound in the end")
    assert bound_names(session)["mine"] == 1
