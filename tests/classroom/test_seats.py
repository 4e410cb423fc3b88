"""One person, one seat, one vote: a second seat of the same person is joined with the first, or taken away."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async

from clustersim.classroom import limits
from clustersim.classroom.models import Copy, Poll, Vote
from clustersim.classroom.polls import votes
from clustersim.store import sessions
from tests.tools.application import bearer, http, joined, opened


@pytest.fixture(autouse=True)
def _application(application_database: None) -> None:
    limits.forget()


class Class:
    """A session whose Ann lost her first seat and took another one."""

    def __init__(self, client: httpx.AsyncClient, session: dict[str, Any], seats: list[dict[str, Any]]) -> None:
        self.client, self.code, self.teacher = client, session["code"], session["token"]
        self.first, self.second = seats

    async def ask(self, token: str, method: str, path: str, body: Any = None) -> httpx.Response:
        url = f"/api/sessions/{self.code}{path}"
        return await self.client.request(method, url, json=body, headers=bearer(token))

    async def merge(self, token: str) -> httpx.Response:
        return await self.ask(token, "POST", f"/people/{self.first['id']}/merge", {"other": self.second["id"]})

    async def voted(self, state: str = votes.OPEN) -> Poll:
        """Return a poll in whose first round both seats voted, the second one alone in its second round."""

        def made() -> Poll:
            row = Poll.objects.create(
                session_id=session_of(self.code), name=f"q-{state}", state=state, round=2, opened_ms=0
            )
            for seat, choice, number in ((self.first, "a", 1), (self.second, "b", 1), (self.second, "c", 2)):
                Vote.objects.create(
                    poll=row, round=number, participant_id=int(seat["id"]), choice=[choice], seconds=1.0
                )
            return row

        return await sync_to_async(made)()


def session_of(code: str) -> int:
    row = sessions.find(code)
    assert row is not None
    return row.id


async def the_class(client: httpx.AsyncClient) -> Class:
    session = await opened(client)
    return Class(client, session, [await joined(client, session, name) for name in ("Ann", "ann")])


def counted(poll: Poll) -> set[tuple[int, int, str]]:
    return {(vote.round, vote.participant_id, vote.choice[0]) for vote in Vote.objects.filter(poll=poll)}


async def test_a_name_opens_nobody_elses_seat() -> None:
    async with http() as client:
        room = await the_class(client)
        assert room.first["id"] != room.second["id"]
        for token in (room.first["token"], room.second["token"]):
            refused = await room.merge(token)
            assert (refused.status_code, refused.json()["said"]["key"]) == (403, "role.needs")


async def test_a_second_seat_is_joined_with_the_first_and_both_browsers_sit_there() -> None:
    async with http() as client:
        room = await the_class(client)
        poll = await room.voted()
        answer = await room.merge(room.teacher)
        assert (answer.status_code, answer.json()["id"]) == (200, room.first["id"])
        for token in (room.first["token"], room.second["token"]):
            told = (await room.ask(token, "GET", "")).json()
            assert (told["me"]["id"], told["me"]["name"]) == (room.first["id"], "Ann")
            assert [one["name"] for one in told["people"]] == ["Teacher", "Ann"]
        first = int(room.first["id"])
        assert await sync_to_async(counted)(poll) == {(1, first, "a"), (2, first, "c")}, "one seat, one vote"


async def test_a_copy_of_the_second_seat_comes_along_behind_that_of_the_first() -> None:
    async with http() as client:
        room = await the_class(client)
        for token in (room.first["token"], room.second["token"]):
            assert (await room.ask(token, "POST", "/copies", {})).status_code == 201
        own = (await room.ask(room.first["token"], "GET", "/copies")).json()
        await room.merge(room.teacher)
        both = (await room.ask(room.second["token"], "GET", "/copies")).json()
        assert [one["code"] for one in both if not one["earlier"]] == [own[0]["code"]]
        hers = Copy.objects.filter(participant=int(room.first["id"]))
        assert await sync_to_async(hers.count)() == len(both) == 2


async def test_a_seat_that_is_taken_away_counts_no_longer_where_nothing_was_told() -> None:
    async with http() as client:
        room = await the_class(client)
        asked, told = await room.voted(), await room.voted(votes.REVEALED)
        assert (await room.ask(room.teacher, "DELETE", f"/people/{room.second['id']}")).status_code == 204
        first, second = int(room.first["id"]), int(room.second["id"])
        assert await sync_to_async(counted)(asked) == {(1, first, "a")}
        assert await sync_to_async(counted)(told) == {(1, first, "a"), (1, second, "b"), (2, second, "c")}


async def test_only_two_seats_of_students_are_one_persons() -> None:
    async with http() as client:
        room = await the_class(client)
        teacher = (await room.ask(room.teacher, "GET", "")).json()["me"]["id"]
        for other in (room.first["id"], teacher):
            answer = await room.ask(room.teacher, "POST", f"/people/{room.first['id']}/merge", {"other": other})
            assert (answer.status_code, answer.json()["details"]["causes"][0]["field"]) == (422, "other")


async def test_who_has_a_seat_is_not_asked_for_a_name() -> None:
    async with http() as client:
        session = await opened(client)
        client.cookies.clear()
        newcomer = await client.get(f"/join/{session['code']}")
        assert (newcomer.status_code, 'data-testid="join-name"' in newcomer.text) == (200, True)
        answer = await client.post(f"/api/sessions/{session['code']}/join", json={"name": "Ann"})
        back = await client.get(f"/join/{session['code']}?pod=default/a")
        assert (answer.status_code, back.status_code) == (201, 302)
        assert back.headers["Location"] == f"/s/{session['code']}?pod=default/a"
