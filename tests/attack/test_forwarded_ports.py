"""Clients of forwarded ports that send nonsense or more than anybody would: it costs little and breaks nothing."""

from __future__ import annotations

import logging
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator

from clustersim.apiserver import spdy
from clustersim.apiserver.forwarding import WAITING_BYTES_MAX
from clustersim.apiserver.tunnelling import STREAMS_MAX
from tests.apiserver.test_spdy import BAD, Client
from tests.tools.application import bearer, http, opened
from tests.tools.patience import PATIENCE_SECONDS

TUNNEL = "SPDY/3.1+portforward.k8s.io"
CHANNELS = "v4.channel.k8s.io"
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Forwarded:
    """A websocket on which ports of a pod are forwarded."""

    def __init__(self, communicator: WebsocketCommunicator) -> None:
        self.communicator = communicator
        self.client = Client()

    async def send(self, data: bytes) -> None:
        await self.communicator.send_to(bytes_data=data)

    async def next(self) -> bytes | None:
        """Return what comes next; None: the websocket is closed."""
        told = await self.communicator.receive_output(timeout=PATIENCE_SECONDS)
        return None if told["type"] == "websocket.close" else told["bytes"]

    async def connect(self, stream: int, port: str = "80") -> None:
        for number, kind in ((stream, "error"), (stream + 2, "data")):
            await self.send(self.client.opens(number, streamtype=kind, port=port, requestid=str(stream)))
            assert (await self.next() or b"")[:4] == struct.pack(">HH", 0x8003, spdy.SYN_REPLY)

    async def answers(self, stream: int) -> bool:
        """Return whether a request on a new connection is answered."""
        await self.connect(stream)
        await self.send(spdy.data(stream + 2, REQUEST))
        return b"HTTP/1.1 200 OK" in (await self.next() or b"")


@asynccontextmanager
async def forwarded(protocol: str = TUNNEL, query: bytes = b"") -> AsyncIterator[Forwarded]:
    from clustersim.asgi import application

    async with http() as client:
        session = await opened(client)
        headers = bearer(session["token"])
        base = f"/clusters/{session['code']}/api/v1"
        assert (await client.post(f"{base}/nodes", json={"metadata": {"name": "n1"}}, headers=headers)).is_success
        pod = {
            "metadata": {"name": "web"},
            "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "nginx"}]},
        }
        path = f"{base}/namespaces/default/pods"
        assert (await client.post(path, json=pod, headers=headers)).is_success
        runs = {"name": "main", "image": "", "imageID": "", "ready": True, "restartCount": 0, "state": {"running": {}}}
        status = {"status": {"phase": "Running", "podIP": "10.128.1.9", "containerStatuses": [runs]}}
        kind = {"Content-Type": "application/merge-patch+json"}
        assert (await client.patch(f"{path}/web/status", json=status, headers={**headers, **kind})).is_success
        raw = [(b"host", b"127.0.0.1:8000"), (b"authorization", headers["Authorization"].encode())]
        url = f"{path}/web/portforward" + (f"?{query.decode()}" if query else "")
        communicator = WebsocketCommunicator(application, url, headers=raw, subprotocols=[protocol])
        assert await communicator.connect(timeout=PATIENCE_SECONDS) == (True, protocol)
        yield Forwarded(communicator)
        await communicator.disconnect(timeout=PATIENCE_SECONDS)


