"""While a poll is open nobody but the teacher is told what became of its pod: by any route, and each has its line.

The pod could not be placed at first (a decision, a condition, Events that say why), the poll is opened, a node is
added, and the pod goes there: `gold`. Time runs on, so that everything that could tell is really there to be told.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from clustersim.sessionapi import sealed, urls
from clustersim.store import open_store, sessions
from controllers.cluster import Cluster
from tests.sessionapi.test_roles import Class
from tests.tools.application import Socket, bearer, http, opened

POD, NODE = "vip", "gold"
READERS = ("ann", "viewer", "component")
POST_BODIES: dict[str, Any] = {
    "whatif": {"changes": [{"request": {"cpu": "100m"}}]},
    "decisions/<str:decision>/whatif": {"changes": [{"request": {"cpu": "100m"}}]},
    "expressions": {"expression": "true", "kind": "filter"},
    "compare": {"a": {"era": "v1.34"}, "b": {"era": "round-robin"}},
    "people": {"role": "viewer", "name": "x"},
}
PATHS = [
    "/api/v1/pods",
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/pods/vip",
    "/api/v1/namespaces/default/pods/vip/status",
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dgold",
    "/api/v1/pods?fieldSelector=status.phase%3DRunning",
    "/api/v1/events",
    "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dvip",
    "/apis/events.k8s.io/v1/events",
    "/apis/clustersim.io/v1/replicas",
    "/apis/clustersim.io/v1/queues",
    "/apis/clustersim.io/v1/queues/kube-scheduler-0",
    "/apis/clustersim.io/v1/polls",
    "/apis/metrics.k8s.io/v1beta1/pods",
    "/api/v1/namespaces/default/pods/vip/log",
    "/api/v1/namespaces/default/services/front/proxy/",
]
WATCHED = [PATHS[0], PATHS[6], PATHS[8], PATHS[9], PATHS[10]]
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}


class Room(Class):
    """A class with a pod that is polled about, and what the walk through the routes has to know."""

    uid: str
    poll: str
    before: int
    alone: bool

    async def made(self, path: str, document: Any) -> Any:
        answer = await self.call("teacher", "POST", path, document)
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def node(self, name: str, cpu: str) -> None:
        capacity = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
        status = {"capacity": capacity, "allocatable": capacity}
        await self.made("/api/v1/nodes", {"metadata": {"name": name}, "status": status})

    @sync_to_async
    def run(self, seconds: float) -> None:
        """Let the session's time pass, as its owner does."""
        row = sessions.find(self.code)
        assert row is not None
        cluster = Cluster(open_store(row.id))
        cluster.start()
        cluster.advance(cluster.now_ms + round(1000 * seconds))

    async def reveal(self) -> Any:
        if self.alone:
            path = f"/polls/{self.poll}/votes"
            said = {"choice": "none", "because": "other"}
            assert (await self.session("teacher", "POST", path, said)).status_code == 200
        answer = await self.session("teacher", "POST", f"/polls/{self.poll}/reveal")
        assert answer.status_code == 200, answer.text
        return answer.json()


async def made(*, alone: bool) -> AsyncIterator[Room]:
    async with http() as client:
        session = await opened(client, "empty")
        client.cookies.clear()
        path = f"/api/sessions/{session['code']}"
        tokens = {"teacher": session["token"]}
        for role in ("viewer", "component"):
            body = {"role": role, "name": role}
            answer = await client.post(f"{path}/people", json=body, headers=bearer(tokens["teacher"]))
            tokens[role] = answer.json()["token"]
        tokens["ann"] = (await client.post(f"{path}/join", json={"name": "ann"})).json()["token"]
        client.cookies.clear()
        room = Room(client, session["code"], tokens)
        room.alone = alone
        await room.node("n1", "1")
        container = {"name": "c", "image": "nginx:1.27", "resources": {"requests": {"cpu": "3"}}}
        pod = {"metadata": {"name": POD, "labels": {"app": POD}}, "spec": {"containers": [container]}}
        service = {"metadata": {"name": "front"}, "spec": {"selector": {"app": POD}, "ports": [{"port": 80}]}}
        await room.made("/api/v1/namespaces/default/services", service)
        room.uid = (await room.made("/api/v1/namespaces/default/pods", pod))["metadata"]["uid"]
        await room.run(30)
        room.before = sessions_revision(await room.session("teacher", "GET", "/clock"))
        body = {"kind": "node", "pod": f"default/{POD}", "hold": "paper", "alone": alone}
        poll = await room.session("teacher", "POST", "/polls", body)
        assert poll.status_code == 201, poll.text
        room.poll = poll.json()["id"]
        await room.node(NODE, "8")
        await room.run(120)
        room.newest = sessions_revision(await room.session("teacher", "GET", "/clock"))
        yield room


