"""What somebody came to in their copy hangs on the wall by one request, as the class's next question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.sessionapi.test_polls import Class, plain_class
from tests.tools.http import PatientClient
from tests.tools.server import Server, wait_for


class There(Class):
    """Another session of the same people: a copy of one of them, or what hangs on the wall."""

    def __init__(self, room: Class, code: str, *people: str) -> None:
        self.client, self.code, self.tokens = room.client, code, {}
        for who in people:
            self.tokens[who] = room.call(who, "POST", f"/copies/{code}/enter")["token"]
            room.client.cookies.clear()


@pytest.fixture
def room(live_server_up: Server) -> Iterator[Class]:
    with PatientClient(live_server_up.url) as client:
        yield plain_class(client)


def copy_of(room: Class, who: str) -> tuple[Class, str]:
    """Let somebody take a copy and go in; they are its teacher."""
    [made] = room.call(who, "POST", "/copies", {}, expect=201)
    there = There(room, made["code"], who)
    there.tokens["teacher"] = there.tokens[who]
    return there, made["code"]


def on_wall(room: Class, code: str) -> Any:
    return room.call("teacher", "POST", f"/copies/{code}/wall", {"ask": True}, expect=201)


def test_a_pod_that_somebody_made_and_that_waits_is_asked_about_before_the_scheduler_refuses_it(room: Class) -> None:
    # At full speed a cycle is over within the moment at which the copy is taken up.
    room.call("teacher", "PATCH", "/clock", {"pace": 0})
    mine, code = copy_of(room, "ann")
    mine.pod("huge", "64", priority=None)
    wait_for(lambda: room.call("teacher", "GET", "/copies")[0]["state"] == "stuck", what="the copy is stuck")
    room.viewer()
    hung = on_wall(room, code)

    # Bob goes there as himself, votes and says why; the one whose accident it is is nobody by name.
    wall = There(room, hung["code"], "teacher", "bob", "wall")
    told = wall.call("teacher", "GET", "")
    assert told["parent"]["code"] == room.code, "one goes back to the class, not into somebody's copy"
    poll = wall.call("teacher", "GET", f"/polls/{hung['poll']}")
    assert (poll["kind"], poll["pod"], poll["state"]) == ("node", "default/huge", "open")
    assert "none" in [one["id"] for one in poll["options"]]
    reasons = [one["id"] for one in poll["because"]]
    assert reasons[-1] == "other", "a second tap says why"
    assert len(reasons) > 1
    clock = wall.call("teacher", "GET", "/clock")
    assert clock["held"]["pod"] == "default/huge", "time stands before anything is reckoned"
    for who in ("bob", "wall"):
        pod = wall.kube(who, "GET", "/api/v1/namespaces/default/pods/huge").json()
        assert "message" not in str(pod.get("status", {})), "what became of it is sealed"
        assert pod["metadata"]["annotations"].get("clustersim.io/created-by", "somebody") == "somebody"
        assert wall.call(who, "GET", "/decisions?pod=default/huge", expect=409)["reason"] == "Conflict"
    wall.vote("bob", poll, "n1", reasons[0])
    wall.do(poll, "close")
    answer = wall.do(poll, "reveal")["answer"]
    assert answer["right"] == ["none"]
    assert answer["explain"]["failed"]["n1"]["reasons"] == ["Insufficient cpu"]


def test_where_nothing_waits_the_decision_that_was_made_last_is_asked_about_again(room: Class) -> None:
    mine, code = copy_of(room, "ann")
    mine.pod("web", "100m")
    wait_for(lambda: mine.node_of("web"), what="it has a node")
    hung = on_wall(room, code)
    wall = There(room, hung["code"], "teacher")
    assert wall.node_of("web") == "", "it hangs as it was before that"
    poll = wall.call("teacher", "GET", f"/polls/{hung['poll']}")
    wall.do(poll, "close")
    answer = wall.do(poll, "reveal")["answer"]
    assert answer["chosen"] == mine.node_of("web"), "the same engine on the same moment"


def test_a_copy_in_which_nothing_was_decided_hangs_there_and_nothing_is_asked(room: Class) -> None:
    _, code = copy_of(room, "ann")
    room.call("teacher", "POST", f"/copies/{code}/wall", {"ask": "yes"}, expect=422)
    hung = on_wall(room, code)
    assert hung["poll"] == ""
    assert There(room, hung["code"], "teacher").call("teacher", "GET", "/polls") == []


def test_who_is_muted_in_the_class_is_muted_on_its_wall(room: Class) -> None:
    mine, code = copy_of(room, "ann")
    hung = on_wall(room, code)
    room.call("teacher", "PATCH", f"/people/{room.me('bob')}", {"muted": True})
    wall = There(room, hung["code"], "bob", "cem")
    pod = {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    answers = {
        who: wall.kube(who, "POST", f"/api/v1/namespaces/s-{who}/pods", pod).status_code for who in ("bob", "cem")
    }
    assert answers == {"bob": 403, "cem": 201}
    assert mine.code == code
