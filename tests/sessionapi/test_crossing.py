"""Nobody gets from one session into another, and no role does more than it may: by every route there is."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.urls import get_resolver

from controllers.kinds.table import KINDS
from controllers.registry.kind import Kind
from tests.tools.application import Socket, bearer, http, opened

BODIES: dict[str, dict[str, Any]] = {
    "sessions/<str:code>/people": {"role": "viewer", "name": "X"},
    "sessions/<str:code>/people/<str:person>": {"name": "X"},
    "sessions/<str:code>/clock": {"paused": True},
    "sessions/<str:code>/clock/step": {"by": "event"},
    "sessions/<str:code>/replicas/<str:identity>/fault": {"kind": "crash"},
    "sessions/<str:code>/import": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}},
    "sessions/<str:code>/replays": {"nodes": "sn", "pods": "name"},
}
OPEN = {
    "sessions",
    "clusters",
    "lessons",
    "lessons/check",
    "sessions/<str:code>/join",
    "sessions/<str:code>/enter",
    "sessions/<str:code>/qr.svg",
}
"""Routes that need no token: what they give is not the session's."""


def session_routes() -> list[tuple[str, str]]:
    """Return (method, pattern) of every route below /api/ that needs a token, read from the routes themselves."""
    from clustersim.sessionapi import urls

    found = []
    for entry in urls.urlpatterns:
        pattern = str(entry.pattern)
        if pattern in OPEN or pattern.startswith("^"):
            continue
        cells = [cell.cell_contents for cell in entry.callback.__closure__]
        table = next(content for content in cells if isinstance(content, dict))
        found += [(method, pattern) for method in table]
    return found


def filled(pattern: str, code: str, person: str) -> str:
    path = pattern.replace("<str:code>", code).replace("<str:person>", person)
    path = path.replace("<str:identity>", "kube-scheduler-0").replace("<str:decision>", "x-1")
    return f"/api/{path}"


async def send(client: httpx.AsyncClient, method: str, pattern: str, path: str, token: str) -> httpx.Response:
    body = None if method in ("GET", "DELETE") else BODIES.get(pattern, {})
    return await client.request(method, path, json=body, headers=bearer(token))


@pytest.mark.parametrize(("method", "pattern"), session_routes())
async def test_a_token_opens_no_other_session(method: str, pattern: str) -> None:
    async with http() as client, http() as stranger:
        mine, theirs = await opened(client), await opened(stranger)
        person = (await client.get(f"/api/sessions/{mine['code']}")).json()["me"]["id"]
        client.cookies.clear()
        before = (await stranger.get(f"/api/sessions/{theirs['code']}")).json()["revision"]
        answer = await send(client, method, pattern, filled(pattern, theirs["code"], person), mine["token"])
        assert answer.status_code == 401, answer.text
        assert answer.json()["reason"] == "Unauthorized"
        after = (await stranger.get(f"/api/sessions/{theirs['code']}")).json()["revision"]
        assert after == before
        no_token = await client.request(method, filled(pattern, theirs["code"], person))
        assert no_token.status_code == 401


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.resource)
async def test_a_token_opens_no_other_cluster(kind: Kind) -> None:
    async with http() as client, http() as stranger:
        mine, theirs = await opened(client), await opened(stranger)
        client.cookies.clear()
        group = f"/apis/{kind.api_version}" if kind.group else "/api/v1"
        scope = "/namespaces/default" if kind.namespaced else ""
        objects = f"/clusters/{theirs['code']}{group}{scope}/{kind.plural}"
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            for tail in ("", "/anything", "/anything/status", "?watch=true"):
                answer = await client.request(method, objects + tail, headers=bearer(mine["token"]), json={})
                assert answer.status_code == 401, f"{method} {tail}: {answer.text}"


async def test_a_person_of_another_session_is_not_found() -> None:
    async with http() as client, http() as stranger:
        mine, theirs = await opened(client), await opened(stranger)
        person = (await stranger.get(f"/api/sessions/{theirs['code']}")).json()["me"]["id"]
        for method in ("PATCH", "DELETE"):
            answer = await client.request(
                method,
                f"/api/sessions/{mine['code']}/people/{person}",
                json={"name": "Taken"},
                headers=bearer(mine["token"]),
            )
            assert answer.status_code == 404
        assert (await stranger.get(f"/api/sessions/{theirs['code']}")).json()["me"]["name"] == "Teacher"


async def test_a_link_secret_opens_only_its_session() -> None:
    async with http() as client, http() as stranger:
        mine, theirs = await opened(client), await opened(stranger)
        secret = mine["url"].partition("#")[2]
        answer = await client.post(f"/api/sessions/{theirs['code']}/enter", json={"secret": secret})
        assert answer.status_code == 401


async def test_a_socket_of_another_session_closes() -> None:
    async with http() as client, http() as stranger:
        mine, theirs = await opened(client), await opened(stranger)
    cookie = f"clustersim-{theirs['code'].replace('-', '')}"
    for headers, code in (
        (bearer(mine["token"]), 4401),
        ({}, 4401),
        ({"Cookie": f"{cookie}={mine['token']}", "Origin": "http://127.0.0.1:8000"}, 4401),
        ({"Cookie": f"{cookie}={theirs['token']}", "Origin": "http://evil.example"}, 4403),
        ({"Cookie": f"{cookie}={theirs['token']}"}, 4403),
    ):
        async with Socket(theirs["code"], headers) as socket:
            assert await socket.next() == {"type": "close", "code": code}
    async with Socket("ZZZ-ZZZ", bearer(mine["token"])) as socket:
        assert await socket.next() == {"type": "close", "code": 4404}


async def test_a_cookie_needs_a_page_of_this_server_to_change_anything() -> None:
    async with http() as client:
        session = await opened(client)
        rotate = f"/api/sessions/{session['code']}/rotate"
        objects = f"/clusters/{session['code']}/api/v1/namespaces"
        document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}
        for origin in (None, "http://evil.example", "http://127.0.0.1:9000", "null"):
            headers = {} if origin is None else {"Origin": origin}
            assert (await client.post(rotate, headers=headers)).status_code == 403
            assert (await client.post(objects, json=document, headers=headers)).status_code == 403
        good = {"Origin": "http://127.0.0.1:8000"}
        assert (await client.post(rotate, headers=good)).status_code == 200
        assert (await client.post(objects, json=document, headers=good)).status_code == 201
        # Signing in sets a cookie, so another origin's page must not do it either.
        joined = await client.post(
            f"/api/sessions/{session['code']}/join", json={"name": "X"}, headers={"Origin": "http://evil.example"}
        )
        assert joined.status_code == 403


def test_no_route_of_the_api_is_forgotten() -> None:
    """The table of open routes names routes that exist, and the API is where this file looks for it."""
    from clustersim.sessionapi import urls

    patterns = {str(entry.pattern) for entry in urls.urlpatterns}
    assert patterns >= OPEN
    assert any("api/" in str(entry.pattern) for entry in get_resolver().url_patterns)
