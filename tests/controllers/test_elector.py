"""Every branch of the elector, with every field that it touches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.leaderelection.elector import (
    Create,
    Elector,
    Failed,
    Found,
    Get,
    Missing,
    Record,
    Request,
    Response,
    Settings,
    Update,
)

EPOCH_MS = 1_000_000


def elector(identity: str = "a", jitter: int = 0) -> Elector:
    return Elector(identity, lambda attempt, below: min(jitter, below - 1), Settings(), epoch_ms=EPOCH_MS)


def record(holder: str, *, acquired: int = 0, renewed: int = 0, transitions: int = 0, seconds: int = 15) -> Record:
    return Record(holder, seconds, EPOCH_MS + acquired, EPOCH_MS + renewed, transitions)


def leading(identity: str = "a") -> Elector:
    """Return an elector that has created the lock at time 0."""
    one = elector(identity)
    assert one.poll(0) == Get()
    request = one.answer(0, Missing())
    assert isinstance(request, Create)
    assert one.answer(0, Found(request.record, "1")) is None
    return one


def test_a_missing_lock_is_created_and_led() -> None:
    one = leading()
    assert (one.branch, one.leading, one.notices) == ("create", True, ["new leader", "became leader"])
    assert one.observed == record("a")
    assert one.observed_ms == one.renewed_ms == 0
    assert one.next_ms() == 2_000


def test_a_creation_that_somebody_else_won_is_retried_with_jitter() -> None:
    one = elector(jitter=1_500)
    one.poll(100)
    one.answer(100, Missing())
    one.answer(100, Failed(conflict=True))
    assert (one.branch, one.leading, one.observed) == ("create-refused", False, None)
    assert one.next_ms() == 100 + 2_000 + 1_500


def test_jitter_stays_below_one_point_two_periods() -> None:
    one = elector(jitter=10**9)
    one.poll(0)
    one.answer(0, Failed())
    assert one.branch == "get-failed"
    assert one.next_ms() == 2_000 + 2_399


def test_a_valid_lease_of_another_is_left_alone() -> None:
    one = elector()
    one.poll(5_000)
    assert one.answer(5_000, Found(record("b", transitions=3), "7")) is None
    assert (one.branch, one.leading, one.observed_ms) == ("held", False, 5_000)
    assert one.observed == record("b", transitions=3)


def test_the_lease_runs_out_by_when_it_was_seen_not_by_what_it_says() -> None:
    one = elector()
    one.poll(0)
    one.answer(0, Found(record("b", renewed=-600_000), "7"))
    assert one.branch == "held"
    one.poll(14_999)
    assert one.answer(14_999, Found(record("b", renewed=-600_000), "7")) is None
    assert (one.branch, one.observed_ms) == ("held", 0)


def test_a_changed_record_starts_the_wait_anew() -> None:
    one = elector()
    one.poll(0)
    one.answer(0, Found(record("b"), "7"))
    one.poll(14_000)
    one.answer(14_000, Found(record("b", renewed=13_000), "8"))
    assert one.observed_ms == 14_000
    one.poll(28_000)
    assert one.answer(28_000, Found(record("b", renewed=13_000), "8")) is None
    assert one.branch == "held"


def test_an_expired_lease_is_taken_and_the_transition_counted() -> None:
    one = elector()
    one.poll(0)
    one.answer(0, Found(record("b", transitions=3), "7"))
    one.poll(15_000)
    request = one.answer(15_000, Found(record("b", transitions=3), "7"))
    assert request == Update(record("a", acquired=15_000, renewed=15_000, transitions=4), "7")
    assert one.answer(15_000, Found(request.record, "8")) is None
    assert (one.branch, one.leading) == ("acquire-expired", True)
    assert one.notices == ["new leader", "new leader", "became leader"]


def test_a_released_lease_is_taken_at_once() -> None:
    one = elector()
    one.poll(0)
    request = one.answer(0, Found(record("", transitions=2, seconds=1), "7"))
    assert request == Update(record("a", transitions=3), "7")
    one.answer(0, Found(request.record, "8"))
    assert one.branch == "acquire-released"


def test_a_takeover_that_somebody_else_won_is_refused() -> None:
    one = elector()
    one.poll(0)
    one.answer(0, Found(record(""), "7"))
    assert one.answer(0, Failed(conflict=True)) is None
    assert (one.branch, one.leading) == ("acquire-refused", False)


def test_a_renewal_is_written_without_reading_and_keeps_what_is_older() -> None:
    one = leading()
    request = one.poll(2_000)
    assert request == Update(record("a", acquired=0, renewed=2_000), "1")
    one.answer(2_000, Found(request.record, "2"))
    assert (one.branch, one.renewed_ms, one.observed_ms) == ("renew-optimistic", 2_000, 2_000)
    assert one.next_ms() == 4_000


def test_a_refused_renewal_reads_first_and_tries_again() -> None:
    one = leading()
    one.poll(2_000)
    assert one.answer(2_000, Failed(conflict=True)) == Get()
    request = one.answer(2_000, Found(record("a"), "5"))
    assert request == Update(record("a", acquired=0, renewed=2_000), "5")
    one.answer(2_000, Found(request.record, "6"))
    assert (one.branch, one.leading) == ("renew", True)


def test_a_leader_that_cannot_renew_stops_at_the_deadline() -> None:
    one = leading()
    at_ms = 2_000
    while one.leading:
        request = one.poll(at_ms)
        while request is not None:
            request = one.answer(at_ms, Failed())
        at_ms = one.next_ms() or at_ms
    assert (at_ms, one.branch, one.notices[-1]) == (12_000, "deadline", "stopped leading")
    assert one.poll(99_000) is None
    assert one.next_ms() is None


def test_a_leader_whose_lease_was_taken_stops_only_at_the_deadline_and_never_writes_over_it() -> None:
    one = leading()
    one.poll(2_000)
    one.answer(2_000, Failed(conflict=True))
    assert one.answer(2_000, Found(record("b", transitions=1), "9")) is None
    assert one.branch == "held"
    assert one.leading
    assert one.poll(12_000) is None
    assert not one.leading


def test_a_request_without_an_answer_fails_after_half_the_deadline() -> None:
    one = elector()
    assert one.poll(0) == Get()
    assert one.next_ms() == 5_000
    assert one.poll(5_000) is None
    assert one.branch == "timeout"
    assert one.poll(7_000) == Get()


def test_cancelling_releases_what_is_held() -> None:
    one = leading()
    request = one.cancel(3_000)
    assert request == Update(record("", acquired=3_000, renewed=3_000, seconds=1), "1")
    assert (one.branch, one.leading, one.notices[-1]) == ("release", False, "stopped leading")


def test_cancelling_gives_up_no_lease_of_somebody_else() -> None:
    """A slow clock lets it believe that it leads; what it has read says that another does."""
    one = leading()
    assert isinstance(one.poll(2_000), Update)
    assert one.answer(2_000, Failed(conflict=True)) == Get()
    assert one.answer(2_000, Found(record("b", acquired=1_000, renewed=1_000, transitions=1), "2")) is None
    assert one.leading
    assert one.cancel(3_000) is None
    assert not one.leading


def test_cancelling_a_follower_writes_nothing() -> None:
    assert elector().cancel(0) is None


class _Lock:
    """A lock with compare-and-swap."""

    def __init__(self) -> None:
        self.record: Record | None = None
        self.version = 0

    def serve(self, request: Request) -> Response:
        match request:
            case Get():
                return Missing() if self.record is None else Found(self.record, str(self.version))
            case Create(written):
                if self.record is not None:
                    return Failed(conflict=True)
            case Update(written, version):
                if version != str(self.version):
                    return Failed(conflict=True)
        self.record, self.version = written, self.version + 1
        return Found(written, str(self.version))


@settings(max_examples=60)
@given(
    offsets=st.lists(st.integers(0, 600_000), min_size=2, max_size=4),
    losses=st.lists(st.booleans(), min_size=50, max_size=400),
    jitters=st.integers(0, 2_399),
)
def test_at_most_one_leads_whatever_is_lost_and_however_clocks_are_set(
    offsets: list[int], losses: list[bool], jitters: int
) -> None:
    """Constant skew is harmless: each candidate lives on a clock of its own, and requests are lost at will."""
    lock = _Lock()
    electors = [Elector(str(place), lambda attempt, below: jitters % below) for place in range(len(offsets))]
    for tick, lost in enumerate(losses):
        now_ms = tick * 500
        for place, one in enumerate(electors):
            local_ms = now_ms + offsets[place]
            request = one.poll(local_ms)
            while request is not None:
                if lost and (tick + place) % 2:
                    request = one.answer(local_ms, Failed())
                else:
                    request = one.answer(local_ms, lock.serve(request))
        leaders = [one.identity for one in electors if one.leading]
        assert len(leaders) <= 1, f"{leaders} lead at {now_ms} ms"


@pytest.mark.parametrize("seconds", [3, 15])
def test_somebody_leads_again_after_the_leader_fell_silent(seconds: int) -> None:
    lock = _Lock()
    timing = Settings(seconds * 1000, seconds * 600, seconds * 150)
    first, second = (Elector(name, lambda attempt, below: 0, timing) for name in "ab")
    for one in (first, second):
        request = one.poll(0)
        while request is not None:
            request = one.answer(0, lock.serve(request))
    assert first.leading
    now_ms = 0
    while not second.leading:
        now_ms = second.next_ms() or now_ms
        request = second.poll(now_ms)
        while request is not None:
            request = second.answer(now_ms, lock.serve(request))
    assert seconds * 1000 <= now_ms <= seconds * 1000 + timing.retry_period_ms
    assert lock.record is not None
    assert (lock.record.holder, lock.record.transitions) == ("b", 1)


@pytest.mark.parametrize(("trusts", "branch"), [(False, "held"), (True, "acquire-expired")])
def test_whose_time_counts_when_a_lease_ends(trusts: bool, branch: str) -> None:
    """Renewed at 0 and first seen at 14 s: by the time that stands in it, it is over at 15 s; by client-go at 29 s."""
    one = Elector("b", lambda attempt, below: 0, Settings(trusts_stored_times=trusts), epoch_ms=EPOCH_MS)
    assert one.poll(14_000) == Get()
    one.answer(14_000, Found(record("a", renewed=0), "1"))
    assert one.branch == "held"
    assert one.poll(16_000) == Get()
    request = one.answer(16_000, Found(record("a", renewed=0), "1"))
    if isinstance(request, Update):
        one.answer(16_000, Found(request.record, "2"))
    assert one.branch == branch


def test_who_leads_goes_on_whatever_time_stands_in_its_lease() -> None:
    one = Elector("a", lambda attempt, below: 0, Settings(trusts_stored_times=True), epoch_ms=EPOCH_MS)
    one.poll(0)
    request = one.answer(0, Missing())
    assert isinstance(request, Create)
    one.answer(0, Found(record("a", renewed=-60_000), "1"))
    assert isinstance(one.poll(2_000), Update)
