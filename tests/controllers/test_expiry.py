"""When Events end."""

from __future__ import annotations

import msgspec
import pytest

from controllers.expiry import Expiry, last_written_ms
from controllers.kit.recorder import EVENT_TTL_MS
from controllers.log.stamps import wire_time
from controllers.log.store import ADDED, DELETED, MODIFIED, Event, Stored, Verb

EPOCH_MS = 1_767_225_600_000


def row(name: str, now_ms: int, verb: Verb = ADDED) -> Event:
    return Event("events", "default", name, f"uid-{name}", now_ms + 1, b"", verb=verb, now_ms=now_ms, actor="kubelet")


def names(expiry: Expiry, now_ms: int) -> list[str]:
    return [one.name for one in expiry.due(now_ms)]


def listed(name: str, **times: str) -> Stored:
    document = {"metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"}, **times}
    return Stored("events", "default", name, f"uid-{name}", 1, msgspec.json.encode(document))


@pytest.mark.parametrize(("age_ms", "over"), [(EVENT_TTL_MS - 1, []), (EVENT_TTL_MS, ["e"])])
def test_an_event_goes_an_hour_after_it_was_last_written(age_ms: int, over: list[str]) -> None:
    expiry = Expiry()
    expiry.take(row("e", 0))
    expiry.take(row("e", 5_000, MODIFIED))
    assert names(expiry, 5_000 + age_ms) == over


def test_those_that_are_over_are_told_by_name_and_those_that_are_gone_not_at_all() -> None:
    expiry = Expiry()
    for number, name in enumerate("bca"):
        expiry.take(row(name, number))
    expiry.take(row("young", 9_000))
    expiry.take(row("c", 9_001, DELETED))
    assert names(expiry, EVENT_TTL_MS + 10) == ["a", "b"]
    assert [one.uid for one in expiry.due(EVENT_TTL_MS + 10)] == ["uid-a", "uid-b"]


def test_a_list_says_what_each_says_of_itself_and_the_future_is_now() -> None:
    expiry = Expiry()
    old = listed("old", firstTimestamp=wire_time(EPOCH_MS), lastTimestamp=wire_time(EPOCH_MS + 60_000))
    expiry.listed([listed("odd", eventTime="2099-01-01T00:00:00.000000Z"), old], EPOCH_MS, 100_000)
    assert names(expiry, EVENT_TTL_MS + 59_999) == []
    assert names(expiry, EVENT_TTL_MS + 60_000) == ["old"]
    assert names(expiry, EVENT_TTL_MS + 100_000) == ["odd", "old"]


def test_when_an_event_was_written_is_the_latest_of_what_it_says() -> None:
    times = {"lastTimestamp": wire_time(EPOCH_MS + 1_000), "series": {"lastObservedTime": wire_time(EPOCH_MS + 3_000)}}
    assert last_written_ms({"metadata": {"creationTimestamp": wire_time(EPOCH_MS)}, **times}) == EPOCH_MS + 3_000
    assert last_written_ms({"metadata": {}}) == 0
