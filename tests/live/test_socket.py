"""The websocket from the page's side: hello, lists, events, resuming, slow and rude readers."""

from __future__ import annotations

from typing import Any

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
