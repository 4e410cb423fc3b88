"""The websocket from the page's side: hello, lists, events, resuming, slow and rude readers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clustersim.feed import wake
from clustersim.live.socket import BEHIND_REVISIONS_MAX, CREDIT_BYTES
from clustersim.store import open_store, sessions
from tests.tools.application import Socket, bearer, http, opened


class Fold:
    """The browser's rule, written down once more: docs/protocol.md, Folding."""

    def __init__(self) -> None:
        self.revision = -1
        self.objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._listing = False

    def take(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "list":
            if not self._listing:
                self.objects = {}
            for thing in frame["objects"]:
                self.objects[key(thing)] = thing
            self._listing = not frame["last"]
            self.revision = frame["revision"]
        elif frame["type"] == "events":
            assert frame["from"] == self.revision, "frames join without a gap"
            last = self.revision
            for event in frame["events"]:
                assert last < event["revision"] <= frame["to"]
                last = event["revision"]
                if event["verb"] == "DELETED":
                    assert self.objects.pop(key(event["object"]), None) is not None
                else:
                    known = key(event["object"]) in self.objects
                    assert known == (event["verb"] == "MODIFIED")
                    self.objects[key(event["object"])] = event["object"]
            self.revision = frame["to"]


def key(thing: dict[str, Any]) -> tuple[str, str, str]:
    metadata = thing["metadata"]
    return thing["resource"], metadata.get("namespace", ""), metadata["name"]


async def listed(socket: Socket, fold: Fold) -> None:
    while True:
        frame = await socket.until("list")
        fold.take(frame)
        if frame["last"]:
            return


async def caught_up(socket: Socket, fold: Fold, revision: int) -> None:
    while fold.revision < revision:
        fold.take(await socket.until("events"))


async def make_config(client: Any, session: dict[str, Any], name: str) -> int:
    path = f"/clusters/{session['code']}/api/v1/namespaces/default/configmaps"
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    answer = await client.post(path, json=document, headers=bearer(session["token"]))
    assert answer.status_code == 201, answer.text
    return int(answer.json()["metadata"]["resourceVersion"])


async def test_hello_is_first_and_a_fresh_view_follows() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes", seed=42)
        async with Socket(session["code"], bearer(session["token"])) as socket:
            hello = await socket.next()
            assert hello["type"] == "hello"
            assert hello["session"] == {
                "code": session["code"],
                "title": "A class",
                "template": "three-nodes",
                "seed": 42,
            }
            assert hello["me"]["role"] == "teacher"
            people = await socket.next()
            assert [(person["name"], person["online"]) for person in people["people"]] == [("Teacher", True)]
            await socket.send(type="subscribe")
            fold = Fold()
            await listed(socket, fold)
            assert {place[2] for place in fold.objects if place[0] == "nodes"} == {"n1", "n2", "n3"}
            clock = fold.objects["clocks.clustersim.io", "", "clock"]
            assert clock["spec"]["pace"] == 250
            revision = await make_config(client, session, "made")
            await caught_up(socket, fold, revision)
            made = fold.objects["configmaps", "default", "made"]
            assert made["metadata"]["annotations"] == {"clustersim.io/created-by": "teacher"}


async def test_resuming_misses_nothing_and_repeats_nothing() -> None:
    async with http() as client:
        session = await opened(client)
        fold = Fold()
        async with Socket(session["code"], bearer(session["token"])) as socket:
            await socket.send(type="subscribe")
            await listed(socket, fold)
        for number in range(7):
            revision = await make_config(client, session, f"c{number}")
        async with Socket(session["code"], bearer(session["token"])) as socket:
            await socket.send(type="subscribe", revision=fold.revision)
            await caught_up(socket, fold, revision)
            revision = await make_config(client, session, "last")
            await caught_up(socket, fold, revision)
        fresh = Fold()
        async with Socket(session["code"], bearer(session["token"])) as socket:
            await socket.send(type="subscribe")
            await listed(socket, fresh)
        assert fresh.revision == fold.revision
        assert fresh.objects == fold.objects


def note(number: int, size: int) -> dict[str, Any]:
    """Return a ConfigMap whose Slim form is about `size` bytes."""
    annotations = {"clustersim.io/note": str(number % 10) * size}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"n{number}", "annotations": annotations}}


