"""A class is asked, votes twice, and the engine's own cycle says what is right; against a running installation."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.tools.application import bearer
from tests.tools.http import PatientClient
from tests.tools.server import Server, wait_for

POLL = {
    "id", "kind", "pod", "question", "state", "round", "options", "because", "limit", "endsUnixMs", "voted", "present",
    "mine", "answer", "hold", "alone", "lesson", "openedUnixMs",
}  # fmt: skip


class Class:
    """A session of the running installation; each person's requests are answered in their name."""

    def __init__(self, client: httpx.Client, template: str = "three-nodes") -> None:
        self.client = client
        session = client.post("/api/sessions", json={"title": "Polls", "template": template, "seed": 3}).json()
        client.cookies.clear()
        self.code, self.tokens = session["code"], {"teacher": session["token"]}
        for name in ("ann", "bob", "cem"):
            self.tokens[name] = client.post(f"/api/sessions/{self.code}/join", json={"name": name}).json()["token"]
            client.cookies.clear()

    def me(self, who: str) -> str:
        return str(self.call(who, "GET", "")["me"]["id"])

    def viewer(self) -> str:
        """Seat a viewer."""
        told = self.call("teacher", "POST", "/people", {"role": "viewer", "name": "wall"}, expect=201)
        self.tokens["wall"] = told["token"]
        return "wall"

    def call(self, who: str, method: str, path: str, body: Any = None, *, expect: int = 200) -> Any:
        answer = self.client.request(
            method, f"/api/sessions/{self.code}{path}", json=body, headers=bearer(self.tokens[who])
        )
        assert answer.status_code == expect, answer.text
        return answer.json() if answer.content else None

    def kube(self, who: str, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        headers = {**bearer(self.tokens[who]), **options.pop("headers", {})}
        return self.client.request(method, f"/clusters/{self.code}{path}", json=body, headers=headers, **options)

    def pod(self, name: str, cpu: str = "1", **spec: Any) -> None:
        container = {"name": "c", "image": "nginx:1.27", "resources": {"requests": {"cpu": cpu}}}
        document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}
        document["spec"].update(spec)  # type: ignore[attr-defined]
        answer = self.kube("teacher", "POST", "/api/v1/namespaces/default/pods", document)
        assert answer.status_code == 201, answer.text

    def nodes(self) -> list[Any]:
        return list(self.kube("teacher", "GET", "/api/v1/nodes").json()["items"])

    def node_of(self, name: str, who: str = "teacher") -> str:
        pod = self.kube(who, "GET", f"/api/v1/namespaces/default/pods/{name}").json()
        return str(pod["spec"].get("nodeName", ""))

    def stand(self) -> None:
        """Let time stand, so that what comes is not looked at."""
        self.call("teacher", "PATCH", "/clock", {"paused": True, "pace": 0})

    def ask(self, expect: int = 201, **body: Any) -> Any:
        return self.call("teacher", "POST", "/polls", body, expect=expect)

    def asked(self, name: str = "vip", **body: Any) -> Any:
        """Ask where a new pod will go."""
        self.stand()
        self.pod(name)
        return self.ask(kind="node", pod=f"default/{name}", **body)

    def vote(self, who: str, poll: Any, choice: Any, because: str | None = None, *, expect: int = 200) -> Any:
        body = {"choice": choice} if because is None else {"choice": choice, "because": because}
        return self.call(who, "POST", f"/polls/{poll['id']}/votes", body, expect=expect)

    def do(self, poll: Any, what: str, *, expect: int = 200) -> Any:
        return self.call("teacher", "POST", f"/polls/{poll['id']}/{what}", expect=expect)

    def see(self, who: str, poll: Any) -> Any:
        return self.call(who, "GET", f"/polls/{poll['id']}")


def plain_class(client: httpx.Client) -> Class:
    """Return a session in which nothing runs but what a test adds: three nodes, no pods."""
    room = Class(client, "empty")
    for name in ("n1", "n2", "n3"):
        capacity = {"cpu": "4", "memory": "8Gi", "pods": "110"}
        document = {"metadata": {"name": name}, "status": {"capacity": capacity, "allocatable": capacity}}
        assert room.kube("teacher", "POST", "/api/v1/nodes", document).status_code == 201
    wait_for(lambda: all(not node["spec"].get("taints") for node in room.nodes()))
    return room


