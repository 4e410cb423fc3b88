"""Who is here and at what they look: each process says it of the people who have a page open in it.

It hands everybody's list to its sockets.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import msgspec
from django.db import DatabaseError

from clustersim.classroom import lectern, people, together
from clustersim.classroom.auth import VIEWER
from clustersim.classroom.people import Person
from clustersim.classroom.polls import votes
from clustersim.classroom.together import Pointed
from clustersim.feed import hints
from clustersim.feed.hints import wake_people
from clustersim.feed.hub import hinted, in_thread

RENEW_SECONDS: Final = 10.0
"""How often a process renews the presence of its people and keeps the session awake; SEEN_FOR_MS outlasts two."""

LOOK_SECONDS: Final = 2.0
"""How often the list is read when no hint comes: it bounds what a lost one costs."""

SETTLE_SECONDS: Final = 0.1
"""A hint waits this long for others: a class that joins at once is read a few times, not thirty."""

SETTLE_MORE_SECONDS: Final = 0.005
"""... and this much longer for each person: a list of hundreds to hundreds of pages is sent once or twice a second."""

TELL_SECONDS: Final = 0.3
"""Looks of a process's people are written together, at most this often."""

VOTES_EVERY_SECONDS: Final = 0.5
"""How often at most pages are told how many have voted."""

LINGER_SECONDS: Final = 3.0
"""How long a person stays present after their last page here closed: a reload must not blink."""

_logger = logging.getLogger(__name__)


