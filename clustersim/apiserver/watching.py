"""Watches over HTTP: a stream of events out of the session's feed, for as long as the client listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

import msgspec

from clustersim.apiserver import protobuf
from clustersim.apiserver.blanks import blank
from clustersim.apiserver.listing import parse_revision, too_large
from clustersim.apiserver.messages import JSON, PROTOBUF, Request
from clustersim.apiserver.negotiation import STREAMED, Wanted, wanted_stream
from clustersim.apiserver.routes import Target
from clustersim.apiserver.selection import Selection, selection_of
from clustersim.apiserver.sessiontime import session_unix_ms
from clustersim.apiserver.tables import age_by, partial, table
from clustersim.apiserver.virtual import ReadView
from clustersim.classroom.callers import Standing
from clustersim.feed.batch import Batch
from clustersim.feed.hub import Feed, feed_for, in_thread
from controllers.log.store import DELETED, Event, Gone, Stored
from controllers.registry import fields
from controllers.registry.kind import Kind
from scheduler_core.api.errors import ApiError, gone, invalid

BOOKMARK_SECONDS: Final = 30.0
"""How often a watch that asked for bookmarks gets one; upstream promises one a minute."""

BOOKMARK_FIRST_SECONDS: Final = 0.75
"""When a watch that began with the state gets its first one after the end of that."""

BOOKMARK_LEAST_SECONDS: Final = 1.25
"""How long a watch has to last for that: upstream looks whom to tell every second, and a little more."""

BOOKMARK_LAST_SECONDS: Final = 2.0
"""How long before its end a watch gets its last one, to go on from (cacher, nextBookmarkTime)."""

TIMEOUT_SECONDS: Final = 1800
"""How long a watch lives that named no limit; upstream draws between 30 and 60 minutes."""

TIMEOUT_SECONDS_MAX: Final = 3600

_NOT_OLDER: Final = "NotOlderThan"
INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """A watch that may begin: what it selects, from where, in which form. Made in a thread, run on the event loop."""

    session_id: int
    kind: Kind
    selection: Selection
    want: Wanted
    after: int
    initial: list[Stored]
    send_initial_end: bool
    bookmarks: bool
    seconds: float
    known: int
    """What the log held by then is told, however little time the watch has."""
    expired: bool = False
    beyond: int = 0
    """Nothing up to this revision is told: the watch was asked to begin after it."""
    role: str = ""
    """Whose watch it is: what an open poll seals is not for everybody."""
    standing: Standing | None = None
    """What is known of it while it stands."""

    @property
    def content_type(self) -> str:
        """Return the media type of the stream."""
        return JSON if self.want.media == JSON else f"{self.want.media};{STREAMED}"

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """Return the lines of the watch, until its time is over."""
        return _shown_alone(self) if self.want.listed else _stream(self)


def plan_watch(store: ReadView, request: Request, target: Target, role: str = "") -> WatchPlan:
    """Return how to answer a watch: it begins with the current objects, or after a revision.

    Raises:
        ApiError: 400, 422, 504.
    """
    asked_seconds = request.number("timeoutSeconds")
    selection = selection_of(request, target, lambda: _check_options(request))
    version = request.query.get("resourceVersion", "")
    send_initial = request.query.get("sendInitialEvents")
    bookmarks = request.flag("allowWatchBookmarks")
    wants_state = version in ("", "0") if send_initial is None else request.flag("sendInitialEvents")
    objects, revision = store.list(selection.resource, selection.namespace) if wants_state else ([], store.revision)
    after, expired, beyond = revision, False, 0
    if version not in ("", "0"):
        asked = _revision(version)
        if asked > revision and wants_state:
            raise too_large(asked, revision)
        if asked > revision:
            # As upstream: nothing is told before that revision is over.
            beyond = asked
        elif not wants_state:
            after, expired = asked, asked < store.compacted
    seconds = min(asked_seconds or TIMEOUT_SECONDS, TIMEOUT_SECONDS_MAX)
    return WatchPlan(
        session_id=store.session_id,
        kind=target.kind,
        selection=selection,
        want=wanted_stream(request, target.kind),
        after=after,
        initial=[stored for stored in objects if selection.matches(stored)],
        # Who asks for the state in the old way, and for bookmarks, is told where it ends, too.
        send_initial_end=wants_state and bookmarks,
        bookmarks=bookmarks,
        seconds=float(seconds),
        known=revision,
        expired=expired,
        beyond=beyond,
        role=role,
    )


def _check_options(request: Request) -> None:
    """Refuse options that do not go together (validateWatchOptions).

    Raises:
        ApiError: 400, 422.
    """
    request.number("limit")
    where, match = "resourceVersionMatch", request.query.get("resourceVersionMatch", "")
    initial = request.query.get("sendInitialEvents") is not None
    causes = []
    if initial and match != _NOT_OLDER:
        causes.append(fields.not_allowed(where, f"sendInitialEvents requires setting {where} to {_NOT_OLDER}"))
    if match and not initial:
        causes.append(fields.not_allowed(where, f"{where} is forbidden for watch unless sendInitialEvents is provided"))
    if match not in ("", _NOT_OLDER):
        causes.append(fields.unsupported(where, match, (_NOT_OLDER,)))
    # Who says nothing of it asks for the state, and no older one (SetListOptionsDefaults).
    if (match or _asks_for_state(request)) and request.query.get("continue"):
        causes.append(fields.not_allowed(where, f"{where} is forbidden when continue is provided"))
    if causes:
        raise invalid("ListOptions", "meta.k8s.io", "", causes)


def _asks_for_state(request: Request) -> bool:
    given = request.query.get("sendInitialEvents") is not None or request.query.get("resourceVersionMatch")
    return not given and request.query.get("resourceVersion", "") in ("", "0")


def _revision(text: str) -> int:
    """Return the revision that a watch is asked to begin after.

    Raises:
        ApiError: 500, it is none; so upstream answers.
    """
    try:
        return parse_revision(text)
    except ApiError as error:
        raise ApiError(500, "", error.message.removeprefix("invalid resource version: ")) from error


class Encoder:
    """Turns what a watch selects into lines of JSON, or frames of protobuf."""

    def __init__(self, kind: Kind, want: Wanted, now_unix_ms: int) -> None:
        self._kind = kind
        self._want = want
        self._columns = True
        self.now_unix_ms = now_unix_ms

    def line(self, verb: str, data: bytes, document: Mapping[str, Any] | None = None) -> bytes:
        """Return one event; `data` is the object's JSON, `document` the same decoded, if it is at hand."""
        if self._want.form == "objects" and self._want.media == JSON:
            return b'{"type":"%b","object":%b}\n' % (verb.encode(), data)
        decoded: Mapping[str, Any] = msgspec.json.decode(data) if document is None else document
        if self._want.form == "objects":
            return self._event(verb, decoded)
        if self._want.form == "metadata":
            return self._event(verb, partial(decoded, self._want.version, self._kind.converted))
        return self._table_line(verb, [decoded], decoded["metadata"].get("resourceVersion", ""))

    def lines(self, verb: str, items: Sequence[bytes]) -> Iterator[bytes]:
        """Yield an event of each of many objects that are given as JSON."""
        if self._want.form == "objects" and self._want.media == PROTOBUF:
            yield from protobuf.watch_frames(verb, self._kind.api_version, self._kind.kind, items)
        else:
            yield from (self.line(verb, data) for data in items)

    def _table_line(self, verb: str, documents: list[Mapping[str, Any]], version: str) -> bytes:
        metadata = {"resourceVersion": version}
        age = age_by(self.now_unix_ms)
        shown = table(self._kind, documents, metadata, age, self._want, columns=self._columns)
        self._columns = False
        return self._event(verb, shown)

    def _event(self, verb: str, document: Mapping[str, Any]) -> bytes:
        if self._want.media == PROTOBUF:
            return protobuf.watch_frame(verb, document)
        return _encode({"type": verb, "object": document}) + b"\n"

    def expired(self) -> bytes:
        """Return what ends a watch whose place in the log is gone."""
        return self._event("ERROR", gone("too old resource version: list again").status())

    def bookmark(self, revision: int, *, initial_end: bool = False) -> bytes:
        """Return a bookmark: nothing for you up to here."""
        metadata: dict[str, Any] = {"resourceVersion": str(revision)}
        if initial_end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        if self._want.form == "table":
            # Its row is that of an object in which nothing is set.
            empty = {"metadata": metadata, "spec": {}, "status": {}}
            return self._table_line("BOOKMARK", [empty], str(revision))
        document = blank(self._kind, metadata)
        if self._want.form == "metadata":
            document = partial(document, self._want.version)
        return self._event("BOOKMARK", document)