@pytest.fixture(autouse=True)
def _nothing_is_logged(caplog: pytest.LogCaptureFixture) -> Any:
    yield
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("frame", BAD.values(), ids=BAD)
async def test_nonsense_ends_the_connection_with_a_farewell(frame: bytes) -> None:
    async with forwarded() as made:
        await made.send(frame)
        assert await made.next() == spdy.farewell(0, spdy.PROTOCOL_ERROR)
        assert await made.next() is None


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"streamtype": "data"},
        {"streamtype": "else", "port": "80"},
        {"streamtype": "data", "port": "0"},
        {"streamtype": "data", "port": "65536"},
        {"streamtype": "data", "port": "-1"},
        {"streamtype": "data", "port": "٣"},
        {"streamtype": "error", "port": "9" * 5000},
    ],
)
async def test_a_stream_that_says_not_what_it_is_for_is_refused_and_others_go_on(headers: dict[str, str]) -> None:
    async with forwarded() as made:
        await made.send(made.client.opens(1, **headers))
        assert await made.next() == spdy.reset(1, spdy.REFUSED_STREAM)
        assert await made.answers(3)


async def test_streams_that_do_not_belong_together_are_refused() -> None:
    async with forwarded() as made:
        await made.connect(1)
        for number, kind, port in ((5, "data", "80"), (7, "error", "80"), (9, "data", "81")):
            await made.send(made.client.opens(number, streamtype=kind, port=port, requestid="1"))
            assert await made.next() == spdy.reset(number, spdy.REFUSED_STREAM)
        assert await made.answers(11)


async def test_who_opens_thousands_of_streams_is_refused_most_and_gets_them_back() -> None:
    async with forwarded() as made:
        numbers = range(1, 2 * 3000, 2)
        await made.send(
            b"".join(made.client.opens(n, streamtype="error", port="80", requestid=str(n)) for n in numbers)
        )
        told = [await made.next() or b"" for _ in numbers]
        taken = [one for one in told if one[:4] == struct.pack(">HH", 0x8003, spdy.SYN_REPLY)]
        assert len(taken) == STREAMS_MAX
        # Those that are dropped make room.
        for number in numbers[:10]:
            await made.send(spdy.reset(number, 5))
        assert await made.answers(6001)


async def test_what_comes_on_streams_that_are_not_there_is_nothing() -> None:
    async with forwarded() as made:
        for stream in (0, 1, 99, 2**31 - 1):
            await made.send(spdy.data(stream, REQUEST, ended=True) + spdy.reset(stream, 5))
        await made.connect(1)
        await made.send(spdy.data(1, b"on the stream of errors"))
        assert await made.answers(5)


async def test_more_than_is_answered_in_time_cuts_one_connection_alone() -> None:
    async with forwarded() as made:
        await made.connect(1)
        # In one message: nothing of it can be answered before all of it is there.
        many = REQUEST * (200_000 // len(REQUEST))
        await made.send(b"".join(spdy.data(3, many) for _ in range(WAITING_BYTES_MAX // len(many) + 1)))
        assert await made.next() == spdy.reset(3, spdy.REFUSED_STREAM)
        # What was taken before is answered, and then both of its streams end.
        while (frame := await made.next()) != spdy.data(3, b"", ended=True):
            assert frame
        assert await made.answers(5)


async def test_a_ping_is_answered() -> None:
    async with forwarded() as made:
        await made.send(spdy.control(spdy.PING, struct.pack(">I", 5)))
        assert await made.next() == spdy.pong(5)


async def test_a_stream_that_ends_is_ended_on_both_sides() -> None:
    async with forwarded() as made:
        await made.connect(1)
        await made.send(spdy.data(1, b"", ended=True) + spdy.data(3, REQUEST, ended=True))
        assert b"Welcome to nginx!" in (await made.next() or b"")
        assert [await made.next() for _ in range(2)] == [spdy.data(1, b"", ended=True), spdy.data(3, b"", ended=True)]


async def test_frames_of_channels_that_are_not_there_are_nothing() -> None:
    async with forwarded(CHANNELS, b"ports=80") as made:
        assert [await made.next() for _ in range(2)] == [b"\0\x50\0", b"\1\x50\0"]
        for frame in (b"\1x", b"\2x", b"\xff", b"\xfe" + b"x" * 1000):
            await made.send(frame)
        await made.send(b"\0" + REQUEST)
        assert b"HTTP/1.1 200 OK" in (await made.next() or b"")