async def test_a_slow_reader_is_sent_no_more_than_its_credit_and_then_catches_up() -> None:
    async with http() as client:
        session = await opened(client)
        path = f"/clusters/{session['code']}/api/v1/namespaces/default/configmaps"
        async with Socket(session["code"], bearer(session["token"]), pongs=False) as slow:
            fold, received, pings = Fold(), 0, []
            await slow.send(type="subscribe")
            await listed(slow, fold)
            for number in range(30):
                answer = await client.post(path, json=note(number, 100_000), headers=bearer(session["token"]))
                assert answer.status_code == 201, answer.text
            revision = int(answer.json()["metadata"]["resourceVersion"])
            # A reader that answers gets everything, while the slow one is being held back.
            async with Socket(session["code"], bearer(session["token"])) as quick:
                other = Fold()
                await quick.send(type="subscribe")
                await listed(quick, other)
                # The list may be as of the moment before the last write is read.
                while other.revision < revision:
                    other.take(await quick.until("events"))
            while received < CREDIT_BYTES or await slow.has_output():
                frame = await slow.next()
                if frame["type"] == "ping":
                    pings.append(frame["id"])
                else:
                    received += len(json.dumps(frame))
                    fold.take(frame)
            assert CREDIT_BYTES <= received < CREDIT_BYTES + 250_000
            assert fold.revision < revision
            await slow.send(type="pong", id=pings[-1])
            while fold.revision < revision:
                frame = await slow.next()
                if frame["type"] == "ping":
                    await slow.send(type="pong", id=frame["id"])
                else:
                    fold.take(frame)
            assert fold.objects == other.objects


async def test_a_reader_too_far_behind_lists_again() -> None:
    async with http() as client:
        session = await opened(client)
        last = await sync_to_async(write_rows)(session["code"], BEHIND_REVISIONS_MAX + 1)
        async with Socket(session["code"], bearer(session["token"])) as socket:
            await socket.send(type="subscribe", revision=last - BEHIND_REVISIONS_MAX - 1)
            assert (await socket.until("events", "gone"))["type"] == "gone"
            fold = Fold()
            await socket.send(type="subscribe")
            await listed(socket, fold)
            assert fold.objects["configmaps", "default", "counter"]
            await socket.send(type="subscribe", revision=last - BEHIND_REVISIONS_MAX)
            frames = [await socket.until("events", "gone")]
            while frames[-1]["type"] == "events" and frames[-1]["to"] < last:
                frames.append(await socket.until("events", "gone"))
            assert sum(len(frame["events"]) for frame in frames) == BEHIND_REVISIONS_MAX


def write_rows(code: str, count: int) -> int:
    """Write one object so many times; return the last revision."""
    row = sessions.find(code)
    assert row is not None
    store = open_store(row.id)
    with store.transaction("session") as transaction:
        for number in range(count):
            document = {"metadata": {"name": "counter", "namespace": "default", "uid": "u"}, "data": {"n": str(number)}}
            transaction.put("configmaps", "default", "counter", document)
        revision = transaction.revision
    wake(row.id, revision)
    return revision


async def test_a_place_that_is_compacted_or_was_never_there_is_gone() -> None:
    async with http() as client:
        session = await opened(client)
        await sync_to_async(write_rows)(session["code"], 50)
        found = await sync_to_async(sessions.find)(session["code"])
        assert found is not None
        await sync_to_async(lambda: open_store(found.id).compact(found.revision - 5))()
        async with Socket(session["code"], bearer(session["token"])) as socket:
            await socket.send(type="subscribe", revision=3)
            await socket.until("gone")
            await socket.send(type="subscribe", revision=found.revision + 1_000)
            await socket.until("gone")
            await socket.send(type="subscribe", revision=found.revision - 2)
            frame = await socket.until("events")
            assert (frame["from"], frame["to"]) == (found.revision - 2, found.revision)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "3",
        '{"type": 3}',
        '{"no": "type"}',
        '{"type": "subscribe", "revision": "12"}',
        '{"type": "subscribe", "revision": -1}',
        '{"type": "subscribe", "revision": true}',
        '{"type": "pong", "id": "x"}',
        "x" * 5_000,
        "[" * 4_000,
    ],
)
async def test_a_frame_that_is_none_closes_the_socket(text: str) -> None:
    async with http() as client:
        session = await opened(client)
        async with Socket(session["code"], bearer(session["token"])) as socket:
            await socket.send_text(text)
            assert (await socket.until("close"))["code"] == 4400


async def test_a_page_that_follows_requests_hears_that_there_are_new_ones() -> None:
    async with http() as client:
        session = await opened(client)
        async with Socket(session["code"], bearer(session["token"])) as socket:
            # Only who follows hears: the subscriber's frames until the write are people's and the log's.
            await socket.send(type="subscribe")
            fold = Fold()
            await listed(socket, fold)
            revision = await make_config(client, session, "unheard")
            while fold.revision < revision:
                frame = await socket.next()
                assert frame["type"] != "requests"
                fold.take(frame)
            await socket.send(type="follow", requests=True)
            # A refused request leaves no row, and is heard of.
            path = f"/clusters/{session['code']}/api/v1/namespaces/default/configmaps"
            refused = await client.post(path, json={"metadata": {"name": "A"}}, headers=bearer(session["token"]))
            assert refused.status_code == 422
            assert await socket.until("requests") == {"type": "requests"}
        async with Socket(session["code"], bearer(session["token"])) as socket:
            await socket.send(type="follow", requests="yes")
            assert (await socket.until("close"))["code"] == 4400


