"""HTTP/1.x on a connection to a simulated container: requests in, made-up answers out, one after the other."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

import h11

from controllers.kubelet.shell.running import Came

HEAD_BYTES_MAX: Final = 16 * 1024
"""Bytes of the line and the headers of a request to a forwarded port; more is answered with 431."""

BODY_BYTES_MAX: Final = 8 * 1024 * 1024
"""Bytes of the body of a request to a forwarded port; nothing reads it, and more is answered with 413."""

NO_HTTP: Final = "this container is simulated, and what is sent to its ports is understood as HTTP/1.1 alone"

_FIRST_LINE: Final = re.compile(rb"[A-Z]{1,20} .+ HTTP/[0-9]\.[0-9]\r?")
_PART_OF_IT: Final = re.compile(rb"[A-Z]{1,20}(?: .*)?")

_VERSIONS: Final = (b"1.0", b"1.1")

_HOST: Final = re.compile(r"\[[^]]*\]|[^:]*")

Take = Callable[[], Awaitable[bytes]]
"""Waits for what comes next; empty: nothing more comes. Raises TimeoutError where nothing has come for too long."""

Put = Callable[[bytes], Awaitable[None]]

Ask = Callable[[str, str], Awaitable[Came]]
"""(host, path with query) → what comes of a request."""


class _Other(Exception):
    """What comes is no HTTP."""


class Lost(Exception):
    """Nobody answers any more; the message says why."""


async def speak(take: Take, put: Put, ask: Ask) -> str:
    """Answer requests until nothing more comes; return what was wrong with them, empty where they were HTTP.

    Raises:
        Lost: nobody answers any more.
    """
    return await _Conversation(take, put, ask).run()


class _Conversation:
    def __init__(self, take: Take, put: Put, ask: Ask) -> None:
        self._take, self._put, self._ask = take, put, ask
        self._connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES_MAX)
        self._line: bytes | None = b""
        """The first line, as far as it has come; None: it has been looked at."""
        self._over = False

    async def run(self) -> str:
        try:
            while await self._one():
                self._connection.start_next_cycle()
        except TimeoutError:
            pass
        except _Other:
            return NO_HTTP
        except h11.RemoteProtocolError as error:
            if not self._over and self._connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                await self._refuse(error.error_status_hint)
        return ""

    async def _one(self) -> bool:
        """Answer one request; return whether another one may come."""
        request = await self._event()
        if not isinstance(request, h11.Request):
            return False
        size = 0
        while not isinstance(event := await self._event(), h11.EndOfMessage | h11.ConnectionClosed):
            size += len(event.data) if isinstance(event, h11.Data) else 0
            if size > BODY_BYTES_MAX:
                await self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
                return False
        if request.http_version not in _VERSIONS:
            await self._refuse(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)
            return False
        if request.method == b"CONNECT":
            await self._refuse(HTTPStatus.METHOD_NOT_ALLOWED)
            return False
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers}
        host = _HOST.match(headers.get("host", ""))
        came = await self._ask(host[0] if host else "", _path(request.target.decode("latin-1")))
        await self._answer(came, bare=request.method == b"HEAD")
        return self._connection.our_state is h11.DONE and self._connection.their_state is h11.DONE

    async def _event(self) -> h11.Event | None:
        """Return what comes next; None: what has come says nothing more."""
        while True:
            event = self._connection.next_event()
            if event is h11.PAUSED:
                return None
            if isinstance(event, h11.Event):
                return event
            if self._connection.they_are_waiting_for_100_continue:
                await self._send(h11.InformationalResponse(status_code=100, headers=[]))
            data = await self._take()
            self._over = not data
            self._look(data)
            self._connection.receive_data(data)

    def _look(self, data: bytes) -> None:
        """Look at the first line of all: who speaks something else may send no more until it is answered.

        Raises:
            _Other: it is none of a request.
        """
        if self._line is None:
            return
        self._line += data
        line, ended, _ = self._line.partition(b"\n")
        if self._line and (_FIRST_LINE if ended else _PART_OF_IT).fullmatch(line) is None:
            raise _Other
        if ended or len(self._line) > HEAD_BYTES_MAX:
            self._line = None

    async def _refuse(self, status: int) -> None:
        text = f"{status} {HTTPStatus(status).phrase}\n"
        await self._answer(Came("error", int(status), body=text), bare=False, last=True)

    async def _answer(self, came: Came, *, bare: bool, last: bool = False) -> None:
        headers = [*came.headers, *([("Connection", "close")] if last else ())]
        reason = HTTPStatus(came.code).phrase.encode()
        body = b"" if bare else came.body.encode()
        await self._send(
            h11.Response(status_code=came.code, headers=headers, reason=reason), h11.Data(data=body), h11.EndOfMessage()
        )

    async def _send(self, *events: h11.Event) -> None:
        await self._put(b"".join(self._connection.send(event) or b"" for event in events))


def _path(target: str) -> str:
    """Return the path with its query that a request is about, however its first line names it."""
    if target.startswith("/"):
        return target
    found = re.fullmatch(r"[A-Za-z]+://[^/?]*([/?].*)?", target)
    path = (found[1] or "/") if found else "/"
    return path if path.startswith("/") else f"/{path}"
