"""A class of 300 without browsers: joins by code, follows by websocket, votes twice in each of five polls, forks.

Everything on loopback, the class and the installation on the same machine. The teacher's controls are timed while the
class votes; what was voted is counted again at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from http.cookiejar import CookieJar, DefaultCookiePolicy
from statistics import quantiles
from typing import Any, Final

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.tools.server import Server, running

PEOPLE: Final = 300
POLLS: Final = 5
FORKS: Final = 30
VOTING_SECONDS: Final = 5.0
"""A round: everybody votes at a moment of their own within it."""

AT_ONCE: Final = 40
"""Requests of the class under way at once: what so many phones come to."""

CONTROL_SECONDS: Final = 0.2
"""Between two of the teacher's controls."""

Body = dict[str, Any]


class Classroom:
    """One session with its class."""

    def __init__(self, server: Server, client: httpx.AsyncClient) -> None:
        self.server = server
        self.client = client
        self.turn = asyncio.Semaphore(AT_ONCE)
        self.tokens: list[str] = []
        self.sockets: list[Follower] = []
        self.controls: list[float] = []
        self.votes: list[float] = []
        self.reveals: list[float] = []
        self.last: dict[tuple[int, str, int], str] = {}
        """What each seat said last: (seat, poll, round) → option."""

    async def open(self) -> None:
        """Open the session."""
        body = {"title": "bench", "template": "three-nodes", "seed": 1}
        made = (await self.client.post("/api/sessions", json=body)).json()
        self.code, self.teacher = made["code"], made["token"]
        await self.ask("PATCH", "/clock", {"pace": 0})

    async def ask(self, method: str, path: str, body: Body | None = None, token: str = "", expect: int = 200) -> Any:
        """Send one request; what is not answered as expected ends the measurement."""
        headers = {"Authorization": f"Bearer {token or self.teacher}"}
        answer = await self.client.request(method, f"/api/sessions/{self.code}{path}", json=body, headers=headers)
        assert answer.status_code == expect, (method, path, answer.status_code, answer.text[:300])
        return answer.json() if answer.content else None

    async def control(self, method: str, path: str, body: Body | None = None, expect: int = 200) -> Any:
        """Use one of the teacher's controls, timed."""
        began = time.perf_counter()
        told = await self.ask(method, path, body, expect=expect)
        self.controls.append(1000 * (time.perf_counter() - began))
        return told

    async def join(self, number: int) -> None:
        """Take a seat and open a page."""
        async with self.turn:
            answer = await self.client.post(f"/api/sessions/{self.code}/join", json={"name": f"student {number}"})
            assert answer.status_code == 201, answer.text[:300]
            token = answer.json()["token"]
            self.tokens.append(token)
            self.sockets.append(await Follower.of(self.server, self.code, token))

    async def vote(self, seat: int, poll: Body, choice: str, after: float) -> None:
        """Vote at a moment of one's own."""
        await asyncio.sleep(after)
        async with self.turn:
            began = time.perf_counter()
            await self.ask("POST", f"/polls/{poll['id']}/votes", {"choice": choice}, self.tokens[seat])
            self.votes.append(1000 * (time.perf_counter() - began))

    async def round(self, poll: Body, number: int, chance: random.Random) -> None:
        """Let everybody vote, while the teacher looks and points."""
        ids = [option["id"] for option in poll["options"]]
        jobs: list[Coroutine[Any, Any, None]] = []
        for seat in range(len(self.tokens)):
            choice = self.last[seat, poll["id"], number] = chance.choice(ids)
            jobs.append(self.vote(seat, poll, choice, chance.uniform(0, VOTING_SECONDS)))
        done = asyncio.gather(*jobs)
        while not done.done():
            await self.control("GET", f"/polls/{poll['id']}")
            await self.control("PUT", f"/polls/{poll['id']}/hands", {"counts": {}})
            await self.control("PATCH", "/clock", {"rate": chance.choice([1, 2, 4])})
            await asyncio.sleep(CONTROL_SECONDS)
        await done

    async def poll(self, number: int, chance: random.Random) -> Body:
        """Ask one question from the pod to the reveal; return the poll as the teacher sees it then."""
        await self.control("PATCH", "/clock", {"paused": True})
        container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "100m"}}}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"vip-{number}"},
            "spec": {"containers": [container]},
        }
        headers = {"Authorization": f"Bearer {self.teacher}"}
        path = f"/clusters/{self.code}/api/v1/namespaces/default/pods"
        assert (await self.client.post(path, json=pod, headers=headers)).status_code == 201
        poll = await self.control("POST", "/polls", {"kind": "node", "pod": f"default/vip-{number}"}, 201)
        await self.round(poll, 1, chance)
        await self.control("POST", f"/polls/{poll['id']}/close")
        await self.control("POST", f"/polls/{poll['id']}/reopen")
        await self.round(poll, 2, chance)
        began = time.perf_counter()
        told: Body = await self.ask("POST", f"/polls/{poll['id']}/reveal")
        self.reveals.append(1000 * (time.perf_counter() - began))
        return told

    async def lost(self, polls: list[Body]) -> int:
        """Return how many votes are not as they were cast, by the counts and by each seat's own sheet."""
        lost = 0
        for poll in polls:
            told = await self.ask("GET", f"/polls/{poll['id']}")
            for number in (1, 2):
                said = [choice for (_, name, turn), choice in self.last.items() if (name, turn) == (poll["id"], number)]
                counted = told["counts"][str(number)]
                lost += sum(abs(said.count(name) - counted.get(name, 0)) for name in {*said, *counted})
        rows = await self.ask("GET", "/results")
        return lost + abs(len(rows) - len(polls) * len(self.tokens))