def sessions_revision(answer: Any) -> int:
    return int(answer.json()["revision"])


@pytest.fixture(autouse=True)
def _no_owner_to_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody owns these sessions: what only an owner knows is not waited for."""
    monkeypatch.setattr("clustersim.runtime.metrics.ANSWER_SECONDS", 0.05)
    monkeypatch.setattr("clustersim.runtime.commands.OBEY_SECONDS", 0.05)


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async for one in made(alone=False):
        yield one


@pytest.fixture
async def alone() -> AsyncIterator[Room]:
    async for one in made(alone=True):
        yield one


def dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from dicts(member)
    elif isinstance(value, list):
        for member in value:
            yield from dicts(member)


def texts(document: dict[str, Any]) -> list[str]:
    """Return the texts that stand together in one object: its own, and those one level below."""
    found = [value for value in document.values() if isinstance(value, str)]
    for member in ("metadata", "spec", "status"):
        inner = document.get(member)
        if isinstance(inner, dict):
            found += [value for value in inner.values() if isinstance(value, str)]
    if isinstance(document.get("cells"), list):
        found += [value for value in document["cells"] if isinstance(value, str)]
    return found


def tells(room: Room, text: str) -> str:
    """Return what in an answer tells the pod's fate, empty where nothing does."""
    for sign in ("Insufficient", "FailedScheduling", f"{room.uid}-1", "0/1 nodes"):
        if sign in text:
            return sign
    for line in text.splitlines():
        try:
            document = json.loads(line)
        except ValueError:
            if POD in line and NODE in line:
                return line
            continue
        for one in dicts(document):
            if one.get("resource") == "polls.clustersim.io" or one.get("kind") in ("Poll", "PollList"):
                if "right" in (one.get("status") or {}):
                    return "right"
                continue
            said = texts(one)
            if any(POD in text for text in said) and any(text.rpartition(" ")[2] == NODE for text in said):
                return json.dumps(one)[:300]
    return ""


def routes() -> list[tuple[str, str]]:
    """Return (method, pattern) of every route of a session, read from the routes themselves."""
    found = []
    for entry in urls.urlpatterns:
        pattern = str(entry.pattern)
        if pattern.startswith("sessions/<str:code>"):
            found += [(method, pattern) for method in entry.callback.methods]
    return found


def filled(room: Room, pattern: str) -> list[str]:
    """Return a route's addresses, with whatever is most telling in its variables."""
    path = pattern.removeprefix("sessions/<str:code>")
    for variable, value in (
        ("<str:decision>", f"{room.uid}-1"),
        ("<str:identity>", "kube-scheduler-0"),
        ("<path:path>", "debug/pprof/goroutine"),
        ("<str:namespace>", "default"),
        ("<str:uid>", room.uid),
        ("<str:poll>", room.poll),
        ("<str:there>", str(room.before)),
    ):
        path = path.replace(variable, value)
    newest = str(room.newest if path.startswith("/before/") else room.before + 1)
    path = path.replace("<str:here>", "NEWEST").replace("<str:revision>", "NEWEST").replace("NEWEST", newest)
    resources = ("pods", "events", "apis/clustersim.io/v1/queues", "namespaces/default/pods/vip")
    paths = [path.replace("<path:resource>", one) for one in resources] if "<path:resource>" in path else [path]
    paths = [one.replace("<str:name>", POD if "probes" in one else "podgc") for one in paths]
    if path == "/decisions":
        paths = [f"{path}?pod=default/{POD}", f"{path}?uid={room.uid}"]
    if path == "/model":
        paths = [f"{path}?pod=default/{POD}"]
    if path == "/store":
        paths = [f"{path}?limit=1000", f"{path}?key=/registry/pods/default/{POD}"]
    if path == "/export":
        paths = [f"{path}?format=json", f"{path}?format=yaml"]
    return paths


