"""What an open watch costs: memory of the web process before and after two thousand of them, by HTTP and over TLS.

Each is a connection of its own, as a client without HTTP/2 has it. Some watches are open before, so that what a session
needs anyway is not counted.
"""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from tests.tools.server import Server, child_pids, running
from tests.tools.session import Session

WATCHES: Final = 2_000
WARM: Final = 200
SEATS: Final = 11
"""One participant may have 256 watches open."""

AT_ONCE: Final = 8

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

    async def _watch(self, number: int) -> None:
        async with self._turns:
            secure = ssl._create_unverified_context() if self._at.scheme == "https" else None
            reader, writer = await asyncio.open_connection(self._at.hostname, self._at.port, ssl=secure)
            resource, token = RESOURCES[number % len(RESOURCES)], self._tokens[number % len(self._tokens)]
            path = f"/clusters/{self._session.code}/api/v1/{resource}?{_QUERY.format(version=self._version)}"
            headers = f"Host: {self._at.netloc}\r\nAuthorization: Bearer {token}\r\nAccept: application/json\r\n"
            writer.write(f"GET {path} HTTP/1.1\r\n{headers}\r\n".encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            assert b" 200 " in answer.splitlines()[0], answer
            self.open.append((reader, writer))

    async def leave(self) -> None:
        """Close them all."""
        for _, writer in self.open:
            writer.close()


async def _measured(pid: int, address: str, session: Session, tokens: list[str]) -> float:
    crowd = _Crowd(address, session, tokens)
    try:
        await crowd.join(WARM)
        before = _resident_kb(pid)
        await crowd.join(WATCHES)
        return (_resident_kb(pid) - before) / WATCHES
    finally:
        await crowd.leave()


def _row(server: Server, address: str) -> dict[str, Any]:
    web = next(pid for pid, command in child_pids(server.process.pid).items() if "web" in command)
    session = Session(server)
    session.wait_for_leader()
    session.clock(paused=True)
    seats = [
        session.call("POST", f"/api/sessions/{session.code}/people", {"role": "component", "name": f"w{n}"}, expect=201)
        for n in range(SEATS)
    ]
    each = asyncio.run(_measured(web, address, session, [seat["token"] for seat in seats]))
    return {"bench": "watches", "by": urlsplit(address).scheme, "watches": WATCHES, "kilobytesEach": round(each, 1)}


def run() -> list[dict[str, Any]]:
    """Return a row each for HTTP and TLS: kilobytes of the web process for one watch."""
    rows = []
    for scheme in ("http", "https"):
        # A process of its own: memory that was given back is not seen to be used again.
        with running() as server:
            rows.append(_row(server, server.url if scheme == "http" else server.tls_url))
    return rows
