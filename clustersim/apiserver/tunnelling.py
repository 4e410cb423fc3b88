"""The two protocols by which forwarded ports come through a websocket.

kubectl sends the frames of SPDY: each connection is a stream for errors and one for data, which belong together by the
header `requestid`. The older one has a channel for data (2 n) and one for errors (2 n + 1) for the n-th port that is
asked for; each begins with the port's number, two bytes, the lower first. Source:
staging/src/k8s.io/kubelet/pkg/cri/streaming/portforward (httpstream.go, websocket.go), v1.34.
"""

from __future__ import annotations

import asyncio
import struct
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from clustersim.apiserver import spdy
from clustersim.apiserver.flow import Gate, gate
from clustersim.apiserver.forwarding import Connection, ForwardPlan

STREAMS_MAX: Final = 256
"""Streams that one forwarded port has open at once, two for each connection; more are refused."""

UNREAD_MAX: Final = 1000
"""Small frames that wait for a client that does not read; its forwarded ports are closed there."""

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Forwarding(ABC):
    """One websocket: what both protocols have in common."""

    def __init__(self, plan: ForwardPlan, receive: Receive, send: Send) -> None:
        self._plan, self._receive, self._send = plan, receive, send
        self._gate = Gate()
        self._unread = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Forward until the client is gone."""
        with gate(self._send) as self._gate:
            try:
                await self._begin()
                async for data in self._messages():
                    await self._came(data)
                    # What waits is answered between two messages, however many there are.
                    await asyncio.sleep(0)
            except spdy.BadFrame:
                await self._send({"type": "websocket.send", "bytes": spdy.farewell(0, spdy.PROTOCOL_ERROR)})
                await self._send({"type": "websocket.close", "code": 1000})
            finally:
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _messages(self) -> AsyncIterator[bytes]:
        while (message := await self._receive())["type"] != "websocket.disconnect":
            yield message.get("bytes") or b""

    @abstractmethod
    async def _begin(self) -> None:
        """Say what comes first."""

    @abstractmethod
    async def _came(self, data: bytes) -> None:
        """Take a message of the client's.

        Raises:
            BadFrame: nothing that follows could be read.
        """

    def _run(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _put(self, frame: bytes) -> None:
        """Send what a container answers, when the client reads."""
        await self._gate.wait()
        await self._send({"type": "websocket.send", "bytes": frame})

    async def _tell(self, frame: bytes) -> None:
        """Send what is not an answer at once.

        Raises:
            BadFrame: the client does not read what it asks for.
        """
        self._unread = 0 if self._gate.is_open else self._unread + 1
        if self._unread > UNREAD_MAX:
            raise spdy.BadFrame("nobody reads what is sent")
        await self._send({"type": "websocket.send", "bytes": frame})


@dataclass(slots=True, eq=False)
class _Pair:
    """The two streams of one connection, as far as they are there."""

    port: int
    error: int = 0
    data: int = 0
    connection: Connection | None = None
    task: asyncio.Task[None] | None = None


class Tunnel(Forwarding):
    """Ports that are forwarded by the frames of SPDY."""

    def __init__(self, plan: ForwardPlan, receive: Receive, send: Send) -> None:
        super().__init__(plan, receive, send)
        self._reader, self._writer = spdy.Reader(), spdy.Writer()
        self._pairs: dict[str, _Pair] = {}
        self._streams: dict[int, str] = {}
        """Stream → the pair that it belongs to."""

    async def _begin(self) -> None:
        """The client begins."""

    async def _came(self, data: bytes) -> None:
        for happening in self._reader.read(data):
            match happening:
                case spdy.Opened():
                    await self._opened(happening)
                case spdy.Received(stream, piece, ended):
                    await self._received(stream, piece, ended=ended)
                case spdy.Dropped(stream):
                    self._dropped(stream)
                case spdy.Pinged(number):
                    await self._tell(spdy.pong(number))

    async def _opened(self, opened: spdy.Opened) -> None:
        kind, port = opened.headers.get("streamtype", ""), opened.headers.get("port", "")
        good = kind in ("error", "data") and port.isascii() and port.isdecimal() and len(port) <= 5
        if not good or not 0 < int(port) <= 65_535 or len(self._streams) >= STREAMS_MAX:
            await self._tell(spdy.reset(opened.stream, spdy.REFUSED_STREAM))
            return
        # Whoever names no request makes the stream of errors first, and that of data next.
        first = opened.stream - (2 if kind == "data" else 0)
        request = opened.headers.get("requestid") or str(first)
        pair = self._pairs.setdefault(request, _Pair(int(port)))
        if (pair.error if kind == "error" else pair.data) or pair.port != int(port):
            await self._tell(spdy.reset(opened.stream, spdy.REFUSED_STREAM))
            return
        self._streams[opened.stream] = request
        if kind == "error":
            pair.error = opened.stream
        else:
            pair.data = opened.stream
            pair.connection = Connection(pair.port, lambda data: self._put(spdy.data(opened.stream, data)))
            if opened.ended:
                pair.connection.ends()
        await self._tell(self._writer.reply(opened.stream))
        if pair.connection is not None and pair.error:
            pair.task = self._run(self._serve(request, pair, pair.connection))

    async def _serve(self, request: str, pair: _Pair, connection: Connection) -> None:
        try:
            told = await connection.serve(self._plan)
            # Whoever reads errors tells them before it is told that the connection has ended.
            await self._put(spdy.data(pair.error, told.encode(), ended=True))
            await self._put(spdy.data(pair.data, b"", ended=True))
        finally:
            self._forget(request)

    async def _received(self, stream: int, data: bytes, *, ended: bool) -> None:
        pair = self._pairs.get(self._streams.get(stream, ""))
        if pair is None or pair.connection is None or stream != pair.data:
            return
        if not pair.connection.came(data):
            await self._tell(spdy.reset(stream, spdy.REFUSED_STREAM))
            self._dropped(stream)
        elif ended:
            pair.connection.ends()

    def _dropped(self, stream: int) -> None:
        """End the connection of a stream that nobody wants any more."""
        request = self._streams.get(stream, "")
        pair = self._pairs.get(request)
        if pair is None or (stream == pair.error and pair.task is not None):
            return
        if pair.task is None or pair.connection is None:
            self._forget(request)
        else:
            pair.connection.drop()

    def _forget(self, request: str) -> None:
        pair = self._pairs.pop(request, None)
        if pair is not None:
            self._streams.pop(pair.error, None)
            self._streams.pop(pair.data, None)


class Channels(Forwarding):
    """Ports that are forwarded by two channels each."""

    def __init__(self, plan: ForwardPlan, receive: Receive, send: Send) -> None:
        super().__init__(plan, receive, send)
        self._connections: list[Connection | None] = [
            Connection(port, partial(self._on, 2 * number)) for number, port in enumerate(plan.ports)
        ]

    async def _on(self, channel: int, data: bytes) -> None:
        await self._put(bytes((channel,)) + data)

    async def _begin(self) -> None:
        for number, connection in enumerate(self._connections):
            assert connection is not None, "all are there in the beginning"
            for channel in (2 * number, 2 * number + 1):
                await self._on(channel, struct.pack("<H", connection.port))
            self._run(self._serve(number, connection))

    async def _serve(self, number: int, connection: Connection) -> None:
        told = await connection.serve(self._plan)
        if told:
            await self._on(2 * number + 1, told.encode())
        self._connections[number] = None
        if not any(self._connections):
            await self._send({"type": "websocket.close", "code": 1000})

    async def _came(self, data: bytes) -> None:
        number, is_error = divmod(data[0], 2) if data else (0, 1)
        connection = None if is_error or number >= len(self._connections) else self._connections[number]
        if connection is not None and not connection.came(data[1:]):
            connection.drop()
