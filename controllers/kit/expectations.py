"""Expectations: what a controller has asked for and not yet seen in its cache, so that it does not ask twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

EXPECTATIONS_TTL_MS: Final = 300_000
"""After 5 minutes an unfulfilled expectation no longer holds: a lost watch message must not stop a controller."""


@dataclass(slots=True)
class _Expected:
    creations: int
    deletions: set[str] = field(default_factory=set)
    set_ms: int = 0


class Expectations:
    """Counts of creations and uids of deletions that are awaited, by controller key."""

    def __init__(self) -> None:
        """Begin without any."""
        self._expected: dict[str, _Expected] = {}

    def satisfied(self, key: str, now_ms: int) -> bool:
        """Return whether nothing is awaited any more, or it was awaited for too long."""
        expected = self._expected.get(key)
        if expected is None or (expected.creations <= 0 and not expected.deletions):
            return True
        return now_ms - expected.set_ms > EXPECTATIONS_TTL_MS

    def expect_creations(self, key: str, count: int, now_ms: int) -> None:
        """Await `count` new objects, instead of what was awaited."""
        self._expected[key] = _Expected(count, set_ms=now_ms)

    def expect_deletions(self, key: str, uids: list[str], now_ms: int) -> None:
        """Await the deletion of these, instead of what was awaited."""
        self._expected[key] = _Expected(0, set(uids), now_ms)

    def expect(self, key: str, creations: int, deletions: list[str], now_ms: int) -> None:
        """Await new objects and the deletion of these, instead of what was awaited."""
        self._expected[key] = _Expected(creations, set(deletions), now_ms)

    def created(self, key: str, count: int = 1) -> None:
        """Objects were seen, or will never come because their creation failed."""
        expected = self._expected.get(key)
        if expected is not None:
            expected.creations -= count

    def deleted(self, key: str, uid: str) -> None:
        """A deletion was seen (a deletion timestamp is enough), or failed."""
        expected = self._expected.get(key)
        if expected is not None:
            expected.deletions.discard(uid)

    def forget(self, key: str) -> None:
        """The controller's object is gone."""
        self._expected.pop(key, None)