async def test_an_unknown_frame_is_ignored() -> None:
    async with http() as client:
        session = await opened(client)
        async with Socket(session["code"], bearer(session["token"])) as socket:
            await socket.send(type="from-the-future", anything=1)
            await socket.send(type="subscribe")
            await listed(socket, Fold())


async def test_everybody_sees_who_comes_is_renamed_and_is_sent_away() -> None:
    async with http() as client, http() as other:
        session = await opened(client)
        path = f"/api/sessions/{session['code']}"
        async with Socket(session["code"], bearer(session["token"])) as teacher:
            await teacher.until("people")
            student = (await other.post(f"{path}/join", json={"name": "Mei"})).json()
            assert not (await seen(teacher, "Mei"))["online"]
            async with Socket(session["code"], bearer(student["token"])) as page:
                hello = await page.next()
                assert hello["me"] == {
                    "id": student["id"],
                    "name": "Mei",
                    "role": "student",
                    "namespace": "s-mei",
                    "slug": "mei",
                    "color": 2,
                }
                while not (await seen(teacher, "Mei"))["online"]:
                    pass
                await client.patch(
                    f"{path}/people/{student['id']}", json={"name": "Mei K."}, headers=bearer(session["token"])
                )
                await seen(teacher, "Mei K.")
                await client.delete(f"{path}/people/{student['id']}", headers=bearer(session["token"]))
                assert (await page.until("close"))["code"] == 4401


async def test_seats_are_numbered_for_good_and_who_left_is_still_known() -> None:
    async with http() as client:
        session = await opened(client)
        path = f"/api/sessions/{session['code']}"

        async def join(name: str) -> str:
            async with http() as browser:
                return str((await browser.post(f"{path}/join", json={"name": name})).json()["id"])

        joined = [await join(f"S{number}") for number in range(8)]
        await client.delete(f"{path}/people/{joined[0]}", headers=bearer(session["token"]))
        await join("Last")
        async with Socket(session["code"], bearer(session["token"])) as teacher:
            people = (await teacher.until("people"))["people"]
            assert [person["color"] for person in people] == list(range(1, 11))
            assert [person["name"] for person in people if person.get("left")] == ["S0"]
            assert people[1]["namespace"] == "s-s0"
        listed = (await client.get(f"{path}/people", headers=bearer(session["token"]))).json()
        assert "S0" not in [person["name"] for person in listed]


async def seen(socket: Socket, name: str) -> dict[str, Any]:
    """Return a person as the next list that has the name shows them."""
    while True:
        frame = await socket.until("people")
        for person in frame["people"]:
            if person["name"] == name:
                return dict(person)


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["create", "label", "delete", "reconnect", "list"]), st.integers(0, 4)),
    min_size=1,
    max_size=25,
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPERATIONS)
def test_old_view_and_messages_are_the_fresh_list(operations: list[tuple[str, int]]) -> None:
    asyncio.run(live_story(operations))


async def live_story(operations: list[tuple[str, int]]) -> None:
    """Write through the API while a page folds, reconnects and lists; then compare it with a page that just came."""
    async with http() as client:
        session = await opened(client)
        path = f"/clusters/{session['code']}/api/v1/namespaces/default/configmaps"
        client.headers.update(bearer(session["token"]))
        fold, revision = Fold(), 0
        socket = await Socket(session["code"], bearer(session["token"])).__aenter__()
        await socket.send(type="subscribe")
        await listed(socket, fold)
        for verb, number in operations:
            if verb == "create":
                document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}}
                await client.post(path, json=document)
            elif verb == "label":
                change = {"metadata": {"labels": {"n": str(len(fold.objects)), "again": str(revision)}}}
                merge = {"Content-Type": "application/merge-patch+json"}
                await client.patch(f"{path}/c{number}", json=change, headers=merge)
            elif verb == "delete":
                await client.delete(f"{path}/c{number}")
            elif verb == "reconnect":
                await socket.__aexit__()
                socket = await Socket(session["code"], bearer(session["token"])).__aenter__()
                await socket.send(type="subscribe", revision=fold.revision)
            else:
                await socket.send(type="subscribe")
                await until_listed(socket, fold)
        revision = (await client.get(f"/api/sessions/{session['code']}")).json()["revision"]
        await caught_up(socket, fold, revision)
        await socket.__aexit__()
        fresh = Fold()
        async with Socket(session["code"], bearer(session["token"])) as page:
            await page.send(type="subscribe")
            await listed(page, fresh)
        assert (fresh.revision, fresh.objects) == (fold.revision, fold.objects)


async def until_listed(socket: Socket, fold: Fold) -> None:
    """Fold what is still on its way, then the list."""
    while True:
        frame = await socket.until("list", "events")
        fold.take(frame)
        if frame["type"] == "list" and frame["last"]:
            return
