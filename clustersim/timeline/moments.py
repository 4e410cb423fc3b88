"""The way back through a stretch of the log, moment by moment: which row held what each object was before. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clustersim.store.history import Key, LogRow


class Moment(NamedTuple):
    """A moment, and what it has other than the one after it."""

    revision: int
    now_ms: int
    """Simulated milliseconds."""
    rows: dict[Key, int]
    """By object the row that held its state at this moment; 0: it was not there."""


def backwards(rows: Sequence[LogRow], first: int, from_ms: int, to_ms: int, count: int) -> Iterator[Moment]:
    """Go through `count` moments at equal distances of simulated time, the newest first; the last of them is `from_ms`.

    Args:
        rows: the log after the revision `first`, in order, until the moment `to_ms` from which the way goes.
        first: a kept revision.
        from_ms: simulated milliseconds, not after `to_ms`.
        to_ms: simulated milliseconds.
        count: how many moments, at least 1.
    """
    left = len(rows)
    for step in range(1, count + 1):
        now_ms = to_ms - (to_ms - from_ms) * step // count
        found: dict[Key, int] = {}
        while left and rows[left - 1].now_ms > now_ms:
            left -= 1
            # Of several rows of an object the first says what it found.
            found[rows[left].key] = rows[left].previous_revision
        yield Moment(rows[left - 1].revision if left else first, now_ms, found)
