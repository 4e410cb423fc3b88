"""The name by which an audit log knows a request stands in every answer: its sender's own, or one made for it."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.tools.application import bearer, http, opened

pytestmark = pytest.mark.usefixtures("application_database")


@pytest.mark.parametrize("path", ["/api/v1/nodes", "/api/v1/nodes/nobody", "/api/v1/nodes?watch=1&timeoutSeconds=1"])
async def test_every_answer_says_how_the_request_is_called(path: str) -> None:
    async with http() as client:
        session = await opened(client)
        url, token = f"/clusters/{session['code']}{path}", bearer(session["token"])
        first, second = [await client.get(url, headers=token) for _ in range(2)]
        assert UUID(first.headers["audit-id"]) != UUID(second.headers["audit-id"])
        named = await client.get(url, headers={**token, "Audit-ID": "mine"})
        assert named.headers["audit-id"] == "mine"


async def test_who_is_refused_is_told_too() -> None:
    async with http() as client:
        session = await opened(client)
        answer = await client.get(f"/clusters/{session['code']}/api/v1/nodes", headers=bearer("wrong"))
        assert answer.status_code == 401
        assert UUID(answer.headers["audit-id"])
