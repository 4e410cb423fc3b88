"""Hints: "look at the log now". A hint holds a kind, a session and a revision, never an object.

They go to the listeners of this process directly and to other processes over the channel layer: every process has one
channel in one group, whatever it serves, and hints that wait for their turn there are folded into one message. A lost
one costs at most the poll of the feed (`hub.POLL_MS`), so nothing here retries and nothing here fails the caller.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

import redis
from channels.layers import get_channel_layer

from clustersim.store import sessions

GROUP: Final = "clustersim.hints"
MESSAGE: Final = "hints"
LOG: Final = "log"
PEOPLE: Final = "people"
CLASS: Final = "class"
"""What the class is shown has changed, or what it may do (`classroom/lectern.py`): told at once, without settling."""

METRICS: Final = "metrics"
"""Asks the session's owner for its schedulers' metrics; the number names the question."""

PANELS: Final = "panels"
"""Asks the session's owner what its controllers are at; the number names the question."""

INSIDES: Final = "insides"
"""Asks the session's owner what its replicas are at; the number names the question."""

REQUESTS: Final = "requests"
"""The API has answered a request that is remembered (`classroom/requests.py`)."""

VOTES: Final = "votes"
"""Somebody voted in a poll of the session, or the poll has come further."""

WATCHES: Final = "watches"
"""Asks the session's owner what its components watch; the number names the question."""

OWNER: Final = "owner"
"""A session has no owner: it was opened, woken or let go."""
READ: Final = "read"
"""Somebody reads a session's log: its owner tells when it grows. Said again every READ_SECONDS."""
ALL: Final = "all"
"""Hints may have been lost: look at everything."""

READ_SECONDS: Final = 10.0
"""How often readers say that they read; an owner believes it three times as long."""

RETRY_SECONDS: Final = 1.0
"""While Redis does not answer it is left alone this long."""

SEND_SECONDS: Final = 0.5
"""How long one message may take on its way into Redis."""

UNHURRIED_SECONDS: Final = 0.1
"""How long hints that nobody waits for stay for others to go out with: two hundred votes a second are ten messages."""

SPACING_SECONDS: Final = 0.01
"""How long after a message the next one goes out: the first hint of a click leaves at once, those of four hundred
writes a second leave by four, and each costs every process a look."""

REJOIN_SECONDS: Final = 300.0
"""How often a process says that its channel still belongs to the group: those of dead ones are forgotten
(`group_expiry` in the settings is twice as long)."""

_KINDS: Final = (LOG, PEOPLE, CLASS, METRICS, PANELS, INSIDES, REQUESTS, VOTES, WATCHES, OWNER, READ, ALL)
_UNHURRIED: Final = (PEOPLE, REQUESTS, VOTES)
"""Kinds that their listeners let settle, so that a class which votes is not told of each vote one by one."""

_QUESTIONS: Final = (METRICS, PANELS, INSIDES, WATCHES)
"""Each of these is one question; hints of other kinds are told once for many."""

Listener = Callable[[str, int, int], None]
"""Called with (kind, session id, revision), from any thread."""

_logger = logging.getLogger(__name__)
_listeners: set[Listener] = set()
_lock = threading.Lock()


