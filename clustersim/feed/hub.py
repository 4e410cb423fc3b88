"""Feeds: one a process and session, read by every websocket and every HTTP watch of that session.

A feed tails the log (on a hint at once, else by polling) into a bounded window of batches. Readers hold no queue, only
a place in the log: a slow one falls behind the window and is served from the database, and behind compaction it is told
`Gone`. So a reader costs nothing while it is slow, and none can make another wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from django.db import close_old_connections

from clustersim.feed import hints
from clustersim.feed.batch import Batch, Decision
from clustersim.feed.palette import Palette
from clustersim.feed.seal import NO_SEAL, Seal, seal_of
from clustersim.feed.view import SlimView
from clustersim.feed.waiting import ALL, Waiting
from clustersim.store import SqlStore, open_store, sessions
from controllers.kinds.clustersim.poll import RESOURCE as POLLS
from controllers.log.store import Event, Gone

POLL_MS: Final = 200
"""How often the log is looked at when no hint comes. It bounds what a lost hint costs."""

BATCH_EVENTS_MAX: Final = 1_000
"""Events of one batch; a longer run is handed out as several."""

WINDOW_EVENTS_MAX: Final = 5_000
"""Events a feed keeps in memory; a reader further behind is served from the database."""

WINDOW_BYTES_MAX: Final = 32 * 1024 * 1024
"""Bytes of documents a feed keeps in memory; past it fewer events are."""

DECISIONS_LISTED_MAX: Final = 300
"""Decisions that follow a fresh list: the newest so many, so that charts have a past."""

IDLE_SECONDS: Final = 30.0
"""A feed without readers is given up after this long."""

READ_THREADS: Final = 4
"""Threads of one process that read the log; each has a database connection."""

_logger = logging.getLogger(__name__)
_executors: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, ThreadPoolExecutor] = weakref.WeakKeyDictionary()
_T = TypeVar("_T")


def _with_connection(read: Callable[[], _T]) -> _T:
    close_old_connections()
    return read()


async def in_thread(read: Callable[[], _T]) -> _T:
    """Run a database call in one of the feed's threads."""
    loop = asyncio.get_running_loop()
    executor = _executors.get(loop)
    if executor is None:
        executor = _executors[loop] = ThreadPoolExecutor(READ_THREADS, thread_name_prefix="feed")
    return await loop.run_in_executor(executor, _with_connection, read)