@pytest.fixture
def room(live_server_up: Server) -> Iterator[Class]:
    with PatientClient(live_server_up.url) as client:
        yield Class(client)


@pytest.fixture
def plain(live_server_up: Server) -> Iterator[Class]:
    with PatientClient(live_server_up.url) as client:
        yield plain_class(client)


def test_a_class_is_asked_votes_twice_and_the_engine_says_what_is_right(plain: Class) -> None:
    room = plain
    poll = room.asked(question="Which node?", because=["least-used", {"id": "other", "label": {"en": "b", "zh": "c"}}])
    assert set(poll) >= POLL
    assert (poll["state"], poll["round"], poll["question"]) == ("open", 1, {"en": "Which node?", "zh": "Which node?"})
    ids = [option["id"] for option in poll["options"]]
    assert ids == ["n1", "n2", "n3", "none"]
    assert poll["options"][0]["facts"]["free"]["cpu"] <= poll["options"][0]["facts"]["allocatable"]["cpu"]
    clock = room.call("teacher", "GET", "/clock")
    assert clock["held"] == {"pod": "default/vip", "point": "QueueSort", "replica": "kube-scheduler-0"}

    told = room.vote("ann", poll, "n1", "least-used")
    assert set(told) == POLL
    assert told["mine"] == {"1": {"choice": ["n1"], "because": "least-used"}}
    room.vote("bob", poll, "none")
    assert room.vote("bob", poll, "n1")["voted"] == 2
    room.vote("cem", poll, "none")
    seen = room.see("teacher", poll)
    assert (seen["counts"], seen["voted"]) == ({"1": {"n1": 2, "none": 1}}, 3)
    assert seen["advice"] in ("hint", "talk", "reveal")
    assert "counts" not in room.see("ann", poll)

    assert room.do(poll, "close")["state"] == "closed"
    assert "over" in room.vote("ann", poll, "n2", expect=409)["message"]
    assert room.do(poll, "reopen")["round"] == 2
    # What was chosen in the first round, and comes only now, is no second vote.
    late = room.call("ann", "POST", f"/polls/{poll['id']}/votes", {"choice": "none", "round": 1}, expect=409)
    assert "is over" in late["message"]
    assert room.call("ann", "GET", f"/polls/{poll['id']}")["voted"] == 0
    room.vote("ann", poll, "n2")
    room.vote("cem", poll, "n1")
    assert not room.node_of("vip")

    revealed = room.do(poll, "reveal")
    assert revealed["state"] == "revealed"
    answer = revealed["answer"]
    assert answer["chosen"] == room.node_of("vip")
    assert answer["chosen"] in answer["right"] == sorted(answer["tie"])
    assert answer["decision"] == answer["explain"]["decision"]
    assert answer["decision"].endswith("-1")
    seen = room.see("ann", poll)
    assert (seen["counts"]["2"], seen["counts"]["1"]) == ({"n2": 1, "n1": 1}, {"n1": 2, "none": 1})
    assert seen["becauseCounts"] == {"1": {"least-used": 1}}
    # All three nodes are empty: every one is right, whichever the lot gave.
    assert answer["right"] == ["n1", "n2", "n3"]
    assert seen["changed"] == {"toRight": 1, "fromRight": 0, "other": 1}
    assert seen["rightCounts"] == {"1": 2, "2": 2}
    assert room.call("teacher", "GET", "/clock")["paused"] is False
    assert "no longer" in room.vote("bob", poll, "n3", expect=409)["message"]


def test_a_poll_about_victims_is_judged_by_the_preemption(plain: Class) -> None:
    room = plain
    room.call("teacher", "PATCH", "/clock", {"pace": 0, "rate": 20})
    for name, number in (("low", 1), ("high", 100)):
        answer = room.kube(
            "teacher",
            "POST",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"metadata": {"name": name}, "value": number},
        )
        assert answer.status_code == 201
    for number in range(3):
        room.pod(f"fill-{number}", cpu="3", priorityClassName="low")
    wait_for(lambda: all(room.node_of(f"fill-{number}") for number in range(3)))
    room.stand()
    room.pod("vip", cpu="3", priorityClassName="high")
    poll = room.ask(kind="victims", pod="default/vip")
    assert [one["id"] for one in poll["options"]] == [*(f"default/fill-{number}" for number in range(3)), "none"]
    assert poll["options"][0]["facts"]["priority"] == 1
    room.vote("ann", poll, ["none"])
    room.vote("bob", poll, ["default/fill-0", "default/fill-1"])
    room.vote("cem", poll, ["default/fill-0", "none"], expect=422)
    answer = room.do(poll, "reveal")["answer"]
    assert len(answer["victims"]) == 1
    assert answer["right"] == answer["victims"]
    assert room.see("ann", poll)["rightCounts"] == {"1": 0}


