"""Homework over HTTP: one cluster a student, two tries, marked by the engine, a sheet of results."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from controllers.rules.cases import Size
from controllers.rules.homework import task
from scheduler_core.api.draw import draw
from tests.tools.server import Server, wait_for
from tests.tools.session import Session


@pytest.fixture(scope="module")
def session(live_server_up: Server) -> Session:
    return Session(live_server_up, "empty")


def path(session: Session, rest: str = "") -> str:
    return f"/api/sessions/{session.code}/homework{rest}"


def join(session: Session, name: str) -> dict[str, Any]:
    status, who = session.server.request("POST", f"/api/sessions/{session.code}/join", {"name": name})
    assert status in (200, 201), who
    return dict(who)


def asks(session: Session, who: dict[str, Any], method: str, rest: str, body: Any = None, expect: int = 200) -> Any:
    status, told = session.server.request(method, path(session, rest), body, who["token"])
    assert status == expect, (status, told)
    return told


def answer_of(session: Session, who: dict[str, Any], number: str, choice: Any, expect: int = 200) -> Any:
    return asks(session, who, "POST", f"/{number}/answers", {"task": 0, "choice": choice}, expect)


def test_a_homework_from_its_setting_to_its_sheet(session: Session) -> None:
    mei, tom = join(session, "Mei"), join(session, "=Tom")
    body = {"rule": "first-in-list", "title": "Which node", "seed": 4, "nodes": 3, "pods": 3}
    row = session.call("POST", path(session), body, expect=201)
    number = row["id"]
    assert (row["tasks"], row["people"], row["size"]) == (1, 2, {"nodes": 3, "pods": 3})

    mine, his = (asks(session, who, "GET", f"/{number}")["tasks"][0] for who in (mei, tom))
    assert mine["nodes"] != his["nodes"]
    assert [len(one["nodes"]) for one in (mine, his)] == [3, 3]
    assert not {"solution", "rule", "answers"} & mine.keys()
    assert asks(session, mei, "GET", f"/{number}")["tasks"][0] == mine

    seats = {one["name"]: one["id"] for one in session.call("GET", f"/api/sessions/{session.code}/people")}
    own, other = (
        task("first-in-list", draw(4, "person", seats[name], below=2**53), Size(3, 3)) for name in ("Mei", "=Tom")
    )
    assert [node["metadata"]["name"] for node in own.case.nodes] == [node["name"] for node in mine["nodes"]]

    wrong = answer_of(session, mei, number, own.believed.nodes[0])["tasks"][0]
    assert (wrong["over"], wrong["mine"]["1"]["right"]) == (False, False)
    assert "solution" not in wrong
    over = answer_of(session, mei, number, own.engine.nodes[0])["tasks"][0]
    assert (over["over"], over["mine"]["2"]["right"], over["rule"]) == (True, True, "first-in-list")
    assert over["solution"]["answers"]["engine"]["nodes"] == list(own.engine.nodes)
    assert over["solution"]["answers"]["first-in-list"]["nodes"] == list(own.believed.nodes)
    assert answer_of(session, mei, number, "none", 409)["reason"] == "Conflict"

    for tries in (1, 2):
        missed = answer_of(session, tom, number, ["none"] if other.engine.nodes else "n1")["tasks"][0]
        assert (missed["over"], len(missed["mine"])) == (tries == 2, tries)
    assert not missed["mine"]["2"]["right"]

    progress = session.call("GET", path(session))[-1]
    assert (progress["begun"], progress["byTask"][0]["answered"]) == (2, 2)
    assert (progress["byTask"][0]["believed"], progress["byTask"][0]["rightInTheEnd"]) == (1, 1)
    rows = session.call("GET", path(session, "/results"))
    assert [one["name"] for one in rows] == ["=Tom", "Mei"]
    assert [(one["because"], one["right"]) for one in rows] == [("", False), ("first-in-list", True)]
    sheet = session.server.request("GET", path(session, "/results?format=csv"), None, session.token)[1]
    read = list(csv.DictReader(io.StringIO(str(sheet).lstrip("\ufeff"))))
    assert [one["name"] for one in read] == ["'=Tom", "Mei"]
    assert read[1]["question"] == "Which node 1: the first that fits"
    assert [one["name"] for one in asks(session, mei, "GET", "/results")] == ["Mei"]

    session.call("DELETE", path(session, f"/{number}"), expect=204)
    assert asks(session, mei, "GET", f"/{number}", expect=404)["reason"] == "NotFound"


def test_a_homework_is_for_whom_it_was_set(session: Session) -> None:
    ana, bo = join(session, "Ana"), join(session, "Bo")
    seats = {one["name"]: one["id"] for one in session.call("GET", f"/api/sessions/{session.code}/people")}
    row = session.call("POST", path(session), {"topic": "scores", "people": [seats["Ana"]]}, expect=201)
    assert row["tasks"] == len(row["rules"]) == 4
    assert [one["id"] for one in asks(session, ana, "GET", "")] == [row["id"]]
    assert asks(session, bo, "GET", "") == []
    assert "set it for you" in asks(session, bo, "GET", f"/{row['id']}", expect=403)["message"]
    assert asks(session, ana, "POST", "", {"topic": "scores"}, 403)["reason"] == "Forbidden"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "give a rule or a topic"),
        ({"rule": "locks"}, "there are tasks about"),
        ({"topic": "history"}, "give one of preemption, scores, filters"),
        ({"topic": "scores", "people": ["0"]}, "no student of this session"),
        ({"topic": "scores", "people": "some"}, 'give "all"'),
        ({"topic": "scores", "nodes": 40}, "from 2 to 4"),
    ],
)
def test_what_cannot_be_set_says_why(session: Session, body: dict[str, Any], words: str) -> None:
    assert words in str(session.call("POST", path(session), body, expect=422))


def test_an_answer_that_is_none_says_why(session: Session) -> None:
    eve = join(session, "Eve")
    number = session.call("POST", path(session), {"rule": "fullest-node"}, expect=201)["id"]
    for body, words in [
        ({"choice": "n1"}, "give the number of a task"),
        ({"task": 5, "choice": "n1"}, "there are the tasks 0 to 0"),
        ({"task": 0, "choice": "elsewhere"}, "choose of n"),
        ({"task": 0, "choice": 7}, "give the id of an option"),
        ({"task": 0, "choice": []}, "choose of n"),
    ]:
        assert words in str(asks(session, eve, "POST", f"/{number}/answers", body, 422))


def test_a_task_that_is_over_is_played_on_in_a_session_of_its_own(session: Session) -> None:
    kim, leo = join(session, "Kim"), join(session, "Leo")
    seats = {one["name"]: one["id"] for one in session.call("GET", f"/api/sessions/{session.code}/people")}
    body = {"rule": "fewest-victims", "title": "Who goes", "people": [seats["Kim"]]}
    number = session.call("POST", path(session), body, expect=201)["id"]
    play = f"/{number}/play"
    assert "answer this task first" in asks(session, kim, "POST", play, {"task": 0}, 409)["message"]
    assert "set it for you" in asks(session, leo, "POST", play, {"task": 0}, 403)["message"]
    options = asks(session, kim, "GET", f"/{number}")["tasks"][0]["options"]
    told: dict[str, Any] = {"tasks": [{"over": False}]}
    for choice in options[:2]:
        if not told["tasks"][0]["over"]:
            told = answer_of(session, kim, number, choice)
    task_told = told["tasks"][0]
    assert task_told["over"]

    made = asks(session, kim, "POST", play, {"task": 0}, 201)
    assert (made["role"], made["task"]) == ("teacher", 0)
    own = Session.of(session.server, made)
    clock = own.clock()
    assert (clock["paused"], clock["held"]["pod"]) == (True, task_told["pod"]["key"])
    pods = {pod["metadata"]["name"]: pod for pod in own.pods()}
    there = {pod["name"]: node["name"] for node in task_told["nodes"] for pod in node["pods"]}
    assert {name: pod["spec"].get("nodeName") for name, pod in pods.items()} == {**there, "new": None}
    assert {pods[name]["status"]["phase"] for name in there} == {"Running"}

    asked = requests_of(own)
    # Time goes on, and the engine does what the task was marked by; the marks are as they were.
    own.clock(paused=False, pace=0)
    right = task_told["solution"]["answers"]["engine"]["chosen"]
    wait_for(lambda: own.bound().get("new") == right, what=f"new on {right}")
    assert asks(session, kim, "GET", f"/{number}")["tasks"][0] == task_told

    # The teacher looks at Kim's cluster, or at one like it.
    for more, same in (({"person": seats["Kim"]}, True), ({}, False)):
        seen = session.call("POST", path(session, play), {"task": 0, **more}, expect=201)
        other = Session.of(session.server, seen)
        if same:
            assert requests_of(other) == asked
        assert (seed_of(other) == seed_of(own)) is same
    for body, words in (
        ({"task": 0, "person": seats["Leo"]}, "not set for anybody"),
        ({"task": 4}, "there are the tasks 0 to 0"),
        ({}, "give the number of a task"),
    ):
        expect = 404 if "person" in body else 422
        assert words in str(session.call("POST", path(session, play), body, expect=expect))


def seed_of(session: Session) -> int:
    """Return the seed of a session: two clusters may be drawn alike, their seeds are not."""
    return session.call("GET", f"/api/sessions/{session.code}")["seed"]


def requests_of(session: Session) -> dict[str, Any]:
    """Return name → what a session's pods ask for."""
    return {pod["metadata"]["name"]: pod["spec"]["containers"][0]["resources"]["requests"] for pod in session.pods()}