def event_line(event: Event, selection: Selection, encoder: Encoder) -> bytes:
    """Return what one row of the log says to a watch, empty when that is nothing.

    An object that begins to match is ADDED, one that leaves the selector is DELETED as it last matched.
    """
    if event.resource != selection.resource:
        return b""
    if selection.namespace is not None and event.namespace != selection.namespace:
        return b""
    now = event.verb != DELETED and selection.matches(event)
    before = event.previous_data is not None and (
        selection.everything or selection.matches(event, event.previous or {})
    )
    if now:
        return encoder.line("MODIFIED" if before else "ADDED", event.data)
    if not before:
        return b""
    if event.verb == DELETED:
        return encoder.line("DELETED", event.data)
    last = dict(event.previous or {})
    last["metadata"] = {**last["metadata"], "resourceVersion": str(event.revision)}
    return encoder.line("DELETED", _encode(last), last)


def _shown(event: Event, kind: Kind) -> Event:
    """Return an event in the version that is watched."""
    if not kind.converts:
        return event
    before = event.previous
    return Event(
        kind.resource,
        event.namespace,
        event.name,
        event.uid,
        event.revision,
        _encode(kind.outward(event.object)),
        verb=event.verb,
        now_ms=event.now_ms,
        actor=event.actor,
        previous_revision=event.previous_revision,
        previous_data=None if before is None else _encode(kind.outward(before)),
        read=event.read,
    )


