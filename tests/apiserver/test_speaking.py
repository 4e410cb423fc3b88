"""HTTP with a simulated container: what is answered, what is refused, and what is no HTTP."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from clustersim.apiserver.speaking import BODY_BYTES_MAX, HEAD_BYTES_MAX, NO_HTTP, speak
from controllers.kubelet.shell.running import Came

ENDS = b""


def spoken(*pieces: bytes, idle: bool = False) -> tuple[str, str]:
    """Return (what was answered, what was wrong)."""
    sent: list[bytes] = []
    waiting = list(pieces)

    async def take() -> bytes:
        if not waiting and idle:
            raise TimeoutError
        return waiting.pop(0) if waiting else ENDS

    async def put(data: bytes) -> None:
        sent.append(data)

    async def ask(host: str, path: str) -> Came:
        return Came("ok", 200, body=f"{host}{path}", type="text/html", server="nginx")

    wrong = asyncio.run(speak(take, put, ask))
    return b"".join(sent).decode(), wrong


def page(body: str, version: str = "", *, bare: bool = False) -> str:
    told = "Connection: close\r\n" if version == "1.0" else ""
    head = f"Server: nginx\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n{told}"
    return f"HTTP/1.1 200 OK\r\n{head}\r\n{'' if bare else body}"


GET = b"GET /a?b=1 HTTP/1.1\r\nHost: localhost:18080\r\n\r\n"
POST = b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"


@pytest.mark.parametrize(
    ("pieces", "answer"),
    [
        ([GET], page("localhost/a?b=1")),
        ([GET[:1], GET[1:30], GET[30:]], page("localhost/a?b=1")),
        ([GET + POST + GET], page("localhost/a?b=1") + page("x/p") + page("localhost/a?b=1")),
        ([b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", GET], page("x/", bare=True) + page("localhost/a?b=1")),
        ([b"GET http://shop:80/a HTTP/1.1\r\nHost: shop\r\n\r\n"], page("shop/a")),
        ([b"OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"], page("[::1]/")),
        ([b"GET / HTTP/1.0\r\n\r\n", GET], page("/", "1.0")),
        ([b"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"], page("x/")),
        ([b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n", b"a"],
         "HTTP/1.1 100 \r\n\r\n" + page("x/")),
        ([POST[:-1]], ""),
        ([], ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("idle", [False, True])
def test_requests_are_answered_in_turn(pieces: list[bytes], answer: str, idle: bool) -> None:
    assert spoken(*pieces, idle=idle) == (answer, "")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: none\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\na: " + b"x" * HEAD_BYTES_MAX, 431),
        (b"GET /" + b"x" * HEAD_BYTES_MAX, 431),
        (b"CONNECT shop:80 HTTP/1.1\r\nHost: shop\r\n\r\n", 405),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n" + b"x" * (BODY_BYTES_MAX + 1), 413),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ],
)
def test_what_is_wrong_is_told_and_the_connection_ends(sent: bytes, status: int) -> None:
    answer, wrong = spoken(sent, GET)
    assert re.findall(r"HTTP/1.1 (\d+)", answer) == [str(status)]
    assert "connection: close" in answer.lower()
    assert wrong == ""


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0\0\0\x08\x04\xd2\x16\x2f",
        b"*1\r\n$4\r\nPING\r\n",
        b"EHLO localhost\r\n",
        b"PING\r\n",
        b"\r\n\r\n\0\0",
        b"x" * 100_000,
        b"X" * 100_000,
        b"?\x01\0\0\x01",
        b"GET\n",
    ],
)
def test_what_is_no_http_is_told_as_that_at_once(sent: bytes) -> None:
    async def take() -> bytes:
        return pieces.pop(0)

    async def nothing(*_: object) -> Any:
        raise AssertionError("nothing is asked or answered")

    pieces = [sent]
    assert asyncio.run(speak(take, nothing, nothing)) == NO_HTTP
