"""Fair shares of a worker's time: whoever has used little lately goes first, and nobody is left out for long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

SHARE_MS: Final = 50.0
"""How much more of the last seconds one session may have had than another that wants to run, before it waits."""

HALVED_MS: Final = 10_000
"""What a session has used counts half as much after this long: only the last half minute or so is compared."""


class Shares:
    """What each session has used lately, in milliseconds of this worker's time."""

    def __init__(self) -> None:
        self._used: dict[int, float] = {}
        self._halved_at_ms = 0

    def charge(self, session_id: int, used_ms: float) -> None:
        """Count time that a session has had."""
        self._used[session_id] = self._used.get(session_id, 0.0) + used_ms

    def forget(self, session_id: int) -> None:
        """Drop a session."""
        self._used.pop(session_id, None)

    def choose(self, due: Sequence[int], now_ms: int) -> list[int]:
        """Return those of the due sessions that run now, least used first; the others wait for these."""
        self._halve(now_ms)
        ordered = sorted(due, key=lambda session_id: self._used.get(session_id, 0.0))
        if not ordered:
            return []
        most = self._used.get(ordered[0], 0.0) + SHARE_MS
        return [session_id for session_id in ordered if self._used.get(session_id, 0.0) <= most]

    def _halve(self, now_ms: int) -> None:
        times = (now_ms - self._halved_at_ms) // HALVED_MS
        if times > 0:
            self._halved_at_ms = now_ms
            factor = 0.5 ** min(times, 60)
            self._used = {session_id: used * factor for session_id, used in self._used.items() if used * factor > 0.01}
