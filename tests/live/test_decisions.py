"""Decisions reach the page with the rows that they came with: each once, none missing, none before its row."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from clustersim.feed import hub
from clustersim.feed.batch import FRAME_BYTES, Batch
from clustersim.store import open_store, sessions
from tests.tools.application import Socket, bearer, http, opened
from tests.tools.patience import PATIENCE_SECONDS


def decide(session_id: int, *names: str, blank: int = 0) -> int:
    """Write a decision and its row for each name, as the loop does: the trace first; return the last revision."""
    with open_store(session_id).transaction("session") as transaction:
        for name in names:
            envelope = {"id": f"u-{name}-1", "simTime": 1.5, "pod": f"default/{name}", "uid": f"u-{name}", "attempt": 1}
            summary = {"result": "scheduled", "feasible": 3, "node": "n1", "points": 479}
            transaction.trace(f"u-{name}", 1, {**envelope, "replica": "kube-scheduler-0", "summary": summary}, b"")
            metadata = {"name": name, "namespace": "default", "uid": f"u-{name}", "labels": {"x": "x" * blank}}
            transaction.put("configmaps", "default", name, {"metadata": metadata})
        return transaction.revision


@pytest.fixture
async def session_id() -> int:
    row = await sync_to_async(sessions.create)("Decisions", "empty")
    return row.id


async def frames(subscription: hub.Subscription, until: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while subscription.position < until:
            batch = await subscription.get()
            assert isinstance(batch, Batch)
            found += [json.loads(frame) for frame in batch.frames]
    return found


def told(found: list[dict[str, Any]]) -> list[str]:
    """Return the pods decided on, after a look at each frame: a decision stands in that of its row."""
    names: list[str] = []
    for frame in found:
        rows = {event["revision"]: event["object"]["metadata"]["name"] for event in frame["events"]}
        for decision in frame.get("decisions", []):
            assert f"default/{rows[decision['revision']]}" == decision["pod"]
            names.append(decision["pod"].removeprefix("default/"))
    return names


async def test_a_decision_comes_in_the_frame_of_its_row(session_id: int) -> None:
    feed = hub.feed_for(session_id)
    await feed.start()
    with feed.subscribe(feed.revision, decisions=True) as subscription:
        first = await sync_to_async(decide)(session_id, "a", "b")
        found = await frames(subscription, first)
        # What is written while a reader stands at the newest row is not lost either.
        found += await frames(subscription, await sync_to_async(decide)(session_id, "c"))
    assert told(found) == ["a", "b", "c"]
    assert found[0]["decisions"][0] == {
        "id": "u-a-1",
        "revision": first - 1,
        "simTimeMs": 1500,
        "pod": "default/a",
        "uid": "u-a",
        "attempt": 1,
        "replica": "kube-scheduler-0",
        "result": "scheduled",
        "feasible": 3,
        "node": "n1",
        "points": 479,
    }


async def test_who_goes_on_in_the_middle_gets_the_rest_once(session_id: int) -> None:
    feed = hub.feed_for(session_id)
    await feed.start()
    with feed.subscribe(feed.revision) as plain:
        revision = await sync_to_async(decide)(session_id, "a", "b", "c")
        assert told(await frames(plain, revision)) == [], "whoever did not ask is told none"
    with feed.subscribe(revision - 2, decisions=True) as late:
        assert told(await frames(late, revision)) == ["b", "c"]
    with feed.subscribe(revision, decisions=True) as newest:
        end = await sync_to_async(decide)(session_id, "d", "e")
        assert told(await frames(newest, end)) == ["d", "e"]
    with feed.subscribe(end - 1, decisions=True) as behind:
        assert told(await frames(behind, end)) == ["e"]


async def test_frames_that_are_cut_keep_each_decision_with_its_row(session_id: int) -> None:
    feed = hub.feed_for(session_id)
    await feed.start()
    names = [f"big-{number}" for number in range(5)]
    with feed.subscribe(feed.revision, decisions=True) as subscription:
        found = await frames(subscription, await sync_to_async(decide)(session_id, *names, blank=FRAME_BYTES // 2))
    assert len(found) > 1
    assert told(found) == names


async def test_a_fresh_list_is_followed_by_the_newest_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "DECISIONS_LISTED_MAX", 2)
    async with http() as client:
        session = await opened(client)
        row = await sync_to_async(sessions.find)(session["code"])
        assert row is not None
        await sync_to_async(decide)(row.id, "a", "b", "c")
        async with Socket(session["code"], bearer(session["token"])) as socket:
            await socket.send(type="subscribe")
            while not (frame := await socket.until("list"))["last"]:
                pass
            past = await socket.until("events")
    assert past["from"] == past["to"] == frame["revision"]
    assert past["events"] == []
    assert [one["pod"] for one in past["decisions"]] == ["default/b", "default/c"]
