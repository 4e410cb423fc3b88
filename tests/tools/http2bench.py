"""One HTTP/2 connection of the server in this process; its transport is memory, and its clock stands."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from clustersim.runtime.http2.connection import Connection
from clustersim.runtime.webserver import Inbox
from tests.tools.http2 import Talk

MOST = 1_000
IDLE = 60


class Transport(StringTransport):
    """Takes what is written until it is told to be full, and remembers how it ended."""

    lost = aborted = False
    consumer: Any = None
    negotiatedProtocol: bytes | None = b"h2"  # noqa: N815
    wrappedProtocol: Any = None  # noqa: N815
    full_after: int | None = None

    def registerProducer(self, producer: Any, streaming: bool) -> None:  # noqa: N802
        self.consumer = producer

    def unregisterProducer(self) -> None:  # noqa: N802
        self.consumer = None

    def write(self, data: bytes) -> None:
        super().write(data)
        if self.full_after is not None and len(self.value()) > self.full_after and self.consumer is not None:
            self.consumer.pauseProducing()

    def loseConnection(self) -> None:  # noqa: N802
        self.lost = True

    def abortConnection(self) -> None:  # noqa: N802
        self.aborted = True


class Producer:
    """Whoever writes an answer, and is told when there is no room."""

    paused = False

    def pauseProducing(self) -> None:  # noqa: N802
        self.paused = True

    def resumeProducing(self) -> None:  # noqa: N802
        self.paused = False


class Bench:
    """A connection, its client, and the requests that have come to the application."""

    def __init__(self, *, reads: bool = True) -> None:
        self.asked: list[Any] = []
        self.open: list[Any] = []
        """Requests that are not over; each ends once."""
        self.scopes: list[dict[str, Any]] = []
        self.working: dict[Any, asyncio.Future[None]] = {}
        server = SimpleNamespace(
            root_path="",
            server_name="",
            request_buffer_size=8192,
            proxy_forwarded_address_header=None,
            body_bytes_max=lambda path: MOST,
            protocol_connected=self.open.append,
            protocol_disconnected=self.open.remove,
            create_application=self.begin,
            application_of=self.working.get,
            log_action=lambda *_: None,
        )
        factory = SimpleNamespace(server=server, timeOut=IDLE, log=lambda request: None)
        self.clock = Clock()
        self.server = Connection(factory, self.clock.seconds, lambda _: None)
        self.server.callLater = self.clock.callLater  # type: ignore[method-assign]
        self.transport = Transport()
        self.server.makeConnection(self.transport)
        self.talk = Talk(reads=reads)

    def begin(self, request: Any, scope: dict[str, Any]) -> Inbox:
        self.asked.append(request)
        self.scopes.append(scope)
        return Inbox()

    def swap(self) -> None:
        """Let both say what they have to say, until neither has more."""
        while True:
            said = self.talk.out()
            if said:
                self.server.dataReceived(said)
            came = self.transport.value()
            self.transport.clear()
            if came:
                self.talk.hear(came)
            if not said and not came:
                return

    def say(self, data: bytes) -> None:
        """Let the server hear bytes, in pieces as a connection has them, for as long as it listens."""
        for at in range(0, len(data), 16_384):
            if not self.transport.lost:
                self.server.dataReceived(data[at : at + 16_384])

    def ask(self, path: str = "/a", *arguments: Any, **options: Any) -> int:
        number = self.talk.ask(path, *arguments, **options)
        self.swap()
        return number

    def reply(self, body: bytes, index: int = -1, *, more: bool = False, status: int = 200) -> None:
        request = self.asked[index]
        if not request.startedWriting:
            request.handle_reply({"type": "http.response.start", "status": status, "headers": [(b"X-A", b"b")]})
        request.handle_reply({"type": "http.response.body", "body": body, "more_body": more})
        self.swap()

    def told(self, index: int = -1) -> list[str]:
        """Return what the application would be told next."""
        return [message["type"] for message in self.asked[index].application_queue._messages]