def test_a_poll_about_a_leader_is_judged_by_the_next_renewal(room: Class) -> None:
    room.call("teacher", "PATCH", "/clock", {"rate": 20})
    wait_for(lambda: any(one["leading"] for one in room.call("teacher", "GET", "/replicas")))
    poll = room.ask(kind="leader")
    assert [one["id"] for one in poll["options"]] == ["kube-scheduler-0", "none"]
    assert room.call("teacher", "GET", "/clock")["paused"] is True
    room.vote("ann", poll, "kube-scheduler-0")
    room.do(poll, "reveal")
    wait_for(lambda: room.see("ann", poll)["answer"] is not None)
    assert room.see("ann", poll)["answer"]["right"] == ["kube-scheduler-0"]


def test_a_poll_that_is_taken_back_leaves_time_standing_and_the_pod_in_hand(room: Class) -> None:
    poll = room.asked()
    room.call("teacher", "DELETE", f"/polls/{poll['id']}", expect=204)
    room.call("ann", "GET", f"/polls/{poll['id']}", expect=404)
    clock = room.call("teacher", "GET", "/clock")
    assert (clock["paused"], clock["held"]["pod"]) == (True, "default/vip")
    room.call("teacher", "PATCH", "/clock", {"paused": False})
    wait_for(lambda: room.node_of("vip"))


def test_no_second_poll_begins_before_the_first_is_revealed(room: Class) -> None:
    room.asked()
    room.pod("other")
    assert "reveal it" in room.ask(409, kind="node", pod="default/other")["message"]


def test_a_round_with_a_limit_ends_by_itself(room: Class) -> None:
    poll = room.asked(limit=1)
    assert poll["endsUnixMs"] == poll["openedUnixMs"] + 1000
    wait_for(lambda: room.see("ann", poll)["state"] == "closed")
    room.vote("ann", poll, "n1", expect=409)
    assert room.do(poll, "reopen")["state"] == "open"


def test_hands_count_where_phones_do_not_reach(room: Class) -> None:
    poll = room.asked()
    body = {"counts": {"n1": 12, "none": 3}}
    told = room.call("teacher", "PUT", f"/polls/{poll['id']}/hands", body)
    assert (told["voted"], told["counts"]) == (15, {"1": {"n1": 12, "none": 3}})
    room.call("teacher", "PUT", f"/polls/{poll['id']}/hands", {"counts": {"n9": 1}}, expect=422)
    room.call("ann", "PUT", f"/polls/{poll['id']}/hands", body, expect=403)


def test_hands_that_went_up_for_what_is_right_are_right(plain: Class) -> None:
    room = plain
    poll = room.asked()
    told = room.call("teacher", "PUT", f"/polls/{poll['id']}/hands", {"counts": {"n1": 12, "none": 3}})
    room.vote("ann", poll, "n1")
    # Three empty nodes: each is right, none is not.
    told = room.see("teacher", poll)
    assert (told["rightCounts"], told["advice"]) == ({"1": 13}, "reveal")
    room.do(poll, "reveal")
    assert room.see("ann", poll)["rightCounts"] == {"1": 13}


def test_a_question_says_to_its_teacher_alone_what_its_author_holds_right(room: Class) -> None:
    options = [
        {"id": "gone", "label": "gone", "right": "!pod('vip').exists", "model": "system-moves-it"},
        {"id": "there", "label": "there", "right": "pod('vip').exists", "model": "engine"},
    ]
    room.stand()
    room.pod("vip")
    poll = room.ask(kind="choice", pod="default/vip", options=options)
    for who, choice in (("ann", "gone"), ("bob", "gone"), ("cem", "there")):
        room.vote(who, poll, choice)
    told = room.see("teacher", poll)
    assert (told["expected"], told["rightCounts"], told["advice"]) == ([["there"]], {"1": 1}, "talk")
    assert told["models"] == {"system-moves-it": 2, "engine": 1}
    for key in ("expected", "rightCounts", "models", "advice"):
        assert key not in room.see("ann", poll)
    hands = {"counts": {"gone": 20, "there": 1}}
    told = room.call("teacher", "PUT", f"/polls/{poll['id']}/hands", hands)
    assert (told["rightCounts"], told["advice"]) == ({"1": 2}, "hint")
    assert told["models"] == {"system-moves-it": 22, "engine": 2}


