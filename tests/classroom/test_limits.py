"""Token buckets: a burst at once, then so many a second, each owner by itself."""

from __future__ import annotations

import pytest

from clustersim.classroom import limits
from clustersim.classroom.limits import Rate, spend
from scheduler_core.api.errors import ApiError


class Clock:
    """Real time as the buckets read it."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(limits, "time", clock)
    return clock


def allowed(rate: Rate, owner: str, tries: int) -> int:
    """Return how many of so many tries in a row go through."""
    passed = 0
    for _ in range(tries):
        try:
            spend(rate, owner)
        except ApiError:
            break
        passed += 1
    return passed


def test_a_burst_then_a_steady_rate(clock: Clock) -> None:
    rate = Rate(5, 2.0, "tries in this test")
    assert allowed(rate, "ann", 10) == 5
    assert allowed(rate, "bob", 3) == 3
    clock.seconds += 1.0
    assert allowed(rate, "ann", 10) == 2
    clock.seconds += 1_000.0
    assert allowed(rate, "ann", 10) == 5


def test_a_refusal_says_when_again(clock: Clock) -> None:
    rate = Rate(2, 0.25, "slow tries")
    assert allowed(rate, "ann", 2) == 2
    with pytest.raises(ApiError, match=r"slow tries: at most 2 at once and 0\.25 a second; wait 4 s") as refusal:
        spend(rate, "ann")
    assert (refusal.value.code, refusal.value.retry_after_seconds) == (429, 4)
    clock.seconds += 4.0
    spend(rate, "ann")


def test_a_refused_use_costs_nothing(clock: Clock) -> None:
    rate = Rate(10, 1.0, "uses of different size")
    with pytest.raises(ApiError):
        spend(rate, "ann", 11)
    spend(rate, "ann", 10)


def test_the_least_recently_used_bucket_is_forgotten(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BUCKETS_MAX", 2)
    rate = Rate(1, 0.001, "forgotten tries")
    assert [allowed(rate, owner, 1) for owner in ("a", "b", "a", "c", "b", "c")] == [1, 1, 0, 1, 1, 0]
