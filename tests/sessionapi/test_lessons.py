"""A lesson is opened, led from phase to phase, asked and revealed; by a teacher, and alone; against an installation."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.lesson.tiny import FOLDER
from tests.tools.application import bearer
from tests.tools.http import PatientClient
from tests.tools.server import Server, wait_for


class Lesson:
    """A session with a lesson; each person's requests are answered in their name."""

    def __init__(self, client: httpx.Client, **body: Any) -> None:
        self.client = client
        answered = client.post("/api/sessions", json={"lesson": "tiny", **body})
        assert answered.status_code == 201, answered.text
        session = answered.json()
        client.cookies.clear()
        self.code, self.tokens = session["code"], {"teacher": session["token"]}

    def join(self, name: str) -> None:
        self.tokens[name] = self.client.post(f"/api/sessions/{self.code}/join", json={"name": name}).json()["token"]
        self.client.cookies.clear()

    def call(self, who: str, method: str, path: str, body: Any = None, *, expect: int = 200) -> Any:
        answered = self.client.request(
            method, f"/api/sessions/{self.code}{path}", json=body, headers=bearer(self.tokens[who])
        )
        assert answered.status_code == expect, answered.text
        return answered.json() if answered.content else None

    def see(self, who: str = "teacher", query: str = "") -> Any:
        return self.call(who, "GET", f"/lesson{query}")

    def do(self, what: str, *, expect: int = 200, **more: str) -> Any:
        """Do a move, and wait until what it leads to has been played."""
        told = self.call("teacher", "POST", "/lesson", {"do": what, **more}, expect=expect)
        return self.played() if expect == 200 else told

    def played(self) -> Any:
        return wait_for(lambda: self._still(), what="the script's end")

    def _still(self) -> Any:
        told = self.see()
        return told if told["script"]["state"] != "playing" else None

    def kube(self, path: str) -> Any:
        return self.client.get(f"/clusters/{self.code}{path}", headers=bearer(self.tokens["teacher"])).json()

    def pods(self) -> dict[str, str]:
        items = self.kube("/api/v1/namespaces/default/pods")["items"]
        return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in items}

    def vote(self, who: str, choice: str, because: str | None = None) -> Any:
        poll = self.see()["poll"]
        body = {"choice": choice} if because is None else {"choice": choice, "because": because}
        return self.call(who, "POST", f"/polls/{poll}/votes", body)


@pytest.fixture
def client(live_server_up: Server) -> Iterator[httpx.Client]:
    lessons = Path(live_server_up.data) / "lessons"
    if not lessons.exists():
        shutil.copytree(FOLDER, lessons / "tiny")
        shutil.copytree(FOLDER, lessons / "stuck")
        shutil.copytree(FOLDER, lessons / "ticketless")
        whole = (FOLDER / "lesson.yaml").read_text().replace("id: tiny", "id: ticketless")
        (lessons / "ticketless" / "lesson.yaml").write_text(whole[: whole.index("ticket:")])
        for name in ("en.md", "zh.md"):
            prose = (FOLDER / name).read_text()
            (lessons / "ticketless" / name).write_text(prose[: prose.index("# ticket")])
        text = (FOLDER / "lesson.yaml").read_text().replace("id: tiny", "id: stuck")
        # Nothing that its wait waits for ever happens by itself.
        text = text.replace("do: [{delete: {kind: Node, name: n2}}]", "do: []").replace("seconds: 20", "seconds: 1")
        (lessons / "stuck" / "lesson.yaml").write_text(text)
    with PatientClient(live_server_up.url) as made:
        yield made


def words(blocks: Any) -> str:
    return "".join(text for block in blocks for part in block["parts"] for text in part.values())


def test_installed_lessons_are_listed(client: httpx.Client) -> None:
    listed = {one["id"]: one for one in client.get("/api/lessons?lang=zh").json()}
    tiny = listed["tiny"]
    assert (tiny["title"], tiny["minutes"], tiny["minimumMinutes"]) == ("小小一课", 8, 6)
    assert (tiny["steps"], tiny["minimumSteps"]) == (3, 2)
    assert (tiny["languages"], tiny["hasTicket"], tiny["art"]) == (["en", "zh"], True, {"kind": "bars"})
    both = next(one for one in client.get("/api/lessons").json() if one["id"] == "tiny")
    assert both["title"] == {"en": "Tiny", "zh": "小小一课"}
    assert client.get("/api/lessons?lang=fr").status_code == 422
    assert "right" not in client.get("/api/lessons").text


