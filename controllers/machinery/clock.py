"""Simulated clocks: the loop's own, and what a replica with a skewed or slow clock believes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

RATE_UNIT: Final = 1000
"""A replica's clock rate is in thousandths, so that conversions stay in integers: 1000 is a true clock."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LocalClock:
    """What one component's clock shows.

    It showed `local_ms` when the loop's time was `world_ms`, and runs at `rate` thousandths of true speed since.
    """

    world_ms: int = 0
    local_ms: int = 0
    rate: int = RATE_UNIT

    def local(self, world_ms: int) -> int:
        """Return what this clock shows at the loop's time `world_ms`."""
        return self.local_ms + (world_ms - self.world_ms) * self.rate // RATE_UNIT

    def world(self, local_ms: int) -> int:
        """Return the loop's earliest time at which this clock shows at least `local_ms`."""
        return self.world_ms - (self.local_ms - local_ms) * RATE_UNIT // self.rate


@lru_cache(maxsize=256)
def wire_time(unix_ms: int) -> str:
    """Return RFC 3339 in whole seconds, as metav1.Time is written."""
    return (_EPOCH + timedelta(milliseconds=unix_ms)).strftime("%Y-%m-%dT%H:%M:%SZ")


def wire_micro_time(unix_ms: int) -> str:
    """Return RFC 3339 with microseconds, as metav1.MicroTime is written."""
    return (_EPOCH + timedelta(milliseconds=unix_ms)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def unix_ms_of(text: str) -> int:
    """Return Unix milliseconds of an RFC 3339 time.

    Raises:
        ValueError: the text is no time.
    """
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)
