"""Clients of forwarded ports that ask and do not read: what they are sent waits, and does not grow."""

from __future__ import annotations

import asyncio
import struct
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

from clustersim.apiserver import spdy
from clustersim.apiserver.forwarding import ForwardPlan
from clustersim.apiserver.tunnelling import UNREAD_MAX, Tunnel
from controllers.kubelet.shell.running import Came
from tests.apiserver.test_spdy import Client

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Websocket:
    """The server's end of a websocket: it takes what is sent, and tells whoever writes to it when it is full."""

    def __init__(self) -> None:
        self.producer: Any = "the HTTP channel that it was"
        self.sent: list[bytes | None] = []
        self.came = asyncio.Condition()

    def sendMessage(self) -> None:  # noqa: N802
        """By this it is known as a websocket."""

    def registerProducer(self, producer: Any, streaming: bool) -> None:  # noqa: N802
        assert self.producer is None, "Twisted takes one at a time"
        self.producer = producer

    def unregisterProducer(self) -> None:  # noqa: N802
        self.producer = None

    async def take(self, message: dict[str, Any]) -> None:
        async with self.came:
            self.sent.append(message.get("bytes"))
            self.came.notify_all()

    async def has(self, count: int) -> None:
        async with self.came:
            await self.came.wait_for(lambda: len(self.sent) >= count)


async def _handle(websocket: Websocket, message: dict[str, Any]) -> None:
    await websocket.take(message)


class Forwarded:
    """A tunnel that runs, and both ends of its websocket."""

    def __init__(self) -> None:
        self.websocket, self.client = Websocket(), Client()
        self.messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        plan = SimpleNamespace(ask=self.answer, answer=self.answer)
        self.tunnel = Tunnel(cast(ForwardPlan, plan), self.messages.get, partial(_handle, self.websocket))
        self.asked = 0

    async def answer(self, port: int, host: str = "", path: str = "") -> Came:
        self.asked += bool(path)
        return Came("ok", 200, body="page")

    def send(self, data: bytes) -> None:
        self.messages.put_nowait({"type": "websocket.receive", "bytes": data})


def test_answers_wait_until_they_are_read() -> None:
    async def play() -> None:
        made = Forwarded()
        serving = asyncio.create_task(made.tunnel.serve())
        for stream, kind in ((1, "error"), (3, "data")):
            made.send(made.client.opens(stream, streamtype=kind, port="80", requestid="1"))
        await made.websocket.has(2)
        made.websocket.producer.pauseProducing()
        made.send(spdy.data(3, REQUEST * 50))
        # A ping is answered all the same, after what came before it has been taken in hand.
        for number in range(10):
            made.send(spdy.control(spdy.PING, struct.pack(">I", number)))
        await made.websocket.has(12)
        assert made.asked <= 1, "the first answer waits, and nothing is asked after it"
        assert all(one is not None and one[0] == 0x80 for one in made.websocket.sent)
        made.websocket.producer.resumeProducing()
        await made.websocket.has(62)
        assert made.asked == 50
        made.messages.put_nowait({"type": "websocket.disconnect"})
        await serving
        assert made.websocket.producer is None

    asyncio.run(play())


def test_who_reads_nothing_of_much_that_is_small_is_left() -> None:
    async def play() -> list[bytes | None]:
        made = Forwarded()
        serving = asyncio.create_task(made.tunnel.serve())
        made.send(spdy.pong(0))
        await made.websocket.has(1)
        made.websocket.producer.pauseProducing()
        made.send(spdy.pong(1) * (UNREAD_MAX + 1000))
        await serving
        return made.websocket.sent

    sent = asyncio.run(play())
    assert sent == [spdy.pong(0), *[spdy.pong(1)] * UNREAD_MAX, spdy.farewell(0, spdy.PROTOCOL_ERROR), None]
