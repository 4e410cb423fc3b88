"""The wall clock, in one place: simulated time is a parameter everywhere else."""

from __future__ import annotations

import time


def unix_ms() -> int:
    """Return Unix milliseconds."""
    return time.time_ns() // 1_000_000


def monotonic_ms() -> int:
    """Return milliseconds on a clock that never goes back; its zero means nothing."""
    return time.monotonic_ns() // 1_000_000


def timer_ns() -> int:
    """Return nanoseconds of the finest clock there is, to measure durations with."""
    return time.perf_counter_ns()