def test_a_lesson_is_led_from_phase_to_phase(client: httpx.Client) -> None:
    lesson = Lesson(client)
    lesson.join("ann")
    now = lesson.played()
    assert (now["title"], now["of"], now["minutesLeft"], now["alone"]) == ("Tiny", 3, 8, False)
    assert (now["step"]["id"], now["step"]["phase"]) == ("where", "scene")
    assert now["step"]["phases"] == ["scene", "ask", "wait", "reveal", "so"]
    assert words(now["step"]["scene"]) == "Two nodes. web asks for 3 CPU, n1 has 2."
    assert not {"hint", "reveal", "so"} & set(now["step"])
    assert lesson.call("ann", "GET", "/clock")["held"]["pod"] == "default/web"
    assert lesson.pods() == {"web": ""}
    assert (now["next"]["label"], lesson.see("ann")["next"]) == ("Ask", None)
    lesson.call("ann", "POST", "/lesson", {"do": "next"}, expect=403)

    asked = lesson.do("next")
    assert (asked["step"]["phase"], bool(asked["poll"])) == ("ask", True)
    poll = lesson.call("ann", "GET", f"/polls/{asked['poll']}")
    assert ([one["id"] for one in poll["options"]], poll["lesson"]) == (["n1", "n2", "none"], {"step": "where"})
    assert "other" in [one["id"] for one in poll["because"]]
    lesson.vote("ann", "n1", "other")
    assert words(lesson.do("hint")["step"]["hint"]) == "Look at n2."

    revealed = lesson.do("reveal")
    assert (revealed["step"]["phase"], revealed["next"]["label"]) == ("reveal", "What to write down")
    assert words(revealed["step"]["reveal"]).startswith("It went to n2, where now 3,000")
    assert lesson.pods() == {"web": "n2"}
    answer = lesson.call("ann", "GET", f"/polls/{asked['poll']}")["answer"]
    assert (answer["right"], answer["chosen"]) == (["n2"], "n2")
    assert words(lesson.do("next")["step"]["so"]) == "A pod goes where it fits."

    gone = lesson.do("next")
    assert (gone["step"]["id"], gone["step"]["phases"], lesson.pods()) == ("gone", ["scene", "so"], {})
    assert [one["done"] for one in gone["steps"]] == [True, False, False]
    # What was asked is not shown any more, and its votes stay.
    put_away = lesson.call("teacher", "GET", f"/polls/{asked['poll']}")
    assert (put_away["state"], put_away["counts"]) == ("over", {"1": {"n1": 1}})
    assert words(lesson.see("ann", "?step=where&lang=zh")["shown"]["so"]) == "Pod 去放得下的地方。"
    lesson.call("ann", "GET", "/lesson?step=again", expect=409)
    lesson.do("next")
    assert lesson.do("next")["step"]["id"] == "again"
    lesson.do("next")
    last = lesson.do("next")
    assert last["step"]["phase"] == "reveal"
    came = lesson.call("ann", "GET", f"/polls/{last['poll']}")["answer"]
    assert (came["right"], came["decision"]) == (["goes"], ""), "no attempt shows why: its pod is gone"
    lesson.do("next")
    over = lesson.do("next")
    assert (over["step"], over["next"], over["minutesLeft"]) == (None, None, 0)
    assert not any("so" in one for one in last["steps"]), "what there is to write down is told together in the end"
    told = [words(one["so"]) for one in lesson.see("ann")["steps"]]
    assert (told[0], len(told)) == ("A pod goes where it fits.", 3)
    lesson.do("next", expect=409)


AHEAD = (
    ("POST", "/fork", {}),
    ("POST", "/copies", {}),
    ("GET", "/model?pod=default/web", None),
    ("POST", "/whatif", {"changes": []}),
    ("GET", "/export", None),
)
"""What a student could know the answer by, with the pod of a scene in hand."""


