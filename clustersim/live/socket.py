"""One websocket: hello, then what the page subscribes to, never more than the page has room for.

A plain ASGI callable. Three tasks: one reads the page's frames, one sends the log, one sends people and pings. Frames
of the log are the feed's, encoded once for everybody; this module only decides when they may go.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

import msgspec
from django.conf import settings

from clustersim.classroom import auth, doors, limits, together
from clustersim.classroom.auth import Principal
from clustersim.classroom.copies import tiles
from clustersim.classroom.titles import session_told
from clustersim.feed import hints
from clustersim.feed.batch import Batch
from clustersim.feed.hub import Feed, Subscription, feed_for, hinted, in_thread
from clustersim.feed.seal import NO_SEAL, Seal
from clustersim.live.presence import Room, room_of
from clustersim.store import sessions
from clustersim.store.sessions import SessionRow
from controllers.log.store import Gone
from scheduler_core.api.errors import ApiError

PROTOCOL: Final = 1
"""The number in `hello`; a page that does not know it reloads."""

CREDIT_BYTES: Final = 1024 * 1024
"""Bytes that may be on their way to a page without its receipt; past it the page is sent nothing until it answers."""

PING_EVERY_BYTES: Final = 256 * 1024
"""A receipt is asked for after so many bytes, so that a quick page never waits for one."""

PING_SECONDS: Final = 10.0
"""A receipt is asked for at least this often."""

SILENCE_SECONDS: Final = 30.0
"""A page that leaves a ping unanswered for so long is closed; it reconnects and resumes."""

BEHIND_REVISIONS_MAX: Final = 5_000
"""A page further behind than this, and than there are objects, is told `gone`: a fresh list is shorter."""

REQUESTS_EVERY_SECONDS: Final = 0.5
"""How often at most a page that follows the API server's requests is told of new ones."""

COPIES_EVERY_SECONDS: Final = 1.0
"""How often a class's copies are looked at while their teacher watches them: one query, and a copy that has changed."""

FRAME_BYTES_MAX: Final = 4 * 1024
"""Bytes of a frame from a page; a larger one closes the socket."""

SOCKETS_PER_STUDENT: Final = 20
"""Open sockets of one student in one process; the next one is closed with 4429."""

SOCKETS_PER_PERSON: Final = 2_000
"""The same for everybody else: one viewer's link may be on every wall of a school."""

BAD_FRAME, NO_TOKEN, BAD_ORIGIN, NO_SESSION, SILENT, TOO_MANY = 4400, 4401, 4403, 4404, 4408, 4429

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_logger = logging.getLogger(__name__)
_open_sockets: Counter[int] = Counter()
_GONE_FRAME: Final = '{"type":"gone"}'
_COPIES_FRAME: Final = '{"type":"copies"}'
_REQUESTS_FRAME: Final = '{"type":"requests"}'


class _Close(Exception):
    """Close the socket with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


async def session_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve `ws/sessions/<code>`."""
    if (await receive())["type"] != "websocket.connect":
        return
    # Closing before accepting would hide the code from the page.
    await send({"type": "websocket.accept"})
    code = str(scope["url_route"]["kwargs"]["code"])
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    try:
        address = (scope.get("client") or [""])[0]
        session, principal = await in_thread(lambda: _admit(code, headers, address))
    except _Close as close:
        await send({"type": "websocket.close", "code": close.code})
        return
    most = SOCKETS_PER_STUDENT if principal.role == auth.STUDENT else SOCKETS_PER_PERSON
    if _open_sockets[principal.participant_id] >= most:
        await send({"type": "websocket.close", "code": TOO_MANY})
        return
    _open_sockets[principal.participant_id] += 1
    try:
        await _Socket(session, principal, receive, send).serve()
    finally:
        _open_sockets[principal.participant_id] -= 1
        if not _open_sockets[principal.participant_id]:
            del _open_sockets[principal.participant_id]


def _admit(code: str, headers: dict[str, str], address: str) -> tuple[SessionRow, Principal]:
    session = sessions.find(code)
    if session is None:
        raise _Close(_refusal(code, address) or NO_SESSION)
    try:
        principal = auth.authenticate(session.code, headers, method="WEBSOCKET")
    except ApiError as error:
        raise _Close(BAD_ORIGIN) from error
    if principal is None:
        raise _Close(_refusal(code, address) or NO_TOKEN)
    hints.touch(session.id)
    return session, principal


def _refusal(code: str, address: str) -> int | None:
    """Return the close code of an address that tries codes; a code that nobody has is counted."""
    try:
        doors.look_up(code, address)
    except ApiError:
        return TOO_MANY
    return None


