"""How many watches one client may have open at once."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Final

from scheduler_core.api.errors import ApiError

WATCHES_MAX: Final = 256
"""Watches one participant may have open; kubectl has one or two, a controller a dozen."""


class Watches:
    """Open watches by participant."""

    def __init__(self) -> None:
        self._open: Counter[int] = Counter()
        self._lock = threading.Lock()

    def open(self, participant_id: int) -> None:
        """Count a watch that begins.

        Raises:
            ApiError: 429, too many are open.
        """
        with self._lock:
            if self._open[participant_id] >= WATCHES_MAX:
                message = f"{WATCHES_MAX} watches are open already; close some of them"
                raise ApiError(429, "TooManyRequests", message, retry_after_seconds=1)
            self._open[participant_id] += 1

    def close(self, participant_id: int) -> None:
        """Count a watch that has ended."""
        with self._lock:
            self._open[participant_id] -= 1
            if self._open[participant_id] <= 0:
                del self._open[participant_id]
