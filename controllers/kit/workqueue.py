"""The rate-limited workqueue: a key is worked on by one worker at a time, adds while it is worked on are kept, failures
wait longer each time (client-go's `util/workqueue`).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import islice
from typing import Any, Final

BASE_DELAY_MS: Final = 5
MAX_DELAY_MS: Final = 1_000_000
"""A failing key waits 5 ms, 10 ms, 20 ms … and at most 1,000 s."""

BUCKET_PER_SECOND: Final = 10
BUCKET_SIZE: Final = 100
"""All rate-limited adds of one queue together: 10 a second once a burst of 100 is used up."""


SHOWN_MAX: Final = 20
"""Keys of each part of a queue that its panel shows."""

SPINS_MAX: Final = 100
"""How often a key may be worked on within one simulated millisecond; past it the key rests, so that a controller that
undoes its own work, or another leader's, cannot stop time."""

REST_MS_MAX: Final = 1_000
"""Such a key rests 1 ms, 2 ms, 4 ms … and at most this long, until it has been quiet for twice its last rest."""


class RateLimiter:
    """client-go's default: the longer of the key's exponential delay and the queue's token bucket."""

    def __init__(self) -> None:
        """Begin without failures and with a full bucket."""
        self._failures: dict[str, int] = {}
        self._bucket_ms = -BUCKET_SIZE * 1000 // BUCKET_PER_SECOND
        """When the bucket was last empty, at its rate of refilling."""

    def delay_ms(self, key: str, now_ms: int) -> int:
        """Count one more failure of the key and return its wait."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        own_ms = min(MAX_DELAY_MS, BASE_DELAY_MS << min(failures, 30))
        step_ms = 1000 // BUCKET_PER_SECOND
        self._bucket_ms = max(self._bucket_ms, now_ms - BUCKET_SIZE * step_ms) + step_ms
        return max(own_ms, self._bucket_ms - now_ms)

    def failures(self, key: str) -> int:
        """Return how often the key has failed since it was last forgotten."""
        return self._failures.get(key, 0)

    def forget(self, key: str) -> None:
        """The key succeeded: its next failure waits the base delay."""
        self._failures.pop(key, None)


class Workqueue:
    """Keys to be reconciled, first come first served."""

    def __init__(self, on_stir: Callable[[], object] | None = None) -> None:
        """Begin empty. `on_stir` is called when keys come for the first time since `stirred` was put down."""
        self._on_stir = on_stir
        self.limiter = RateLimiter()
        self._ready: dict[str, None] = {}
        self._working: set[str] = set()
        self._again: set[str] = set()
        self._waiting: list[tuple[int, int, str]] = []
        self._due: dict[str, int] = {}
        self._after: dict[str, int] = {}
        self._sequence = 0
        self.stirred = False
        """Whether keys came since whoever plans the work has put this down."""
        self._spins: dict[str, int] = {}
        self._spins_ms = -1
        self.adds = 0
        """Keys that became ready, ever (workqueue_adds_total)."""
        self.retries = 0
        """Keys that were put off after a failure, ever (workqueue_retries_total)."""
        self._rests: dict[str, tuple[int, int]] = {}
        """Key that has spun → (when its rest ends, how long it is)."""

    def __len__(self) -> int:
        """Return how many keys are ready."""
        return len(self._ready)

    def stir(self) -> None:
        """Have whoever plans the work look at the queue."""
        if not self.stirred:
            self.stirred = True
            if self._on_stir is not None:
                self._on_stir()

    def add(self, key: str) -> None:
        """Make the key ready; once however often it is added; after the present work where it is worked on."""
        if key in self._working:
            self._again.add(key)
        elif key not in self._ready:
            self.adds += 1
            self._ready[key] = None
            self.stir()

    def add_at(self, key: str, at_ms: int) -> None:
        """Make the key ready at a time; the earliest of several holds."""
        known = self._due.get(key)
        if known is not None and known <= at_ms:
            return
        self._due[key] = at_ms
        self.stir()
        self._sequence += 1
        heappush(self._waiting, (at_ms, self._sequence, key))

    def add_after(self, key: str, delay_ms: int) -> None:
        """Make the key ready so long after the queue is next asked, which is at the present time: for handlers, which
        know no time.
        """
        self.stir()
        known = self._after.get(key)
        self._after[key] = delay_ms if known is None else min(known, delay_ms)

    def add_limited(self, key: str, now_ms: int) -> None:
        """Make the key ready after the wait that its failures have earned."""
        self.retries += 1
        self.add_at(key, now_ms + self.limiter.delay_ms(key, now_ms))

    def get(self, now_ms: int) -> str | None:
        """Take the next key to work on; None where nothing is ready."""
        self._wake(now_ms)
        if now_ms != self._spins_ms:
            self._spins_ms = now_ms
            self._spins = {}
        while self._ready:
            key = next(iter(self._ready))
            del self._ready[key]
            spins = self._spins.get(key, 0)
            rested_ms = self._rests[key][0] if key in self._rests else now_ms
            if rested_ms <= now_ms and spins >= SPINS_MAX:
                rested_ms = self._rest(key, now_ms)
            if rested_ms > now_ms:
                self.add_at(key, rested_ms)
                continue
            self._spins[key] = spins + 1
            self._working.add(key)
            return key
        return None

    def _rest(self, key: str, now_ms: int) -> int:
        """Let a key that spins wait, twice as long as it did a moment ago; return until when."""
        self._rests = {one: rest for one, rest in self._rests.items() if now_ms <= rest[0] + 2 * rest[1]}
        length_ms = min(REST_MS_MAX, 2 * self._rests[key][1]) if key in self._rests else 1
        self._rests[key] = (now_ms + length_ms, length_ms)
        return now_ms + length_ms

    def done(self, key: str) -> None:
        """The work on the key is over; it is ready again if it was added meanwhile."""
        self._working.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.adds += 1
            self._ready[key] = None
            self.stir()

    def forget(self, key: str) -> None:
        """Forget the key's failures."""
        self.limiter.forget(key)

    def next_ms(self, now_ms: int) -> int | None:
        """Return when a key is ready next; None where none is or will be."""
        self._place(now_ms)
        if self._ready:
            return now_ms
        while self._waiting and self._due.get(self._waiting[0][2]) != self._waiting[0][0]:
            heappop(self._waiting)
        return self._waiting[0][0] if self._waiting else None

    def shown(self, now_ms: int) -> dict[str, Any]:
        """Return what the queue holds, the first `SHOWN_MAX` keys of each part: ready, being worked on, waiting."""
        waiting = sorted((at_ms, key) for key, at_ms in self._due.items())
        return {
            "length": len(self._ready),
            "adds": self.adds,
            "retries": self.retries,
            "ready": list(islice(self._ready, SHOWN_MAX)),
            "working": sorted(self._working)[:SHOWN_MAX],
            "waiting": [
                {"key": key, "inMs": max(0, at_ms - now_ms), "failures": self.limiter.failures(key)}
                for at_ms, key in waiting[:SHOWN_MAX]
            ],
        }

    def _place(self, now_ms: int) -> None:
        """Give those that wait for some time the moment at which it is over."""
        after, self._after = self._after, {}
        for key, delay_ms in after.items():
            self.add_at(key, now_ms + delay_ms)

    def _wake(self, now_ms: int) -> None:
        self._place(now_ms)
        while self._waiting and self._waiting[0][0] <= now_ms:
            at_ms, _, key = heappop(self._waiting)
            if self._due.get(key) == at_ms:
                del self._due[key]
                self.add(key)