@pytest.mark.parametrize("what", ["close", "reopen", "reveal"])
def test_only_the_teacher_leads(room: Class, what: str) -> None:
    poll = room.asked()
    for who in ("ann", room.viewer()):
        room.call(who, "POST", f"/polls/{poll['id']}/{what}", expect=403)
    room.call("ann", "POST", "/polls", {"kind": "node", "pod": "default/vip"}, expect=403)
    room.call("ann", "DELETE", f"/polls/{poll['id']}", expect=403)
    room.vote("wall", poll, "n1", expect=403)
    room.vote("teacher", poll, "n1", expect=403)


def test_who_learns_alone_votes_and_says_why_before_the_reveal(room: Class) -> None:
    poll = room.asked(alone=True, because=["least-used"])
    assert "counts" not in room.see("teacher", poll)
    assert "choose" in room.do(poll, "reveal", expect=409)["message"]
    room.vote("teacher", poll, "n1")
    assert "why" in room.do(poll, "reveal", expect=409)["message"]
    room.call("teacher", "POST", f"/polls/{poll['id']}/votes", {"because": "least-used"})
    assert room.do(poll, "reveal")["answer"]["chosen"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "fortune"}, "kind"),
        ({"kind": "node"}, "pod"),
        ({"kind": "choice"}, "options"),
        ({"kind": "choice", "options": ["a"]}, "options"),
        ({"kind": "choice", "options": ["a", "a"]}, "options[1].id"),
        ({"kind": "node", "pod": "default/vip", "options": ["a", "b"]}, "options"),
        ({"kind": "node", "pod": "default/vip", "limit": -1}, "limit"),
        ({"kind": "node", "pod": "default/vip", "hold": "sideways"}, "hold"),
        ({"kind": "node", "pod": "default/vip", "question": 7}, "question"),
        ({"kind": "node", "pod": "default/vip", "because": [7]}, "because[0]"),
        ({"kind": "leader", "component": "kube-proxy"}, "kind"),
    ],
)
def test_a_poll_that_cannot_be_asked_is_refused_with_its_field(room: Class, body: Any, field: str) -> None:
    told = room.ask(422, **body)
    assert [cause["field"] for cause in told["details"]["causes"]] == [field]
    assert room.call("teacher", "GET", "/polls") == []
    stored = room.kube("teacher", "GET", "/apis/clustersim.io/v1/clocks/clock").json()
    assert stored["spec"].get("hold") is None


def test_nothing_is_asked_about_a_pod_that_is_not_there_or_placed(room: Class) -> None:
    room.ask(404, kind="node", pod="default/nobody")
    room.call("teacher", "PATCH", "/clock", {"pace": 0})
    room.pod("placed")
    wait_for(lambda: room.node_of("placed"))
    for kind in ("node", "victims"):
        cause = room.ask(422, kind=kind, pod="default/placed")["details"]["causes"][0]
        assert (cause["field"], "has a node already" in cause["message"]) == ("pod", True)
    options = [
        {"id": name, "label": {"en": name, "zh": name}, "right": f"pod('placed').node == '{name}'"} for name in "ab"
    ]
    held = room.ask(422, kind="choice", pod="default/placed", options=options, hold="before-prefilter")
    assert held["details"]["causes"][0]["field"] == "hold"
    assert room.call("teacher", "GET", "/polls") == []


def test_a_vote_that_names_no_option_is_refused(room: Class) -> None:
    poll = room.asked(because=["least-used"])
    for choice in ("n9", 7, ["n1"], []):
        told = room.vote("ann", poll, choice, expect=422)
        assert told["details"]["causes"][0]["field"] == "choice"
    assert room.vote("ann", poll, "n1", "engine", expect=422)["details"]["causes"][0]["field"] == "because"
    room.call("ann", "POST", f"/polls/{poll['id']}/votes", {"because": "least-used"}, expect=409)


