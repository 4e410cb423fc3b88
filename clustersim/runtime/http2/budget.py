"""What one HTTP/2 connection may ask for nothing: a store that is taken from, and that time fills."""

from __future__ import annotations


class Budget:
    """A store of so many; each second gives some back, and what is worth something may give some, too.

    A token bucket; `now` is in seconds, of a clock that does not go back.
    """

    __slots__ = ("_at", "_each_second", "_left", "_most")

    def __init__(self, most: float, each_second: float, now: float, *, left: float | None = None) -> None:
        self._most = most
        self._each_second = each_second
        self._left = most if left is None else left
        self._at = now

    def give(self, count: float) -> None:
        """Add to what is left, as far as there is room."""
        self._left = min(self._most, self._left + count)

    def take(self, count: float, now: float) -> bool:
        """Take from what is left; return whether there was enough."""
        self._left = min(self._most, self._left + max(0.0, now - self._at) * self._each_second)
        self._at = max(now, self._at)
        self._left -= count
        return self._left >= 0
