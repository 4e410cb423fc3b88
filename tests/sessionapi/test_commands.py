"""Clock, steps, faults and decisions over HTTP, against a running installation: answers come after the owner obeyed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.tools.application import bearer, http, opened
from tests.tools.http import PatientClient
from tests.tools.server import Server, wait_for

CLOCK = {
    "paused",
    "rate",
    "pace",
    "simTime",
    "revision",
    "held",
    "effectiveRate",
    "hibernated",
    "narrated",
    "epochMs",
    "run",
}


class Teacher:
    """A session of the running installation and its teacher's requests."""

    def __init__(self, client: httpx.Client, session: dict[str, Any]) -> None:
        self._client = client
        self.code = session["code"]

    def call(self, method: str, path: str, body: Any = None, *, expect: int = 200) -> Any:
        answer = self._client.request(method, f"/api/sessions/{self.code}{path}", json=body)
        assert answer.status_code == expect, answer.text
        return answer.json()

    def pods(self) -> list[dict[str, Any]]:
        items = self._client.get(f"/clusters/{self.code}/api/v1/pods").json()["items"]
        return [item for item in items if item["spec"].get("nodeName")]


@pytest.fixture
def teacher(live_server_up: Server) -> Iterator[Teacher]:
    with PatientClient(live_server_up.url) as client:
        session = client.post("/api/sessions", json={"title": "Commands", "template": "three-nodes"}).json()
        client.headers.update(bearer(session["token"]))
        client.cookies.clear()
        yield Teacher(client, session)


def test_the_clock_answers_with_what_the_owner_obeys(teacher: Teacher) -> None:
    first = teacher.call("GET", "/clock")
    assert set(first) == CLOCK
    assert (first["paused"], first["pace"]) == (False, 250)
    changed = teacher.call("PATCH", "/clock", {"paused": True, "rate": 10, "pace": 0})
    assert (changed["paused"], changed["rate"], changed["pace"]) == (True, 10, 0)
    assert teacher.call("GET", "/clock")["simTime"] == changed["simTime"]
    again, shown = teacher.call("PATCH", "/clock", {}), teacher.call("GET", "/clock")
    # What happened before the pause may still be written in between.
    assert {**again, "revision": 0} == {**shown, "revision": 0}
    assert again["revision"] <= shown["revision"]
    assert teacher.call("PATCH", "/clock", {"paused": False})["paused"] is False


def test_time_goes_by_itself_until_something_is_true(teacher: Teacher) -> None:
    asked = teacher.call("PATCH", "/clock", {"run": {"until": "since() >= 400"}})
    assert asked["run"]["state"] in ("running", "reached")
    over = wait_for(lambda: (now := teacher.call("GET", "/clock"))["run"]["state"] != "running" and now)
    assert (over["run"]["state"], over["paused"]) == ("reached", True)
    assert 400 <= over["run"]["simTimeMs"] / 1000 <= over["simTime"] < 403
    assert teacher.call("PATCH", "/clock", {"run": {"until": "true"}})["run"]["state"] == "reached"
    assert teacher.call("PATCH", "/clock", {"paused": False})["paused"] is False


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"rate": 0.05}, "rate"),
        ({"rate": 101}, "rate"),
        ({"rate": "fast"}, "rate"),
        ({"pace": -1}, "pace"),
        ({"pace": 1.5}, "pace"),
        ({"run": {"seconds": 3}}, "run.until"),
        ({"run": {"until": "pod('x').redy"}}, "run.until"),
        ({"run": {"until": "true", "seconds": 1000}}, "seconds"),
        ({"paused": "yes"}, "paused"),
        ({"speed": 3}, "speed"),
    ],
)
def test_a_clock_that_cannot_be_is_refused(teacher: Teacher, body: dict[str, Any], field: str) -> None:
    refused = teacher.call("PATCH", "/clock", body, expect=422)
    assert refused["details"]["causes"][0]["field"] == field


def test_steps_stop_time_and_say_how_many_there_were(teacher: Teacher) -> None:
    teacher.call("PATCH", "/clock", {"pace": 0})
    wait_for(lambda: len(teacher.pods()) == 6, what="six bound pods")
    stepped = teacher.call("POST", "/clock/step", {"by": "seconds", "count": 3})
    assert set(stepped) == CLOCK | {"stepped"}
    assert (stepped["paused"], stepped["stepped"]) == (True, 3)
    again = teacher.call("POST", "/clock/step", {"by": "seconds", "count": 2})
    assert again["simTime"] == pytest.approx(stepped["simTime"] + 2)
    assert teacher.call("POST", "/clock/step", {"by": "event"})["stepped"] == 1
    assert teacher.call("POST", "/clock/step", {"by": "point"})["stepped"] == 0, "no pod waits for the scheduler"
    for body, field in (({"by": "year"}, "by"), ({"by": "event", "count": 0}, "count"), ({}, "by")):
        assert teacher.call("POST", "/clock/step", body, expect=422)["details"]["causes"][0]["field"] == field