def test_choices_are_judged_by_what_became_true(plain: Class) -> None:
    room = plain
    room.stand()
    room.pod("vip")
    options = [
        {"id": "placed", "label": {"en": "It is placed.", "zh": "它被放置。"}, "right": "pod('vip').node != ''"},
        {"id": "waits", "label": "It waits.", "right": "pod('vip').node == ''", "model": "scheduler-pushes"},
        {"id": "many", "label": "All nodes fit.", "right": "size(trace('vip').feasible) == 3"},
    ]
    poll = room.ask(kind="choice", pod="default/vip", options=options)
    assert poll["hold"] == "before-prefilter"
    assert "right" not in poll["options"][0]
    assert [one["id"] for one in poll["because"]] == ["scheduler-pushes", "other"]
    assert poll["because"][0]["label"]["zh"] != poll["because"][0]["label"]["en"]
    assert "predicates" not in str(room.kube("ann", "GET", "/apis/clustersim.io/v1/polls").json())
    room.vote("ann", poll, "placed")
    room.vote("bob", poll, "many")
    room.vote("cem", poll, "waits", "scheduler-pushes")
    room.do(poll, "reveal")
    wait_for(lambda: room.see("ann", poll)["answer"] is not None)
    seen = room.see("ann", poll)
    assert seen["answer"]["right"] == ["placed", "many"]
    assert (seen["rightCounts"], seen["models"]) == ({"1": 2}, {"scheduler-pushes": 1})
    room.call("teacher", "DELETE", f"/polls/{poll['id']}", expect=204)
    assert (room.see("ann", poll)["state"], room.see("ann", poll)["votes"]) == ("over", {"1": 3})


def test_a_choice_whose_predicate_cannot_be_read_is_refused(room: Class) -> None:
    told = room.ask(422, kind="choice", options=[{"label": "a", "right": "pod('x'"}, {"label": "b"}])
    assert told["details"]["causes"][0]["field"] == "options[0].right"


def test_the_result_sheet_has_a_row_a_person_and_question(plain: Class) -> None:
    room = plain
    room.call("ann", "PATCH", f"/people/{room.me('ann')}", {"name": '=HYPERLINK("x")'})
    poll = room.asked(question={"en": "Which node?", "zh": "哪个节点？"}, because=["least-used"])
    room.vote("ann", poll, "n1", "least-used")
    room.vote("bob", poll, "none")
    first = room.see("teacher", poll)
    assert "firstModels" not in first, "there is but one vote yet"
    room.do(poll, "reopen")
    room.vote("bob", poll, "n2")
    assert room.see("teacher", poll)["firstModels"] == first["models"] != {}
    mine = room.call("ann", "GET", "/results")
    assert [(one["first"], one["right"]) for one in mine] == [("n1", None)]
    room.do(poll, "reveal")
    wait_for(lambda: room.see("teacher", poll)["answer"] is not None)
    rows = room.call("teacher", "GET", "/results?format=json&lang=zh")
    assert [set(one) for one in rows] == [{"name", "question", "first", "second", "because", "right", "seconds"}] * 2
    assert [(one["name"], one["first"], one["second"], one["right"]) for one in rows] == [
        ('=HYPERLINK("x")', "n1", "", True),
        ("bob", "都不选，继续等待", "n2", True),
    ]
    assert rows[0]["question"] == "哪个节点？"
    answer = room.client.get(f"/api/sessions/{room.code}/results?format=csv", headers=bearer(room.tokens["teacher"]))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    sheet = list(csv.reader(answer.text.removeprefix("\ufeff").splitlines()))
    assert sheet[0] == ["name", "question", "first", "second", "because", "right", "seconds"]
    assert [line[0] for line in sheet[1:]] == ['\'=HYPERLINK("x")', "bob"], "no cell is a formula"
    room.call(room.viewer(), "GET", "/results", expect=403)
    room.call("teacher", "GET", "/results?format=xls", expect=422)


def test_what_has_time_stand_cannot_be_led_past_by_mistake(room: Class) -> None:
    poll = room.asked()
    for method, path, body in (
        ("PATCH", "/clock", {"paused": False}),
        ("POST", "/clock/step", {"by": "point"}),
        ("POST", "/clock/step", {"by": "seconds", "count": 30}),
    ):
        assert "a poll is open" in room.call("teacher", method, path, body, expect=409)["message"]
    assert room.call("teacher", "PATCH", "/clock", {"rate": 5})["rate"] == 5
    room.do(poll, "reveal")
    assert room.call("teacher", "PATCH", "/clock", {"paused": True})["paused"]
    room.call("teacher", "POST", "/clock/step", {"by": "event"})


