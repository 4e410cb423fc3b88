"""Which sessions this worker owns: the thread beside the loop that renews, observes and claims."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable
from typing import Final, NamedTuple

from django.db import Error as DatabaseFailure
from django.db import close_old_connections, connection

from clustersim.feed import hints
from clustersim.runtime import realtime
from clustersim.runtime.leases import Leases
from clustersim.store import sessions, workers

logger = logging.getLogger(__name__)

TURN_MS: Final = 500
"""How often the thread renews and looks at the others' leases; without hints it looks for sessions as often."""

QUIET_TURN_MS: Final = 1_000
"""The same while no session is awake anywhere: nothing can be lost then, and a lease of 3 s is kept by it too."""

LOOK_EVERY_MS: Final = 3_000
"""How often sessions without an owner are looked for, though no hint came and no worker went."""

POLL_MS: Final = 200
"""The same while hints do not arrive."""

YIELD_MS: Final = 600
"""How long a worker with more sessions than another leaves an unowned one to that other."""

STUCK_MS: Final = 30_000
"""A loop that has not moved for this long is taken for dead: the process ends and its sessions move on. It moves with
every piece of work that it has done, however many are left."""

STUCK_EXIT_CODE: Final = 70


class Claim(NamedTuple):
    """A session that this worker now owns."""

    session_id: int
    epoch: int


class Ownership:
    """Renews the lease and claims sessions, in a thread; the loop takes the claims up.

    A session is claimed only while the loop has none to take up: after a restart of everything, sessions are taken up
    one by one by whoever has a hand free, and a worker that dies over one has not taken the others with it.
    """

    def __init__(self, identity: str, on_claim: Callable[[], None]) -> None:
        self.identity = identity
        self.claims: queue.SimpleQueue[Claim] = queue.SimpleQueue()
        self.lost = threading.Event()
        """Set when the lease was lost: the loop drops all sessions, then clears it."""
        self._progress_ms = realtime.monotonic_ms()
        self._is_taking = False
        self._on_claim = on_claim
        self._leases = Leases(identity)
        self._held: set[int] = set()
        self._elsewhere: frozenset[int] = frozenset()
        self._look = threading.Event()
        self._stop = threading.Event()
        self._seen_unowned_ms: dict[int, int] = {}
        self._not_before_ms: dict[int, int] = {}
        self._told_failure = ""
        self._live: list[str] = []
        self._look_at_ms = 0
        self._thread = threading.Thread(target=self._run, name="ownership", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def progress(self) -> None:
        """Note that the loop lives; it says so between any two pieces of work."""
        self._progress_ms = realtime.monotonic_ms()

    def taken_up(self) -> None:
        """Note that the loop is done with its claim; the next session may be claimed."""
        self._is_taking = False
        self._look.set()

    def look(self) -> None:
        """Look for sessions without an owner now."""
        self._look.set()

    def is_elsewhere(self, session_id: int) -> bool:
        """Return whether a session had another live owner when this thread last looked."""
        return session_id in self._elsewhere

    def dropped(self, session_id: int, *, avoid_ms: int = 0) -> None:
        """Note that the loop runs a session no more; for `avoid_ms` others may have it first."""
        self._not_before_ms[session_id] = realtime.monotonic_ms() + avoid_ms
        self._held.discard(session_id)
        self._look.set()

    def stop(self) -> None:
        """Stop renewing and give the lease up; call after the sessions are released."""
        self._stop.set()
        self._look.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._check_loop()
                try:
                    self._turn()
                    self._told_failure = ""
                except DatabaseFailure as error:
                    self._database_failed(error)
                if self._look.wait(self._turn_ms() / 1000):
                    self._look_at_ms = 0
                self._look.clear()
            self._leases.give_up()
        except DatabaseFailure as error:
            logger.warning("the lease was not given up: %s", error)
        finally:
            connection.close()

    def _turn_ms(self) -> int:
        """Return how long this thread may sleep: by what there is to lose."""
        if self._seen_unowned_ms or not hints.arrive():
            return POLL_MS
        return TURN_MS if self._held or self._elsewhere else QUIET_TURN_MS

    def _database_failed(self, error: DatabaseFailure) -> None:
        """Say so once, not at every turn: where the disk is full the log has no room either."""
        if str(error) != self._told_failure:
            self._told_failure = str(error)
            logger.warning("the database failed: %s", error)
        close_old_connections()

    def _turn(self) -> None:
        was_held = self._leases.held
        self._leases.turn()
        if was_held and not self._leases.held:
            self.lost.set()
            self._on_claim()
        if self._leases.held and not self.lost.is_set():
            self._leases.observe()
            live = self._leases.live()
            now_ms = realtime.monotonic_ms()
            if live != self._live or now_ms >= self._look_at_ms or self._seen_unowned_ms or not hints.arrive():
                self._live = live
                self._look_at_ms = now_ms + LOOK_EVERY_MS
                self._claim()

    def _claim(self) -> None:
        now_ms = realtime.monotonic_ms()
        rows = sessions.awake()
        owned = {row.id for row in rows if not self._is_orphan(row)}
        self._elsewhere = frozenset(owned - self._held)
        unowned = [row for row in rows if row.id not in owned]
        self._seen_unowned_ms = {row.id: self._seen_unowned_ms.get(row.id, now_ms) for row in unowned}
        orphans = [row for row in unowned if now_ms >= self._not_before_ms.get(row.id, 0)]
        if not orphans or self._is_taking:
            return
        loads = workers.loads()
        load = loads.get(self.identity, 0)
        for row in orphans:
            least = min(loads.get(name, 0) for name in self._leases.live())
            if load > least and now_ms - self._seen_unowned_ms[row.id] < YIELD_MS:
                continue
            epoch = sessions.claim(row.id, self.identity, epoch=row.epoch)
            if epoch is not None:
                self._held.add(row.id)
                self._is_taking = True
                logger.info("claimed", extra={"session": row.id, "epoch": epoch})
                self.claims.put(Claim(row.id, epoch))
                self._on_claim()
                return

    def _is_orphan(self, row: sessions.SessionRow) -> bool:
        if row.owner == self.identity:
            return row.id not in self._held
        return not row.owner or not self._leases.is_live(row.owner)

    def _check_loop(self) -> None:
        """End the process when the loop hangs: renewing for it would hide that from the others."""
        if realtime.monotonic_ms() - self._progress_ms > STUCK_MS:
            logger.critical("the loop has not moved for %d s; ending this worker", STUCK_MS // 1000)
            os._exit(STUCK_EXIT_CODE)