class Subscription:
    """A reader's place in the log: everything after `position`, once, in order."""

    def __init__(self, feed: Feed, position: int, resource: str) -> None:
        self._feed = feed
        self._resource = resource
        self.position = position
        self._open = True

    async def get(self) -> Batch | Gone:
        """Wait for what comes after `position` and move there; `Gone`: that is compacted, list again."""
        while True:
            if self.position < self._feed.revision:
                batch = await self._feed.read(self.position)
                if isinstance(batch, Batch):
                    self.position = batch.to
                return batch
            if self.position > self._feed.revision:
                # A place that this process has not reached: another process has, or the log never was there.
                await self._feed.refresh()
                if self.position > self._feed.revision:
                    return Gone(f"revision {self.position} is not in the log yet")
                continue
            await self._feed.waiting.wait(self._resource)

    def skip_to(self, revision: int) -> None:
        """Go on from `revision`: the reader got everything up to there in another way."""
        self.position = revision

    def close(self) -> None:
        """Give the place up."""
        if self._open:
            self._open = False
            self._feed.forget(self)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Feed:
    """One session's log as this process has read it. Made by `feed_for`; belongs to one event loop."""

    def __init__(self, session_id: int) -> None:
        self.session_id = session_id
        self.revision = 0
        self.seal: Seal = NO_SEAL
        """What polls seal as of `revision`; for readers whom it concerns, see `Seal.of`."""
        self._palette = Palette(session_id)
        self.waiting = Waiting()
        """Those who are woken when `revision` has moved."""
        self._batches: deque[Batch] = deque()
        self._kept = 0
        self._kept_bytes = 0
        self._floor = 0
        self._store: SqlStore | None = None
        self._view: SlimView | None = None
        self._tells_decisions = False
        self._view_lock = asyncio.Lock()
        self._tail_lock = asyncio.Lock()
        self._readers: weakref.WeakSet[Subscription] = weakref.WeakSet()
        self._idle_since: float | None = None

    @property
    def store(self) -> SqlStore:
        """Return the store that the feed reads; for reading alone."""
        assert self._store is not None, "start the feed first"
        return self._store

    @property
    def listed(self) -> int:
        """Return how many objects a fresh list holds, 0 while nobody has asked for one."""
        return 0 if self._view is None else len(self._view)

    @property
    def epoch_ms(self) -> int:
        """Return Unix milliseconds of simulated time 0."""
        return self.store.epoch_ms

    async def start(self) -> None:
        """Begin at the newest revision; again is harmless.

        Raises:
            sessions.NoSession: the session does not exist.
        """
        async with self._tail_lock:
            if self._store is None:
                store = await in_thread(lambda: open_store(self.session_id))
                self.revision = self._floor = await in_thread(lambda: store.revision)
                self.seal = await in_thread(lambda: seal_of(store))
                self._store = store

    def subscribe(self, after: int, *, resource: str = ALL, decisions: bool = False) -> Subscription:
        """Return a reader of everything after the revision; one that wants `decisions` gets them with the rows.

        `resource`: what it tells of alone. It gets all rows, and is woken when a row of these has its turn.
        """
        if decisions and not self._tells_decisions:
            # What was read so far has none: whoever is behind gets it from the database.
            self._tells_decisions = True
            self._batches.clear()
            self._kept = self._kept_bytes = 0
            self._floor = self.revision
        subscription = Subscription(self, after, resource)
        self._readers.add(subscription)
        self._idle_since = None
        return subscription

    def forget(self, subscription: Subscription) -> None:
        """Count a reader no longer."""
        self._readers.discard(subscription)

    def is_idle(self, now: float) -> bool:
        """Return whether nobody has read for IDLE_SECONDS; `now` is the loop's clock."""
        if self._readers:
            self._idle_since = None
            return False
        if self._idle_since is None:
            self._idle_since = now
        return now - self._idle_since > IDLE_SECONDS

    async def refresh(self) -> None:
        """Read the log to its end."""
        async with self._tail_lock:
            while await self._read_on():
                pass

    async def _read_on(self) -> bool:
        """Append one batch; return whether there may be more."""
        position, view_wanted, telling = self.revision, self._view is not None, self._tells_decisions

        def read() -> Batch | None:
            rows = self.store.events(position, BATCH_EVENTS_MAX)
            if not rows:
                return None
            if any(row.resource == POLLS for row in rows):
                # Before anybody is told of the rows: what they say of a pod is sealed, or open, from here on.
                self.seal = seal_of(self.store)
            batch = self._batch(position, rows[-1].revision, rows)
            if view_wanted:
                _ = batch.frames  # encoded here, off the event loop
            return batch

        try:
            batch = await in_thread(read)
        except Gone:
            # Compaction has passed this process by: every reader finds out by its own place.
            self._batches.clear()
            self._kept = self._kept_bytes = 0
            self._view = None
            self.revision = self._floor = await in_thread(lambda: self.store.revision)
            self.seal = await in_thread(lambda: seal_of(self.store))
            self.waiting.wake(())
            return False
        if batch is None:
            return False
        if telling is not self._tells_decisions:
            return True  # a reader of decisions came meanwhile: read it again with them
        self._append(batch)
        return len(batch.events) == BATCH_EVENTS_MAX

    def _append(self, batch: Batch) -> None:
        self._batches.append(batch)
        self._kept += len(batch.events)
        self._kept_bytes += batch.size
        while (self._kept > WINDOW_EVENTS_MAX or self._kept_bytes > WINDOW_BYTES_MAX) and len(self._batches) > 1:
            dropped = self._batches.popleft()
            self._kept -= len(dropped.events)
            self._kept_bytes -= dropped.size
            self._floor = dropped.to
        if self._view is not None and batch.to > self._view.revision:
            self._view.fold(batch.after(self._view.revision))
        self.revision = batch.to
        self.waiting.wake(event.resource for event in batch.events)

    async def read(self, position: int) -> Batch | Gone:
        """Return a batch from `position` on, out of the window or the database. There must be one."""
        if position >= self._floor:
            for batch in self._batches:
                if batch.to > position:
                    return batch.after(position)

        def fetch() -> Batch:
            rows = self.store.events(position, BATCH_EVENTS_MAX)
            return self._batch(position, rows[-1].revision if rows else self.revision, rows)

        try:
            return await in_thread(fetch)
        except Gone as gone:
            return gone

    def _batch(self, position: int, to: int, rows: Sequence[Event]) -> Batch:
        """Return rows of the log with what goes beside them. Blocks."""
        self._palette.learn(rows)
        decisions: list[Decision] = []
        if self._tells_decisions and rows:
            decisions = [Decision.of(*found) for found in self.store.envelopes(position, to)]
        return Batch(position, to, rows, palette=self._palette, decisions=decisions)

    async def past(self, revision: int, seal: Seal = NO_SEAL) -> Batch:
        """Return a batch that moves nobody: the newest decisions up to a revision."""

        def fetch() -> list[Decision]:
            return [Decision.of(*found) for found in self.store.envelopes(0, revision, DECISIONS_LISTED_MAX)]

        return Batch(revision, revision, (), decisions=await in_thread(fetch)).sealed(seal)

    async def hides(self, seal: Seal) -> bool:
        """Return whether a seal keeps something of the cluster as it is from those whom it concerns."""
        if not seal:
            return False
        await self.snapshot()
        view = self._view
        return view is not None and await in_thread(lambda: view.hides(seal))

    async def snapshot(self, seal: Seal = NO_SEAL) -> tuple[int, list[str]]:
        """Return (revision, `list` frames): the whole cluster, to be followed by events after that revision."""
        async with self._view_lock:
            while self._view is None:
                with contextlib.suppress(Gone):  # compaction was quicker than the reading: read again
                    view = await in_thread(lambda: SlimView.read(self.store, self._palette))
                    if view.revision < self._floor:
                        continue
                    # What was tailed while the view was being read.
                    for batch in self._batches:
                        if batch.to > view.revision:
                            view.fold(batch.after(view.revision))
                    self._view = view
            return self._view.revision, self._view.frames(seal)