def test_three_hundred_votes_at_once_lose_none_and_count_once(room: Class) -> None:
    poll = room.asked()
    voters = [f"v{number}" for number in range(30)]
    for name in voters:
        room.tokens[name] = room.client.post(f"/api/sessions/{room.code}/join", json={"name": name}).json()["token"]
        room.client.cookies.clear()
    ids = [option["id"] for option in poll["options"]]
    cast = [(name, ids[(number + turn) % len(ids)]) for turn in range(10) for number, name in enumerate(voters)]

    def vote(one: tuple[str, str]) -> int:
        path = f"/api/sessions/{room.code}/polls/{poll['id']}/votes"
        return room.client.post(path, json={"choice": one[1]}, headers=bearer(room.tokens[one[0]])).status_code

    with ThreadPoolExecutor(16) as threads:
        for turn in range(10):
            # A seat's own votes keep their order; those of others come as they come.
            assert set(threads.map(vote, cast[turn * 30 : turn * 30 + 30])) == {200}
    seen = room.see("teacher", poll)
    assert (seen["voted"], sum(seen["counts"]["1"].values())) == (30, 30)
    last = dict(cast)
    expected = {name: sum(choice == name for choice in last.values()) for name in ids}
    assert seen["counts"]["1"] == expected
    for name in voters[:3]:
        assert room.see(name, poll)["mine"]["1"]["choice"] == [last[name]]


def worlds_on_the_wall(room: Class, poll: Any) -> None:
    """One rule after the other that differs from the engine, the most believed first; then one that runs, for all."""
    at = f"/polls/{poll['id']}"
    room.call("ann", "POST", f"{at}/rule", {"do": "next"}, expect=403)
    room.call("teacher", "POST", f"{at}/rule", {"do": "jump"}, expect=422)
    shown = room.call("teacher", "POST", f"{at}/rule", {"do": "next"})
    assert shown["rule"] == shown["rules"][0] == "fullest-node"
    assert "engine" not in shown["rules"]
    assert room.call(room.viewer(), "GET", at)["rule"] == "fullest-node"
    rules = shown["rules"]
    assert room.call("teacher", "POST", f"{at}/rule", {"do": "next"})["rule"] == rules[1 % len(rules)]
    assert room.call("teacher", "POST", f"{at}/rule", {"do": "back"})["rule"] == "fullest-node"
    assert room.call("teacher", "POST", f"{at}/rule", {"do": "close"})["rule"] == ""
    hung = room.call("teacher", "POST", f"{at}/world", {"rule": "first-in-list", "wall": True}, expect=201)
    inside = room.call("ann", "POST", f"/copies/{hung['code']}/enter", {})
    assert inside["role"] == "student"
    room.call("teacher", "DELETE", f"/copies/{hung['code']}/wall", expect=204)


def test_what_votes_believed_has_a_name_and_a_world(plain: Class) -> None:
    room = plain
    for number, cpu in enumerate(("3", "2")):
        room.pod(f"there-{number}", cpu, nodeName=f"n{number + 1}")
    poll = room.asked(because=["first-in-list", "other"])
    assert [one["label"]["en"] for one in poll["because"]] == [
        "it takes the first node that fits",
        "for another reason",
    ]
    # n1 is the fullest and the first by name: the table names the fullest first.
    room.vote("ann", poll, "n1")
    room.vote("bob", poll, "n3")
    early = room.call("teacher", "POST", f"/polls/{poll['id']}/world", {"rule": "first-in-list"}, expect=409)
    assert "reveal the poll first" in early["message"]
    revealed = room.do(poll, "reveal")
    assert revealed["models"] == {"fullest-node": 1, "engine": 1}
    world = room.call("teacher", "POST", f"/polls/{poll['id']}/world", {"rule": "first-in-list"}, expect=201)
    code, token = world["code"].replace("-", ""), world["token"]

    def there() -> str:
        pod = room.client.get(f"/clusters/{code}/api/v1/namespaces/default/pods/vip", headers=bearer(token)).json()
        return str((pod.get("spec") or {}).get("nodeName", ""))

    wait_for(lambda: there() == "n1", what="the rule's own choice in its world")
    assert room.node_of("vip") == "n3"
    room.call("ann", "POST", f"/polls/{poll['id']}/world", {"rule": "first-in-list"}, expect=403)
    worlds_on_the_wall(room, poll)
    room.call("teacher", "POST", "/polls/nothing/world", {"rule": "first-in-list"}, expect=404)