def test_nobody_takes_a_scene_along_and_knows_the_answer_before_it_is_asked(client: httpx.Client) -> None:
    lesson = Lesson(client)
    lesson.join("ann")
    lesson.played()
    kept = lesson.call("teacher", "POST", "/copies", {"people": "all"}, expect=201)[0]["code"]
    for method, path, body in AHEAD:
        assert lesson.call("ann", method, path, body, expect=409)["reason"] == "Conflict", path
    lesson.call("ann", "POST", f"/copies/{kept}/enter", expect=409)
    lesson.call("teacher", "POST", "/fork", {}, expect=201)
    lesson.do("next")
    lesson.call("ann", "POST", "/fork", {}, expect=409)
    lesson.do("reveal")
    assert lesson.see()["step"]["phase"] == "reveal"
    lesson.call("ann", "POST", "/fork", {}, expect=201)
    lesson.call("ann", "POST", f"/copies/{kept}/enter")


def test_who_learns_alone_does_not_take_a_scene_along_either(client: httpx.Client) -> None:
    lesson = Lesson(client, alone=True)
    lesson.played()
    for method, path, body in AHEAD:
        assert lesson.call("teacher", method, path, body, expect=409)["reason"] == "Conflict", path


def test_a_world_under_a_rule_and_a_copy_go_on_without_the_lesson_and_what_it_asked(client: httpx.Client) -> None:
    """They begin while the lesson waits for the decision: what it waited for may never come there."""
    lesson = Lesson(client)
    lesson.join("ann")
    lesson.played()
    lesson.do("next")
    poll = lesson.do("reveal")["poll"]
    world = lesson.call("teacher", "POST", f"/polls/{poll}/world", {"rule": "first-in-list"}, expect=201)
    copy = lesson.call("ann", "POST", "/fork", {}, expect=201)
    again = client.post(f"/api/sessions/{copy['code']}/fork", json={}, headers=bearer(copy["token"])).json()
    for fork in (world, copy, again):
        found = client.get(f"/api/sessions/{fork['code']}/lesson", headers=bearer(fork["token"]))
        asked = client.get(f"/api/sessions/{fork['code']}/polls", headers=bearer(fork["token"]))
        assert (found.status_code, asked.json()) == (404, []), fork
    titles = [
        client.get(f"/api/sessions/{one['code']}", headers=bearer(one["token"])).json()["title"]
        for one in (copy, again)
    ]
    assert [title.count(" @ ") for title in titles] == [1, 1], titles
    assert lesson.kube("/apis/clustersim.io/v1/lessons/lesson")["spec"]["script"]["actions"]


def test_a_step_begins_again_and_another_one_is_begun(client: httpx.Client) -> None:
    lesson = Lesson(client, minimum=True)
    assert [step["id"] for step in lesson.played()["steps"]] == ["where", "again"]
    # What the step goes on from is played before it, the step in between that the short version leaves out included.
    begun = lesson.do("start", step="again")
    assert (begun["step"]["id"], lesson.pods()) == ("again", {"web": "n2"})
    lesson.do("next")
    restarted = lesson.do("restart")
    assert (restarted["step"]["phase"], restarted["poll"], lesson.pods()) == ("scene", None, {"web": "n2"})
    back = lesson.do("back")
    assert (back["step"]["id"], lesson.pods()) == ("where", {"web": ""})
    skipped = lesson.do("skip")
    assert (skipped["step"]["id"], lesson.pods()) == ("again", {"web": "n2"})
    lesson.do("start", step="nowhere", expect=404)
    lesson.do("makeItSo", expect=409)
    lesson.do("jump", expect=422)


def test_a_step_that_is_left_by_the_run_sheet_after_its_reveal_is_done(client: httpx.Client) -> None:
    lesson = Lesson(client, minimum=True)
    lesson.played()

    def done(told: Any) -> list[bool]:
        return [one["done"] for one in told["steps"]]

    assert done(lesson.do("start", step="again")) == [False, False], "nothing was asked yet"
    lesson.do("start", step="where")
    lesson.do("next")
    assert lesson.do("reveal")["step"]["phase"] == "reveal"
    assert done(lesson.do("start", step="where")) == [False, False], "it is begun again"
    lesson.do("next")
    lesson.do("reveal")
    assert done(lesson.do("start", step="again")) == [True, False]


