"""Readers that wait for a session's log to go on, woken in the order in which it concerns them.

Streams of one session are read side by side: a client that follows pods and Events sees the pod before the Event about
it, as with upstream, whose watches are told of one write after another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

ALL = ""
"""What a reader of everything waits for."""


class Waiting:
    """Those who wait, by the resource that they read; belongs to one event loop."""

    __slots__ = ("_futures",)

    def __init__(self) -> None:
        self._futures: dict[str, dict[asyncio.Future[None], None]] = {}

    async def wait(self, resource: str) -> None:
        """Wait until the log has gone on."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        own = self._futures.setdefault(resource, {})
        own[future] = None
        try:
            await future
        finally:
            own.pop(future, None)

    def wake(self, resources: Iterable[str]) -> None:
        """Wake everybody: who reads these resources first, in their order."""
        futures, self._futures = self._futures, {}
        for resource in (*dict.fromkeys(resources), *futures):
            for future in futures.pop(resource, ()):
                if not future.done():
                    future.set_result(None)
