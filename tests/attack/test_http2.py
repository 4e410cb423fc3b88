"""Hostile clients of HTTP/2 against a started server: it does not grow, answers everybody else, and logs no fault."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from h2.errors import ErrorCodes
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from clustersim.bodies import BODY_BYTES_MAX, CLUSTER_BODY_BYTES_MAX
from clustersim.runtime.http2.rules import WINDOW_BYTES
from tests.tools.http2 import Line
from tests.tools.server import Server
from tests.tools.session import Session

MEGABYTE = 1024 * 1024
MANY = 200_000


def resident(server: Server) -> int:
    (pid,) = server.pids("web")
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


@pytest.fixture
def unharmed(live_server_up: Server) -> Iterator[Server]:
    said = live_server_up.log.stat().st_size
    yield live_server_up
    assert live_server_up.request("GET", "/healthz")[0] == 200
    with Line(live_server_up.tls_port) as line:
        assert line.whole("/healthz").status == 200
    with live_server_up.log.open("rb") as log:
        log.seek(said)
        assert b"Traceback" not in log.read()


def pour(line: Line, data: bytes, most: int) -> int:
    """Send the same again and again until the server hangs up; return how many bytes it has taken."""
    sent = 0
    line.socket.settimeout(30)
    with suppress(OSError):
        while sent < most:
            line.socket.sendall(data)
            sent += len(data)
    return sent


def farewell(line: Line) -> int | None:
    """Return the reason that the server gives, if the connection was not cut before it could be read."""
    with suppress(OSError):
        while not line.closed:
            line.turn()
    return line.goodbye


def resets() -> bytes:
    line = b"".join(
        HeadersFrame(number, HEAD, flags=["END_HEADERS", "END_STREAM"]).serialize()
        + RstStreamFrame(number, error_code=8).serialize()
        for number in range(1, MANY, 2)
    )
    return line


# :method GET, :scheme https, :path /healthz as a literal without a table.
HEAD = b"\x82\x87\x04\x08/healthz\x41\x09127.0.0.1"

FLOODS: dict[str, Frame] = {
    "ping": PingFrame(0, b"12345678"),
    "settings": SettingsFrame(0, {4: 1}),
    "priority": PriorityFrame(5, depends_on=3, stream_weight=1),
    "window": WindowUpdateFrame(0, window_increment=1),
    "data": DataFrame(1, b"x" * 1_000),
}


@pytest.mark.parametrize("name", FLOODS)
def test_floods_end_their_connection(unharmed: Server, name: str) -> None:
    before = resident(unharmed)
    with Line(unharmed.tls_port) as line:
        line.turn()
        if name == "data":
            other = line.ask("/healthz", "POST", ends=False, headers={"content-length": str(BODY_BYTES_MAX + 1)})
            line.until(lambda: line.answers[other].ended)
            assert line.answers[other].status == 413
        frame = FLOODS[name].serialize()
        sent = pour(line, frame * (MEGABYTE // len(frame)), 64 * MEGABYTE)
        assert sent < 32 * MEGABYTE, "the sockets of both sides hold some"
    assert resident(unharmed) - before < 16 * MEGABYTE


def test_requests_that_are_reset_at_once_end_their_connection(unharmed: Server) -> None:
    before = resident(unharmed)
    with Line(unharmed.tls_port) as line:
        line.turn()
        pour(line, resets(), 1)
        assert farewell(line) in (ErrorCodes.ENHANCE_YOUR_CALM, None)
    assert resident(unharmed) - before < 16 * MEGABYTE


def test_a_head_without_end_ends_its_connection(unharmed: Server) -> None:
    before = resident(unharmed)
    with Line(unharmed.tls_port) as line:
        line.turn()
        line.socket.sendall(HeadersFrame(1, HEAD, flags=["END_STREAM"]).serialize())
        piece = ContinuationFrame(1, b"\0\x01a\x01b" * 3_000).serialize()
        assert pour(line, piece, 64 * MEGABYTE) < 32 * MEGABYTE
    assert resident(unharmed) - before < 16 * MEGABYTE


@pytest.mark.parametrize("path", ["/", "/clusters/AAAAAA/api/v1/pods"])
def test_a_body_without_end_is_refused_while_it_comes_in(unharmed: Server, path: str) -> None:
    before = resident(unharmed)
    most = CLUSTER_BODY_BYTES_MAX if path.startswith("/clusters/") else BODY_BYTES_MAX
    with Line(unharmed.tls_port) as line:
        for _ in range(3):
            number, sent = line.ask(path, "POST", ends=False), 0
            while not line.answers[number].ended and sent < 64 * MEGABYTE:
                room = line.rules.local_flow_control_window(number)
                if room:
                    line.rules.send_data(number, b"x" * min(room, 16_384))
                    sent += min(room, 16_384)
                    line.socket.sendall(line.out())
                else:
                    line.turn()
            assert line.answers[number].status == 413
            assert b"RequestEntityTooLarge" in line.answers[number].body
            assert sent <= most + WINDOW_BYTES + 16_384
            line.until(lambda number=number: line.answers[number].reset is not None)  # type: ignore[misc]
            assert line.whole("/healthz").status == 200, "the others go on"
    assert resident(unharmed) - before < 32 * MEGABYTE


def test_clients_that_give_no_window_have_a_bound(unharmed: Server) -> None:
    session = Session(unharmed, "empty")
    session.clock(paused=True)
    for number in range(20):
        document = {"metadata": {"name": f"big-{number}"}, "data": {"a": "x" * 400_000}}
        session.create("/api/v1/namespaces/default/configmaps", document)
    path = f"/clusters/{session.code}/api/v1/namespaces/default/configmaps"
    before = resident(unharmed)
    lines = [Line(unharmed.tls_port, reads=False) for _ in range(4)]
    try:
        for line in lines:
            asked = [line.ask(path, token=session.token) for _ in range(20)]
            # Each has begun, or was given up: 8 MB each, 640 together.
            line.until(
                lambda line=line, asked=asked: all(  # type: ignore[misc]
                    line.answers[number].status == 200 or line.answers[number].reset is not None for number in asked
                )
            )
            assert any(line.answers[number].reset is not None for number in asked)
            assert line.answers[line.ask("/version")].status == 0
        assert resident(unharmed) - before < 300 * MEGABYTE
    finally:
        for line in lines:
            line.socket.close()


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 1_000])
def test_who_says_something_else_is_left(unharmed: Server, said: bytes) -> None:
    line = Line(unharmed.tls_port)
    line.socket.sendall(said)
    if said:
        line.socket.settimeout(30)
        with suppress(OSError):
            while line.socket.recv(65_536):
                pass
    line.socket.close()


def test_a_half_open_connection_hears_its_answer_or_ends(unharmed: Server) -> None:
    line = Line(unharmed.tls_port)
    line.ask("/healthz")
    line.socket.sendall(line.out())
    line.socket.shutdown(socket.SHUT_WR)
    line.socket.settimeout(30)
    with suppress(OSError):
        while line.socket.recv(65_536):
            pass
    line.socket.close()
