"""How often people may do things: token buckets in each web process, by person, address or session."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from clustersim.classroom.auth import STUDENT, Principal
from scheduler_core.api.errors import ApiError

BUCKETS_MAX: Final = 20_000
"""Buckets remembered by one process; the least recently used one is forgotten (and is full again)."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` at once, then `per_second`; past it the answer is 429 with Retry-After."""

    burst: int
    per_second: float
    what: str


STUDENT_WRITES: Final = Rate(100, 20.0, "writes of one student")
"""One student's writes, on every route alike: enough for fast hands, too slow to drown a class."""

STUDENT_BYTES: Final = Rate(8 * 1024 * 1024, 256 * 1024.0, "bytes written by one student")
"""Bytes of the documents that one student writes: the log keeps each version of each for a while."""

IMPORTED: Final = Rate(500, 20.0, "imported objects of one student")
"""Objects in the files that one student applies; a larger file is refused whole, before any of it is applied."""

OPENINGS: Final = Rate(600, 10.0, "new sessions from one address")
"""Sessions opened from one address; a whole school may share one."""

JOINS: Final = Rate(400, 20.0, "people joining one session")
"""Seats taken in one session: a full lecture hall at once, then twenty a second."""

ENTRIES: Final = Rate(30, 1.0, "link secrets tried from one address")
"""Link secrets tried from one address."""


MODELS: Final = Rate(40, 4.0, "questions of one person to the model")
"""One person's questions about a pod to the formal model."""

EXPRESSIONS: Final = Rate(20, 2.0, "expressions tried by one person")
"""Expressions that one person tries on the cluster."""

OPTIMA: Final = Rate(6, 0.2, "optima of one session")
"""Optima that one session asks for: each may keep a processor busy for seconds."""


class _Buckets:
    def __init__(self) -> None:
        self._levels: OrderedDict[tuple[str, object], tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, rate: Rate, owner: object, cost: int) -> float:
        """Return 0 when there was room, else the seconds until there is."""
        now = time.monotonic()
        key = (rate.what, owner)
        with self._lock:
            level, at = self._levels.get(key, (float(rate.burst), now))
            level = min(rate.burst, level + (now - at) * rate.per_second)
            wait = max(0.0, (cost - level) / rate.per_second)
            if wait == 0.0:
                level -= cost
            self._levels[key] = (level, now)
            self._levels.move_to_end(key)
            while len(self._levels) > BUCKETS_MAX:
                self._levels.popitem(last=False)
        return wait


_buckets = _Buckets()


def spend(rate: Rate, owner: object, cost: int = 1) -> None:
    """Count one use.

    Raises:
        ApiError: 429, too often; `retry_after_seconds` says when again.
    """
    wait = _buckets.take(rate, owner, cost)
    if wait > 0:
        seconds = math.ceil(wait)
        raise ApiError(
            429,
            "TooManyRequests",
            f"too many {rate.what}: at most {rate.burst} at once and {rate.per_second:g} a second; "
            f"wait {seconds} s and try again",
            retry_after_seconds=seconds,
        )


def check_write(principal: Principal) -> None:
    """Count one write of a person; teachers and components are not limited.

    Raises:
        ApiError: 429.
    """
    if principal.role == STUDENT:
        spend(STUDENT_WRITES, principal.participant_id)