class _Hub:
    """The feeds of one event loop, the one poll for all of them, and the way hints come in."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.feeds: dict[int, Feed] = {}
        self.listeners: dict[tuple[str, int], set[asyncio.Event]] = {}
        self._hinted: set[int] = set()
        self._wake = asyncio.Event()
        self._say_read_at = 0.0
        self._task = self.loop.create_task(self._run())
        hints.listen(self._on_hint)

    def _on_hint(self, kind: str, session_id: int, revision: int) -> None:
        try:
            self.loop.call_soon_threadsafe(self._take_hint, kind, session_id, revision)
        except RuntimeError:  # the loop has ended
            hints.unlisten(self._on_hint)

    def _take_hint(self, kind: str, session_id: int, revision: int) -> None:
        for event in self.listeners.get((kind, session_id), ()):
            event.set()
        if kind != hints.LOG:
            return
        feed = self.feeds.get(session_id)
        if feed is not None and revision > feed.revision:
            self._hinted.add(session_id)
            self._wake.set()

    async def _run(self) -> None:
        """Read on wherever a hint or the poll says that there is more, until no feed is left."""
        poll_at = self.loop.time()
        while self.feeds:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), max(0.0, poll_at - self.loop.time()))
            self._wake.clear()
            try:
                # Hints of a busy session must not keep the others from being polled.
                if self.loop.time() >= poll_at:
                    poll_at = self.loop.time() + POLL_MS / 1000
                    await self._poll()
                behind = [self.feeds[key] for key in self._hinted if key in self.feeds]
                self._hinted.clear()
                await asyncio.gather(*(feed.refresh() for feed in behind))
            except sessions.NoSession as error:
                _logger.info("a feed ends: %s", error)
            except Exception:
                # Whatever it is, the other feeds of this process go on being read.
                _logger.exception("the log cannot be read")
                await asyncio.sleep(POLL_MS / 1000)
        self.stop()

    async def _poll(self) -> None:
        for key, feed in list(self.feeds.items()):
            if feed.is_idle(self.loop.time()):
                del self.feeds[key]
        if self.loop.time() >= self._say_read_at:
            self._say_read_at = self.loop.time() + hints.READ_SECONDS
            for key in self.feeds:
                hints.say_read(key)
        ids = list(self.feeds)
        revisions = await in_thread(lambda: sessions.revisions(ids))
        for key, feed in self.feeds.items():
            if revisions.get(key, 0) > feed.revision:
                self._hinted.add(key)

    def stop(self) -> None:
        """End the tasks; the next `feed_for` starts a new hub."""
        hints.unlisten(self._on_hint)
        if self._task is not asyncio.current_task():
            self._task.cancel()
        with _hubs_lock:
            if _hubs.get(self.loop) is self:
                del _hubs[self.loop]


_hubs: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Hub] = weakref.WeakKeyDictionary()
_hubs_lock = threading.Lock()


def _hub() -> _Hub:
    loop = asyncio.get_running_loop()
    with _hubs_lock:
        hub = _hubs.get(loop)
        if hub is None:
            hub = _hubs[loop] = _Hub()
        return hub


def feed_for(session_id: int) -> Feed:
    """Return this process's feed of the session; `await feed.start()` before use. Call it on the event loop."""
    hub = _hub()
    feed = hub.feeds.get(session_id)
    if feed is None:
        feed = hub.feeds[session_id] = Feed(session_id)
        hints.say_read(session_id)
    return feed


@contextlib.contextmanager
def hinted(kind: str, session_id: int) -> Iterator[asyncio.Event]:
    """Give an asyncio.Event that is set whenever a hint of this kind about the session comes."""
    hub = _hub()
    event = asyncio.Event()
    hub.listeners.setdefault((kind, session_id), set()).add(event)
    try:
        yield event
    finally:
        listeners = hub.listeners.get((kind, session_id), set())
        listeners.discard(event)
        if not listeners:
            hub.listeners.pop((kind, session_id), None)
