"""Coming in: codes cannot be found by trying, seats and sessions not taken without end, and files are their owner's."""

from __future__ import annotations

import stat
from typing import Any

import httpx
import pytest
from django.conf import settings

from clustersim.classroom import limits, opening
from clustersim.classroom.templates import TEMPLATES
from clustersim.live.socket import TOO_MANY
from tests.tools.application import Socket, bearer, http, joined, opened
from tests.tools.server import Server

ELSEWHERE = "192.0.2.7"
WRONG_CODES = [f"{first}{second}2345" for first in "ABCDEFGHJK" for second in "ABCDEFGHJK"]


def from_elsewhere() -> httpx.AsyncClient:
    """Return a client on another machine of the network."""
    from clustersim.asgi import application

    transport = httpx.ASGITransport(app=application, client=(ELSEWHERE, 4321))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")


@pytest.mark.parametrize(
    "path",
    ["/api/sessions/{code}", "/clusters/{code}/api/v1/pods", "/clusters/{code}/version", "/join/{code}", "/s/{code}"],
)
async def test_codes_cannot_be_found_by_trying(no_refill: None, path: str) -> None:
    async with http() as client, from_elsewhere() as other:
        session = await opened(client)
        client.cookies.clear()
        assert len(WRONG_CODES) > limits.CODES.burst
        statuses = [(await client.get(path.format(code=code))).status_code for code in WRONG_CODES]
        assert set(statuses[: limits.CODES.burst]) == {404}
        # From now on a code that somebody has looks like one that nobody has, to who shows no token.
        known = await client.get(path.format(code=session["code"]))
        unknown = await client.get(path.format(code="ZZZZZZ"))
        assert known.status_code == unknown.status_code
        assert known.status_code in (404, 429)
        # Who has a seat, and everybody elsewhere, notices nothing.
        seated = await client.get(path.format(code=session["code"]), headers=bearer(session["token"]))
        assert seated.status_code in (200, 302)
        assert (await other.get(path.format(code=session["code"]))).status_code in (200, 302, 401, 403)


async def test_websockets_tell_no_codes_either(no_refill: None) -> None:
    async with http() as client:
        session = await opened(client)
    codes = []
    for code in WRONG_CODES:
        async with Socket(code, {}) as socket:
            codes.append((await socket.next())["code"])
    assert codes[-1] == TOO_MANY
    async with Socket(session["code"], {}) as socket:
        assert (await socket.next())["code"] == TOO_MANY
    async with Socket(session["code"], bearer(session["token"])) as socket:
        assert (await socket.next())["type"] == "hello"


async def test_one_address_does_not_take_every_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SEATS", limits.Rate(3, 0.001, limits.SEATS.what))
    async with http() as client, from_elsewhere() as other:
        session = await opened(client)
        for number in range(3):
            await joined(client, session, f"Mei {number}")
        refused = await client.post(f"/api/sessions/{session['code']}/join", json={"name": "Mei 4"})
        assert (refused.status_code, refused.json()["reason"]) == (429, "TooManyRequests")
        assert int(refused.headers["Retry-After"]) > 0
        await joined(other, session, "Lin")


async def test_a_teacher_closes_the_door_to_newcomers_and_who_is_in_stays() -> None:
    async with http() as client:
        session = await opened(client)
        client.cookies.clear()
        path = f"/api/sessions/{session['code']}"
        mei = await joined(client, session, "Mei")
        assert (await client.get(f"{path}/door", headers=bearer(mei["token"]))).json() == {"open": True}
        assert (await client.put(f"{path}/door", json={"open": False}, headers=bearer(mei["token"]))).status_code == 403
        assert (await client.put(f"{path}/door", json={"open": False})).status_code == 401
        bad = await client.put(f"{path}/door", json={"open": "no"}, headers=bearer(session["token"]))
        assert [cause["field"] for cause in bad.json()["details"]["causes"]] == ["open"]
        closed = await client.put(f"{path}/door", json={"open": False}, headers=bearer(session["token"]))
        assert closed.json() == {"open": False}
        refused = await client.post(f"{path}/join", json={"name": "Lin"})
        assert refused.status_code == 403
        assert "ask them to open it" in refused.json()["message"]
        again = await client.post(f"{path}/join", json={"name": "Mei"}, headers=bearer(mei["token"]))
        assert (again.status_code, again.json()["id"]) == (200, mei["id"])
        assert (await client.get(path, headers=bearer(session["token"]))).json()["door"] == {"open": False}
        await client.put(f"{path}/door", json={"open": True}, headers=bearer(session["token"]))
        await joined(client, session, "Lin")