class Room:
    """One session's people as this process sees them. Belongs to one event loop."""

    def __init__(self, session_id: int) -> None:
        self.session_id = session_id
        self.frames: dict[str, str] = {}
        """By type: `people`, `looks`, `class`, `presenting` and, while something is pointed at, `pointed`."""
        self.wall: dict[str, str] = {}
        """The same as viewers' screens get them: without names, unless the teacher wants them there."""
        self.owners: dict[str, str] = {}
        """What the owner of what hangs on the wall gets in place of the others' frames."""
        self._owner = 0
        self.seats: frozenset[int] = frozenset()
        self.changed = asyncio.Event()
        """Set, and replaced by a new one, when `frames` have changed."""
        self._muted: frozenset[int] = frozenset()
        self._looks: dict[int, str] = {}
        self._telling: asyncio.Task[None] | None = None
        self._sockets: Counter[int] = Counter()
        self._task: asyncio.Task[None] | None = None
        self._counting: asyncio.Task[None] | None = None
        self._people: dict[str, str] = {}
        self._nameless: dict[str, str] = {}
        self._class: dict[str, str] = {}
        self._votes: dict[str, str] = {}
        # What is read is told before it is read again: else the older of two readings might be told last.
        self._reading_people, self._reading_class, self._reading_votes = asyncio.Lock(), asyncio.Lock(), asyncio.Lock()

    def is_muted(self, participant_id: int) -> bool:
        """Return whether nothing of what a person does is told."""
        return participant_id in self._muted

    def frames_for(self, role: str, participant_id: int) -> dict[str, str]:
        """Return the frames that a person of this role gets."""
        frames = self.wall if role == VIEWER else self.frames
        return frames | self.owners if participant_id == self._owner else frames

    @property
    def count(self) -> int:
        """Return how many sockets are open here."""
        return self._sockets.total()

    async def enter(self, participant_id: int) -> None:
        """Count a socket of this person; everybody's list follows soon."""
        self._sockets[participant_id] += 1
        await in_thread(lambda: people.mark_present([participant_id]))
        if self.count == 1:
            await self._read_votes()
            await self._read_class()
            await self._read_people()
        wake_people(self.session_id)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())
            self._counting = asyncio.get_running_loop().create_task(self._count_votes())

    def exit(self, participant_id: int) -> None:
        """Count the socket no longer; the person is gone soon unless another one opens."""
        self._sockets[participant_id] -= 1
        if self._sockets[participant_id] <= 0:
            del self._sockets[participant_id]
            loop = asyncio.get_running_loop()
            task = loop.create_task(self._linger(participant_id))
            _lingering.add(task)
            task.add_done_callback(_lingering.discard)

    def look(self, participant_id: int, look: str) -> None:
        """Have it told soon where a person looks; of several only the last counts."""
        self._looks[participant_id] = look
        if self._telling is None or self._telling.done():
            self._telling = asyncio.get_running_loop().create_task(self._tell())

    async def _tell(self) -> None:
        while self._looks:
            looks, self._looks = self._looks, {}
            await in_thread(partial(together.mark_looking, self.session_id, looks))
            await asyncio.sleep(TELL_SECONDS)

    async def _linger(self, participant_id: int) -> None:
        await asyncio.sleep(LINGER_SECONDS)
        # This room may have been forgotten while it was empty, and the person be back in the one after it.
        room = _rooms.get(asyncio.get_running_loop(), {}).get(self.session_id, self)
        if participant_id not in room._sockets:
            await in_thread(lambda: people.mark_absent(self.session_id, participant_id))

    async def _run(self) -> None:
        """Renew and read while anybody is here."""
        loop = asyncio.get_running_loop()
        renewed = loop.time()
        following = loop.create_task(self._follow_class())
        try:
            with hinted(hints.PEOPLE, self.session_id) as changed:
                while self._sockets:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), LOOK_SECONDS)
                        await asyncio.sleep(SETTLE_SECONDS + SETTLE_MORE_SECONDS * len(self.seats))
                    changed.clear()
                    with _until_the_next_look():
                        if loop.time() - renewed >= RENEW_SECONDS:
                            await in_thread(partial(people.mark_present, list(self._sockets)))
                            await in_thread(lambda: hints.touch(self.session_id))
                            renewed = loop.time()
                        await self._read_people()
        finally:
            following.cancel()

    async def _follow_class(self) -> None:
        """Tell at once what the teacher shows the class: it is one row, and everybody waits for it."""
        with hinted(hints.CLASS, self.session_id) as changed:
            while True:
                # Before the first hint, too: one may have come while nobody listened yet.
                changed.clear()
                with _until_the_next_look():
                    await self._read_class()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), LOOK_SECONDS)

    async def _count_votes(self) -> None:
        """Count a poll's votes when there are others, as long as anybody is here."""
        with hinted(hints.VOTES, self.session_id) as changed:
            while self._task is not None and not self._task.done():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), LOOK_SECONDS)
                changed.clear()
                with _until_the_next_look():
                    await self._read_votes()
                await asyncio.sleep(VOTES_EVERY_SECONDS)

    async def _read_votes(self) -> None:
        async with self._reading_votes:
            told = await in_thread(lambda: votes.frame_of(self.session_id))
            self._votes = {} if told is None else {told["type"]: _text(told)}
            self._tell_frames()

    async def _read_class(self) -> None:
        async with self._reading_class:
            state = await in_thread(lambda: lectern.state_of(self.session_id))
            # To one person alone it is told that what they came to hangs on the wall.
            if self._owner != state.owner:
                self._owner = state.owner
                self._ring()
            self.owners = _kept(self.owners, {"class": _text(state.told(yours=True))})
            self._class = {frame["type"]: _text(frame) for frame in (state.told(), state.presenting())}
            self._tell_frames()

    async def _read_people(self) -> None:
        async with self._reading_people:
            everybody, (on, pointed), names = await in_thread(
                lambda: (
                    people.all_of_session(self.session_id),
                    together.of_session(self.session_id),
                    lectern.shows_names(self.session_id),
                )
            )
            self.seats = frozenset(person.id for person in everybody if not person.left)
            self._muted = frozenset(person.id for person in everybody if person.muted)
            self._people = _frames(everybody, on, pointed)
            nameless = people.told_to(VIEWER, everybody, names=names)
            self._nameless = {"people": _text({"type": "people", "people": nameless})}
            self._tell_frames()

    def _tell_frames(self) -> None:
        frames = self._people | self._class | self._votes
        wall = frames | self._nameless
        if frames == self.frames and wall == self.wall:
            return
        # What has not changed stays the same text: sockets know by that what they have sent.
        self.frames, self.wall = _kept(self.frames, frames), _kept(self.wall, wall)
        self._ring()

    def _ring(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


@contextlib.contextmanager
def _until_the_next_look() -> Iterator[None]:
    """Pass over that the database does not answer: pages that are open are told at the next look, without a reload."""
    try:
        yield
    except DatabaseError as error:
        _logger.warning("the class cannot be read, and is looked at again soon: %s", error)


def _kept(before: dict[str, str], frames: dict[str, str]) -> dict[str, str]:
    return {kind: before[kind] if before.get(kind) == text else text for kind, text in frames.items()}


def _text(frame: Mapping[str, Any]) -> str:
    return msgspec.json.encode(frame).decode()


def _frames(everybody: list[Person], on: bool, pointed: Pointed | None) -> dict[str, str]:
    looks = []
    for person in everybody if on else ():
        resource, _, key = person.looks_at.partition(" ")
        if key:
            looks.append({"id": str(person.id), "resource": resource, "key": key})
    told: list[dict[str, Any]] = [
        {"type": "people", "people": people.told_to("", everybody, names=True)},
        {"type": "looks", "on": on, "looks": looks},
        *([pointed.as_dict()] if pointed else []),
    ]
    return {frame["type"]: _text(frame) for frame in told}


_lingering: set[asyncio.Task[None]] = set()
_rooms: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, Room]] = weakref.WeakKeyDictionary()


def room_of(session_id: int) -> Room:
    """Return this process's room of the session. Call it on the event loop."""
    rooms = _rooms.setdefault(asyncio.get_running_loop(), {})
    room = rooms.get(session_id)
    if room is None:
        for key in [key for key, other in rooms.items() if other.count == 0]:
            del rooms[key]
        room = rooms[session_id] = Room(session_id)
    return room
