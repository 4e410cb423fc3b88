"""A worker process: owns sessions through its lease and runs them in turn, in one loop."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import threading
from types import FrameType
from typing import Final

from django.db import Error as DatabaseFailure
from django.db import close_old_connections
from prometheus_client import Counter, Gauge, Histogram

from clustersim.feed import hints
from clustersim.runtime import metrics, realtime
from clustersim.runtime.driver import Driver
from clustersim.runtime.housekeeping import Housekeeping
from clustersim.runtime.ownership import Claim, Ownership
from clustersim.runtime.shares import Shares
from clustersim.store import sessions
from controllers.log.store import Fenced
from scheduler_core.kernels.collecting import leaving, staying

logger = logging.getLogger(__name__)

IDLE_WAIT_MS: Final = 5_000
"""How long the loop sleeps at most: events that are due, hints, claims and signals wake it earlier."""

POLL_MS: Final = 200
"""How often the logs of all sessions are looked at, in one question, while hints do not arrive."""

LOOK_EVERY_MS: Final = 2_000
"""The same while they do: it bounds what a lost one costs."""

READ_FOR_MS: Final = 30_000
"""How long a session counts as read after somebody said that they read it."""

FAILED_WAIT_MS: Final = 5_000
"""How long this worker leaves a session alone after its cluster raised."""

OWNED = Gauge("clustersim_sessions_owned", "Sessions this worker runs", multiprocess_mode="livesum")
SLICES = Histogram(
    "clustersim_slice_seconds",
    "How long one session held the loop",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0),
)
FAILURES = Counter("clustersim_session_failures_total", "Sessions dropped because their cluster raised")


def new_identity() -> str:
    """Return a name that no other worker has or had."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


