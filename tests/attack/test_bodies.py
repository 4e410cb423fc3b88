"""Bodies without end: refused at the route's limit, while they come in, whatever the client says of their length."""

from __future__ import annotations

import re
import select
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from clustersim.asgi import body_bytes_max
from clustersim.bodies import BODY_BYTES_MAX, CLUSTER_BODY_BYTES_MAX
from clustersim.runtime.boundedrequest import DRAIN_BYTES_MAX
from clustersim.sessionapi.imports import IMPORT_BYTES_MAX, REPLAY_BYTES_MAX
from clustersim.sessionapi.opening import OPENING_BYTES_MAX
from tests.tools.application import http
from tests.tools.server import Server

PATHS = {
    "/": BODY_BYTES_MAX,
    "/nowhere/at/all": BODY_BYTES_MAX,
    "/healthz": BODY_BYTES_MAX,
    "/api/sessions": OPENING_BYTES_MAX,
    "/api/sessions/AAAAAA/join": BODY_BYTES_MAX,
    "/api/sessions/AAAAAA/import": IMPORT_BYTES_MAX,
    "/api/sessions/AAAAAA/replays": REPLAY_BYTES_MAX,
    "/clusters/AAAAAA/api/v1/pods": CLUSTER_BODY_BYTES_MAX,
    "/clusters/": CLUSTER_BODY_BYTES_MAX,
}
CHUNK = b"x" * 65_536


@pytest.mark.parametrize("path", PATHS)
def test_a_path_takes_what_its_route_says(path: str) -> None:
    assert body_bytes_max(path) == PATHS[path]


@pytest.mark.parametrize("path", PATHS)
async def test_the_application_stops_reading_at_the_limit(path: str) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += len(CHUNK)
            yield CHUNK

    async with http() as client:
        answer = await client.post(path, content=endless())
        assert answer.status_code == 413, answer.text
        assert answer.json()["reason"] == "RequestEntityTooLarge"
        assert sent <= PATHS[path] + 2 * len(CHUNK)


async def test_the_kubernetes_api_refuses_in_upstreams_words() -> None:
    async with http() as client:
        answer = await client.post("/clusters/AAAAAA/api/v1/pods", content=b"x" * (CLUSTER_BODY_BYTES_MAX + 1))
        assert answer.json()["message"] == "Request entity too large: limit is 3145728"


def _post_endlessly(server: Server, head: str) -> tuple[bytes, int]:
    """Send a body until the server answers or hangs up; return (what it answered, how much was sent)."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(head.encode())
        connection.setblocking(False)
        piece = f"{len(CHUNK):x}\r\n".encode() + CHUNK + b"\r\n"
        sent, left, answer = 0, b"", b""
        while sent < 256 * 1024 * 1024:
            readable, writable, _ = select.select([connection], [connection], [], 30)
            if not readable and not writable:
                break
            try:
                if readable:
                    came = connection.recv(65_536)
                    if not came:
                        break
                    answer += came
                if writable:
                    left = left or piece
                    done = connection.send(left)
                    sent, left = sent + done, left[done:]
            except (BrokenPipeError, ConnectionResetError):
                # It may have answered and hung up since it was looked at.
                answer += _rest(connection)
                break
        return answer, sent


def _rest(connection: socket.socket) -> bytes:
    """Return what had come before the other side hung up."""
    came = b""
    with suppress(BlockingIOError, ConnectionResetError):
        while piece := connection.recv(65_536):
            came += piece
    return came


def _resident(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


@pytest.mark.parametrize("path", ["/", "/api/sessions/AAAAAA/import", "/clusters/AAAAAA/api/v1/pods"])
@pytest.mark.parametrize("declared", ["Transfer-Encoding: chunked", "Content-Length: 9999999999"])
def test_the_process_refuses_while_it_reads_and_does_not_grow(live_server_up: Server, path: str, declared: str) -> None:
    """1,000 MB in chunks once grew the process by 400 MB, and were refused when all had come."""
    (pid,) = live_server_up.pids("web")
    before = _resident(pid)
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{declared}\r\n\r\n"
    for _ in range(3):
        answer, sent = _post_endlessly(live_server_up, head)
        assert answer.startswith(b"HTTP/1.1 413 "), answer
        assert b'"reason":"RequestEntityTooLarge"' in answer
        # What the sockets of both sides hold comes on top.
        assert sent < PATHS[path] + DRAIN_BYTES_MAX + 16 * 1024 * 1024
    assert _resident(pid) - before < 32 * 1024 * 1024
    assert live_server_up.request("GET", "/healthz")[0] == 200


def test_a_body_that_is_a_little_too_large_is_answered_in_full(live_server_up: Server) -> None:
    status, answer = live_server_up.request("POST", "/api/sessions/AAAAAA/join", {"name": "x" * BODY_BYTES_MAX})
    assert (status, answer["reason"]) == (413, "RequestEntityTooLarge")
