"""A stream lasts as long as somebody listens whose token is good."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from clustersim.apiserver import listening
from clustersim.apiserver.listening import listened


def asks(*answers: bool | Exception) -> Callable[[], asyncio.Future[bool]]:
    """Return what answers so, one after the other."""
    rest = list(answers)

    def asked() -> asyncio.Future[bool]:
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        answer = rest.pop(0)
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future

    return asked


def client() -> tuple[asyncio.Queue[dict[str, Any]], Callable[[], Awaitable[dict[str, Any]]]]:
    messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    return messages, messages.get


async def alone() -> bool:
    """Return whether no task is left but this one, once all have had their turn."""
    await asyncio.sleep(0)
    return len(asyncio.all_tasks()) == 1


async def test_it_ends_when_the_client_goes_away() -> None:
    messages, receive = client()
    messages.put_nowait({"type": "http.request"})
    messages.put_nowait({"type": "http.disconnect"})
    async with listened(asks(True), receive):
        await asyncio.Event().wait()
    assert await alone()


async def test_it_ends_when_the_token_is_no_longer_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "ATTEND_SECONDS", 0.0)
    _, receive = client()
    async with listened(asks(True, True, False), receive):
        await asyncio.Event().wait()
    assert await alone()


async def test_it_fails_with_what_the_question_failed_with() -> None:
    with pytest.raises(KeyError, match="gone"):
        async with listened(asks(KeyError("gone"))):
            await asyncio.Event().wait()
    assert await alone()


async def test_what_is_inside_ends_it_and_fails_as_itself() -> None:
    _, receive = client()
    async with listened(asks(True), receive):
        pass
    assert await alone()
    with pytest.raises(TimeoutError, match="its own"):
        async with listened(asks(True), receive):
            raise TimeoutError("its own")
    assert await alone()


async def test_who_cancels_it_from_outside_is_obeyed() -> None:
    _, receive = client()

    async def listen() -> None:
        async with listened(asks(True), receive):
            await asyncio.Event().wait()

    task = asyncio.create_task(listen())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert await alone()
