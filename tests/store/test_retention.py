"""What is kept of a log, and that it goes in short steps."""

from __future__ import annotations

import pytest

from clustersim.store import open_store, retention, sessions
from clustersim.store.models import Revision
from clustersim.store.sql import COMPACT_STEP

pytestmark = pytest.mark.usefixtures("own_database")


def fill(store, rows: int, *, padding: int = 0) -> None:
    with store.transaction("x") as transaction:
        for number in range(rows):
            name = f"p{number % 5}"
            body = {"metadata": {"name": name, "uid": name}, "spec": "x" * padding}
            transaction.put("pods", "default", name, body)


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setattr(retention, "REVISIONS_MAX", 3000)
    monkeypatch.setattr(retention, "REVISIONS_MIN", 1000)
    return open_store(sessions.create("t", "empty").id)


def settle(store, now_ms: int) -> int:
    steps = 0
    while retention.step(store, now_ms):
        steps += 1
    return steps


def test_a_young_log_keeps_its_maximum_and_goes_in_steps(store):
    fill(store, 5200)
    now_ms = sessions.real_ms()
    steps = settle(store, now_ms)
    assert store.compacted == 2200
    assert steps == 2200 // COMPACT_STEP
    assert len(store.list("pods")[0]) == 5


def test_an_old_log_keeps_its_minimum(store):
    fill(store, 2500)
    settle(store, sessions.real_ms())
    assert store.compacted == 0
    settle(store, sessions.real_ms() + retention.AGE_MS_MAX + 1000)
    assert store.compacted == 1500


def test_old_rows_go_and_young_ones_stay(store):
    fill(store, 1800)
    Revision.objects.filter(session_id=store.session_id).update(written_ms=0)
    fill(store, 700)
    settle(store, sessions.real_ms())
    assert store.compacted == 1500, "1,800 are old, but 1,000 are kept whatever their age"


def test_the_limit_of_bytes_cuts_below_the_minimum(store, monkeypatch):
    fill(store, 900, padding=1000)
    monkeypatch.setattr(retention, "BYTES_MAX", 450_000)
    settle(store, sessions.real_ms())
    assert 400 < store.compacted < 600


def held(seen_revision):
    given = {
        "seenRevision": seen_revision, "attempt": 1, "assumed": {}, "nominations": {}, "waiting": [], "start": 0,
        "order": [], "configuration": "c", "profile": "p", "nowMs": 5,
    }  # fmt: skip
    return {
        "pod": "default/p", "uid": "u", "attempt": 1, "point": "Filter", "startedAtMs": 5, "traceId": "u-1",
        "seenRevision": seen_revision, "input": given,
    }  # fmt: skip


def test_a_held_cycle_pins_what_it_had_seen_and_what_is_none_pins_nothing(store):
    fill(store, 100)
    with store.transaction("x") as transaction:
        for name, cycle in (("kube-scheduler-0", held(90)), ("odd", {"seenRevision": 3}), ("odder", "x")):
            body = {"metadata": {"name": name, "uid": name}, "status": {"cycle": cycle}}
            transaction.put("replicas.clustersim.io", "", name, body)
    fill(store, 5000)
    settle(store, sessions.real_ms())
    assert store.compacted == 89
    assert len(store.list_at("pods", 90)) == 5


def test_the_oldest_traces_go(store, monkeypatch):
    monkeypatch.setattr(retention, "TRACES_MAX", 10)
    for number in range(30):
        with store.transaction("x") as transaction:
            transaction.put("pods", "default", "p", {"metadata": {"name": "p", "uid": "p"}, "spec": number})
            transaction.trace("p", number, {"attempt": number}, b"matrices")
    settle(store, sessions.real_ms())
    assert [envelope["attempt"] for envelope, _ in store.traces("p")] == list(range(29, 19, -1))


def test_old_traces_lose_their_matrices_and_keep_their_envelopes(store, monkeypatch):
    monkeypatch.setattr(retention, "TRACE_BLOBS_MAX", 10)
    for number in range(30):
        with store.transaction("x") as transaction:
            transaction.put("pods", "default", "p", {"metadata": {"name": "p", "uid": "p"}, "spec": number})
            transaction.trace("p", number, {"attempt": number}, b"matrices")
    settle(store, sessions.real_ms())
    kept = {envelope["attempt"]: blob for envelope, blob in store.traces("p")}
    assert len(kept) == 30
    assert [attempt for attempt, blob in sorted(kept.items()) if blob] == list(range(20, 30))
