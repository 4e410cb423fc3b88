"""What an open watch costs: memory of the web process before and after two thousand of them, by HTTP and over TLS.

Each is a connection of its own, as a client without HTTP/2 has it; or many share one, as a client with HTTP/2 has it.
Some watches are open before, so that what a session needs anyway is not counted.
"""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from tests.tools.http2 import Talk, secure
from tests.tools.server import Server, child_pids, running
from tests.tools.session import Session

WATCHES: Final = 2_000
WARM: Final = 200
SEATS: Final = 11
"""One participant may have 256 watches open."""

AT_ONCE: Final = 8

SHARED: Final = (100, 15)
"""Watches of one HTTP/2 connection: as many as it may have, and as many as a kube-scheduler has."""

RESOURCES: Final = ("pods", "nodes", "configmaps", "services")
_QUERY: Final = "watch=true&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds=3600"


def _resident_kb(pid: int) -> int:
    """Return the memory of a process now (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1])


class _Crowd:
    """Clients that watch and hear nothing."""

    def __init__(self, address: str, session: Session, tokens: list[str]) -> None:
        self._at = urlsplit(address)
        self._session = session
        self._tokens = tokens
        self._version = session.api("/api/v1/pods")["metadata"]["resourceVersion"]
        self._turns = asyncio.Semaphore(AT_ONCE)
        self.open: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def join(self, count: int) -> None:
        """Open so many watches; each stands when its answer has begun."""
        known = len(self.open)
        await asyncio.gather(*(self._watch(known + number) for number in range(count)))

    def _asked(self, number: int) -> tuple[str, str]:
        """Return path and token of a watch."""
        resource, token = RESOURCES[number % len(RESOURCES)], self._tokens[number % len(self._tokens)]
        return f"/clusters/{self._session.code}/api/v1/{resource}?{_QUERY.format(version=self._version)}", token

    async def _watch(self, number: int) -> None:
        async with self._turns:
            tls = ssl._create_unverified_context() if self._at.scheme == "https" else None
            reader, writer = await asyncio.open_connection(self._at.hostname, self._at.port, ssl=tls)
            path, token = self._asked(number)
            headers = f"Host: {self._at.netloc}\r\nAuthorization: Bearer {token}\r\nAccept: application/json\r\n"
            writer.write(f"GET {path} HTTP/1.1\r\n{headers}\r\n".encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            assert b" 200 " in answer.splitlines()[0], answer
            self.open.append((reader, writer))

    async def leave(self) -> None:
        """Close them all."""
        for _, writer in self.open:
            writer.close()


class _Sharing(_Crowd):
    """Clients that have many watches on one connection of HTTP/2."""

    def __init__(self, address: str, session: Session, tokens: list[str], shared: int) -> None:
        super().__init__(address, session, tokens)
        self._shared = shared
        self._begun = 0

    async def join(self, count: int) -> None:
        """Open so many watches; each stands when its answer has begun."""
        for start in range(0, count, self._shared):
            await self._connect(min(self._shared, count - start))

    async def _connect(self, count: int) -> None:
        reader, writer = await asyncio.open_connection(self._at.hostname, self._at.port, ssl=secure())
        talk = Talk()
        for number in range(self._begun, self._begun + count):
            path, token = self._asked(number)
            talk.ask(path, token=token)
        self._begun += count
        writer.write(talk.out())
        while not all(answer.status == 200 for answer in talk.answers.values()):
            talk.hear(await reader.read(65_536))
            assert talk.goodbye is None
            writer.write(talk.out())
        self.open.append((reader, writer))


async def _measured(pid: int, address: str, session: Session, tokens: list[str], shared: int) -> float:
    crowd = _Sharing(address, session, tokens, shared) if shared else _Crowd(address, session, tokens)
    try:
        await crowd.join(WARM)
        before = _resident_kb(pid)
        await crowd.join(WATCHES)
        return (_resident_kb(pid) - before) / WATCHES
    finally:
        await crowd.leave()


def _row(server: Server, address: str, shared: int = 0) -> dict[str, Any]:
    web = next(pid for pid, command in child_pids(server.process.pid).items() if "web" in command)
    session = Session(server)
    session.wait_for_leader()
    session.clock(paused=True)
    seats = [
        session.call("POST", f"/api/sessions/{session.code}/people", {"role": "component", "name": f"w{n}"}, expect=201)
        for n in range(SEATS)
    ]
    each = asyncio.run(_measured(web, address, session, [seat["token"] for seat in seats], shared))
    by = f"h2, {shared} a connection" if shared else urlsplit(address).scheme
    return {"bench": "watches", "by": by, "watches": WATCHES, "kilobytesEach": round(each, 1)}


def run() -> list[dict[str, Any]]:
    """Return a row each for HTTP, TLS, and HTTP/2 over TLS: kilobytes of the web process for one watch."""
    rows = []
    # A process of its own for each: memory that was given back is not seen to be used again.
    with running() as server:
        rows.append(_row(server, server.url))
    for shared in (0, *SHARED):
        with running() as server:
            rows.append(_row(server, server.tls_url, shared))
    return rows
