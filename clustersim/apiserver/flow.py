"""Flow control of streams: wait while the client does not read, so that a slow one costs no memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any


class Gate:
    """Open while the connection takes more. Daphne's `send` never waits; its connection says when it is full."""

    __slots__ = ("_shut",)

    def __init__(self) -> None:
        self._shut: asyncio.Event | None = None
        """Set when it opens again; none while it is open, as most are."""

    @property
    def is_open(self) -> bool:
        """Return whether the connection has room."""
        return self._shut is None

    async def wait(self) -> None:
        """Wait until the connection has room."""
        if self._shut is not None:
            await self._shut.wait()

    # Twisted's IPushProducer, by which a connection tells whoever writes to it.

    def pauseProducing(self) -> None:  # noqa: N802
        """Close: the connection holds enough unsent bytes."""
        if self._shut is None:
            self._shut = asyncio.Event()

    def resumeProducing(self) -> None:  # noqa: N802
        """Open: what was unsent has gone out."""
        if self._shut is not None:
            self._shut.set()
            self._shut = None

    def stopProducing(self) -> None:  # noqa: N802
        """Open: the connection is lost, and nobody needs to wait for it."""
        self.resumeProducing()


@contextlib.contextmanager
def gate(send: Any) -> Iterator[Gate]:
    """Give the gate of the connection behind an ASGI `send`.

    Daphne's is a partial that carries its request; any other server waits inside `send`, and the gate stays open.
    """
    opened = Gate()
    request: Any = next(iter(getattr(send, "args", ())), None)
    websocket = hasattr(request, "sendMessage")
    if not hasattr(request, "registerProducer") or (not websocket and request.channel is None):
        yield opened
        return
    if websocket:
        # The HTTP channel that it was is still told in its place.
        request.unregisterProducer()
    request.registerProducer(opened, True)
    try:
        yield opened
    finally:
        # A lost connection has let go of its producer already.
        if websocket or request.channel is not None:
            request.unregisterProducer()
