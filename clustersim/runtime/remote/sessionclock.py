"""A session's time as seen from another process: asked for now and then, reckoned on between."""

from __future__ import annotations

from typing import Final

from clustersim.runtime import realtime
from clustersim.runtime.remote.client import ApiClient
from scheduler_core.api.document import Document

ASK_EVERY_MS: Final = 500
"""How often the clock is asked for, and so how late a pause is noticed."""


class SessionClock:
    """Simulated time of a session; it never steps back."""

    def __init__(self, client: ApiClient) -> None:
        """Ask once.

        Raises:
            ApiError: the session cannot be reached, or the token is not good for it.
        """
        self._client = client
        self._told: Document = {}
        self._told_at_ms = 0
        self._last_ms = 0
        self.ask()

    @property
    def epoch_ms(self) -> int:
        """Return Unix milliseconds of simulated time 0."""
        return int(self._told["epochMs"])

    @property
    def paused(self) -> bool:
        """Return whether time stands, by a person's wish or because the session sleeps."""
        return bool(self._told["paused"] or self._told["hibernated"])

    def is_stale(self) -> bool:
        """Return whether it is time to ask again."""
        return realtime.monotonic_ms() - self._told_at_ms >= ASK_EVERY_MS

    def ask(self) -> None:
        """Ask what time it is.

        Raises:
            ApiError: the session cannot be reached.
        """
        self._told = self._client.clock()
        self._told_at_ms = realtime.monotonic_ms()

    def now_ms(self) -> int:
        """Return the session's time."""
        since_ms = 0 if self.paused else min(realtime.monotonic_ms() - self._told_at_ms, 2 * ASK_EVERY_MS)
        rate = self._told["effectiveRate"] or self._told["rate"]
        self._last_ms = max(self._last_ms, round(self._told["simTime"] * 1000 + since_ms * rate))
        return self._last_ms