async def _stream(plan: WatchPlan) -> AsyncGenerator[bytes, None]:
    """Yield the lines of a watch until its time is over or its place in the log is gone."""
    feed = feed_for(plan.session_id)
    await feed.start()
    encoder = Encoder(plan.kind, plan.want, 0)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + plan.seconds
    if plan.expired:
        yield encoder.expired()
        return
    if plan.seconds < 0:
        # Its time was over before it began: it stands, and says nothing.
        yield b""
        return
    with feed.subscribe(plan.after, resource=plan.kind.stored_resource) as subscription:
        await _set_clock(encoder, feed, plan)
        # An empty first chunk opens the response, so that clients know that the watch stands.
        yield _head(plan, encoder)
        bookmarks = _Bookmarks(plan, deadline, loop.time())
        while True:
            wait = max(min(deadline, bookmarks.due) - loop.time(), 0.001)
            try:
                behind = subscription.position < plan.known
                # No wait_for, which gives each wait a task of its own.
                async with asyncio.timeout(None if behind else wait):
                    batch = await subscription.get()
            except TimeoutError:
                if bookmarks.taken(loop.time()):
                    yield encoder.bookmark(subscription.position)
                if loop.time() >= deadline:
                    return
                continue
            if isinstance(batch, Gone):
                yield encoder.expired()
                return
            mine = _mine(plan, feed, batch)
            if plan.standing is not None:
                plan.standing.revision = subscription.position
            # Nothing is held on to while nothing comes: a batch is everybody's, and may be large.
            del batch
            if mine:
                await _set_clock(encoder, feed, plan)
                lines = [line for event in mine if (line := event_line(event, plan.selection, encoder))]
                if lines:
                    if plan.standing is not None:
                        plan.standing.events += len(lines)
                    yield b"".join(lines)
                del lines
            del mine


async def _shown_alone(plan: WatchPlan) -> AsyncGenerator[bytes, None]:
    """Yield a watch whose client wants the metadata of lists: no event is one, and the first ends it, as upstream."""
    lines = _stream(plan)
    async for line in lines:
        if line:
            await lines.aclose()
            return
        yield line


def _head(plan: WatchPlan, encoder: Encoder) -> bytes:
    """Return what a watch begins with, and let go of the objects."""
    head = b"".join(encoder.lines("ADDED", [stored.data for stored in plan.initial]))
    plan.initial.clear()
    return head + encoder.bookmark(plan.after, initial_end=True) if plan.send_initial_end else head


def _mine(plan: WatchPlan, feed: Feed, batch: Batch) -> list[Event]:
    """Return what a batch says to a watch, in the version that is watched."""
    seal = feed.seal.of(plan.role)
    told = (
        seal.event(event)
        for event in batch.events
        if event.resource == plan.kind.stored_resource and event.revision > plan.beyond
    )
    return [_shown(event, plan.kind) for event in told if event is not None]


class _Bookmarks:
    """When a watch that asked for it tells its place: soon after the state, now and then, and before its end."""

    def __init__(self, plan: WatchPlan, deadline: float, now: float) -> None:
        self._last = deadline - BOOKMARK_LAST_SECONDS
        soon = plan.send_initial_end and now + BOOKMARK_LEAST_SECONDS < deadline
        self.due = now + BOOKMARK_FIRST_SECONDS if soon else self._next(now)
        if not plan.bookmarks:
            # Nobody is woken to say nothing.
            self.due = inf

    def taken(self, now: float) -> bool:
        """Return whether one is due, and let the next wait for its time."""
        if now < self.due:
            return False
        self.due = self._next(now)
        return True

    def _next(self, now: float) -> float:
        periodic = now + BOOKMARK_SECONDS
        return min(periodic, self._last) if now < self._last else periodic


async def _set_clock(encoder: Encoder, feed: Feed, plan: WatchPlan) -> None:
    """Tell a table the session's time: its rows show ages."""
    if plan.want.form == "table":
        encoder.now_unix_ms = await in_thread(lambda: session_unix_ms(feed.store))