def test_what_did_not_come_about_can_be_made_so(client: httpx.Client) -> None:
    lesson = Lesson(client, lesson="stuck", minimum=True)
    lesson.played()
    lesson.do("start", step="again")
    poll = lesson.do("next")["poll"]
    told = lesson.do("next")
    assert (told["step"]["phase"], told["wait"]["state"], told["wait"]["makeItSo"]) == ("wait", "timeout", True)
    assert "reveal" not in told["step"]
    assert lesson.call("teacher", "GET", f"/polls/{poll}")["answer"] is None
    assert "make it so, or skip it" in lesson.do("next", expect=409)["message"]
    made = lesson.do("makeItSo")
    assert (made["step"]["phase"], lesson.pods()) == ("reveal", {})
    assert lesson.call("teacher", "GET", f"/polls/{poll}")["answer"]["right"] == ["goes"]


def test_alone_one_answers_oneself_before_anything_is_told(client: httpx.Client) -> None:
    lesson = Lesson(client, alone=True)
    lesson.played()
    lesson.do("next")
    assert lesson.do("reveal", expect=409)["message"].startswith("choose an answer first")
    lesson.vote("teacher", "n2")
    lesson.do("reveal", expect=409)
    lesson.vote("teacher", "n2", "other")
    assert lesson.do("reveal")["step"]["phase"] == "reveal"


def test_the_exit_ticket_is_a_session_of_its_own_and_asked_again(client: httpx.Client) -> None:
    ticket = Lesson(client, ticket=True, alone=True)
    now = ticket.played()
    assert ([step["id"] for step in now["steps"]], now["ticket"]) == (["ticket"], True)
    assert ticket.call("teacher", "GET", "")["seed"] == 11
    lesson = Lesson(client, again="tiny")
    lesson.join("ann")
    again = lesson.played()
    assert [step["id"] for step in again["steps"]] == ["ticket", "where", "gone", "again"]
    # Students see it as the first step, and whose it is.
    seen = lesson.see("ann", "?lang=zh")
    assert (seen["step"]["id"], seen["again"]) == ("ticket", {"step": "ticket", "title": "小小一课"})
    assert words(again["step"]["scene"]) == "One small node, one large one."
    # A question with answers of its own tells the attempt that shows why, too.
    ticket.do("next")
    ticket.vote("teacher", "yes", "other")
    poll = ticket.do("reveal")["poll"]
    answer = ticket.call("teacher", "GET", f"/polls/{poll}")["answer"]
    (attempt,) = ticket.call("teacher", "GET", "/decisions?pod=default/web")
    assert (answer["right"], answer["decision"]) == (["yes"], attempt["id"])
    assert (now["again"], lesson.call("ann", "GET", "/lesson?lang=en")["again"]["title"]) == (None, "Tiny")


def test_a_ticket_that_is_asked_again_has_the_control_plane_that_it_needs(client: httpx.Client) -> None:
    lesson = Lesson(client, again="leader-election")
    now = lesson.played()
    assert (now["step"]["id"], now["script"]["state"]) == ("ticket", "done"), now["script"]
    schedulers = [one for one in lesson.call("teacher", "GET", "/replicas") if one["component"] == "kube-scheduler"]
    assert len(schedulers) == 3


def test_a_lesson_that_was_checked_headless_comes_to_the_same_live(client: httpx.Client) -> None:
    lesson = Lesson(client, lesson="preemption", minimum=True)
    now = lesson.played()
    found: dict[str, list[str]] = {}
    while now["step"] is not None:
        assert now["script"]["state"] == "done", now["script"]
        now = lesson.do("next")
        if now["step"] is not None and now["step"]["phase"] == "reveal":
            answer = lesson.call("teacher", "GET", f"/polls/{now['poll']}")["answer"]
            found[now["step"]["id"]] = answer["right"]
    assert found == {"who-dies": ["default/p50"], "which-node": ["n2"], "pdb": ["dies"], "reserved": ["new"]}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"lesson": "nowhere"}, "lesson"),
        ({"lesson": "../tiny"}, "lesson"),
        ({"lesson": "tiny", "minimum": "yes"}, "minimum"),
        ({"lesson": "tiny", "again": "nowhere"}, "again"),
        ({"lesson": "tiny", "again": "ticketless"}, "again"),
    ],
)
def test_a_lesson_that_there_is_not_is_refused_with_its_field(client: httpx.Client, body: Any, field: str) -> None:
    answered = client.post("/api/sessions", json=body)
    assert answered.status_code == 422
    assert [cause["field"] for cause in answered.json()["details"]["causes"]] == [field]


