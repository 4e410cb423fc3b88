"""A request whose body is refused at its limit while it comes in, and that lets go of itself once it is a stream."""

from __future__ import annotations

from typing import Any, Final

from daphne.http_protocol import WebRequest
from twisted.web.http_headers import Headers

from clustersim import bodies

DRAIN_BYTES_MAX: Final = 1024 * 1024
"""Bytes of a refused body that are still read and thrown away, so that a client in the middle of it sees the answer."""

DRAIN_SECONDS: Final = 5.0
"""How long a client with a refused body may take to notice; then its connection is cut."""

_NO_HEADERS: Final = Headers()
"""Of a stream under way; shared, nobody writes into it."""


class BoundedRequest(WebRequest):  # type: ignore[misc]
    """A request whose body is counted as it comes, by what its path may have."""

    content: Any
    """The body; None: of a stream that has begun."""

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

    def handle_reply(self, message: dict[str, Any]) -> None:
        """Send a part of the answer; a stream lets go of its request once it has begun: it may stand for an hour."""
        super().handle_reply(message)
        if message.get("more_body") and self.content is not None:
            self.requestHeaders = self.responseHeaders = _NO_HEADERS
            self.clean_headers = self.args = self.content = None

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
