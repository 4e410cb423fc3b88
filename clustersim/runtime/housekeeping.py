"""What the owner does beside running: retention of the log, and noticing that nobody is there any more."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from clustersim.runtime import realtime
from clustersim.store import retention, sessions

if TYPE_CHECKING:
    from clustersim.runtime.driver import Driver

logger = logging.getLogger(__name__)

RETAIN_EVERY_MS: Final = 20_000
"""How often a session's log is measured against its limits."""

RETAIN_ROWS_MIN: Final = 200
"""Rows that a log must have grown by since it was last measured; a session that only renews grows slowly."""

RETAIN_LATEST_MS: Final = 600_000
"""A log is measured this often though it hardly grew: its rows grow old."""

IDLE_LOOK_EVERY_MS: Final = 5_000
"""How often sessions are asked whether somebody used them."""

IDLE_MS: Final = 600_000
"""A session that nobody has used for this long hibernates."""


IDLE_CROWDED_MS: Final = 60_000
"""The same while more than `sessions.CROWDED` sessions are awake: room is for those that are used."""


class Housekeeping:
    """Timers beside the loop."""

    def __init__(self) -> None:
        self._retain_at_ms: dict[int, int] = {}
        self._measured: dict[int, tuple[int, int]] = {}
        """Session → (revision, monotonic time) at which its log was last measured."""
        self._idle_at_ms = 0

    def forget(self, session_id: int) -> None:
        """Drop a session's timers."""
        self._retain_at_ms.pop(session_id, None)
        self._measured.pop(session_id, None)

    def after_slice(self, driver: Driver) -> None:
        """Compact one step when the session's log is over its limits: a step is one short transaction."""
        now_ms = realtime.monotonic_ms()
        if now_ms < self._retain_at_ms.setdefault(driver.session_id, now_ms + RETAIN_EVERY_MS):
            return
        self._retain_at_ms[driver.session_id] = now_ms + RETAIN_EVERY_MS
        revision, at_ms = self._measured.setdefault(driver.session_id, (0, now_ms))
        if driver.store.seen_revision - revision < RETAIN_ROWS_MIN and now_ms - at_ms < RETAIN_LATEST_MS:
            return
        if retention.step(driver.store, realtime.unix_ms()):
            self._retain_at_ms[driver.session_id] = now_ms
        else:
            self._measured[driver.session_id] = (driver.store.seen_revision, now_ms)

    def idle(self, drivers: Mapping[int, Driver]) -> list[int]:
        """Return the owned sessions that nobody has used for IDLE_MS and in which nothing is under way."""
        now_ms = realtime.monotonic_ms()
        if now_ms < self._idle_at_ms or not drivers:
            return []
        self._idle_at_ms = now_ms + IDLE_LOOK_EVERY_MS
        idle_ms = IDLE_CROWDED_MS if sessions.awake_count() > sessions.CROWDED else IDLE_MS
        unused = sessions.unused(list(drivers), before_ms=realtime.unix_ms() - idle_ms)
        return [session_id for session_id in unused if not _replays(drivers[session_id])]


def _replays(driver: Driver) -> bool:
    """Return whether a replay is still running: it counts as use."""
    for stored in driver.store.list("replays.clustersim.io")[0]:
        if not (stored.object.get("status") or {}).get("done"):
            return True
    return False
