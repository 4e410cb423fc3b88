"""When a node evicts, and what it says of itself meanwhile: thresholds, their grace, and how long pressure is told.

Source: pkg/kubelet/eviction (eviction_manager.go, synchronize; helpers.go), v1.34. What is observed comes from
`pressure`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from controllers.flags.flag import InForce
from controllers.flags.kubelet import EVICTION_POD_GRACE, PRESSURE_TRANSITION
from controllers.flags.thresholds import (
    EVICTION_HARD,
    EVICTION_RECLAIM,
    EVICTION_SOFT,
    EVICTION_SOFT_GRACE,
    MEASURED,
    MEMORY,
    Amount,
)

HARD_GRACE_SECONDS: Final = 1
"""What a pod has that goes at once (immediateEvictionGracePeriodSeconds)."""


class Observed(NamedTuple):
    """How much is left of how much."""

    available: int
    capacity: int


class Threshold(NamedTuple):
    """One line of `eviction-hard` or `eviction-soft`."""

    signal: str
    least: Amount
    reclaim: Amount
    grace_ms: int
    hard: bool

    def is_met(self, observed: Mapping[str, Observed], *, enough: bool = False) -> bool:
        """Return whether less is left; `enough`: less than is to be left before it is over."""
        seen = observed.get(self.signal)
        if seen is None:
            return False
        least = self.least.of(seen.capacity) + (self.reclaim.of(seen.capacity) if enough else 0)
        return seen.available < least


class Verdict(NamedTuple):
    """What a look at a node comes to."""

    pressed: frozenset[str]
    """Signals of which the node tells that it has too little."""
    acts: Threshold | None
    """For what a pod has to go."""
    over: bool
    """Whether nothing will change unless usage does."""


@dataclass(slots=True)
class Watch:
    """What a kubelet remembers of its node's thresholds."""

    first_ms: dict[Threshold, int] = field(default_factory=dict)
    """When each that is met was first seen so."""
    last_ms: dict[str, int] = field(default_factory=dict)
    """Signal → when there was last too little of it."""
    met: tuple[Threshold, ...] = ()
    next_ms: int = 0
    """Until then no other pod goes: what the last one leaves is to be seen first."""

    def look(
        self, wanted: Iterable[Threshold], flags: InForce, observed: Mapping[str, Observed], now_ms: int
    ) -> Verdict:
        """Take what is observed of the thresholds; say what follows."""
        met = [one for one in wanted if one.is_met(observed) or (one in self.met and one.is_met(observed, enough=True))]
        self.first_ms = {one: self.first_ms.get(one, now_ms) for one in met}
        self.last_ms |= {one.signal: now_ms for one in met}
        told_ms = flags[PRESSURE_TRANSITION]
        self.last_ms = {
            signal: seen_ms
            for signal, seen_ms in self.last_ms.items()
            if seen_ms == now_ms or now_ms - seen_ms < told_ms
        }
        self.met = tuple(one for one in met if now_ms - self.first_ms[one] >= one.grace_ms)
        acts = min(self.met, key=lambda one: one.signal != MEMORY, default=None)
        return Verdict(frozenset(self.last_ms), acts, not self.last_ms)


def thresholds(flags: InForce) -> Iterator[Threshold]:
    """Yield the thresholds in force of what hollow machines measure, hard ones first."""
    reclaim, grace = flags[EVICTION_RECLAIM], flags[EVICTION_SOFT_GRACE]
    for hard, table in ((True, flags[EVICTION_HARD]), (False, flags[EVICTION_SOFT])):
        for signal, least in table.items():
            if signal in MEASURED and (hard or signal in grace):
                yield Threshold(signal, least, reclaim.get(signal, Amount()), 0 if hard else grace[signal], hard)


def grace_seconds(flags: InForce, threshold: Threshold, own: int | None) -> int:
    """Return how long a pod has that goes for a threshold; `own`: its terminationGracePeriodSeconds."""
    if threshold.hard:
        return HARD_GRACE_SECONDS
    most = flags[EVICTION_POD_GRACE]
    return most if own is None else min(most, own)
