"""Faults of a replica's clock. A constant skew is harmless to an election, a slow clock is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from controllers.faults.fault import Asked, Fault
from controllers.loop.clock import RATE_UNIT, LocalClock
from controllers.loop.component import Slot
from controllers.loop.loop import Loop


def _skew(loop: Loop, slot: Slot, asked: Asked) -> None:
    loop.set_clock(slot, replace(slot.clock, skew_ms=slot.clock.skew_ms + round((asked.seconds or 0) * 1000)))


def _run_at(loop: Loop, slot: Slot, rate: int) -> None:
    clock, now_ms = slot.clock, loop.now_ms
    loop.set_clock(slot, LocalClock(now_ms, clock.local(now_ms), rate, clock.skew_ms))


def _slow_down(loop: Loop, slot: Slot, asked: Asked) -> None:
    _run_at(loop, slot, max(1, round((asked.rate or 1) * RATE_UNIT)))


def _set_right(loop: Loop, slot: Slot) -> None:
    """Let the clock run true and write true times; the durations that it has measured stay as they are."""
    _run_at(loop, slot, RATE_UNIT)
    loop.set_clock(slot, replace(slot.clock, skew_ms=slot.clock.skew_ms - slot.clock.off_ms(loop.now_ms)))


SKEW: Final = Fault(
    "The replica's wall clock is `seconds` ahead (or behind, when negative): the times that it writes are off, and "
    "nothing else happens, since an elector measures a lease by its own clock from when it saw it renewed.",
    _skew,
    _set_right,
    needs=("seconds",),
    of="clock",
    lasts="open",
)
RATE: Final = Fault(
    "The replica's clock runs at `rate` (1 is true; 0.1 is ten times too slow), for `seconds` or for good. A slow "
    "leader renews too late and goes on believing that it leads: two act as leader.",
    _slow_down,
    _set_right,
    needs=("rate",),
    takes=("seconds",),
    of="clock",
)
