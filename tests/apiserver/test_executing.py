"""How a command's frames are sent, whoever asks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import pytest

from clustersim.apiserver import executing
from clustersim.apiserver.containers import ExecPlan
from clustersim.apiserver.executing import STREAMS_SECONDS, Execution
from controllers.kubelet.shell.inside import look_inside
from controllers.kubelet.shell.interpreter import Shell
from controllers.kubelet.shell.looking import PROGRAMS
from controllers.kubelet.stages.pods import STAGES


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


def test_a_command_that_follows_a_file_sees_what_others_write(monkeypatch: pytest.MonkeyPatch) -> None:
    times = count(0, 600)
    monkeypatch.setattr(executing, "open_store", lambda session: session)
    monkeypatch.setattr(executing, "session_unix_ms", lambda store: next(times))
    container = {"name": "main", "image": "busybox"}
    pod = {"metadata": {"name": "web", "namespace": "default", "uid": "1"}, "spec": {"containers": [container]}}
    facts = SimpleNamespace(get=lambda *place: None, list=lambda *place: [])
    shell = Shell(look_inside(pod, container, facts, STAGES.answers), PROGRAMS, 0)
    shell.change("/logs/app", "one\n")
    texts = iter(["one\ntwo\n", "one\ntwo\n", "one\ntwo\nthree\n"])
    printed: list[bytes] = []
    whole = asyncio.Event()

    def look_again() -> None:
        shell.change("/logs/app", next(texts, "one\ntwo\nthree\n"))

    async def play() -> None:
        async def send(message: dict[str, Any]) -> None:
            printed.append(message.get("bytes") or b"")
            if printed[-1].endswith(b"three\n"):
                whole.set()

        async def receive() -> dict[str, Any]:
            await whole.wait()
            return {"type": "websocket.disconnect"}

        plan = SimpleNamespace(
            protocol="v4.channel.k8s.io", log=None, interactive=False, stdin=False, tty=False, session_id=1,
            shell=shell, words=("tail", "-f", "/logs/app"), look_again=look_again,
            keeper=SimpleNamespace(keep=lambda shell: None),
        )  # fmt: skip
        await Execution(cast(ExecPlan, plan), receive, send).serve()

    asyncio.run(play())
    assert printed == [b"\x01one\n", b"\x01two\n", b"\x01three\n"]
