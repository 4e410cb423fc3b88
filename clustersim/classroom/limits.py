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
from scheduler_core.api.said import said

BUCKETS_MAX: Final = 20_000
"""Buckets remembered by one process; the least recently used one is forgotten (and is full again)."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` at once, then `per_second`; past it the answer is 429 with Retry-After."""

    burst: int
    per_second: float
    what: str


REQUESTS: Final = Rate(6_000, 1_500.0, "requests of one participant to the Kubernetes API")
"""Requests under one token; a classroom of scripts stays below it."""

STUDENT_WRITES: Final = Rate(100, 20.0, "writes of one student")
"""One student's writes, on every route alike: enough for fast hands, too slow to drown a class."""

STUDENT_BYTES: Final = Rate(8 * 1024 * 1024, 256 * 1024.0, "bytes written by one student")
"""Bytes of the documents that one student writes: the log keeps each version of each for a while."""

IMPORTED: Final = Rate(500, 20.0, "imported objects of one student")
"""Objects in the files that one student applies; a larger file is refused whole, before any of it is applied."""

OPENINGS: Final = Rate(240, 2.0, "new sessions from one address")
"""Sessions opened from one address; a whole school may share one. A large template counts for many."""

FORKS: Final = Rate(12, 0.05, "forks of one person")
"""Sessions that one person forks off: a few to try things out in, then one every twenty seconds."""

HANDOUTS: Final = Rate(6, 0.05, "hand-outs of one teacher")
"""Times that one teacher hands a moment out to a class: each makes a session for every seat."""

EXPORTS: Final = Rate(20, 0.5, "exports of one person")
"""Files that one person has made of a session."""

CODES: Final = Rate(60, 1.0, "session codes that nobody has, from one address")
"""Codes tried from one address that no session has: more than slips of the pen, too few to find one by trying."""

SEATS: Final = Rate(320, 2.0, "people joining from one address")
"""Seats taken from one address: a lecture hall behind one router at once, not all seats of a session by one person."""

JOINS: Final = Rate(400, 20.0, "people joining one session")
"""Seats taken in one session: a full lecture hall at once, then twenty a second."""

ENTRIES: Final = Rate(30, 1.0, "link secrets tried from one address")
"""Link secrets tried from one address."""


MODELS: Final = Rate(40, 4.0, "questions of one person to the model")
"""One person's questions about a pod to the formal model."""

LOOKS: Final = Rate(30, 4.0, "looks of one person")
"""What one person selects, as far as others are told; a quicker one is told with the next."""

POINTS: Final = Rate(6, 0.5, "things that one person points at")
"""Toasts that one person sends to everybody."""

VOTES: Final = Rate(20, 2.0, "votes of one person")
"""One person's votes, changes of mind included: fast fingers stay below it."""

VIEWS: Final = Rate(60, 12.0, "views presented by one person")
"""What one teacher shows the class: a hand that scrubs along the timeline is told a few times a second."""

EXPRESSIONS: Final = Rate(20, 2.0, "expressions tried by one person")
"""Expressions that one person tries on the cluster."""

WHAT_IFS: Final = Rate(20, 1.0, "what-ifs of one person")
"""Decisions that one person has taken again on changed input: at 1,000 nodes each costs a tenth of a second."""

FITS: Final = Rate(6, 0.3, "questions of one person for what would let a pod in")
"""Questions of one person for what would let a pod in: each takes its decision again up to thirty times."""

SEARCHES: Final = Rate(12, 0.2, "searches of one person")
"""Searches of one person for a cluster on which a wrong rule and the engine disagree: each may take seconds."""

COMPARISONS: Final = Rate(6, 0.1, "comparisons of one session")
"""Comparisons of two schedulers that one session asks for: each may keep a processor busy for seconds."""

OPTIMA: Final = Rate(6, 0.2, "optima of one session")
"""Optima that one session asks for: each may keep a processor busy for seconds."""


class _Buckets:
    def __init__(self) -> None:
        self._levels: OrderedDict[tuple[str, object], tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, rate: Rate, owner: object, cost: int, *, look: bool = False) -> float:
        """Return 0 when there was room, else the seconds until there is; `look` takes nothing."""
        now = time.monotonic()
        key = (rate.what, owner)
        with self._lock:
            level, at = self._levels.get(key, (float(rate.burst), now))
            level = min(rate.burst, level + (now - at) * rate.per_second)
            wait = max(0.0, (cost - level) / rate.per_second)
            if wait == 0.0 and not look:
                level -= cost
            self._levels[key] = (level, now)
            self._levels.move_to_end(key)
            while len(self._levels) > BUCKETS_MAX:
                self._levels.popitem(last=False)
        return wait

    def clear(self) -> None:
        """Fill every bucket."""
        with self._lock:
            self._levels.clear()


_buckets = _Buckets()


def spend(rate: Rate, owner: object, cost: int = 1) -> None:
    """Count one use.

    Raises:
        ApiError: 429, too often; `retry_after_seconds` says when again.
    """
    _refuse_early(rate, _buckets.take(rate, owner, cost))


def check(rate: Rate, owner: object) -> None:
    """Refuse as `spend` would, and count nothing.

    Raises:
        ApiError: 429.
    """
    _refuse_early(rate, _buckets.take(rate, owner, 1, look=True))


def _refuse_early(rate: Rate, wait: float) -> None:
    if wait > 0:
        seconds = math.ceil(wait)
        raise ApiError(
            429,
            "TooManyRequests",
            said(
                "limit.often",
                "too many {what}: at most {burst} at once and {per_second:g} a second; wait {seconds} s and try again",
                what=rate.what,
                burst=rate.burst,
                per_second=rate.per_second,
                seconds=seconds,
            ),
            retry_after_seconds=seconds,
        )


def forget() -> None:
    """Forget every count; for tests, which ask in one minute what a school asks in a year."""
    _buckets.clear()


def check_write(principal: Principal) -> None:
    """Count one write of a person; teachers and components are not limited.

    Raises:
        ApiError: 429.
    """
    if principal.role == STUDENT:
        spend(STUDENT_WRITES, principal.participant_id)