def test_a_replica_crashes_and_recovers(teacher: Teacher) -> None:
    identities = {replica["identity"]: replica for replica in teacher.call("GET", "/replicas")}
    assert set(identities) == {"kube-scheduler-0", "kube-controller-manager-0"}

    def renewed_at_ms() -> int:
        found = {replica["identity"]: replica["lease"] for replica in teacher.call("GET", "/replicas")}
        return int((found["kube-scheduler-0"] or {}).get("renewedAtMs", -1))

    before = wait_for(lambda: renewed_at_ms() + 1, what="a leader") - 1
    teacher.call("POST", "/clock/step", {"by": "seconds", "count": 5})
    assert renewed_at_ms() > before, "a renewal shows in the list"
    crashed = teacher.call("POST", "/replicas/kube-scheduler-0/fault", {"kind": "crash"})
    assert (crashed["identity"], crashed["state"], crashed["leading"]) == ("kube-scheduler-0", "Crashed", False)
    assert teacher.call("POST", "/replicas/kube-scheduler-0/fault", {"kind": "recover"})["state"] == "Running"
    assert teacher.call("POST", "/replicas/nobody/fault", {"kind": "crash"}, expect=404)["reason"] == "NotFound"


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"kind": "explode"}, ["kind"]),
        ({"kind": []}, ["kind"]),
        ({}, ["kind"]),
        ({"kind": "skew"}, ["seconds"]),
        ({"kind": "rate", "seconds": 3}, ["rate"]),
        ({"kind": "slow-watch", "rate": 1}, ["seconds", "rate"]),
        ({"kind": "crash", "rate": 2}, ["rate"]),
        ({"kind": "release", "seconds": 2}, ["seconds"]),
        ({"kind": "partition", "seconds": -1}, ["seconds"]),
        ({"kind": "rate", "rate": 0}, ["rate"]),
    ],
)
def test_a_fault_that_means_nothing_is_refused_by_field(teacher: Teacher, body: Any, fields: list[str]) -> None:
    refused = teacher.call("POST", "/replicas/kube-scheduler-0/fault", body, expect=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == fields


def test_every_fault_is_obeyed_and_shown_and_a_partition_acts(teacher: Teacher) -> None:
    path = "/replicas/kube-scheduler-0/fault"
    for kind, more in (
        ("crash", {"seconds": 500}), ("partition", {"seconds": 500}), ("pause", {}), ("slow-watch", {"seconds": 2}),
        ("drop-watch", {"seconds": 500}), ("skew", {"seconds": -40}), ("rate", {"rate": 0.5}),
    ):  # fmt: skip
        shown = teacher.call("POST", path, {"kind": kind, **more})
        assert {name: shown["fault"][name] for name in ("kind", *more)} == {"kind": kind, **more}
    released = teacher.call("POST", path, {"kind": "release"})
    assert [one["kind"] for one in released["faults"]] == ["rate"], "its clock's stays: that is another's fault"
    recovered = teacher.call("POST", path, {"kind": "recover"})
    assert (recovered["fault"], recovered["faults"]) == (None, [])
    teacher.call("POST", "/clock/step", {"by": "seconds", "count": 10})

    def leads() -> bool:
        return bool(
            next(one for one in teacher.call("GET", "/replicas") if one["identity"] == "kube-scheduler-0")["leading"]
        )

    wait_for(leads, what="a leader again")
    teacher.call("POST", path, {"kind": "partition"})
    teacher.call("POST", "/clock/step", {"by": "seconds", "count": 20})
    wait_for(lambda: not leads(), what="a replica that is cut off to give up")


def test_decisions_are_newest_first_and_found_one_by_one(teacher: Teacher) -> None:
    teacher.call("PATCH", "/clock", {"pace": 0})
    wait_for(lambda: len(teacher.pods()) == 6, what="six bound pods")
    pod = teacher.pods()[0]
    traces = teacher.call("GET", f"/decisions?pod=default/{pod['metadata']['name']}")
    assert [trace["attempt"] for trace in traces] == sorted((trace["attempt"] for trace in traces), reverse=True)
    newest = traces[0]
    assert {"id", "revision", "seenRevision", "simTime", "pod", "uid", "replica", "profile", "attempt", "point"} <= set(
        newest
    )
    assert newest["result"]["result"] == "scheduled"
    assert newest["result"]["chosen"] == pod["spec"]["nodeName"] in newest["result"]["best"]
    assert teacher.call("GET", f"/decisions/{newest['id']}") == newest
    assert teacher.call("GET", f"/decisions?uid={pod['metadata']['uid']}&limit=1") == [newest]


def test_the_scheduler_is_shown(teacher: Teacher) -> None:
    shown = wait_for(lambda: (body := teacher.call("GET", "/scheduler"))["profiles"] and body, what="the profiles")
    assert shown["era"] == "v1.34"
    assert [profile["schedulerName"] for profile in shown["profiles"]] == ["default-scheduler"]


async def test_without_an_owner_nothing_is_changed(application_database: None) -> None:
    """No worker runs in this process: the answer is 503, and the clock is asked for nothing any more."""
    async with http() as client:
        session = await opened(client)
        headers = bearer(session["token"])
        answer = await client.patch(f"/api/sessions/{session['code']}/clock", json={"paused": True}, headers=headers)
        assert answer.status_code == 503
        assert answer.json()["details"]["retryAfterSeconds"] >= 1
        clock = await client.get(f"/clusters/{session['code']}/apis/clustersim.io/v1/clocks/clock", headers=headers)
        assert clock.json()["spec"]["paused"] is False
