"""The teacher's desk: what the class is shown, whether it may act, whether walls tell names, and taking back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.urls import URLPattern

from clustersim.classroom import lectern, limits
from clustersim.live import presence
from clustersim.sessionapi.urls import urlpatterns
from clustersim.store import open_store, sessions
from tests.tools.application import Socket, bearer, http, joined, opened
from tests.tools.patience import PATIENCE_SECONDS

PODS = "/api/v1/namespaces/s-mei/pods"


@dataclass
class Class:
    """A session with a teacher, a student and a wall."""

    client: httpx.AsyncClient
    session: dict[str, Any]
    student: dict[str, Any]
    viewer: dict[str, Any]

    def socket(self, token: str) -> Socket:
        return Socket(self.session["code"], bearer(token))

    async def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> httpx.Response:
        url = f"/api/sessions/{self.session['code']}{path}"
        return await self.client.request(method, url, json=body, headers=bearer(token or self.session["token"]))

    async def kubectl(self, method: str, path: str, body: Any = None, token: str | None = None) -> httpx.Response:
        url = f"/clusters/{self.session['code']}{path}"
        return await self.client.request(method, url, json=body, headers=bearer(token or self.student["token"]))

    async def revision(self) -> int:
        row = await sync_to_async(sessions.find)(self.session["code"].replace("-", ""))
        assert row is not None
        return row.revision


@pytest.fixture
async def room() -> AsyncIterator[Class]:
    limits.forget()
    async with http() as client:
        session = await opened(client, "three-nodes")
        student = await joined(client, session, "Mei")
        answer = await client.post(
            f"/api/sessions/{session['code']}/people",
            json={"role": "viewer", "name": "Wall"},
            headers=bearer(session["token"]),
        )
        yield Class(client, session, student, answer.json())


def pod(name: str, **metadata: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "10m"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **metadata},
        "spec": {"containers": [container]},
    }


async def frame_where(socket: Socket, kind: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    while True:
        frame = await socket.until(kind)
        if holds(frame):
            return frame


async def test_the_class_is_shown_what_the_teacher_sees_and_so_is_who_comes_late(
    room: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is shown does not wait until a class that joins at once has settled.
    monkeypatch.setattr(presence, "SETTLE_SECONDS", 3600.0)
    monkeypatch.setattr(presence, "LOOK_SECONDS", 3600.0)
    view = {
        "rv": 1,
        "select": "nodes n2",
        "inspectorTab": "summary",
        "part": 3.5,
        "dockTab": "timeline",
        "scene": "stage",
        "zoom": 2,
    }
    async with room.socket(room.student["token"]) as student:
        await frame_where(student, "presenting", lambda frame: frame["view"] is None)
        answer = await room.ask("PUT", "/presenting", {"view": view})
        assert answer.status_code == 200, answer.text
        frame = await frame_where(student, "presenting", lambda frame: frame["view"] is not None)
        assert frame["view"] == view
        assert frame["by"] == (await room.ask("GET", "")).json()["me"]["id"]
        assert {**frame} == {"type": "presenting", **answer.json()}
        async with room.socket(room.viewer["token"]) as late:
            kinds = [(await late.next())["type"] for _ in range(5)]
            assert kinds[0] == "hello"
            assert set(kinds[1:]) == {"people", "looks", "class", "presenting"}
        assert (await room.ask("GET", "/presenting", token=room.student["token"])).json() == answer.json()
        assert (await room.ask("DELETE", "/presenting")).json()["view"] is None
        await frame_where(student, "presenting", lambda frame: frame["view"] is None)


async def test_what_is_presented_while_a_page_comes_reaches_it_at_once(
    room: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "SETTLE_SECONDS", 3600.0)
    monkeypatch.setattr(presence, "LOOK_SECONDS", 3600.0)
    listening, begun = asyncio.Event(), asyncio.Event()
    follow = presence.Room._follow_class

    async def late(self: presence.Room) -> None:
        begun.set()
        await listening.wait()
        await follow(self)

    monkeypatch.setattr(presence.Room, "_follow_class", late)
    async with room.socket(room.student["token"]) as student:
        await frame_where(student, "presenting", lambda frame: frame["view"] is None)
        await begun.wait()
        await room.ask("PUT", "/presenting", {"view": {"zoom": 3}})
        listening.set()
        await frame_where(student, "presenting", lambda frame: frame["view"] == {"zoom": 3})


async def test_a_view_that_cannot_be_shown_is_refused_field_by_field(room: Class) -> None:
    newest = await room.revision()
    for view, field in (
        ({"rv": newest + 1000}, "view.rv"),
        ({"rv": True}, "view.rv"),
        ({"select": "secrets default/key"}, "view.select"),
        ({"select": "n2"}, "view.select"),
        ({"scene": "party"}, "view.scene"),
        ({"zoom": 0}, "view.zoom"),
        ({"zoom": "2"}, "view.zoom"),
        ({"part": -1}, "view.part"),
        ({"dockTab": "<b>"}, "view.dockTab"),
        ({"inspectorTab": "x" * (lectern.TAB_LENGTH_MAX + 1)}, "view.inspectorTab"),
        ({"wall": 1}, "view.wall"),
        ("stage", "view"),
    ):
        answer = await room.ask("PUT", "/presenting", {"view": view})
        assert answer.status_code == 422, view
        assert [cause["field"] for cause in answer.json()["details"]["causes"]] == [field]
    assert (await room.ask("GET", "/presenting")).json()["view"] is None
    assert (await room.ask("PUT", "/presenting", {"view": {}})).json()["view"] == {}, "an empty one is the stage, now"


async def test_only_the_teacher_presents_freezes_mutes_and_takes_back(room: Class) -> None:
    person = f"/people/{room.student['id']}"
    for token in (room.student["token"], room.viewer["token"]):
        for method, path, body in (
            ("PUT", "/presenting", {"view": {}}),
            ("DELETE", "/presenting", None),
            ("PUT", "/frozen", {"frozen": True}),
            ("PUT", "/wall", {"names": True}),
            ("PATCH", person, {"muted": True}),
            ("POST", f"{person}/undo", {}),
        ):
            assert (await room.ask(method, path, body, token)).status_code == 403, (method, path)
    for path, field in (("/frozen", "frozen"), ("/wall", "names")):
        assert (await room.ask("PUT", path, {field: "yes"})).status_code == 422
    me = (await room.ask("GET", "")).json()["me"]["id"]
    assert (await room.ask("PATCH", f"/people/{me}", {"muted": True})).status_code == 422, "a teacher is not muted"


READING = {
    ("POST", "sessions/<str:code>/leave"),
    ("POST", "sessions/<str:code>/join"),
    ("POST", "sessions/<str:code>/enter"),
    ("POST", "sessions/<str:code>/decisions/<str:decision>/whatif"),
    ("POST", "sessions/<str:code>/whatif"),
    ("POST", "sessions/<str:code>/compare"),
    ("POST", "sessions/<str:code>/expressions"),
}
"""Routes that change nothing of the cluster, or take somebody's seat or leave it."""