class _Relay:
    """The channel layer's end in this process: a thread with a loop of its own, which sends and receives.

    It starts with the first listener or hint, so a command that does neither needs no Redis.
    """

    def __init__(self) -> None:
        self.name = ""
        """Of this process's channel; drawn when it starts, for processes that are forked have this object alike."""
        self._lock = threading.Lock()
        self._outbox: dict[tuple[str, int, int], int] = {}
        self._hurried = False  # whether one in the outbox may not wait
        self._filled = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.sends = True
        """Whether the last message went out."""
        self.hears = False
        """Whether this process's channel is in the group."""

    def start(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self.name = f"{MESSAGE}.{uuid.uuid4().hex}"
                loop = self._loop = asyncio.new_event_loop()
                threading.Thread(target=lambda: loop.run_until_complete(self._run()), name="hints", daemon=True).start()
            return self._loop

    def post(self, kind: str, session_id: int, number: int) -> None:
        """Have a hint told to the other processes; of one session's log only the newest revision counts."""
        loop = self.start()
        key = (kind, session_id, number if kind in _QUESTIONS else 0)
        hurried = kind not in _UNHURRIED
        with self._lock:
            waiting, hurries = bool(self._outbox), hurried and not self._hurried
            self._outbox[key] = max(number, self._outbox.get(key, 0))
            self._hurried = self._hurried or hurried
        if hurries:
            loop.call_soon_threadsafe(self._filled.set)
        elif not waiting:
            loop.call_soon_threadsafe(loop.call_later, UNHURRIED_SECONDS, self._filled.set)

    async def _run(self) -> None:
        await asyncio.gather(self._send(), self._receive())

    async def _send(self) -> None:
        while True:
            await self._filled.wait()
            self._filled.clear()
            with self._lock:
                posted, self._outbox, self._hurried = self._outbox, {}, False
            if not posted and self.sends:
                continue  # all of it has gone out with one that could not wait
            told = [[kind, session_id, number] for (kind, session_id, _), number in posted.items()]
            message = {"type": MESSAGE, "from": self.name, "hints": told}
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    await get_channel_layer().group_send(GROUP, message)
                await asyncio.sleep(SPACING_SECONDS)
                if not self.sends:
                    # What could not be told meanwhile, others look for themselves.
                    self.sends = True
                    self.post(ALL, 0, 0)
            except (redis.RedisError, OSError) as error:  # a TimeoutError is an OSError
                if self.sends:
                    _logger.info("hints stay in this process: Redis does not answer (%s)", error)
                    self.sends = False
                    _tell(ALL, 0, 0)
                await asyncio.sleep(RETRY_SECONDS)
                self._filled.set()

    async def _receive(self) -> None:
        """Pass on what other processes say; come back by itself when Redis does."""
        while True:
            try:
                layer = get_channel_layer()
                await layer.group_add(GROUP, self.name)
                if not self.hears:
                    self.hears = True
                    _tell(ALL, 0, 0)
                rejoin_at = asyncio.get_running_loop().time() + REJOIN_SECONDS
                while asyncio.get_running_loop().time() < rejoin_at:
                    try:
                        async with asyncio.timeout_at(rejoin_at):
                            message = await layer.receive(self.name)
                    except TimeoutError:
                        break
                    if message.get("from") != self.name:
                        pass_on(message)
            except (redis.RedisError, OSError) as error:
                _logger.debug("no hints from other processes: %s", error)
                if self.hears:
                    self.hears = False
                    _tell(ALL, 0, 0)
                await asyncio.sleep(RETRY_SECONDS)


_relay = _Relay()


def listen(listener: Listener) -> None:
    """Have `listener` called for the hints of this process and of others."""
    with _lock:
        _listeners.add(listener)
    _relay.start()


def unlisten(listener: Listener) -> None:
    """Stop calling `listener`."""
    with _lock:
        _listeners.discard(listener)


def _tell(kind: str, session_id: int, revision: int) -> None:
    with _lock:
        listeners = tuple(_listeners)
    for listener in listeners:
        listener(kind, session_id, revision)


def _hint(kind: str, session_id: int, number: int) -> None:
    _tell(kind, session_id, number)
    _relay.post(kind, session_id, number)


def arrive() -> bool:
    """Return whether hints come and go, as far as is known; while they do not, whoever waits for one has to poll."""
    return _relay.sends and _relay.hears


def wake(session_id: int, revision: int) -> None:
    """Say after a commit that the session's log has reached `revision`."""
    _hint(LOG, session_id, revision)


def wake_people(session_id: int) -> None:
    """Say that somebody came, went or was renamed."""
    _hint(PEOPLE, session_id, 0)


def wake_votes(session_id: int) -> None:
    """Say that votes of the session's poll are others."""
    _hint(VOTES, session_id, 0)


def wake_class(session_id: int) -> None:
    """Say that the teacher shows the class something else, or lets it do something else."""
    _hint(CLASS, session_id, 0)


def wake_requests(session_id: int) -> None:
    """Say that the API has answered a request of the session that is remembered."""
    _hint(REQUESTS, session_id, 0)


def wake_owners(session_id: int) -> None:
    """Say that a session needs an owner."""
    _hint(OWNER, session_id, 0)


def say_read(session_id: int) -> None:
    """Say that somebody in this process reads a session's log."""
    _hint(READ, session_id, 0)


def touch(session_id: int) -> None:
    """Note that somebody uses a session, and wake it if it sleeps."""
    if sessions.touch(session_id):
        wake_owners(session_id)


def question(kind: str, session_id: int, number: int) -> None:
    """Ask the session's owner for metrics (`METRICS`), controllers' panels (`PANELS`) or its replicas (`INSIDES`)."""
    _hint(kind, session_id, number)


def pass_on(message: Mapping[str, Any]) -> None:
    """Tell this process's listeners what another one said; anything that is no hint is passed over."""
    hints = message.get("hints")
    for hint in hints if isinstance(hints, list) else ():
        match hint:
            case [str(kind), int(session_id), int(number)] if kind in _KINDS:
                _tell(kind, session_id, number)