class _Socket:
    """One page's connection."""

    def __init__(self, session: SessionRow, principal: Principal, receive: Receive, send: Send) -> None:
        self._session = session
        self._principal = principal
        self._receive = receive
        self._send = send
        self._subscription: Subscription | None = None
        self._fresh = False
        self._seal: Seal = NO_SEAL
        """What the page has not been shown of the cluster, an open poll being about it."""
        self._asked = asyncio.Event()
        self._follows_requests = asyncio.Event()
        self._follows_copies = asyncio.Event()
        self._pings: deque[tuple[int, int]] = deque()  # (id, bytes sent before it) still unanswered
        self._next_ping = 1
        self._unpinged = 0
        self._in_flight = 0
        self._room_for_more = asyncio.Event()
        self._room_for_more.set()
        self._oldest_ping_at = 0.0

    async def serve(self) -> None:
        """Run until the page goes or does something wrong."""
        feed, room = feed_for(self._session.id), room_of(self._session.id)
        await feed.start()
        await room.enter(self._principal.participant_id)
        code: int | None = None
        try:
            await self._text(await in_thread(lambda: self._hello(feed)))
            await _first_to_end(self._read(feed), self._pump(feed), self._side(room), self._requests(), self._copies())
        except _Close as close:
            code = close.code
        except sessions.NoSession:
            code = NO_SESSION
        finally:
            room.exit(self._principal.participant_id)
            if self._subscription is not None:
                self._subscription.close()
        if code is not None:
            with contextlib.suppress(Exception):  # the page may be gone already
                await self._send({"type": "websocket.close", "code": code})

    def _hello(self, feed: Feed) -> str:
        session = sessions.get(self._session.id)
        clock = feed.store.get("clocks.clustersim.io", "", "clock")
        status = (clock.object.get("status") if clock is not None else None) or None
        principal = self._principal
        return msgspec.json.encode(
            {
                "type": "hello",
                "protocol": PROTOCOL,
                "release": settings.RELEASE,
                "revision": feed.revision,
                "compacted": session.compacted,
                "epochMs": session.epoch_ms,
                "serverUnixMs": sessions.real_ms(),
                "newestMs": feed.store.counters().last_ms,
                "session": session_told(session),
                "me": {
                    "id": str(principal.participant_id),
                    "name": principal.name,
                    "role": principal.role,
                    "namespace": principal.namespace,
                    "slug": principal.slug,
                    "color": principal.color,
                },
                "clock": None if status is None else {**status, "hibernated": session.hibernated},
            }
        ).decode()

    # -- from the page -------------------------------------------------------------------------------------------------

    async def _read(self, feed: Feed) -> None:
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                return
            if message["type"] == "websocket.receive":
                self._take(feed, _frame(message))

    def _take(self, feed: Feed, frame: dict[str, Any]) -> None:
        kind = frame.get("type")
        if kind == "subscribe":
            revision = frame.get("revision")
            if revision is not None and (type(revision) is not int or revision < 0):
                raise _Close(BAD_FRAME)
            if self._subscription is not None:
                self._subscription.close()
            self._fresh = revision is None
            self._subscription = feed.subscribe(revision or 0, decisions=True)
            self._asked.set()
        elif kind == "pong":
            self._receipt(frame.get("id"))
        elif kind == "follow":
            for wanted, follows in (
                (frame.get("requests", False), self._follows_requests),
                (frame.get("copies", False), self._follows_copies),
            ):
                if type(wanted) is not bool:
                    raise _Close(BAD_FRAME)
                if wanted:
                    follows.set()
                else:
                    follows.clear()
        elif kind == "look":
            self._look(frame)
        elif not isinstance(kind, str):
            raise _Close(BAD_FRAME)

    def _look(self, frame: dict[str, Any]) -> None:
        """Have it told at what the page's person looks; what may not be told is passed over."""
        person = self._principal
        room = room_of(self._session.id)
        if person.role not in together.LOOKERS or room.is_muted(person.participant_id):
            return
        try:
            limits.spend(limits.LOOKS, person.participant_id)
        except ApiError:
            return
        room.look(person.participant_id, together.look_of(frame.get("resource"), frame.get("key")))

    def _receipt(self, ping_id: object) -> None:
        if type(ping_id) is not int:
            raise _Close(BAD_FRAME)
        while self._pings and self._pings[0][0] <= ping_id:
            self._in_flight -= self._pings.popleft()[1]
        self._oldest_ping_at = asyncio.get_running_loop().time()
        if self._in_flight < CREDIT_BYTES:
            self._room_for_more.set()

    # -- to the page ---------------------------------------------------------------------------------------------------

    async def _text(self, text: str) -> None:
        await self._send({"type": "websocket.send", "text": text})
        self._in_flight += len(text)
        self._unpinged += len(text)
        if self._in_flight >= CREDIT_BYTES:
            self._room_for_more.clear()
        if self._unpinged >= PING_EVERY_BYTES:
            await self._ping()

    async def _ping(self) -> None:
        if not self._pings:
            self._oldest_ping_at = asyncio.get_running_loop().time()
        self._pings.append((self._next_ping, self._unpinged))
        self._unpinged = 0
        text = f'{{"type":"ping","id":{self._next_ping}}}'
        self._next_ping += 1
        await self._send({"type": "websocket.send", "text": text})

    async def _pump(self, feed: Feed) -> None:
        """Send the log to the subscriber of the moment; a new `subscribe` takes over at the next frame."""
        await self._asked.wait()
        while True:
            await self._room_for_more.wait()
            self._asked.clear()
            subscription = self._subscription
            assert subscription is not None
            if self._fresh:
                await self._list(feed, subscription)
                continue
            if feed.revision - subscription.position > max(BEHIND_REVISIONS_MAX, feed.listed):
                await self._gone()
                continue
            got = await self._next(subscription)
            if subscription is not self._subscription or got is None:
                continue
            if isinstance(got, Gone) or await self._sealed_anew(feed):
                await self._gone()
            else:
                await self._events(got.sealed(self._seal), subscription)

    async def _sealed_anew(self, feed: Feed) -> bool:
        """Return whether the page has to list again, because a poll was opened or revealed that hides something."""
        seal = feed.seal.of(self._principal.role)
        if seal == self._seal:
            return False
        before, self._seal = self._seal, seal
        return await feed.hides(seal) or await feed.hides(before)

    async def _events(self, batch: Batch, subscription: Subscription) -> None:
        for frame in batch.frames:
            await self._room_for_more.wait()
            # A page that has subscribed anew meanwhile gets what it asked for, not the rest of this.
            if subscription is not self._subscription:
                return
            await self._text(frame)

    async def _next(self, subscription: Subscription) -> Any:
        """Return the next batch, or None when the page has subscribed anew meanwhile."""
        get = asyncio.ensure_future(subscription.get())
        asked = asyncio.ensure_future(self._asked.wait())
        try:
            await asyncio.wait({get, asked}, return_when=asyncio.FIRST_COMPLETED)
            return get.result() if get.done() else None
        finally:
            get.cancel()
            asked.cancel()

    async def _list(self, feed: Feed, subscription: Subscription) -> None:
        self._seal = feed.seal.of(self._principal.role)
        revision, frames = await feed.snapshot(self._seal)
        for frame in frames:
            await self._room_for_more.wait()
            if subscription is not self._subscription:
                return
            await self._text(frame)
        if subscription is not self._subscription:
            return
        subscription.skip_to(revision)
        self._fresh = False
        past = await feed.past(revision, self._seal)
        if past.decisions:
            await self._events(past, subscription)

    async def _requests(self) -> None:
        """Tell a page that follows them that the API server remembers new requests; it asks for them itself."""
        with hinted(hints.REQUESTS, self._session.id) as changed:
            while True:
                await self._follows_requests.wait()
                await changed.wait()
                changed.clear()
                await self._room_for_more.wait()
                if self._follows_requests.is_set():
                    await self._text(_REQUESTS_FRAME)
                await asyncio.sleep(REQUESTS_EVERY_SECONDS)

    async def _copies(self) -> None:
        """Tell a teacher who watches the copies of the class when one of them looks otherwise."""
        if self._principal.role != auth.TEACHER:
            await asyncio.Event().wait()
        told = ""
        while True:
            await self._follows_copies.wait()
            shown = await in_thread(lambda: tiles.look_of(self._session.id, sessions.real_ms()))
            await self._room_for_more.wait()
            if shown != told and self._follows_copies.is_set():
                told = shown
                await self._text(_COPIES_FRAME)
            await asyncio.sleep(COPIES_EVERY_SECONDS)

    async def _gone(self) -> None:
        """Tell the page to list again, and wait until it does."""
        await self._text(_GONE_FRAME)
        await self._asked.wait()

    async def _side(self, room: Room) -> None:
        """Send people, looks and what the class is shown; ping; notice a page that is silent or without its seat."""
        loop = asyncio.get_running_loop()
        sent: dict[str, str] = {}
        tick_at, seated = loop.time() + PING_SECONDS, False
        while True:
            changed = room.changed
            # Somebody who has just joined is in the next list.
            seated = seated or self._principal.participant_id in room.seats
            frames = room.frames_for(self._principal.role, self._principal.participant_id)
            fresh = [kind for kind, text in frames.items() if sent.get(kind) is not text]
            if fresh and self._room_for_more.is_set():
                sent[fresh[0]] = frames[fresh[0]]
                await self._text(sent[fresh[0]])
            elif seated and self._principal.participant_id not in room.seats:
                raise _Close(NO_TOKEN)
            elif loop.time() < tick_at:
                # Without room, `people` waits for the receipt like everything else.
                event = self._room_for_more if fresh else changed
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(event.wait(), tick_at - loop.time())
            else:
                tick_at = loop.time() + PING_SECONDS
                if self._pings and loop.time() - self._oldest_ping_at > SILENCE_SECONDS:
                    raise _Close(SILENT)
                if not self._pings:
                    await self._ping()


def _frame(message: dict[str, Any]) -> dict[str, Any]:
    text = message.get("text")
    if not isinstance(text, str) or len(text) > FRAME_BYTES_MAX:
        raise _Close(BAD_FRAME)
    try:
        frame = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _Close(BAD_FRAME) from error
    if not isinstance(frame, dict):
        raise _Close(BAD_FRAME)
    return frame


async def _first_to_end(*jobs: Coroutine[Any, Any, None]) -> None:
    """Run jobs together until one ends or fails, then end the others; raise what it raised."""
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
