"""Pages are told how many have voted: two numbers, to everybody, and to those who come later."""

from __future__ import annotations

from typing import Any

from tests.tools.application import Socket, bearer, http, joined, opened


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
