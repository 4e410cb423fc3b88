"""Answers to writes are the bytes that are stored."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async

from clustersim.apiserver import writing
from clustersim.store import open_store, sessions
from tests.tools.application import bearer, http, joined, opened


async def test_an_answer_is_what_was_stored_and_not_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("encoded again")

    async with http() as client:
        session = await opened(client)
        student = await joined(client, session, "Ann")
        monkeypatch.setattr(writing, "json_response", never)
        path = f"/clusters/{session['code']}/api/v1/namespaces/{student['namespace']}/configmaps"
        body = {"metadata": {"name": "a"}, "data": {"text": "x"}}
        made = await client.post(path, json=body, headers=bearer(student["token"]))
        read = await client.get(f"{path}/a", headers=bearer(student["token"]))
        row = await sync_to_async(sessions.find)(session["code"])
        assert row is not None
        stored = await sync_to_async(lambda: open_store(row.id).get("configmaps", student["namespace"], "a"))()
        assert stored is not None
        assert made.status_code == 201
        assert made.content == read.content == stored.data + b"\n"
