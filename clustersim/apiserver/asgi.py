"""The plain ASGI callable behind `/clusters/<code>/…`: reads a request, answers it, or streams a watch.

Answers are made in threads of their own, each with a database connection; only watches live on the event loop, so that
a thousand of them cost no thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from django.db import close_old_connections

from clustersim.apiserver.flow import gate
from clustersim.apiserver.handling import Watch, handle, still_allowed, watches
from clustersim.apiserver.messages import JSON, Request, Response, error_response, parse_query
from clustersim.apiserver.watching import stream
from clustersim.store import sessions
from clustersim.store.failures import unavailable
from scheduler_core.api.errors import ApiError, bad_request

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

THREADS: Final = 8
"""Requests answered at once in one process; SQLite's writers take turns, PostgreSQL has a connection for each."""

BODY_SECONDS: Final = 30.0
"""How long a client may take to send its body; kubectl needs milliseconds."""

ATTEND_SECONDS: Final = 30.0
"""How often an open watch marks its session as used and its token is looked at again."""

_PREFIX: Final = "/clusters/"
_SECURITY: Final = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-cache, private"))

_logger = logging.getLogger(__name__)
_executor = ThreadPoolExecutor(THREADS, thread_name_prefix="apiserver")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one HTTP request below `/clusters/`."""
    try:
        request = await _read(scope, receive)
        if request is None:
            return
        answer = await asyncio.get_running_loop().run_in_executor(_executor, _in_thread, request)
    except ApiError as error:
        await _send(send, error_response(error))
        return
    if isinstance(answer, Watch):
        try:
            await _stream(answer, receive, send)
        finally:
            watches.close(answer.principal.participant_id)
    else:
        await _send(send, answer)


def _in_thread(request: Request) -> Response | Watch:
    close_old_connections()
    try:
        return handle(request)
    except ApiError as error:
        return error_response(error)
    except sessions.NoSession:
        return error_response(ApiError(404, "NotFound", "the session is gone"))
    except Exception as error:
        refusal = unavailable(error)
        if refusal is not None:
            _logger.warning("the database failed %s %s: %s", request.method, request.path, error)
            return error_response(refusal)
        _logger.exception("%s %s failed", request.method, request.path)
        return error_response(ApiError(500, "InternalError", "this is a fault of the server; its log says more"))


async def _read(scope: Scope, receive: Receive) -> Request | None:
    """Return the request, None when the client went away while sending it.

    Raises:
        ApiError: 400, 408.
        BodyTooLarge: as `bounded` says.
    """
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    code, slash, rest = scope["path"].removeprefix(_PREFIX).partition("/")
    try:
        query = parse_query(scope.get("query_string", b"").decode("utf-8"))
    except UnicodeDecodeError as error:
        raise bad_request("the query is not UTF-8") from error
    try:
        body = await asyncio.wait_for(_body(receive), BODY_SECONDS)
    except TimeoutError as error:
        raise ApiError(408, "Timeout", f"the body did not arrive within {BODY_SECONDS:.0f} s") from error
    if body is None:
        return None
    return Request(scope["method"].upper(), code, slash + rest, query, headers, body, (scope.get("client") or [""])[0])


async def _body(receive: Receive) -> bytes | None:
    chunks: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)


async def _send(send: Send, response: Response) -> None:
    headers = [
        (b"content-type", response.content_type.encode("latin-1")),
        (b"content-length", str(len(response.body)).encode()),
    ]
    given = {name for name, _ in response.headers}
    headers += [pair for pair in _SECURITY if pair[0].decode() not in given]
    headers += [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in response.headers]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


async def _stream(watch: Watch, receive: Receive, send: Send) -> None:
    """Send a watch's lines until it ends or the client goes away."""
    headers = [(b"content-type", JSON.encode()), *_SECURITY]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    sender = asyncio.create_task(_send_lines(watch, send))
    others = {asyncio.create_task(_gone(receive)), asyncio.create_task(_attend(watch))}
    done, pending = await asyncio.wait({sender, *others}, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    for task in done:
        task.result()
    with contextlib.suppress(OSError):
        await send({"type": "http.response.body", "body": b""})


async def _send_lines(watch: Watch, send: Send) -> None:
    async with contextlib.aclosing(stream(watch.plan)) as lines:
        with gate(send) as connection:
            async for line in lines:
                await connection.wait()
                await send({"type": "http.response.body", "body": line, "more_body": True})


async def _attend(watch: Watch) -> None:
    """Keep the session awake while somebody listens, and end with the listener's token."""
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(_executor, still_allowed, watch):
        await asyncio.sleep(ATTEND_SECONDS)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
