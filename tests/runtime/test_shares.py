"""Fair shares: whoever used little goes first, whoever used much waits, and what is long ago does not count."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clustersim.runtime.shares import HALVED_MS, SHARE_MS, Shares


def test_a_heavy_session_waits_for_a_light_one_and_runs_when_alone():
    shares = Shares()
    shares.charge(1, 400)
    shares.charge(2, 10)
    assert shares.choose([1, 2], 0) == [2]
    assert shares.choose([1], 0) == [1]
    assert shares.choose([], 0) == []


def test_what_is_long_ago_does_not_count():
    shares = Shares()
    shares.choose([], 0)
    shares.charge(1, 400)
    assert shares.choose([1, 2], HALVED_MS - 1) == [2]
    assert shares.choose([1, 2], HALVED_MS * 3) == [2, 1]


@given(st.lists(st.integers(1, 500), min_size=2, max_size=6))
def test_sessions_that_always_want_to_run_get_equal_time(cost):
    """Each session's piece of work takes `cost` ms; over a long time all have had about the same."""
    shares, had, now = Shares(), dict.fromkeys(range(len(cost)), 0), 0
    while now < 60_000:
        for session_id in shares.choose(list(had), now):
            shares.charge(session_id, cost[session_id])
            had[session_id] += cost[session_id]
            now += cost[session_id]
    assert max(had.values()) <= 1.5 * min(had.values()) + SHARE_MS + max(cost)
