"""What a whole class asks for at once waits in a line of its own, in which no teacher stands; long work in another."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import pytest

from clustersim import answering
from clustersim.classroom import auth
from clustersim.sessionapi import homework, polls
from clustersim.sessionapi.http import Call
from scheduler_core.api.errors import not_found
from tests.tools.application import bearer, http, joined, opened
from tests.tools.patience import PATIENCE_SECONDS


async def test_who_works_something_out_lets_others_in_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request asks its database several times; each time it would wait for a search as long as threads take turns."""
    before = sys.getswitchinterval()
    try:
        sys.setswitchinterval(0.005)
        answering.Answering(lambda path: answering.NONE)
        assert sys.getswitchinterval() == pytest.approx(answering.SWITCH_SECONDS)
    finally:
        sys.setswitchinterval(before)


async def test_a_teacher_is_answered_while_a_class_waits_in_line(monkeypatch: pytest.MonkeyPatch) -> None:
    looking: list[int] = []
    full, free = threading.Event(), threading.Event()

    def found(call: Call, poll: str) -> Any:
        if call.principal.role == auth.STUDENT:
            looking.append(call.principal.participant_id)
            if len(looking) == answering.CROWD_THREADS:
                full.set()
            assert free.wait(PATIENCE_SECONDS)
        raise not_found("polls.clustersim.io", poll)

    monkeypatch.setattr(polls, "_found", found)
    async with http() as client:
        session = await opened(client)
        path = f"/api/sessions/{session['code']}/polls/poll-1"
        teacher = bearer(session["token"])
        # The process learns whose token this is with the first request; afterwards it knows.
        assert (await client.get(path, headers=teacher)).status_code == 404
        tokens = [(await joined(client, session, f"student {number}"))["token"] for number in range(6)]
        looks = [asyncio.create_task(client.get(path, headers=bearer(token))) for token in tokens]
        try:
            assert await asyncio.to_thread(full.wait, PATIENCE_SECONDS)
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert (await client.get(path, headers=teacher)).status_code == 404
                # What no class asks for at once has threads enough beside the line.
                info = await client.get(f"/api/sessions/{session['code']}", headers=bearer(tokens[5]))
            assert info.status_code == 200
            assert len(looking) == answering.CROWD_THREADS
        finally:
            free.set()
            answers = await asyncio.gather(*looks)
    assert [answer.status_code for answer in answers] == [404] * 6
    assert len(looking) == 6


async def test_a_class_at_its_homework_leaves_the_others_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    looking: list[str] = []
    full, free = threading.Event(), threading.Event()

    def found(session_id: int, name: str) -> Any:
        looking.append(name)
        if len(looking) == answering.SEARCH_THREADS:
            full.set()
        assert free.wait(PATIENCE_SECONDS)
        raise not_found("homework", name)

    monkeypatch.setattr(homework.setting, "found", found)
    async with http() as client:
        session = await opened(client)
        student = bearer((await joined(client, session, "Ann"))["token"])
        path = f"/api/sessions/{session['code']}"
        many = answering.THREADS + answering.SEARCH_THREADS
        looks = [asyncio.create_task(client.get(f"{path}/homework/{n}", headers=student)) for n in range(many)]
        try:
            assert await asyncio.to_thread(full.wait, PATIENCE_SECONDS)
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert (await client.get(path, headers=student)).status_code == 200
            assert len(looking) == answering.SEARCH_THREADS
        finally:
            free.set()
            answers = await asyncio.gather(*looks)
    assert [answer.status_code for answer in answers] == [404] * many


async def test_a_token_that_nobody_showed_yet_is_no_known_teachers() -> None:
    async with http() as client:
        session = await opened(client)
        student = await joined(client, session, "Ann")
        code = session["code"]
        assert not auth.is_known_teacher(code, {"authorization": f"Bearer {session['token']}"})
        for token in (session["token"], student["token"]):
            assert (await client.get(f"/api/sessions/{code}/polls", headers=bearer(token))).status_code == 200
    assert auth.is_known_teacher(code, {"authorization": f"Bearer {session['token']}"})
    assert auth.is_known_teacher(code, {"cookie": f"{auth.cookie_name(code)}={session['token']}"})
    assert not auth.is_known_teacher(code, {"authorization": f"Bearer {student['token']}"})
    assert not auth.is_known_teacher(code, {})