WISH = {"title": "A class", "template": "empty"}
PHRASE = settings.PASS_PHRASE


@pytest.mark.parametrize(
    ("chosen", "elsewhere", "phrase", "status"),
    [
        ("", False, None, 201),
        ("", True, None, 401),
        ("", True, "wrong", 401),
        ("", True, PHRASE, 201),
        ("", True, f" {PHRASE.upper()} ", 201),
        ("anyone", True, None, 201),
        ("password", False, None, 401),
        ("password", False, PHRASE, 201),
        ("password", True, PHRASE, 201),
        ("local", False, None, 201),
        ("local", True, PHRASE, 403),
    ],
)
async def test_who_may_open_sessions(
    monkeypatch: pytest.MonkeyPatch, chosen: str, elsewhere: bool, phrase: str | None, status: int
) -> None:
    monkeypatch.setattr(settings, "OPEN_SESSIONS", chosen)
    body: dict[str, Any] = WISH if phrase is None else {**WISH, "passPhrase": phrase}
    async with from_elsewhere() if elsewhere else http() as client:
        answer = await client.post("/api/sessions", json=body)
        assert answer.status_code == status, answer.text
        if status == 401:
            assert [cause["field"] for cause in answer.json()["details"]["causes"]] == ["passPhrase"]
        asks = 'name="passPhrase"' in (await client.get("/")).text
        assert asks is (chosen == "password" or (chosen == "" and elsewhere))


async def test_what_another_server_passed_on_is_not_from_here() -> None:
    async with http() as client:
        answer = await client.post("/api/sessions", json=WISH, headers={"X-Forwarded-For": "127.0.0.1"})
        assert answer.status_code == 401


async def test_the_pass_phrase_cannot_be_found_by_trying(no_refill: None) -> None:
    async with from_elsewhere() as client:
        statuses = set()
        for number in range(limits.ENTRIES.burst + 5):
            answer = await client.post("/api/sessions", json={**WISH, "passPhrase": f"guess-{number}"})
            statuses.add(answer.status_code)
        assert statuses == {401, 429}
        assert (await client.post("/api/sessions", json={**WISH, "passPhrase": PHRASE})).status_code == 429


def test_a_large_template_counts_for_many() -> None:
    costs = {name: opening.cost(name) for name in TEMPLATES}
    assert costs["empty"] == costs["three-nodes"] == 1
    assert costs["nodes-1000"] > costs["nodes-100"] > 1
    assert limits.OPENINGS.burst // costs["nodes-1000"] < 10
    assert opening.cost("import") == opening.IMPORT_COST


async def test_one_address_opens_so_many_sessions(no_refill: None) -> None:
    async with http() as client:
        limits.spend(limits.OPENINGS, "127.0.0.1", limits.OPENINGS.burst)
        answer = await client.post("/api/sessions", json={**WISH, "template": "nodes-1000"})
        assert (answer.status_code, answer.json()["reason"]) == (429, "TooManyRequests")


async def test_metrics_are_for_this_machine_and_who_has_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    async with http() as client, from_elsewhere() as other:
        assert (await client.get("/metrics")).status_code == 200
        assert (await client.get("/metrics", headers={"X-Forwarded-For": "10.0.0.1"})).status_code == 403
        assert (await other.get("/metrics")).status_code == 403
        assert (await other.get("/metrics", headers=bearer(""))).status_code == 403
        monkeypatch.setattr(settings, "METRICS_TOKEN", "scrape")
        assert (await other.get("/metrics", headers=bearer("wrong"))).status_code == 403
        assert (await other.get("/metrics", headers=bearer("scrape"))).status_code == 200


def test_what_an_installation_writes_is_its_owners_alone(live_server_up: Server) -> None:
    data = live_server_up.data
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    database = data / "clustersim.sqlite3"
    written = [database, data / "secret-key", data / "pass-phrase", *data.glob("clustersim.sqlite3-*")]
    assert {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in written} == {
        path.name: "0o600" for path in written
    }