def test_every_route_says_how_it_keeps_to_a_seal() -> None:
    """A new route fails here until somebody has thought about it: clustersim/sessionapi/sealed.py."""
    patterns = {str(entry.pattern) for entry in urls.urlpatterns if not str(entry.pattern).startswith("^")}
    assert patterns - set(sealed.ROUTES) == set()
    assert set(sealed.ROUTES.values()) == {sealed.FREE, sealed.LATER, sealed.CUT}
    assert sealed.way_of("api/sessions/<str:code>/nobody/thought/of/it") == sealed.LATER


NOT_WALKED = {"leave", "rotate", "reveal", "close", "polls/<str:poll>", "people/<str:person>", "door"}
"""What would end the poll or the seat of whoever walks; none of them is asked with GET but the poll, see below."""


async def walk(room: Room, who: str) -> dict[str, str]:
    """Ask every route there is as somebody; return what tells, by route."""
    found: dict[str, str] = {}
    for method, pattern in routes():
        short = pattern.removeprefix("sessions/<str:code>").removeprefix("/")
        if method != "GET" and (short in NOT_WALKED or short.rpartition("/")[2] in NOT_WALKED):
            continue
        for path in filled(room, pattern):
            body = None if method in ("GET", "DELETE") else POST_BODIES.get(short, {})
            answer = await room.session(who, method, path, body)
            assert answer.status_code != 500, (method, path, answer.text)
            if answer.is_success and (told := tells(room, answer.text)):
                found[f"{method} {path}"] = told
    for path in PATHS:
        for headers in ({}, TABLE):
            answer = await room.call(who, "GET", path, headers=headers)
            if answer.is_success and (told := tells(room, answer.text)):
                found[path] = told
    asked = [f"{path}?watch=1&timeoutSeconds=1&resourceVersion={room.before - 1}" for path in WATCHED]
    for path, answer in zip(asked, await asyncio.gather(*(room.call(who, "GET", path) for path in asked)), strict=True):
        if answer.is_success and (told := tells(room, answer.text)):
            found[path] = told
    for revision in (None, 1):
        if told := await socket_tells(room, who, revision):
            found[f"websocket from {revision}"] = told
    return found


async def socket_tells(room: Room, who: str, revision: int | None) -> str:
    """Return what the frames of a page tell until it has caught up with the log."""
    async with Socket(room.code, bearer(room.tokens[who])) as socket:
        newest = (await socket.until("hello"))["revision"]
        await socket.send(type="subscribe", **({} if revision is None else {"revision": revision}))
        while True:
            frame = await socket.until("list", "events", "gone")
            if frame["type"] == "gone":
                await socket.send(type="subscribe")
                continue
            if told := tells(room, json.dumps(frame)):
                return told
            if frame["type"] == "list" and frame["last"]:
                # The decisions follow, if there are any that may be told.
                if not await socket.has_output():
                    return ""
            elif frame["type"] == "events" and frame["to"] >= newest:
                return ""


@pytest.mark.parametrize("who", READERS)
async def test_nobody_but_the_teacher_is_told_by_any_route(room: Room, who: str) -> None:
    assert await walk(room, who) == {}


async def test_the_teacher_is_told_by_those_routes_so_that_there_is_something_to_tell(room: Room) -> None:
    found = await walk(room, "teacher")
    told = {path.partition("?")[0].removeprefix("GET ") for path in found}
    assert told >= {
        "/decisions",
        f"/decisions/{room.uid}-1",
        f"POST /decisions/{room.uid}-1/whatif",
        "/model",
        "/export",
        "/store",
        "/timeline",
        f"/before/{room.newest}",
        "/api/v1/pods",
        "/api/v1/events",
        "/apis/events.k8s.io/v1/events",
        "websocket from None",
        "websocket from 1",
    }


async def test_who_learns_alone_is_told_no_more_than_a_class(alone: Room) -> None:
    assert await walk(alone, "teacher") == {}
    assert (await alone.session("teacher", "POST", "/fork", {})).status_code == 409
    answer = await alone.reveal()
    assert answer["answer"]["right"] == [NODE]
    pod = (await alone.call("teacher", "GET", f"/api/v1/namespaces/default/pods/{POD}")).json()
    assert pod["spec"]["nodeName"] == NODE


