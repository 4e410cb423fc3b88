"""The past is read once for a request: lists, views and configurations are shared by the traces that it makes whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from controllers.cluster import found
from controllers.log.memory import MemoryStore
from controllers.log.operations import Patch
from controllers.log.store import Stored
from controllers.scheduler import past as past_module
from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from controllers.scheduler.views import Views
from tests.controllers.scheduler.plane import Plane


class CountingStore(MemoryStore):
    """Counts what is read of other revisions, by (resource, revision)."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.reads: Counter[tuple[str, int]] = Counter()

    def list_at(self, resource: str, revision: int, namespace: str | None = None) -> Sequence[Stored]:
        self.reads[resource, revision] += 1
        return super().list_at(resource, revision, namespace)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the documents that are read into views, by kind of view."""
    counted: Counter[str] = Counter()
    real = past_module.parsed

    def counting(data: bytes, of: Any) -> Any:
        counted[of.__name__] += 1
        return real(data, of)

    monkeypatch.setattr(past_module, "parsed", counting)
    return counted


@pytest.fixture
def plane() -> Plane:
    """Nine nodes with a pod each, and one pod that has been tried in vain three times."""
    store = CountingStore(seed=3)
    found(store)
    plane = Plane(store)
    for number in range(9):
        plane.node(f"n{number}", cpu="2")
        plane.pod(f"p{number}", cpu="1500m")
    plane.run(plane.loop.now_ms + 1_000)
    plane.uid = plane.pod("big", cpu="3")  # type: ignore[attr-defined]
    plane.run(plane.loop.now_ms + 1_000)
    for number in (3, 4):
        label = {"metadata": {"labels": {"try": str(number)}}}
        plane.write(Patch("nodes", "", f"n{number}", label))
        resources = {"cpu": f"3{number}00m", "memory": "8Gi", "pods": "110"}
        plane.write(Patch("nodes", "", f"n{number}", {"status": {"allocatable": resources}}, "merge", "status"))
        plane.run(plane.loop.now_ms + 60_000)
    return plane


def test_every_list_is_read_once_and_what_did_not_change_is_parsed_once(plane: Plane, parsed: Counter[str]) -> None:
    store: Any = plane.store
    traces = store.traces(plane.uid)  # type: ignore[attr-defined]
    assert len(traces) == 3
    past = Past(store)
    store.reads.clear()
    first = [whole(past, envelope, b"") for envelope, _ in traces]
    assert [one["result"]["result"] for one in first] == ["unschedulable"] * 3
    revisions = {envelope["seenRevision"] for envelope, _ in traces}
    assert len(revisions) == 3
    assert {place for place in store.reads if place[0] in ("nodes", "pods")} == {
        (resource, revision) for resource in ("nodes", "pods") for revision in revisions
    }
    assert set(store.reads.values()) == {1}
    # Nine nodes as they were at first, and the later states of the two that were changed.
    assert 9 < parsed["Node"] <= 9 + 2 * 2
    assert 10 <= parsed["Pod"] <= 10 + 3, "ten pods, and the big one's later states"
    before = parsed.copy()
    assert [whole(past, envelope, b"") for envelope, _ in traces] == first
    assert set(store.reads.values()) == {1}
    assert parsed == before


def test_a_document_that_no_scheduler_can_read_is_left_out(plane: Plane) -> None:
    with plane.store.transaction("somebody", now_ms=plane.loop.now_ms) as transaction:
        for resource, document in (
            ("nodes", {"metadata": {"name": "odd", "uid": "n"}, "status": {"allocatable": {"cpu": "much"}}}),
            ("nodes", {"metadata": {"name": "odder", "uid": "o"}, "spec": "x"}),
            ("pods", {"metadata": {"name": "odd", "namespace": "default", "uid": "p"}, "spec": {"containers": 3}}),
        ):
            metadata: Any = document["metadata"]
            transaction.put(resource, metadata.get("namespace", ""), metadata["name"], document)
    past = Past(plane.store)
    assert {node.name for node in past.nodes} == {f"n{number}" for number in range(9)}
    assert "default/odd" not in {info.key for info in past.pods}
    assert len(past.seen.pods) == 10


def test_a_later_request_reads_no_document_into_a_view_again(plane: Plane, parsed: Counter[str]) -> None:
    store, views = plane.store, Views()
    traces = store.traces(plane.uid)  # type: ignore[attr-defined]
    first = [whole(Past(store, views=views), envelope, b"") for envelope, _ in traces]
    before = parsed.copy()
    assert before["Node"] == 9 + 2, "the states of nine nodes that the attempts saw"
    assert [whole(Past(store, views=views), envelope, b"") for envelope, _ in traces] == first
    assert parsed == before
    plane.write(Patch("nodes", "", "n5", {"metadata": {"labels": {"try": "5"}}}))
    assert next(node for node in Past(store, views=views).nodes if node.name == "n5").metadata.labels["try"] == "5"
    assert parsed["Node"] <= before["Node"] + 3, "n5, and what changed after the last attempt"


def _stored(data: bytes, revision: int = 1) -> Stored:
    return Stored("nodes", "", "n", "uid", revision, data)


def test_a_view_answers_for_one_revision_of_one_session() -> None:
    views = Views()
    assert views.of("a", _stored(b"one"), bytes.decode, {}) == "one"
    assert views.of("b", _stored(b"two"), bytes.decode, {}) == "two", "another session, at the same revision"
    assert views.of("a", _stored(b"later", 2), bytes.decode, {}) == "later"
    known = views.known("a")
    assert sorted(known) == [1, 2]
    assert views.known("b").keys() == {1}
    assert views.of("a", _stored(b"", 1), bytes.decode, known) == "one", "what is known need not be fetched"


def test_what_was_known_is_there_though_it_had_to_go_meanwhile() -> None:
    views = Views(bytes_max=8)
    views.of("a", _stored(b"one"), bytes.decode, {})
    known = views.known("a")
    for number in range(2, 9):
        views.of("a", _stored(b"%04d" % number, number), bytes.decode, {})
    assert 1 not in views.known("a")
    assert views.of("a", _stored(b"", 1), bytes.decode, known) == "one"


def test_views_stay_within_their_bytes_and_those_used_of_late_stay() -> None:
    read: list[bytes] = []

    def reading(data: bytes) -> str:
        read.append(data)
        return data.decode()

    views = Views(bytes_max=80)
    for number in range(20):
        views.of("a", _stored(b"%04d" % number, number), reading, views.known("a"))
        views.of("a", _stored(b"kept", 99), reading, views.known("a"))
    assert read.count(b"kept") == 1
    for number in range(20):
        views.of("a", _stored(b"%04d" % number, number), reading, views.known("a"))
    assert read.count(b"0000") == 2, "it had to go"
    views.of("a", _stored(b"x" * 41, 100), reading, views.known("a"))
    views.of("a", _stored(b"x" * 41, 100), reading, views.known("a"))
    assert read.count(b"x" * 41) == 2, "what is past a half is not kept at all"
