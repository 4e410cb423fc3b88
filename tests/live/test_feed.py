"""Feeds: hints only make them quicker, several processes see one log, readers cost nothing while they are slow."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import channel_layers
from channels_redis.core import RedisChannelLayer

from clustersim.feed import hints, hub
from clustersim.feed.batch import Batch
from clustersim.feed.view import EVENTS_LISTED_MAX, SlimView
from clustersim.store import open_store, sessions
from controllers.log.memory import MemoryStore
from controllers.log.store import Gone
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import wait_for


def write(session_id: int, *names: str) -> int:
    """Write ConfigMaps without a hint, as another process would whose hint is lost; return the last revision."""
    with open_store(session_id).transaction("session") as transaction:
        for name in names:
            document = {"metadata": {"name": name, "namespace": "default", "uid": f"u-{name}"}}
            transaction.put("configmaps", "default", name, document)
        return transaction.revision


@pytest.fixture
async def session_id() -> int:
    row = await sync_to_async(sessions.create)("A feed", "empty")
    return row.id


async def names(subscription: hub.Subscription, until: int) -> list[str]:
    """Return the names in everything up to a revision; fail on a gap, a repetition or a stop."""
    found: list[str] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while subscription.position < until:
            before = subscription.position
            batch = await subscription.get()
            assert isinstance(batch, Batch)
            assert batch.from_ == before
            found += [event.name for event in batch.events]
    return found


async def test_without_any_hint_the_log_is_read_all_the_same(session_id: int) -> None:
    feed = hub.feed_for(session_id)
    await feed.start()
    with feed.subscribe(0) as subscription:
        revision = await sync_to_async(write)(session_id, "a", "b")
        assert await names(subscription, revision) == ["a", "b"]


async def test_readers_in_step_share_one_encoding(session_id: int) -> None:
    feed = hub.feed_for(session_id)
    await feed.start()
    with feed.subscribe(feed.revision) as first, feed.subscribe(feed.revision) as second:
        await sync_to_async(write)(session_id, "a")
        one, two = await first.get(), await second.get()
        assert isinstance(one, Batch)
        assert one is two
        assert one.frames is two.frames


async def test_readers_are_woken_in_the_order_of_the_log(session_id: int) -> None:
    feed = hub.feed_for(session_id)
    await feed.start()
    woken: list[str] = []

    async def follow(resource: str) -> None:
        with feed.subscribe(feed.revision, resource=resource) as subscription:
            standing.release()
            await subscription.get()
            woken.append(resource)

    def put() -> None:
        with open_store(session_id).transaction("session") as transaction:
            for resource in ("pods", "events", "configmaps", "events"):
                name = f"{resource}-{transaction.revision}"
                document = {"metadata": {"name": name, "namespace": "default", "uid": f"u-{name}"}}
                transaction.put(resource, "default", name, document)

    standing = asyncio.Semaphore(0)
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as readers:
        for resource in ("secrets", "configmaps", "events", "pods"):
            readers.create_task(follow(resource))
            await standing.acquire()
        await sync_to_async(put)()
    assert woken == ["pods", "events", "configmaps", "secrets"]


async def test_behind_the_window_a_reader_gets_the_database(session_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "WINDOW_EVENTS_MAX", 3)
    monkeypatch.setattr(hub, "BATCH_EVENTS_MAX", 2)
    feed = hub.feed_for(session_id)
    await feed.start()
    wanted = [f"c{number}" for number in range(11)]
    with feed.subscribe(0) as slow, feed.subscribe(0) as quick:
        revision = 0
        for name in wanted:
            revision = await sync_to_async(write)(session_id, name)
            await names(quick, revision)
        assert await names(slow, revision) == wanted


async def test_a_reader_between_two_batches_gets_the_rest_of_one(session_id: int) -> None:
    feed = hub.feed_for(session_id)
    await feed.start()
    revision = await sync_to_async(write)(session_id, "a", "b", "c")
    await feed.refresh()
    for behind, expected in ((3, ["a", "b", "c"]), (2, ["b", "c"]), (1, ["c"])):
        with feed.subscribe(revision - behind) as subscription:
            assert await names(subscription, revision) == expected


async def test_compaction_and_unknown_places_are_gone(session_id: int) -> None:
    feed = hub.feed_for(session_id)
    await feed.start()
    revision = await sync_to_async(write)(session_id, *[f"c{number}" for number in range(20)])
    await sync_to_async(lambda: open_store(session_id).compact(revision - 3))()
    late = hub.Feed(session_id)
    await late.start()
    with late.subscribe(2) as subscription:
        assert isinstance(await subscription.get(), Gone)
    with late.subscribe(revision + 100) as subscription:
        assert isinstance(await subscription.get(), Gone)


async def test_a_feed_that_compaction_passed_by_says_so_to_its_readers(session_id: int) -> None:
    feed = hub.Feed(session_id)
    await feed.start()
    with feed.subscribe(0) as subscription:
        await feed.snapshot()
        revision = await sync_to_async(write)(session_id, *[f"c{number}" for number in range(20)])
        await sync_to_async(lambda: open_store(session_id).compact(revision))()
        await feed.refresh()
        assert isinstance(await subscription.get(), Gone)
    at, frames = await feed.snapshot()
    assert at == revision
    assert sum(len(json.loads(frame)["objects"]) for frame in frames) == 20


async def test_the_view_moves_with_the_log(session_id: int) -> None:
    feed = hub.feed_for(session_id)
    await feed.start()
    await feed.snapshot()
    await sync_to_async(write)(session_id, "a", "b")
    await feed.refresh()
    revision, frames = await feed.snapshot()
    assert revision == feed.revision
    assert [thing["metadata"]["name"] for thing in json.loads(frames[0])["objects"]] == ["a", "b"]
    assert (await feed.snapshot())[1] is frames


async def test_hints_arrive_from_another_process(
    session_id: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With polling as good as off, only the hint of the other process can bring the rows."""
    from clustersim import environment
    from clustersim.runtime import redisserver

    path = environment.redis_socket(tmp_path)
    address = f"unix://{path}"
    server = subprocess.Popen([redisserver.executable(), "--port", "0", "--unixsocket", str(path), "--save", ""])
    try:
        wait_for(path.exists, what="the Redis socket")
        monkeypatch.setitem(channel_layers.backends, "default", RedisChannelLayer(hosts=[address], prefix="clustersim"))
        monkeypatch.setattr(hub, "POLL_MS", 60_000)
        feed = hub.feed_for(session_id)
        await feed.start()
        with feed.subscribe(0) as subscription:
            revision = await sync_to_async(write)(session_id, "a")
            # The other process says it again until it is stopped: this one may not have joined the group yet.
            told = textwrap.dedent(
                f"""
                import threading, django
                django.setup()
                from clustersim.feed import hints
                while True:
                    hints.wake({session_id}, {revision})
                    threading.Event().wait(0.05)
                """
            )
            environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "clustersim.settings", "REDIS_URL": address}
            process = await asyncio.create_subprocess_exec(sys.executable, "-c", told, env=environment)
            assert await names(subscription, revision) == ["a"]
            process.kill()
            await process.wait()
    finally:
        server.terminate()
        server.wait(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"hints": "log 7 12"},
        {"hints": ["log"]},
        {"hints": [["log", "7", 12]]},
        {"hints": [["log", 7]]},
        {"hints": [["fly", 1, 1]]},
    ],
)
def test_what_is_no_hint_is_passed_over(message: dict[str, Any]) -> None:
    heard: list[tuple[str, int, int]] = []
    listener = lambda *hint: heard.append(hint)  # noqa: E731
    hints.listen(listener)
    try:
        hints.pass_on(message)
        assert heard == []
        hints.pass_on({"hints": [["log", 7, 12]]})
        assert heard == [("log", 7, 12)]
    finally:
        hints.unlisten(listener)


