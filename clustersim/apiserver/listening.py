"""Streams as long as somebody listens: until the client goes away, or its token is no longer good.

Thousands of watches stand still most of the time, so that each costs memory alone. One has two tasks: the server's own,
which sends, and one that waits for the client's farewell. Its token is looked at by a timer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, Final

ATTEND_SECONDS: Final = 30.0
"""How often an open watch marks its session as used and its token is looked at again."""

Receive = Callable[[], Awaitable[dict[str, Any]]]
Asked = Callable[[], "asyncio.Future[bool]"]


class _Attendant:
    """Asks at once and every ATTEND_SECONDS whether a stream may go on, and ends it when it may not."""

    __slots__ = ("_asked", "_end", "_timer", "failure")

    def __init__(self, asked: Asked, end: Callable[[], None]) -> None:
        self._asked = asked
        self._end: Callable[[], None] | None = end
        self._timer: asyncio.TimerHandle | None = None
        self.failure: BaseException | None = None
        self._ask()

    def _ask(self) -> None:
        self._timer = None
        self._asked().add_done_callback(self._told)

    def _told(self, future: asyncio.Future[bool]) -> None:
        if future.cancelled():
            return
        failure = future.exception()
        if self._end is None:
            return
        if failure is None and future.result():
            self._timer = asyncio.get_running_loop().call_later(ATTEND_SECONDS, self._ask)
            return
        self.failure = failure
        self._end()

    def stop(self) -> None:
        """Ask no more."""
        self._end = None
        if self._timer is not None:
            self._timer.cancel()


@contextlib.asynccontextmanager
async def listened(asked: Asked, receive: Receive | None = None) -> AsyncIterator[None]:
    """Run what is inside until it ends, the client goes away, or `asked` says no; raise what `asked` raised.

    Args:
        asked: begins to find out whether the stream may go on.
        receive: the client's messages; None where what is inside reads them itself.
    """
    farewell: asyncio.Task[None] | None = None
    attendant: _Attendant | None = None
    try:
        async with asyncio.timeout(None) as limit:
            attendant = _Attendant(asked, partial(_end, limit))
            if receive is not None:
                farewell = asyncio.create_task(_farewell(receive, limit))
            try:
                yield
            finally:
                attendant.stop()
                if farewell is not None:
                    farewell.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await farewell
    except TimeoutError:
        if not limit.expired():
            raise
    if attendant is not None and attendant.failure is not None:
        raise attendant.failure


async def _farewell(receive: Receive, limit: asyncio.Timeout) -> None:
    """Wait until the client goes away, then end what it listened to."""
    while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
        pass
    _end(limit)


def _end(limit: asyncio.Timeout) -> None:
    if not limit.expired():
        limit.reschedule(asyncio.get_running_loop().time())
