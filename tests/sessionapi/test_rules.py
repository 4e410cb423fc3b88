"""Wrong rules over HTTP: which there are, what they make of a decision, a disagreement, a world under one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.server import Server, wait_for
from tests.tools.session import Session


@pytest.fixture(scope="module")
def session(live_server_up: Server) -> Session:
    return Session(live_server_up)


def path(session: Session, rest: str) -> str:
    return f"/api/sessions/{session.code}/{rest}"


def test_the_table_is_told_to_everybody_in_both_languages(session: Session) -> None:
    status, mei = session.server.request("POST", path(session, "join"), {"name": "Mei"})
    assert status in (200, 201), mei
    status, rules = session.server.request("GET", path(session, "rules"), None, mei["token"])
    assert status == 200
    first = rules[0]
    assert (first["id"], first["kind"], first["decides"]) == ("engine", "choice", False)
    fewest = next(rule for rule in rules if rule["id"] == "fewest-victims")
    assert (fewest["title"], fewest["decides"]) == ({"en": "fewest victims", "zh": "牺牲者最少"}, True)
    assert session.server.request("GET", path(session, "rules"))[0] == 401


def test_a_smallest_disagreement_is_found_and_is_the_seeds(session: Session) -> None:
    route = path(session, "rules/fullest-node/find")
    told, again = (session.call("POST", route, {"seed": 5})["found"] for _ in range(2))
    assert told == again
    assert told["answers"]["engine"]["nodes"] != told["answers"]["fullest-node"]["nodes"]
    assert {one["kind"] for one in told["objects"]} == {"Node", "Pod"}
    larger = session.call("POST", route, {"seed": 5, "nodes": 3, "pods": 2})["found"]
    assert larger["size"] == {"nodes": 3, "pods": 2}
    assert len(larger["nodes"]) == 3


def test_what_was_found_is_opened_by_a_student_as_a_session_with_the_pod_in_hand(session: Session) -> None:
    status, mei = session.server.request("POST", path(session, "join"), {"name": "Mei"})
    assert status in (200, 201), mei
    told = session.call("POST", path(session, "rules/emptiest-node/find"), {"seed": 5})
    assert told["seed"] == 5
    status, opened = session.server.request(
        "POST", path(session, "rules/emptiest-node/play"), {"seed": told["seed"]}, mei["token"]
    )
    assert (status, opened["rule"], opened["role"]) == (201, "emptiest-node", "teacher"), opened
    _, clock = session.server.request("GET", f"/api/sessions/{opened['code']}/clock", None, opened["token"])
    assert clock["held"]["pod"] == told["found"]["pod"]["key"]
    _, nodes = session.server.request("GET", f"/clusters/{opened['code']}/api/v1/nodes", None, opened["token"])
    assert {one["metadata"]["name"] for one in nodes["items"]} == {one["name"] for one in told["found"]["nodes"]}


def test_only_what_can_be_looked_for_says_so(session: Session) -> None:
    rules = {one["id"]: one["findable"] for one in session.call("GET", path(session, "rules"))}
    assert (rules["fewest-victims"], rules["engine"]) == (True, False)


@pytest.mark.parametrize(
    ("rule", "body", "code", "words"),
    [
        ("nonsense", {}, 404, "there is no rule 'nonsense'"),
        ("choice-is-fact", {}, 422, "says nothing of where a pod goes"),
        ("fullest-node", {"seed": -1}, 422, "give a whole number from 0"),
        ("fullest-node", {"nodes": 2}, 422, "give both nodes and pods"),
        ("fullest-node", {"nodes": 50, "pods": 1}, 422, "give a whole number from 1 to 4"),
    ],
)
def test_what_cannot_be_looked_for_says_why(
    session: Session, rule: str, body: dict[str, Any], code: int, words: str
) -> None:
    refused = session.call("POST", path(session, f"rules/{rule}/find"), body, expect=code)
    assert words in str(refused)


def test_a_world_under_a_rule_goes_on_from_what_the_attempt_saw(live_server_up: Server) -> None:
    session = Session(live_server_up)
    wait_for(lambda: session.bound(), what="the template's own pods")
    session.create_pod("web", "500m")
    wait_for(lambda: "web" in session.bound(), what="a bound pod")
    decision = session.call("GET", path(session, "decisions?pod=default/web"))[0]
    asked = path(session, f"decisions/{decision['id']}/rules?rule=engine&rule=first-in-list")
    told = session.call("GET", asked)
    assert told["pod"]["key"] == "default/web"
    assert told["answers"]["engine"]["chosen"] == decision["result"]["chosen"] == session.bound()["web"]
    first = told["answers"]["first-in-list"]["chosen"]
    assert first == min(node["name"] for node in told["nodes"])
    opened = session.call("POST", path(session, "rules/first-in-list/world"), {"decision": decision["id"]}, expect=201)
    assert opened["rule"] == "first-in-list"
    world = Session.__new__(Session)
    world.server, world.opened = session.server, opened
    world.code, world.token = opened["code"].replace("-", ""), opened["token"]
    wait_for(lambda: world.bound().get("web") == first, what="the rule's own choice in its world")
    spec = world.call("GET", f"/api/sessions/{world.code}/scheduler")
    assert "WrongRule" in spec["profiles"][0]["enabled"]
    assert session.bound()["web"] == decision["result"]["chosen"]


def test_a_world_in_which_leases_end_for_all_at_once(session: Session) -> None:
    opened = session.call("POST", path(session, "rules/needs-sync-clocks/world"), {}, expect=201)
    code = opened["code"].replace("-", "")
    status, flags = session.server.request("GET", f"/api/sessions/{code}/flags", None, opened["token"])
    assert (status, flags["kube-scheduler"]["leader-elect-expiry"]) == (200, "stored")


def test_a_rule_that_decides_nothing_has_no_world_and_students_open_none(session: Session) -> None:
    refused = session.call("POST", path(session, "rules/locks/world"), {}, expect=422)
    assert "no world can run under it" in refused["message"]
    refused = session.call("POST", path(session, "rules/first-in-list/world"), {"decision": "x-1"}, expect=404)
    assert refused["reason"] == "NotFound"
    _, mei = session.server.request("POST", path(session, "join"), {"name": "Mei"})
    assert session.server.request("POST", path(session, "rules/first-in-list/world"), {}, mei["token"])[0] == 403
