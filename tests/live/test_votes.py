"""Pages are told how many have voted: two numbers, to everybody, and to those who come later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError

from clustersim.classroom import people
from clustersim.classroom.polls import votes
from clustersim.live import presence
from tests.tools.application import Socket, bearer, http, joined, opened
from tests.tools.server import wait_for


async def test_everybody_is_told_how_many_have_voted(application_database: None) -> None:
    async with http() as client:
        session = await opened(client)
        ann, bob = await joined(client, session, "Ann"), await joined(client, session, "Bob")
        path, teacher = f"/api/sessions/{session['code']}/polls", bearer(session["token"])
        async with Socket(session["code"], bearer(ann["token"])) as socket:
            await socket.until("people")
            body = {"kind": "choice", "options": ["a", "b"], "hold": "paper"}
            answer = await client.post(path, json=body, headers=teacher)
            assert answer.status_code == 201, answer.text
            poll = answer.json()["id"]
            told: dict[str, Any] = {}
            while told.get("state") != "open":
                told = await socket.until("votes")
            assert (told["id"], told["voted"], told["round"], told["present"]) == (poll, 0, 1, 1)
            for person, choice in ((ann, "a"), (bob, "b"), (ann, "b")):
                voted = await client.post(
                    f"{path}/{poll}/votes", json={"choice": choice}, headers=bearer(person["token"])
                )
                assert voted.status_code == 200, voted.text
            while told["voted"] != 2:
                told = await socket.until("votes")
        async with Socket(session["code"], bearer(bob["token"])) as socket:
            told = await socket.until("votes")
            assert (told["id"], told["voted"], told["state"]) == (poll, 2, "open")
            await client.post(f"{path}/{poll}/reveal", headers=teacher)
            while told["state"] != "revealed":
                told = await socket.until("votes")
        answer = await client.get(f"{path}/{poll}", headers=bearer(ann["token"]))
        assert answer.json()["answer"]["right"] == []


async def test_votes_whose_hint_is_lost_and_votes_while_the_database_fails_are_told_all_the_same(
    application_database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(presence, "VOTES_EVERY_SECONDS", 0.0)
    async with http() as client:
        session = await opened(client)
        ann, bob = await joined(client, session, "Ann"), await joined(client, session, "Bob")
        path, teacher = f"/api/sessions/{session['code']}/polls", bearer(session["token"])
        body = {"kind": "choice", "options": ["a", "b"], "hold": "paper"}
        poll = (await client.post(path, json=body, headers=teacher)).json()["id"]

        async def vote(person: dict[str, Any]) -> None:
            told = await client.post(f"{path}/{poll}/votes", json={"choice": "a"}, headers=bearer(person["token"]))
            assert told.status_code == 200, told.text

        async def until_voted(socket: Socket, number: int) -> None:
            while (await socket.until("votes"))["voted"] != number:
                pass

        async with Socket(session["code"], bearer(ann["token"])) as socket:
            await until_voted(socket, 0)
            monkeypatch.setattr(votes, "wake_votes", lambda session_id: None)
            await vote(ann)
            await until_voted(socket, 1)

            failed: list[str] = []

            def failing(name: str, read: Callable[[int], Any]) -> Callable[[int], Any]:
                def once(session_id: int) -> Any:
                    if name not in failed:
                        failed.append(name)
                        raise OperationalError("the database is away")
                    return read(session_id)

                return once

            monkeypatch.setattr(votes, "frame_of", failing("votes", votes.frame_of))
            monkeypatch.setattr(people, "all_of_session", failing("people", people.all_of_session))
            await asyncio.to_thread(wait_for, lambda: len(failed) == 2)
            await vote(bob)
            await until_voted(socket, 2)
            await joined(client, session, "Cem")
            names: set[str] = set()
            while "Cem" not in names:
                names = {person["name"] for person in (await socket.until("people"))["people"]}
