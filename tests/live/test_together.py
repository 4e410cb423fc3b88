"""At what people look and what the teacher points at: told to every page, within roles, rates and sizes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async

from clustersim.classroom import limits, together
from clustersim.classroom.models import Participant
from tests.tools.application import Socket, bearer, http, joined, opened


@dataclass
class Class:
    """A session with a teacher and a student."""

    client: httpx.AsyncClient
    session: dict[str, Any]
    student: dict[str, Any]

    def socket(self, token: str) -> Socket:
        return Socket(self.session["code"], bearer(token))

    async def ask(self, method: str, path: str, body: Any, token: str | None = None) -> httpx.Response:
        return await self.client.request(
            method,
            f"/api/sessions/{self.session['code']}{path}",
            json=body,
            headers=bearer(token or self.session["token"]),
        )


@pytest.fixture
async def room() -> AsyncIterator[Class]:
    limits.forget()
    async with http() as client:
        session = await opened(client, "three-nodes")
        student = await joined(client, session, "Mei")
        yield Class(client, session, student)


async def looks(socket: Socket, wanted: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the first `looks` frame that tells of these (resource, key)."""
    while True:
        frame = await socket.until("looks")
        if [(look["resource"], look["key"]) for look in frame["looks"]] == wanted:
            return frame


async def test_everybody_is_told_at_what_somebody_looks_until_they_go(room: Class) -> None:
    async with room.socket(room.session["token"]) as teacher:
        async with room.socket(room.student["token"]) as student:
            await student.send(type="look", resource="nodes", key="n1")
            frame = await looks(teacher, [("nodes", "n1")])
            assert frame["on"] is True
            assert frame["looks"][0]["id"] == room.student["id"]
            await student.send(type="look", resource="nodes", key="n2")
            await looks(teacher, [("nodes", "n2")])
            await student.send(type="look", resource="", key="")
            await looks(teacher, [])
            await student.send(type="look", resource="pods", key="default/web-1")
            await looks(teacher, [("pods", "default/web-1")])
        await looks(teacher, [])


async def test_what_is_no_look_is_passed_over_and_tells_nothing(room: Class) -> None:
    assert together.look_of("pods", "default/web-1") == "pods default/web-1"
    assert together.look_of("pods", "x" * (together.KEY_LENGTH_MAX + 1)) == ""
    assert together.look_of("pods", "a b") == ""
    assert together.look_of("pods", "a\nb") == ""
    assert together.look_of("pods", 7) == ""
    assert together.look_of("secrets", "default/key") == "", "pages show no more of these than their names"
    assert together.look_of("nonsense", "x") == ""
    async with room.socket(room.session["token"]) as teacher:
        await teacher.until("looks")
        await teacher.send(type="look", resource=["pods"], key={"a": 1})
        await teacher.send(type="look", resource="secrets", key="default/key")
        await teacher.send(type="look", resource="nodes", key="n3")
        assert [look["key"] for look in (await teacher.until("looks"))["looks"]] == ["n3"]


async def test_a_viewer_looks_unseen_and_haste_is_not_told(room: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LOOKS", limits.Rate(2, 0.001, "looks"))
    viewer = (await room.ask("POST", "/people", {"role": "viewer", "name": "Wall"})).json()
    async with room.socket(viewer["token"]) as wall, room.socket(room.student["token"]) as student:
        await wall.send(type="look", resource="nodes", key="n1")
        await student.send(type="look", resource="nodes", key="n2")
        await looks(wall, [("nodes", "n2")])
        await student.send(type="look", resource="nodes", key="n3")
        await looks(wall, [("nodes", "n3")])
        await student.send(type="look", resource="nodes", key="n1")
        async with room.socket(room.session["token"]) as teacher:
            await teacher.send(type="look", resource="nodes", key="n2")
            await looks(wall, [("nodes", "n2"), ("nodes", "n3")])


async def test_the_teacher_switches_looks_off_for_everybody(room: Class) -> None:
    async with room.socket(room.session["token"]) as teacher, room.socket(room.student["token"]) as student:
        await student.send(type="look", resource="nodes", key="n1")
        await looks(teacher, [("nodes", "n1")])
        assert (await room.ask("PUT", "/looks", {"on": False}, room.student["token"])).status_code == 403
        assert (await room.ask("PUT", "/looks", {"on": "no"})).status_code == 422
        assert (await room.ask("PUT", "/looks", {"on": False})).json() == {"on": False}
        assert (await looks(teacher, []))["on"] is False
        seat = int(room.student["id"])
        session_id = await sync_to_async(lambda: Participant.objects.get(pk=seat).session_id)()
        await sync_to_async(together.mark_looking)(session_id, {seat: "nodes n2"})
        assert (await room.ask("PUT", "/looks", {"on": True})).json() == {"on": True}
        frame = await looks(teacher, [])
        while not frame["on"]:
            frame = await looks(teacher, [])


async def test_the_teacher_points_and_every_page_is_offered_it(room: Class) -> None:
    async with room.socket(room.student["token"]) as student:
        answer = await room.ask("POST", "/point", {"resource": "nodes", "name": "n2"})
        assert answer.status_code == 201, answer.text
        frame = await student.until("pointed")
        assert frame == answer.json()
        assert (frame["resource"], frame["name"], frame["by"]) == ("nodes", "n2", (await me(room))["id"])
        again = (await room.ask("POST", "/point", {"resource": "nodes", "name": "n2"})).json()
        assert (await student.until("pointed"))["id"] == again["id"] > frame["id"]
    async with room.socket(room.student["token"]) as late:
        assert (await late.until("pointed"))["id"] == again["id"]


async def me(room: Class) -> dict[str, Any]:
    return dict((await room.ask("GET", "", None)).json()["me"])


async def test_only_what_is_there_can_be_pointed_at(room: Class) -> None:
    refused: list[tuple[dict[str, str], int]] = [
        ({"resource": "nodes", "name": "n9"}, 404),
        ({"resource": "nodes"}, 422),
        ({"resource": "secrets", "namespace": "default", "name": "x"}, 422),
        ({"resource": "nonsense", "name": "x"}, 422),
        ({"resource": "nodes", "name": "n" * 300}, 422),
    ]
    for body, code in refused:
        assert (await room.ask("POST", "/point", body)).status_code == code, body


async def test_students_point_too_until_they_are_muted_and_nobody_too_often(
    room: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "POINTS", limits.Rate(2, 0.001, "things"))
    body = {"resource": "nodes", "name": "n1"}
    pointed = await room.ask("POST", "/point", body, room.student["token"])
    assert (pointed.status_code, pointed.json()["by"]) == (201, room.student["id"])
    await room.ask("PATCH", f"/people/{room.student['id']}", {"muted": True})
    assert (await room.ask("POST", "/point", body, room.student["token"])).status_code == 403
    assert [(await room.ask("POST", "/point", body)).status_code for _ in range(3)] == [201, 201, 429]