class Follower:
    """A student's page: it takes whatever comes, answers pings, and remembers which polls it saw revealed."""

    def __init__(self, connection: ClientConnection, again: Callable[[], Awaitable[ClientConnection]]) -> None:
        self.connection = connection
        self._connect = again
        self.over = False
        self.revealed: set[str] = set()
        self.task = asyncio.create_task(self._read())

    @classmethod
    async def of(cls, server: Server, code: str, token: str) -> Follower:
        """Open a page's socket."""
        address = f"{server.url.replace('http', 'ws', 1)}/ws/sessions/{code}"
        headers = {"Authorization": f"Bearer {token}"}

        async def opened() -> ClientConnection:
            made = await connect(address, additional_headers=headers, max_size=None, ping_interval=None, proxy=None)
            await made.send('{"type":"subscribe"}')
            return made

        return cls(await opened(), opened)

    async def _read(self) -> None:
        while True:
            with contextlib.suppress(ConnectionClosed):
                await self._take_frames()
                return
            if self.over:
                return
            # As a page does that was cut off: it comes back, and lists again.
            self.connection = await self._connect()

    async def _take_frames(self) -> None:
        async for text in self.connection:
            if '"ping"' in text[:20]:  # type: ignore[operator]
                await self.connection.send(json.dumps({"type": "pong", "id": json.loads(text)["id"]}))
            elif '"gone"' in text[:20]:  # type: ignore[operator]
                await self.connection.send('{"type":"subscribe"}')
            elif "polls.clustersim.io" in text:  # type: ignore[operator]
                self._see(json.loads(text))

    def _see(self, frame: Body) -> None:
        objects = [event["object"] for event in frame.get("events") or ()] + (frame.get("objects") or [])
        for one in objects:
            if one["resource"] == "polls.clustersim.io" and (one.get("status") or {}).get("right"):
                self.revealed.add(one["metadata"]["name"])


async def timed(done: Callable[[], Awaitable[object]]) -> float:
    """Return the seconds that something takes."""
    began = time.perf_counter()
    await done()
    return time.perf_counter() - began


async def measure(server: Server, people: int, questions: int, forks: int) -> Body:
    """Run a class and return the row."""
    limits = httpx.Limits(max_connections=2 * AT_ONCE, max_keepalive_connections=2 * AT_ONCE)
    # Everybody shows a token of their own; a cookie would be that of whoever came last.
    none = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    async with httpx.AsyncClient(base_url=server.url, timeout=120, limits=limits, cookies=none) as client:
        room, chance = Classroom(server, client), random.Random(1)
        await room.open()
        joined = await timed(lambda: asyncio.gather(*(room.join(number) for number in range(people))))
        print(f"{people} joined within {joined:.1f} s", file=sys.stderr)
        polls: list[Body] = []
        for number in range(questions):
            polls.append(await room.poll(number, chance))
            print(f"poll {number + 1}: controls p95 {_p95(room.controls):.0f} ms", file=sys.stderr)

        async def fork(seat: int) -> None:
            async with room.turn:
                await room.ask("POST", "/fork", {}, room.tokens[seat], expect=201)

        forked = await timed(lambda: asyncio.gather(*(fork(seat) for seat in range(forks))))
        lost = await room.lost(polls)
        blind = await _blind(room, {poll["id"] for poll in polls})
        for follower in room.sockets:
            follower.over = True
            await follower.connection.close()
    return {
        "bench": "class",
        "people": people,
        "joinSeconds": round(joined, 1),
        "votes": len(room.votes),
        "votesLost": lost,
        "voteP95Ms": round(_p95(room.votes)),
        "controls": len(room.controls),
        "controlsP50Ms": round(quantiles(room.controls, n=20)[9]),
        "controlsP95Ms": round(_p95(room.controls)),
        "revealMaxMs": round(max(room.reveals)),
        "forks": forks,
        "forkSeconds": round(forked, 1),
        "pagesThatMissedAReveal": blind,
    }


async def _blind(room: Classroom, polls: set[str]) -> int:
    """Return how many pages have not heard of every reveal after a while."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and any(one.revealed != polls for one in room.sockets):
        await asyncio.sleep(0.2)
    return sum(one.revealed != polls for one in room.sockets)


def _p95(times: list[float]) -> float:
    return quantiles(times, n=20)[18]


def run(people: int = PEOPLE, questions: int = POLLS, forks: int = FORKS) -> list[dict[str, Any]]:
    """Return the row of a class."""
    logging.getLogger("httpx").setLevel(logging.WARNING)
    with running() as server:
        return [asyncio.run(measure(server, people, questions, forks))]
