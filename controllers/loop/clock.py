"""Simulated clocks: the loop's own, and what a replica with a skewed or slow clock believes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

RATE_UNIT: Final = 1000
"""A replica's clock rate is in thousandths, so that conversions stay in integers: 1000 is a true clock."""


@dataclass(frozen=True, slots=True)
class LocalClock:
    """What one component's clock shows.

    It showed `local_ms` when the loop's time was `world_ms`, and runs at `rate` thousandths of true speed since. That
    is what durations are measured by, and it never jumps. `skew_ms` is how far the times that it writes are off beside
    that: stepping the wall clock changes no duration.
    """

    world_ms: int = 0
    local_ms: int = 0
    rate: int = RATE_UNIT
    skew_ms: int = 0

    def local(self, world_ms: int) -> int:
        """Return what this clock shows at the loop's time `world_ms`."""
        return self.local_ms + (world_ms - self.world_ms) * self.rate // RATE_UNIT

    def off_ms(self, world_ms: int) -> int:
        """Return how far the times that this clock writes are from the loop's time."""
        return self.local(world_ms) + self.skew_ms - world_ms

    def world(self, local_ms: int) -> int:
        """Return the loop's earliest time at which this clock shows at least `local_ms`."""
        return self.world_ms - (self.local_ms - local_ms) * RATE_UNIT // self.rate
