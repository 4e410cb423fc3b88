"""Daphne, with a body refused at its limit while it comes in.

Daphne hands a request to the application once its body is there, and keeps all of it until then; so the limit has to be
where the connection is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

# Daphne first: its import installs the asyncio reactor, which must come before any other Twisted import.
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import Server as _Daphne

from clustersim import bodies

DRAIN_BYTES_MAX: Final = 1024 * 1024
"""Bytes of a refused body that are still read and thrown away, so that a client in the middle of it sees the answer."""

DRAIN_SECONDS: Final = 5.0
"""How long a client with a refused body may take to notice; then its connection is cut."""


class BoundedRequest(WebRequest):  # type: ignore[misc]
    """A request whose body is counted as it comes, by what its path may have."""

    def gotLength(self, length: int | None) -> None:  # noqa: N802
        """Begin a body, whose length is None where it comes in chunks."""
        # The request is told its path when the body is there; the channel has read it.
        self._target = self.channel._path.partition(b"?")[0].decode("latin-1")
        self._most = self.server.body_bytes_max(self._target)
        self._taken = 0
        self._refused = False
        super().gotLength(length)
        if length is not None and length > self._most:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        """Keep one piece of the body, if it may have that much."""
        self._taken += len(data)
        if not self._refused and self._taken > self._most:
            self._refuse()
        if not self._refused:
            super().handleContentChunk(data)
        elif self._taken > self._most + DRAIN_BYTES_MAX:
            self._cut()

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:  # noqa: N802
        """Go on to the application, unless the body was refused: its answer has gone out already."""
        if self._refused:
            self.channel.loseConnection()
        else:
            super().requestReceived(command, path, version)

    def _refuse(self) -> None:
        """Answer at once and let go of what was kept."""
        self._refused = True
        self.content.close()
        error = bodies.too_large(self._target, self._most)
        headers, body = bodies.encoded(error)
        lines = [b"HTTP/1.1 413 Request Entity Too Large", b"connection: close"]
        lines += [name + b": " + value for name, value in headers]
        self.channel.transport.write(b"\r\n".join([*lines, b"", body]))
        self.channel.callLater(DRAIN_SECONDS, self._cut)

    def _cut(self) -> None:
        # The channel is gone where the client has let go by itself.
        if self.channel is not None:
            self.channel.forceAbortClient()


class _Factory(HTTPFactory):  # type: ignore[misc]
    """Makes connections whose requests are bounded."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = BoundedRequest
        return protocol


class Server(_Daphne):  # type: ignore[misc]
    """Daphne's server; `body_bytes_max` says how many bytes a request to a path may have."""

    def __init__(self, *arguments: Any, body_bytes_max: Callable[[str], int], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.body_bytes_max = body_bytes_max

    @property
    def http_factory(self) -> _Factory:
        """Return what makes HTTP connections."""
        return self._http_factory

    @http_factory.setter
    def http_factory(self, _: HTTPFactory) -> None:
        # Daphne makes its own in `run` and knows no other way to be given one.
        self._http_factory = _Factory(self)
