"""You are the scheduler: pods bound by hand, drops that a filter forbids, and the round beside engine and optimum."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.server import Server, wait_for
from tests.tools.session import Session


@pytest.fixture
def session(live_server_up: Server) -> Session:
    opened = Session(live_server_up)
    wait_for(lambda: opened.bound(), what="the template's own pods")
    return opened


def path(session: Session, rest: str = "") -> str:
    return f"/api/sessions/{session.code}/byhand{rest}"


def nodes(session: Session) -> list[str]:
    return sorted(node["metadata"]["name"] for node in session.api("/api/v1/nodes")["items"])


def test_a_round_from_its_workload_to_where_they_parted(session: Session) -> None:
    assert session.call("GET", path(session)) is None
    assert session.call("GET", path(session, "/result"), expect=404)["reason"] == "NotFound"
    began = session.call("POST", path(session), {"seed": 4}, expect=201)
    assert (began["round"], began["left"], began["queues"]) == (1, len(began["pods"]), [""])
    assert len(began["pods"]) >= 6
    assert not any(pod["node"] for pod in began["pods"])

    # As many as possible on the first node: then it is full, and says so with its amounts.
    names = nodes(session)
    refused: Any = None
    placed: dict[str, str] = {}
    for pod in began["pods"]:
        status, told = session.server.request(
            "POST", path(session, "/place"), {"pod": pod["name"], "node": names[0]}, session.token
        )
        if status == 200:
            placed[pod["key"]] = told["node"]
        else:
            refused = refused or (status, told)
    assert placed
    status, told = refused
    assert (status, told["reason"]) == (409, "Conflict")
    assert told["details"]["causes"][0]["field"] == "NodeResourcesFit"
    assert "Insufficient cpu (cpu: asks" in told["message"]
    assert told["refusals"][0]["details"][0]["kind"] == "resource"
    now = session.call("GET", path(session))
    assert {pod["key"]: pod["node"] for pod in now["pods"] if pod["node"]} == placed
    assert now["left"] == len(began["pods"]) - len(placed)
    wait_for(
        lambda: all(pod["status"]["phase"] == "Running" for pod in session.pods() if pod["spec"].get("nodeName")),
        what="what was bound by hand to run",
    )
    again = session.call("POST", path(session, "/place"), {"pod": next(iter(placed)), "node": names[1]}, expect=409)
    assert "has its node already" in again["message"]

    result = session.call("GET", path(session, "/result"))
    hand, engine = result["sums"]["hand"], result["sums"]["engine"]
    assert hand["placed"] == len(placed)
    assert hand["pods"] == engine["pods"] == len(began["pods"])
    assert engine["placed"] > hand["placed"]
    assert result["optimum"]["placed"] >= engine["placed"]
    assert {row["pod"]: row["hand"] for row in result["rows"] if row["hand"]} == placed
    parted = next(row for row in result["rows"] if row["pod"] == result["parted"])
    assert parted["hand"] != parted["engine"]
    assert all(row["why"] for row in result["rows"] if row["hand"] and row["hand"] != row["engine"])

    second = session.call("POST", path(session), {"seed": 4, "pods": 2}, expect=201)
    assert (second["round"], second["left"]) == (2, 2)
    wait_for(
        lambda: (
            {pod["metadata"]["name"] for pod in session.pods()} & {pod["name"] for pod in began["pods"]}
            == {key.partition("/")[2] for key in placed}
        ),
        what="what nobody had placed to go",
    )


def test_one_queue_a_seat(session: Session) -> None:
    refused = session.call("POST", path(session), {"queues": "seats"}, expect=422)
    assert "nobody has joined yet" in str(refused)
    people = {}
    for name in ("Mei", "Tom"):
        status, people[name] = session.server.request("POST", f"/api/sessions/{session.code}/join", {"name": name})
        assert status in (200, 201)
    began = session.call("POST", path(session), {"queues": "seats", "pods": 4}, expect=201)
    slugs = {who: people[who]["namespace"].removeprefix("s-") for who in people}
    assert sorted(began["queues"]) == sorted(slugs.values())
    own = next(pod for pod in began["pods"] if pod["queue"] == slugs["Mei"])
    body = {"pod": own["key"], "node": nodes(session)[0]}
    status, told = session.server.request("POST", path(session, "/place"), body, people["Tom"]["token"])
    assert (status, told["reason"]) == (403, "Forbidden")
    assert "another's queue" in told["message"]
    status, told = session.server.request("POST", path(session, "/place"), body, people["Mei"]["token"])
    assert (status, told) == (200, {"pod": own["key"], "node": body["node"]})
    assert session.server.request("POST", path(session), {}, people["Mei"]["token"])[0] == 403


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ({"pod": "nobody", "node": "node-1"}, 404, "there is no pod 'nobody'"),
        ({"node": "node-1"}, 422, "give a text"),
        ({"pod": "hand-1-01", "node": "nowhere"}, 422, "there is no node 'nowhere'"),
    ],
)
def test_a_drop_that_cannot_be_says_why(session: Session, body: dict[str, str], code: int, words: str) -> None:
    session.call("POST", path(session), {"pods": 1}, expect=201)
    assert words in str(session.call("POST", path(session, "/place"), body, expect=code))
    assert words not in str(session.call("POST", path(session), {"queues": "both"}, expect=422))