STUDENTS_WRITE = {
    ("POST", "bookmarks"),
    ("DELETE", "bookmarks"),
    ("POST", "clients"),
    ("POST", "fork"),
    ("POST", "import"),
    ("PATCH", "<str:person>"),
}
"""(method, end of the route) of what a student may do otherwise with what is sent here."""


def unsafe_routes() -> list[tuple[str, str]]:
    found = []
    for pattern in urlpatterns:
        if isinstance(pattern, URLPattern):
            route = str(pattern.pattern)
            found += [(method, route) for method in getattr(pattern.callback, "methods", ()) if method != "GET"]
    return [one for one in found if "<str:code>" in one[1] and one not in READING and not one[1].endswith("/votes")]


async def refused_everywhere(room: Class, word: str) -> None:
    """Ask every route that writes, and the Kubernetes API in every way, as the student."""
    before = await room.revision()
    bodies: dict[str, dict[str, Any]] = {
        "bookmarks": {"name": "mine", "revision": 1},
        "clients": {"name": "mine", "from": "cluster", "target": "http://web"},
        "import": pod("imported", namespace="s-mei"),
        "<str:person>": {"name": "Other"},
    }
    for method, route in unsafe_routes():
        last = route.rsplit("/", 1)[-1]
        path = "/" + route.partition("<str:code>/")[2].replace("<str:person>", room.student["id"])
        path = path.replace("<str:namespace>", "s-mei").replace("<str:name>", "kept")
        answer = await room.ask(method, path, bodies.get(last, {}), room.student["token"])
        told = answer.text
        if last == "import":
            assert answer.json()["failed"] == 1, told
        else:
            assert answer.status_code >= 400, (method, route, told)
        if (method, last) in STUDENTS_WRITE:
            assert word in told, (method, route, told)
    kept = f"{PODS}/kept"
    merge = {"metadata": {"labels": {"a": "b"}}}
    there = (await room.kubectl("GET", kept)).json()
    for method, path, body in (
        ("POST", PODS, pod("new")),
        ("POST", f"{PODS}?dryRun=All", pod("new")),
        ("PUT", kept, {**there, "metadata": {**there["metadata"], **merge["metadata"]}}),
        ("PATCH", kept, merge),
        ("DELETE", kept, None),
        ("DELETE", PODS, None),
        ("POST", f"{kept}/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "kept"}}),
    ):
        headers = bearer(room.student["token"])
        headers["Content-Type"] = "application/merge-patch+json" if method == "PATCH" else "application/json"
        url = f"/clusters/{room.session['code']}{path}"
        answer = await room.client.request(method, url, json=body, headers=headers)
        assert answer.status_code == 403, (method, path, answer.text)
        assert word in answer.json()["message"]
    assert await room.revision() == before


async def test_a_frozen_class_changes_nothing_by_any_route_and_goes_on_when_it_is_thawed(room: Class) -> None:
    assert (await room.kubectl("POST", PODS, pod("kept"))).status_code == 201
    async with room.socket(room.student["token"]) as student:
        assert (await room.ask("PUT", "/frozen", {"frozen": True})).json() == {"frozen": True}
        await frame_where(student, "class", lambda frame: frame["frozen"])
        await refused_everywhere(room, "frozen by the teacher")
        # The teacher is not frozen.
        answer = await room.kubectl("POST", "/api/v1/namespaces/default/pods", pod("hers"), room.session["token"])
        assert answer.status_code == 201
        assert (await room.ask("PUT", "/frozen", {"frozen": False})).json() == {"frozen": False}
        await frame_where(student, "class", lambda frame: not frame["frozen"])
    assert (await room.kubectl("POST", PODS, pod("new"))).status_code == 201


async def test_who_is_muted_changes_nothing_and_is_not_looked_for_and_the_others_go_on(room: Class) -> None:
    assert (await room.kubectl("POST", PODS, pod("kept"))).status_code == 201
    other = await joined(room.client, room.session, "Ada")
    async with room.socket(room.session["token"]) as teacher, room.socket(room.student["token"]) as student:
        await student.send(type="look", resource="nodes", key="n1")
        await frame_where(teacher, "looks", lambda frame: len(frame["looks"]) == 1)
        answer = await room.ask("PATCH", f"/people/{room.student['id']}", {"muted": True})
        assert answer.json()["muted"] is True
        await frame_where(teacher, "people", lambda frame: any(one.get("muted") for one in frame["people"]))
        await frame_where(teacher, "looks", lambda frame: frame["looks"] == [])
        await student.send(type="look", resource="nodes", key="n2")
        await refused_everywhere(room, "muted by the teacher")
    created = await room.kubectl("POST", "/api/v1/namespaces/s-ada/pods", pod("hers"), other["token"])
    assert created.status_code == 201
    answer = await room.ask("PATCH", f"/people/{room.student['id']}", {"muted": False})
    assert "muted" not in answer.json()
    assert (await room.kubectl("POST", PODS, pod("new"))).status_code == 201


async def test_a_students_account_is_frozen_with_them(room: Class) -> None:
    account = "/api/v1/namespaces/s-mei/serviceaccounts"
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/s-mei"
    teacher = room.session["token"]
    for path, body in (
        (account, {"metadata": {"name": "robot"}}),
        (
            f"{rbac}/rolebindings",
            {
                "metadata": {"name": "robot"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
                "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "s-mei"}],
            },
        ),
    ):
        answer = await room.kubectl("POST", path, body, teacher)
        assert answer.status_code == 201, answer.text
    token = (await room.kubectl("POST", f"{account}/robot/token", {"spec": {}}, teacher)).json()["status"]["token"]
    assert (await room.kubectl("POST", PODS, pod("by-robot"), token)).status_code == 201
    await room.ask("PUT", "/frozen", {"frozen": True})
    answer = await room.kubectl("POST", PODS, pod("again"), token)
    assert (answer.status_code, "frozen by the teacher" in answer.text) == (403, True)


async def test_a_wall_tells_seats_until_the_teacher_has_it_tell_names(room: Class) -> None:
    viewer = room.viewer["token"]

    def names(frame: dict[str, Any]) -> dict[str, str]:
        return {one["role"]: one["name"] for one in frame["people"]}

    async with room.socket(viewer) as wall, room.socket(room.session["token"]) as teacher:
        shown = await frame_where(wall, "people", lambda frame: "student" in names(frame))
        assert names(shown)["student"] == f"#{room.student['color']}"
        assert names(shown)["teacher"] == "Teacher", "a teacher is no secret"
        assert names(await teacher.until("people"))["student"] == "Mei"
        for path in ("", "/people"):
            told = await room.ask("GET", path, token=viewer)
            assert "Mei" not in told.text
        assert (await room.ask("PUT", "/wall", {"names": True})).json() == {"names": True}
        await frame_where(wall, "people", lambda frame: names(frame).get("student") == "Mei")
        assert "Mei" in (await room.ask("GET", "/people", token=viewer)).text
        await room.ask("PUT", "/wall", {"names": False})
        await frame_where(wall, "people", lambda frame: names(frame).get("student") != "Mei")


async def test_what_somebody_did_lately_is_taken_back_by_writes_forward(room: Class) -> None:
    teacher = room.session["token"]
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod("x")["spec"]},
        },
    }
    apps = "/apis/apps/v1/namespaces/s-mei/deployments"
    maps = "/api/v1/namespaces/s-mei/configmaps"
    # What the teacher made there stays the teacher's.
    assert (await room.kubectl("POST", apps, deployment, teacher)).status_code == 201
    for name in ("gone", "torn"):
        body = {"metadata": {"name": name}, "data": {"a": "1"}}
        assert (await room.kubectl("POST", maps, body, teacher)).status_code == 201

    async def patch(path: str, body: Any, token: str) -> httpx.Response:
        headers = {**bearer(token), "Content-Type": "application/merge-patch+json"}
        url = f"/clusters/{room.session['code']}{path}"
        answer = await room.client.patch(url, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer

    student = room.student["token"]
    await patch(f"{apps}/web", {"spec": {"replicas": 9}, "metadata": {"labels": {"by": "mei"}}}, student)
    await patch(f"{apps}/web", {"spec": {"replicas": 12}}, student)
    await patch(f"{maps}/torn", {"data": {"a": "2"}}, student)
    await patch(f"{maps}/torn", {"data": {"a": "3", "b": "4"}}, teacher)
    assert (await room.kubectl("DELETE", f"{maps}/gone")).status_code == 200
    for name in ("one", "two"):
        assert (await room.kubectl("POST", maps, {"metadata": {"name": name}})).status_code == 201
    assert (await room.kubectl("DELETE", f"{maps}/two")).status_code == 200
    before = await room.revision()

    answer = await room.ask("POST", f"/people/{room.student['id']}/undo", {"minutes": 5})
    assert answer.status_code == 200, answer.text
    did = {(one["object"], one["did"]) for one in answer.json()["undone"]}
    assert did == {("s-mei/web", "changed back"), ("s-mei/gone", "made again"), ("s-mei/one", "deleted")}
    [left] = answer.json()["left"]
    assert left["object"] == "s-mei/torn"
    assert "others have changed the same fields" in left["why"]
    web = (await room.kubectl("GET", f"{apps}/web")).json()
    assert web["spec"]["replicas"] == 1
    assert "by" not in web["metadata"].get("labels", {})
    data = {item["metadata"]["name"]: item.get("data") for item in (await room.kubectl("GET", maps)).json()["items"]}
    assert data["gone"] == {"a": "1"}
    assert data["torn"] == {"a": "3", "b": "4"}
    assert not {"one", "two"} & set(data)
    row = await sync_to_async(sessions.find)(room.session["code"].replace("-", ""))
    assert row is not None
    rows = await sync_to_async(lambda: open_store(row.id).events(before, 100))()
    assert {event.actor for event in rows} == {"user:teacher"}, "forward, in the teacher's name"
    again = (await room.ask("POST", f"/people/{room.student['id']}/undo")).json()
    assert again["undone"] == [], "what is back is not taken back again"


async def test_taking_back_reaches_no_further_than_it_is_asked_to(room: Class) -> None:
    assert (await room.kubectl("POST", PODS, pod("new"))).status_code == 201
    path = f"/people/{room.student['id']}/undo"
    for minutes in (0, -1, 61, "5"):
        assert (await room.ask("POST", path, {"minutes": minutes})).status_code == 422
    nobody = (await room.ask("POST", f"/people/{(await room.ask('GET', '')).json()['me']['id']}/undo")).json()
    assert nobody["undone"] == []
    assert (await room.kubectl("GET", f"{PODS}/new")).status_code == 200


async def test_whoever_reloads_while_another_session_is_opened_stays_present(
    room: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent: list[int] = []
    monkeypatch.setattr(presence, "LINGER_SECONDS", 0.0)
    monkeypatch.setattr(presence.people, "mark_absent", lambda _session, participant: absent.append(participant))
    row = await sync_to_async(sessions.find)(room.session["code"].replace("-", ""))
    assert row is not None
    participant = int(room.student["id"])
    before = presence.room_of(row.id)
    await before.enter(participant)
    before.exit(participant)
    presence.room_of(row.id + 1)
    after = presence.room_of(row.id)
    assert after is not before, "a room that nobody is in is forgotten"
    await after.enter(participant)
    await asyncio.gather(*presence._lingering)
    assert absent == []
    after.exit(participant)
    await asyncio.gather(*presence._lingering)
    assert absent == [participant]


async def test_of_two_readings_of_the_class_the_later_one_is_told_last(
    room: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with room.socket(room.student["token"]) as page:
        assert (await page.until("class"))["frozen"] is False
        asked, reached, let_go = presence.in_thread, asyncio.Event(), asyncio.Event()

        async def slowly(read: Callable[[], Any]) -> Any:
            """Hand a list of people out when it is an old one."""
            told = await asked(read)
            if isinstance(told, tuple) and any(person.name == "Ada" for person in told[0]):
                reached.set()
                await let_go.wait()
            return told

        monkeypatch.setattr(presence, "in_thread", slowly)
        await joined(room.client, room.session, "Ada")
        await asyncio.wait_for(reached.wait(), PATIENCE_SECONDS)
        assert (await room.ask("PUT", "/frozen", {"frozen": True})).status_code == 200
        assert (await page.until("class"))["frozen"] is True
        let_go.set()
        told = await page.until("people", "class")
        while not any(person["name"] == "Ada" for person in told.get("people", ())):
            told = await page.until("people", "class")
        assert (await room.ask("PUT", "/presenting", {"view": {"scene": "stage"}})).status_code == 200
        assert (await page.until("class", "presenting"))["type"] == "presenting", "none of before is told again"
