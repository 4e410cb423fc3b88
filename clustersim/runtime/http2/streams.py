"""One request of an HTTP/2 connection, and the stream that Twisted's request takes for its HTTP channel."""

from __future__ import annotations

from collections import deque
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Protocol

from clustersim import bodies
from clustersim.runtime.boundedrequest import BoundedRequest

if TYPE_CHECKING:
    from twisted.python.failure import Failure

PROTOCOL: Final = b"HTTP/2"

_OF_ONE_CONNECTION: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"}
)
"""Headers that HTTP/2 does not have (RFC 9113, 8.2.2)."""

Pairs = list[tuple[bytes, bytes]]


class Carrier(Protocol):
    """What a stream asks of its connection."""

    factory: Any
    transport: Any
    peer: Any
    host: Any

    def send_head(self, stream: Stream, pairs: Pairs) -> None:
        """Send the head of an answer."""

    def take(self, stream: Stream, size: int) -> None:
        """Note that a stream has so many bytes more to send."""

    def finish(self, stream: Stream) -> None:
        """Note that a stream has everything that it is to send."""

    def send_waiting(self) -> None:
        """Send what there is."""

    def answer(self, stream: Stream, head: Pairs, body: bytes) -> None:
        """Answer a request without its application, and take nothing more of it."""

    def give_up(self, stream: Stream) -> None:
        """End a stream without its answer, or the rest of it."""


class Stream:
    """What a request is answered through; it keeps what the client has given no room for.

    The names in Twisted's spelling are those that `twisted.web.http.Request` calls on an `HTTPChannel`.
    """

    __slots__ = (
        "_path",
        "coming",
        "connection",
        "deadline",
        "ended",
        "number",
        "producer",
        "request",
        "unsent",
        "waiting",
    )

    def __init__(self, connection: Carrier, number: int, path: bytes) -> None:
        self.connection = connection
        self.number = number
        self._path = path
        """As an HTTPChannel keeps it: BoundedRequest looks it up to know how much may come."""
        self.waiting: deque[memoryview] | None = None
        self.unsent = 0
        """Bytes in `waiting`."""
        self.coming = True
        """Whether the client still sends the request."""
        self.ended = False
        """Whether the application has said everything."""
        self.deadline: float | None = None
        """When a stream is given up that its client must move on."""
        self.producer: Any = None
        self.request: Any = StreamRequest(self)
        """None: it has said everything, or is lost."""

    @property
    def factory(self) -> Any:
        """Return what made the connection: a request finds its server there."""
        return self.connection.factory

    @property
    def transport(self) -> Any:
        """Return the connection's transport: it knows the client's certificate. Nothing is written to it."""
        return self.connection.transport

    def getPeer(self) -> Any:  # noqa: N802
        """Return the client's address."""
        return self.connection.peer

    def getHost(self) -> Any:  # noqa: N802
        """Return the server's address."""
        return self.connection.host

    def isSecure(self) -> bool:  # noqa: N802
        """Return whether this is TLS: HTTP/2 is spoken nowhere else."""
        return True

    def writeHeaders(self, _version: bytes, code: bytes, _reason: bytes, headers: Any) -> None:  # noqa: N802
        """Send the head of an answer."""
        pairs = [
            (name.lower(), value)
            for name, values in headers.getAllRawHeaders()
            for value in values
            if name.lower() not in _OF_ONE_CONNECTION
        ]
        self.connection.send_head(self, [(b":status", code), *pairs])

    def write(self, data: bytes) -> None:
        """Take a part of the answer's body; it goes out when the connection is told to send."""
        if data:
            if self.waiting is None:
                self.waiting = deque()
            self.waiting.append(memoryview(data))
            self.connection.take(self, len(data))

    def writeSequence(self, pieces: list[bytes]) -> None:  # noqa: N802
        """Take parts of the answer's body."""
        self.write(b"".join(pieces))

    def requestDone(self, _request: Any) -> None:  # noqa: N802
        """End the answer once what waits has gone out."""
        self.ended, self.request = True, None
        self.connection.finish(self)

    def registerProducer(self, producer: Any, _streaming: bool) -> None:  # noqa: N802
        """Tell this one when there is no room, and when there is again."""
        self.producer = producer
        if self.unsent:
            producer.pauseProducing()

    def unregisterProducer(self) -> None:  # noqa: N802
        """Tell nobody any more."""
        self.producer = None

    def lose(self, reason: Failure) -> None:
        """Tell the request that nobody takes its answer any more; one that is over is not told."""
        request, self.request = self.request, None
        if request is not None:
            request.connectionLost(reason)

    def loseConnection(self) -> None:  # noqa: N802
        """Give the request up."""
        self.connection.give_up(self)

    def _respondToBadRequestAndDisconnect(self) -> None:  # noqa: N802
        """Answer 400: Twisted could not read a form."""
        self.connection.answer(self, [(b":status", b"400")], b"")


class StreamRequest(BoundedRequest):
    """A request that came by HTTP/2."""

    channel: Stream | None

    def handle_reply(self, message: dict[str, Any]) -> None:
        """Send a part of the answer; the end goes out with the last part."""
        # One that is over has no channel any more, and says nothing.
        stream = None if self.finished else self.channel
        super().handle_reply(message)
        if stream is not None:
            stream.connection.send_waiting()

    def _refuse(self) -> None:
        self._refused = True
        self.content.close()
        headers, body = bodies.encoded(bodies.too_large(self._target, self._most))
        status = str(HTTPStatus.REQUEST_ENTITY_TOO_LARGE.value).encode()
        if self.channel is not None:
            self.channel.connection.answer(self.channel, [(b":status", status), *headers], body)

    def _cut(self) -> None:
        """Do nothing: the stream has ended with its refusal, and what still comes is not for it."""