def test_a_fresh_list_holds_the_newest_events_alone() -> None:
    store = MemoryStore(seed=1)
    with store.transaction("session") as transaction:
        for number in range(EVENTS_LISTED_MAX + 7):
            document = {"metadata": {"name": f"e{number}", "namespace": "default", "uid": f"u{number}"}}
            transaction.put("events", "default", f"e{number}", document)
    view = SlimView.read(store)
    listed = [thing["metadata"]["name"] for frame in view.frames() for thing in json.loads(frame)["objects"]]
    assert listed == [f"e{number}" for number in range(7, EVENTS_LISTED_MAX + 7)]


@pytest.mark.parametrize("kind", [hints.METRICS, hints.PANELS, hints.INSIDES])
def test_questions_that_are_asked_at_once_are_all_asked(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    relay = hints._Relay()
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        monkeypatch.setattr(relay, "start", lambda: loop)
        for number in (5, 3, 9):
            relay.post(kind, 7, number)
            relay.post(hints.LOG, 7, number)
    told = {(kind, session, number) for (kind, session, _), number in relay._outbox.items()}
    assert told == {(kind, 7, 3), (kind, 7, 5), (kind, 7, 9), (hints.LOG, 7, 9)}


class _Recorder:
    """A channel layer that keeps what goes out."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[list[Any]] = asyncio.Queue()

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await self.sent.put(sorted(message["hints"]))


async def test_votes_wait_for_a_hint_that_cannot_and_go_out_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, relay, loop = _Recorder(), hints._Relay(), asyncio.get_running_loop()
    monkeypatch.setitem(channel_layers.backends, "default", layer)
    monkeypatch.setattr(relay, "start", lambda: loop)
    relay.sends = True
    sending = asyncio.create_task(relay._send())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            # Alone they would wait for an hour.
            monkeypatch.setattr(hints, "UNHURRIED_SECONDS", 3_600.0)
            for _ in range(50):
                relay.post(hints.VOTES, 7, 0)
            relay.post(hints.LOG, 7, 12)
            assert await layer.sent.get() == [[hints.LOG, 7, 12], [hints.VOTES, 7, 0]]
            monkeypatch.setattr(hints, "UNHURRIED_SECONDS", 0.0)
            relay.post(hints.VOTES, 8, 0)
            assert await layer.sent.get() == [[hints.VOTES, 8, 0]]
            # The message that went out with the hurried one comes no second time.
            relay.post(hints.LOG, 7, 13)
            assert await layer.sent.get() == [[hints.LOG, 7, 13]]
            assert layer.sent.empty()
    finally:
        sending.cancel()
