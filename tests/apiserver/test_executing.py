"""How a command's frames are sent, whoever asks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any, cast

from clustersim.apiserver.containers import ExecPlan
from clustersim.apiserver.executing import STREAMS_SECONDS, Execution


async def _log() -> AsyncGenerator[bytes, None]:
    yield b"printed at once\n"


def test_nothing_is_sent_before_a_client_has_its_streams() -> None:
    """An older kubectl drops a frame of a stream that it has not made yet, and ends well with no output."""
    sent: list[tuple[float, dict[str, Any]]] = []

    async def play() -> float:
        loop = asyncio.get_running_loop()
        accepted = loop.time()

        async def send(message: dict[str, Any]) -> None:
            sent.append((loop.time(), message))

        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()
            raise AssertionError("nobody sends anything")

        plan = SimpleNamespace(protocol="v4.channel.k8s.io", log=SimpleNamespace(chunks=_log))
        await Execution(cast(ExecPlan, plan), receive, send).serve()
        return accepted

    accepted = asyncio.run(play())
    frames = [message.get("bytes") for _, message in sent]
    assert frames == [b"\x01printed at once\n", b'\x03{"metadata":{},"status":"Success"}', None]
    assert min(at for at, _ in sent) >= accepted + STREAMS_SECONDS - time.get_clock_info("monotonic").resolution
