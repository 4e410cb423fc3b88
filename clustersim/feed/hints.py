"""Hints: "look at the log now". A hint holds a kind, a session and a revision, never an object.

They go to the feeds of this process directly and to other processes through Redis. A lost one costs at most the poll
of the feed (`hub.POLL_MS`), so nothing here retries and nothing here fails the caller.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable
from typing import Final

import redis
import redis.asyncio
from django.conf import settings

CHANNEL: Final = "clustersim.hints"
LOG: Final = "log"
PEOPLE: Final = "people"
METRICS: Final = "metrics"
"""Asks the session's owner for its schedulers' metrics; the number names the question."""

RETRY_SECONDS: Final = 1.0
"""While Redis does not answer it is left alone this long, so that a dead one does not slow every write."""

CONNECT_SECONDS: Final = 0.25
"""How long a writer waits for Redis before it goes on without."""

Listener = Callable[[str, int, int], None]
"""Called with (kind, session id, revision), from any thread."""

_logger = logging.getLogger(__name__)
_listeners: set[Listener] = set()
_lock = threading.Lock()


class _Publisher:
    """The way out of this process: one client, and a pause after a failure."""

    def __init__(self) -> None:
        self._client: redis.Redis | None = None
        self._silent_until = 0.0

    def publish(self, text: str) -> None:
        if time.monotonic() < self._silent_until:
            return
        try:
            if self._client is None:
                self._client = redis.Redis.from_url(
                    settings.REDIS_URL, socket_connect_timeout=CONNECT_SECONDS, socket_timeout=CONNECT_SECONDS
                )
            self._client.publish(CHANNEL, text)
        except (redis.RedisError, OSError) as error:
            if self._silent_until == 0.0:
                _logger.info("hints stay in this process: Redis does not answer (%s)", error)
            self._silent_until = time.monotonic() + RETRY_SECONDS
            return
        self._silent_until = 0.0


_publisher = _Publisher()


def listen(listener: Listener) -> None:
    """Have `listener` called for the hints of this process and those that `relay` hears."""
    with _lock:
        _listeners.add(listener)


def unlisten(listener: Listener) -> None:
    """Stop calling `listener`."""
    with _lock:
        _listeners.discard(listener)


def _tell(kind: str, session_id: int, revision: int) -> None:
    with _lock:
        listeners = tuple(_listeners)
    for listener in listeners:
        listener(kind, session_id, revision)


def wake(session_id: int, revision: int) -> None:
    """Say after a commit that the session's log has reached `revision`."""
    _tell(LOG, session_id, revision)
    _publisher.publish(f"{LOG} {session_id} {revision}")


def wake_people(session_id: int) -> None:
    """Say that somebody came, went or was renamed."""
    _tell(PEOPLE, session_id, 0)
    _publisher.publish(f"{PEOPLE} {session_id} 0")


def want_metrics(session_id: int, number: int) -> None:
    """Ask the session's owner for its schedulers' metrics."""
    _tell(METRICS, session_id, number)
    _publisher.publish(f"{METRICS} {session_id} {number}")


async def relay() -> None:
    """Pass on what other processes say, until cancelled; come back by itself when Redis does."""
    while True:
        client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=CONNECT_SECONDS)
        try:
            async with client.pubsub() as subscription:
                await subscription.subscribe(CHANNEL)
                async for message in subscription.listen():
                    if message["type"] == "message":
                        pass_on(message["data"])
        except (redis.RedisError, OSError) as error:
            _logger.debug("no hints from other processes: %s", error)
        finally:
            with contextlib.suppress(redis.RedisError, OSError):
                await client.aclose()
        await asyncio.sleep(RETRY_SECONDS)


def pass_on(data: bytes) -> None:
    """Tell this process's listeners what another one said; anything that is no hint is passed over."""
    kind, _, rest = data.decode("ascii", "replace").partition(" ")
    session, _, revision = rest.partition(" ")
    if kind in (LOG, PEOPLE, METRICS) and session.isdecimal() and revision.isdecimal():
        _tell(kind, int(session), int(revision))