async def test_forks_and_copies_open_at_the_reveal(room: Room) -> None:
    for body in ({}, {"revision": room.before}):
        answer = await room.session("ann", "POST", "/fork", body)
        assert (answer.status_code, answer.json()["message"]) == (
            409,
            "something is asked: your copy opens at the reveal",
        )
    assert (await room.session("ann", "GET", "/export?format=yaml")).status_code == 409
    await room.reveal()
    assert (await room.session("ann", "POST", "/fork", {})).status_code == 201
    assert (await room.session("ann", "GET", "/export?format=yaml")).status_code == 200


async def test_a_teachers_fork_goes_on_with_the_seal(room: Room) -> None:
    forked = (await room.session("teacher", "POST", "/fork", {})).json()
    room.client.cookies.clear()
    joined = await room.client.post(f"/api/sessions/{forked['code']}/join", json={"name": "dan"})
    room.client.cookies.clear()
    there = Room(room.client, forked["code"], {"teacher": forked["token"], "dan": joined.json()["token"]})
    there.uid, there.poll, there.before, there.alone = room.uid, room.poll, room.before, False
    pod = (await there.call("dan", "GET", f"/api/v1/namespaces/default/pods/{POD}")).json()
    assert "nodeName" not in pod["spec"]
    assert (await there.session("dan", "POST", "/fork", {})).status_code == 409
    assert (await there.session("dan", "POST", f"/polls/{there.poll}/votes", {"choice": NODE})).status_code == 422
    assert (await there.session("dan", "POST", f"/polls/{there.poll}/votes", {"choice": "n1"})).status_code == 200
    await there.reveal()
    pod = (await there.call("dan", "GET", f"/api/v1/namespaces/default/pods/{POD}")).json()
    assert pod["spec"]["nodeName"] == NODE
    # The class goes on as it was: nobody there voted, and nothing is told.
    assert (await room.session("ann", "GET", f"/polls/{room.poll}")).json()["state"] == "open"
    assert await walk(room, "ann") == {}


async def test_everybody_is_told_at_the_reveal_and_pages_list_again(room: Room) -> None:
    async with Socket(room.code, bearer(room.tokens["ann"])) as socket:
        await socket.until("hello")
        await socket.send(type="subscribe")
        while not (await socket.until("list"))["last"]:
            pass
        assert (await room.reveal())["answer"]["right"] == [NODE]
        await socket.until("gone")
        await socket.send(type="subscribe")
        frame = await socket.until("list")
        pods = [one for one in frame["objects"] if one["resource"] == "pods" and one["metadata"]["name"] == POD]
        assert pods[0]["spec"]["nodeName"] == NODE
    told = await walk(room, "ann")
    assert any(path.startswith("GET /decisions") for path in told)


async def test_what_is_sealed_is_not_changed_by_whom_it_is_sealed_from(room: Room) -> None:
    path = f"/api/v1/namespaces/default/pods/{POD}"
    merge = {"Content-Type": "application/merge-patch+json"}
    answer = await room.call("component", "PATCH", f"{path}/status", {"status": {"reason": "x"}}, headers=merge)
    assert (answer.status_code, answer.json()["message"]) == (409, "something is asked: this opens at the reveal")
    answer = await room.call("component", "DELETE", path)
    assert answer.status_code == 409


async def test_the_rest_of_the_cluster_is_as_it_is(room: Room) -> None:
    nodes = (await room.call("ann", "GET", "/api/v1/nodes")).json()["items"]
    assert [node["metadata"]["name"] for node in nodes] == [NODE, "n1"]
    pod = (await room.call("ann", "GET", f"/api/v1/namespaces/default/pods/{POD}")).json()
    assert (pod["status"], pod["spec"]["containers"][0]["name"]) == ({"phase": "Pending", "qosClass": "Burstable"}, "c")
    reasons = {one["reason"] for one in (await room.call("ann", "GET", "/api/v1/events")).json()["items"]}
    assert reasons
    assert "Scheduled" not in reasons