def test_a_session_without_a_lesson_says_so(client: httpx.Client) -> None:
    session = client.post("/api/sessions", json={"title": "t", "template": "empty"}).json()
    client.cookies.clear()
    for method in ("GET", "POST"):
        answered = client.request(
            method, f"/api/sessions/{session['code']}/lesson", json={"do": "next"}, headers=bearer(session["token"])
        )
        assert answered.status_code == 404


def test_a_package_that_somebody_writes_is_checked_and_previewed(client: httpx.Client) -> None:
    text = (FOLDER / "lesson.yaml").read_text()
    good = {"yaml": text, "en": (FOLDER / "en.md").read_text(), "play": True}
    told = client.post("/api/lessons/check", json=good).json()
    assert (told["problems"], told["played"]) == ([], True)
    assert words(told["preview"]["parts"][0]["so"]) == "A pod goes where it fits."
    wrong = client.post("/api/lessons/check", json={**good, "yaml": text.replace("until: ", "untill: ")}).json()
    assert wrong["preview"] is None
    assert {one["field"] for one in wrong["problems"]} >= {"steps[2].wait.untill"}
    names = "abcdefghi"
    bomb = f"{names[0]}: &{names[0]} [{', '.join('x' * 9)}]\n"
    for before, name in itertools.pairwise(names):
        bomb += f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    (refused,) = client.post("/api/lessons/check", json={**good, "yaml": bomb}).json()["problems"]
    assert "too large" in refused["found"]
    many = text.replace("{name: n1, cpu: 2, memory: 4Gi}", "{count: 1000, name: n1, cpu: 2, memory: 4Gi}")
    assert client.post("/api/lessons/check", json={**good, "yaml": many}).status_code == 422


def test_the_handout_tells_a_class_what_was_asked_and_its_teacher_everything(
    client: httpx.Client, live_server_up: Server
) -> None:
    wild = Path(live_server_up.data) / "lessons" / "wild"
    if not wild.exists():
        shutil.copytree(FOLDER, wild)
        text = (
            (FOLDER / "lesson.yaml").read_text().replace("id: tiny", "id: wild").replace("en: Tiny", "en: <i>Tiny</i>")
        )
        (wild / "lesson.yaml").write_text(text.replace("en: Tiny", "en: <i>Tiny</i>"))
    lesson = Lesson(client, lesson="wild")
    lesson.join("ann")

    def page(who: str, lang: str = "en") -> str:
        headers = bearer(lesson.tokens[who])
        answered = client.get(f"/api/sessions/{lesson.code}/handout?lang={lang}", headers=headers)
        assert (answered.status_code, answered.headers["content-type"]) == (200, "text/html; charset=utf-8")
        return answered.text

    lesson.played()
    assert "<h1>&lt;i&gt;Tiny&lt;/i&gt;</h1>" in page("teacher")
    assert "A pod goes where it <strong>fits</strong>." in page("teacher")
    assert "<section" not in page("ann")
    lesson.do("next")
    assert "Which node?" in page("ann")
    assert "fits" not in page("ann"), "nobody is told before the reveal"
    lesson.do("reveal")
    assert "A pod goes where it <strong>fits</strong>." in page("ann")
    assert "Gone is gone." not in page("ann")
    assert not any("so" in step for step in lesson.call("ann", "GET", "/lesson")["steps"]), "it is not over"
    assert "哪个节点？" in page("ann", "zh")
    alone = Lesson(client, alone=True)
    alone.played()
    told = client.get(f"/api/sessions/{alone.code}/handout?lang=en", headers=bearer(alone.tokens["teacher"]))
    assert "fits" not in told.text, "who learns alone is told no sooner"