class Worker:
    """The loop over owned sessions."""

    def __init__(self, identity: str | None = None) -> None:
        self.identity = identity or new_identity()
        self._drivers: dict[int, Driver] = {}
        self._wake = threading.Event()
        self._hints: dict[int, int] = {}
        self._read_until_ms: dict[int, int] = {}
        self._look_at_ms = 0
        self._questions: list[tuple[str, int, int]] = []
        self._hints_lock = threading.Lock()
        self._stopping = False
        self._ownership = Ownership(self.identity, self._wake.set)
        self._housekeeping = Housekeeping()
        self._shares = Shares()

    def run(self) -> None:
        """Run until SIGTERM or SIGINT; then release all sessions and the lease."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        hints.listen(self._on_hint)
        self._ownership.start()
        logger.info("worker is up", extra={"worker": self.identity})
        try:
            while not self._stopping:
                self._round()
        finally:
            for session_id in list(self._drivers):
                self._release(session_id)
            self._ownership.stop()
        logger.info("worker is down", extra={"worker": self.identity})

    def _round(self) -> None:
        self._ownership.progress()
        if self._ownership.lost.is_set():
            # No writing: whoever owns them now has a newer epoch, and what is in memory here is stale.
            for session_id in list(self._drivers):
                self._drop(session_id)
            self._ownership.lost.clear()
        if not self._ownership.claims.empty():
            self._take(self._ownership.claims.get())
            self._ownership.taken_up()
        self._pass_hints()
        self._look()
        now_ms = realtime.monotonic_ms()
        due = [session_id for session_id, driver in self._drivers.items() if driver.wake_at_ms <= now_ms]
        for session_id in self._shares.choose(due, now_ms):
            self._guarded(session_id, self._drivers[session_id])
            self._ownership.progress()
        for session_id in self._unused():
            self._release(session_id, hibernate=True)
        OWNED.set(len(self._drivers))
        self._sleep()

    def _sleep(self) -> None:
        due_ms = min((driver.wake_at_ms for driver in self._drivers.values()), default=1 << 62)
        if self._drivers:
            due_ms = min(due_ms, self._look_at_ms)
        wait_ms = min(due_ms - realtime.monotonic_ms(), IDLE_WAIT_MS)
        if wait_ms > 0:
            self._wake.wait(wait_ms / 1000)
            self._ownership.progress()
        self._wake.clear()
        for driver in self._drivers.values():
            driver.answers_are_there()

    def _look(self) -> None:
        """Ask for all sessions at once whether their logs have grown: hints may be lost, or not come at all."""
        now_ms = realtime.monotonic_ms()
        if now_ms < self._look_at_ms or not self._drivers:
            return
        self._look_at_ms = now_ms + (LOOK_EVERY_MS if hints.arrive() else POLL_MS)
        try:
            revisions = sessions.revisions(list(self._drivers))
        except DatabaseFailure as error:
            self._database_failed(error)
            return
        for session_id, driver in self._drivers.items():
            driver.is_read = now_ms < self._read_until_ms.get(session_id, 0)
            if session_id in revisions:
                driver.hint(revisions[session_id])
            else:
                driver.look()

    def _take(self, claim: Claim) -> None:
        # A worker without a session asks the database nothing, and does not notice that it was restarted.
        close_old_connections()
        try:
            with staying():
                driver = self._drivers[claim.session_id] = Driver(claim.session_id, claim.epoch, self._wake.set)
                driver.is_read = realtime.monotonic_ms() < self._read_until_ms.get(claim.session_id, 0)
                driver.take_up()
        except (Fenced, sessions.NoSession):
            self._drop(claim.session_id)
        except DatabaseFailure as error:
            self._database_failed(error, claim.session_id)
            self._drop(claim.session_id, release_epoch=claim.epoch)
        except Exception:
            logger.exception("could not start", extra={"session": claim.session_id})
            FAILURES.inc()
            self._drop(claim.session_id, avoid_ms=FAILED_WAIT_MS, release_epoch=claim.epoch)

    def _guarded(self, session_id: int, driver: Driver) -> None:
        """Run one slice; whatever it raises costs this session its owner, not the worker its other sessions."""
        began_ns = realtime.timer_ns()
        try:
            driver.run_slice()
            self._housekeeping.after_slice(driver)
            used_ms = (realtime.timer_ns() - began_ns) / 1_000_000
            SLICES.observe(used_ms / 1000)
            self._shares.charge(session_id, used_ms)
        except (Fenced, sessions.NoSession) as error:
            logger.info("let go: %s", error, extra={"session": session_id})
            self._drop(session_id)
        except DatabaseFailure as error:
            # The last commit may or may not have happened: a new owner reads what did.
            self._database_failed(error, session_id)
            self._drop(session_id, release_epoch=driver.epoch)
        except Exception:
            logger.exception("the cluster failed", extra={"session": session_id})
            FAILURES.inc()
            self._drop(session_id, avoid_ms=FAILED_WAIT_MS, release_epoch=driver.epoch)

    def _unused(self) -> list[int]:
        """Return the owned sessions that nobody uses any more; while the database is away, none."""
        try:
            return self._housekeeping.idle(self._drivers)
        except DatabaseFailure as error:
            self._database_failed(error)
            return []

    def _database_failed(self, error: DatabaseFailure, session_id: int | None = None) -> None:
        """Say so, and let go of the connection if it is broken: it would fail for ever."""
        logger.warning("the database failed: %s", error, extra={"session": session_id} if session_id else {})
        close_old_connections()

    def _release(self, session_id: int, *, hibernate: bool = False) -> None:
        driver = self._drivers[session_id]
        try:
            sessions.release(session_id, self.identity, epoch=driver.epoch, hibernate=hibernate)
        except DatabaseFailure as error:
            self._database_failed(error, session_id)
        logger.info("hibernates" if hibernate else "released", extra={"session": session_id})
        self._drop(session_id)

    def _drop(self, session_id: int, *, avoid_ms: int = 0, release_epoch: int | None = None) -> None:
        driver = self._drivers.pop(session_id, None)
        if driver is not None:
            driver.close()
            leaving()
        self._housekeeping.forget(session_id)
        self._shares.forget(session_id)
        if release_epoch is not None:
            try:
                sessions.release(session_id, self.identity, epoch=release_epoch)
            except DatabaseFailure as error:
                self._database_failed(error, session_id)
        self._ownership.dropped(session_id, avoid_ms=avoid_ms)
        if release_epoch is not None:
            hints.wake_owners(session_id)

    def _pass_hints(self) -> None:
        with self._hints_lock:
            heard, self._hints = self._hints, {}
            asked, self._questions = self._questions, []
        for session_id, revision in heard.items():
            driver = self._drivers.get(session_id)
            if driver is not None:
                driver.hint(revision)
        for kind, session_id, number in asked:
            driver = self._drivers.get(session_id)
            if driver is not None:
                tell = {
                    hints.METRICS: driver.metrics,
                    hints.PANELS: driver.panels,
                    hints.INSIDES: driver.insides,
                    hints.WATCHES: driver.watches,
                }
                metrics.answer(session_id, number, tell[kind]())

    def _on_hint(self, kind: str, session_id: int, revision: int) -> None:
        """Take a hint, from any thread."""
        if kind == hints.ALL:
            self._look_at_ms = 0
            self._ownership.look()
            self._wake.set()
        if kind == hints.OWNER:
            self._ownership.look()
        if kind == hints.READ:
            self._read_until_ms[session_id] = realtime.monotonic_ms() + READ_FOR_MS
            driver = self._drivers.get(session_id)
            if driver is not None:
                driver.is_read = True
        if kind in (hints.METRICS, hints.PANELS, hints.INSIDES, hints.WATCHES) and session_id in self._drivers:
            with self._hints_lock:
                self._questions.append((kind, session_id, revision))
            self._wake.set()
        if kind != hints.LOG:
            return
        driver = self._drivers.get(session_id)
        if driver is None:
            # A session that nobody may own yet: just made, or woken.
            if not self._ownership.is_elsewhere(session_id):
                self._ownership.look()
        elif revision > driver.store.seen_revision:
            with self._hints_lock:
                self._hints[session_id] = revision
            self._wake.set()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True
        self._wake.set()
