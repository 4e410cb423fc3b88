"""How much one client may ask: requests a second, watches at once."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Final

from scheduler_core.api.errors import ApiError

REQUESTS_PER_SECOND: Final = 1_500.0
"""Sustained requests of one participant; a classroom of scripts under one token stays below it."""

REQUESTS_BURST: Final = 6_000.0
"""Requests that may come at once after a pause."""

WATCHES_MAX: Final = 256
"""Watches one participant may have open; kubectl has one or two, a controller a dozen."""

_CLIENTS_MAX: Final = 10_000


class Meter:
    """A bucket of requests a participant, refilled by the wall clock; forgets who was away longest."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[int, tuple[float, float]] = OrderedDict()
        self._watches: dict[int, int] = {}
        self._lock = threading.Lock()

    def take(self, participant_id: int) -> None:
        """Count one request.

        Raises:
            ApiError: 429, too many.
        """
        now = time.monotonic()
        with self._lock:
            left, since = self._buckets.pop(participant_id, (REQUESTS_BURST, now))
            left = min(REQUESTS_BURST, left + (now - since) * REQUESTS_PER_SECOND)
            allowed = left >= 1.0
            self._buckets[participant_id] = (left - 1.0 if allowed else left, now)
            while len(self._buckets) > _CLIENTS_MAX:
                self._buckets.popitem(last=False)
        if not allowed:
            raise ApiError(
                429,
                "TooManyRequests",
                f"more than {REQUESTS_PER_SECOND:.0f} requests a second; wait a second and go slower",
                retry_after_seconds=1,
            )

    def open_watch(self, participant_id: int) -> None:
        """Count a watch that begins.

        Raises:
            ApiError: 429, too many are open.
        """
        with self._lock:
            count = self._watches.get(participant_id, 0)
            if count >= WATCHES_MAX:
                raise ApiError(
                    429,
                    "TooManyRequests",
                    f"{WATCHES_MAX} watches are open already; close some of them",
                    retry_after_seconds=1,
                )
            self._watches[participant_id] = count + 1

    def close_watch(self, participant_id: int) -> None:
        """Count a watch that has ended."""
        with self._lock:
            count = self._watches.get(participant_id, 0) - 1
            if count > 0:
                self._watches[participant_id] = count
            else:
                self._watches.pop(participant_id, None)
