"""The plain ASGI callable behind `/clusters/<code>/…`: reads a request, answers it, or streams a watch.

Answers are made in threads of their own, each with a database connection; only watches live on the event loop, so that
a thousand of them cost no thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final
from uuid import uuid4

from django.db import close_old_connections

from clustersim import bodies
from clustersim.apiserver.caching import NOT_MODIFIED
from clustersim.apiserver.containers import TEXT_PLAIN, ExecPlan, LogPlan
from clustersim.apiserver.executing import Execution
from clustersim.apiserver.flow import gate
from clustersim.apiserver.forwarding import ForwardPlan
from clustersim.apiserver.handling import Watch, closed, handle, still_allowed
from clustersim.apiserver.impersonating import EXTRA, GROUP, VALUES_BETWEEN
from clustersim.apiserver.listening import listened
from clustersim.apiserver.messages import Request, Response, error_response, parse_query, parse_values
from clustersim.apiserver.negotiation import formed
from clustersim.apiserver.protocols import BINARY, TUNNEL, spoken
from clustersim.apiserver.tunnelling import Channels, Tunnel
from clustersim.apiserver.watching import WatchPlan
from clustersim.store import sessions
from clustersim.store.failures import unavailable
from scheduler_core.api.errors import ApiError, bad_request

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

THREADS: Final = 8
"""Requests answered at once in one process; SQLite's writers take turns, PostgreSQL has a connection for each."""

REFUSED: Final = 4400
"""The close code of a websocket that is not opened."""

ANSWERED_INSTEAD: Final = "websocket.http.response"
"""ASGI's extension for the answer to a websocket that is not opened."""

BODY_SECONDS: Final = 30.0
"""How long a client may take to send its body; kubectl needs milliseconds."""

AUDIT: Final = b"audit-id"
"""How a request is called in an audit log: echoed, as upstream does it."""

_PREFIX: Final = "/clusters/"
_SECURITY: Final = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-cache, private"))

_logger = logging.getLogger(__name__)
_executor = ThreadPoolExecutor(THREADS, thread_name_prefix="apiserver")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one HTTP request below `/clusters/`."""
    audited = _audited(scope)
    try:
        request = await _read(scope, receive)
        if request is None:
            return
        answer = await asyncio.get_running_loop().run_in_executor(_executor, _in_thread, request)
    except ApiError as error:
        await _send(send, error_response(error), audited)
        return
    if isinstance(answer, Watch):
        assert not isinstance(answer.plan, ExecPlan | ForwardPlan), "only a websocket gets one"
        # A stream may stand for an hour, and every frame above this one holds what its request came with.
        del request
        scope.clear()
        try:
            await _stream(answer, answer.plan, receive, send, audited)
        finally:
            closed(answer)
    else:
        await _send(send, answer, audited)


async def websocket(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one websocket below `/clusters/`: a command in a container, its log, or ports of a pod.

    What is refused is not opened: it is answered as by HTTP, where the server can do that.
    """
    if (await receive())["type"] != "websocket.connect":
        return
    protocols = spoken(scope.get("subprotocols") or ())
    answer: Response | Watch
    try:
        request = _request(scope, "GET", protocols=protocols)
        answer = await asyncio.get_running_loop().run_in_executor(_executor, _in_thread, request)
    except ApiError as error:
        answer = error_response(error)
    if isinstance(answer, Response):
        if BINARY in protocols and answer.content_type == TEXT_PLAIN and answer.status == 200:
            await send({"type": "websocket.accept", "subprotocol": BINARY})
            await _frames(_whole(answer.body), send)
        else:
            await _refuse(scope, send, answer)
        return
    try:
        if isinstance(answer.plan, ExecPlan | ForwardPlan):
            await send({"type": "websocket.accept", "subprotocol": answer.plan.protocol})
            async with listened(partial(_asked, answer)):
                await _conversation(answer.plan, receive, send).serve()
        elif BINARY in protocols and isinstance(answer.plan, LogPlan):
            await send({"type": "websocket.accept", "subprotocol": BINARY})
            async with contextlib.aclosing(answer.plan.chunks()) as chunks, listened(partial(_asked, answer), receive):
                await _frames(chunks, send)
        else:
            await _refuse(scope, send, error_response(bad_request("this is streamed by HTTP alone")))
    finally:
        closed(answer)


def _conversation(plan: ExecPlan | ForwardPlan, receive: Receive, send: Send) -> Execution | Tunnel | Channels:
    if isinstance(plan, ExecPlan):
        return Execution(plan, receive, send)
    return (Tunnel if plan.protocol == TUNNEL else Channels)(plan, receive, send)


async def _whole(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _frames(chunks: AsyncIterator[bytes], send: Send) -> None:
    """Send what is printed, then close."""
    async for chunk in chunks:
        if chunk:
            await send({"type": "websocket.send", "bytes": chunk})
    await send({"type": "websocket.close", "code": 1000})


async def _refuse(scope: Scope, send: Send, response: Response) -> None:
    """Answer in the place of opening a websocket; close it where the server knows no such answer."""
    if ANSWERED_INSTEAD in (scope.get("extensions") or {}):
        await _send(send, response, _audited(scope), ANSWERED_INSTEAD)
    else:
        await send({"type": "websocket.close", "code": REFUSED})


def _in_thread(request: Request) -> Response | Watch:
    close_old_connections()
    try:
        return handle(request)
    except ApiError as error:
        return formed(request, error_response(error))
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
    try:
        body = await asyncio.wait_for(bodies.whole(receive), BODY_SECONDS)
    except TimeoutError as error:
        raise ApiError(408, "Timeout", f"the body did not arrive within {BODY_SECONDS:.0f} s") from error
    if body is None:
        return None
    return _request(scope, scope["method"].upper(), body)


def _request(scope: Scope, method: str, body: bytes = b"", *, protocols: Sequence[str] = ()) -> Request:
    """Return a request as the handlers see it.

    Raises:
        ApiError: 400.
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        if (name == GROUP or name.startswith(EXTRA)) and name in headers:
            headers[name] += VALUES_BETWEEN + value
        headers.setdefault(name, value)
    code, slash, rest = scope["path"].removeprefix(_PREFIX).partition("/")
    try:
        text = scope.get("query_string", b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise bad_request("the query is not UTF-8") from error
    address = (scope.get("client") or [""])[0]
    query, values = parse_query(text), parse_values(text)
    shown = ((scope.get("extensions") or {}).get("tls") or {}).get("client_cert_chain") or ("",)
    return Request(method, code, slash + rest, query, headers, body, address, values, protocols, str(shown[0]), text)


def _audited(scope: Scope) -> tuple[bytes, bytes]:
    """Return the header by which an audit log knows a request: its sender's own name for it, or one made for it."""
    given = next((value for name, value in scope["headers"] if name == AUDIT and value), b"")
    return AUDIT, given or str(uuid4()).encode()


async def _send(send: Send, response: Response, audited: tuple[bytes, bytes], kind: str = "http.response") -> None:
    headers = [audited]
    if response.status != NOT_MODIFIED:
        if response.content_type:
            headers.append((b"content-type", response.content_type.encode("latin-1")))
        headers.append((b"content-length", str(len(response.body)).encode()))
    given = {name for name, _ in response.headers}
    headers += [pair for pair in _SECURITY if pair[0].decode() not in given]
    headers += [(name.encode("latin-1"), value.encode()) for name, value in response.headers]
    await send({"type": f"{kind}.start", "status": response.status, "headers": headers})
    await send({"type": f"{kind}.body", "body": response.body})


async def _stream(
    watch: Watch, plan: WatchPlan | LogPlan, receive: Receive, send: Send, audited: tuple[bytes, bytes]
) -> None:
    """Send a stream until it ends or the client goes away."""
    told = [(name.encode("latin-1"), value.encode()) for name, value in watch.headers]
    headers = [audited, (b"content-type", plan.content_type.encode()), *_SECURITY, *told]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    async with listened(partial(_asked, watch), receive):
        await _send_lines(plan, send)
    with contextlib.suppress(OSError):
        await send({"type": "http.response.body", "body": b""})


async def _send_lines(plan: WatchPlan | LogPlan, send: Send) -> None:
    async with contextlib.aclosing(plan.chunks()) as lines:
        with gate(send) as connection:
            async for line in lines:
                await connection.wait()
                await send({"type": "http.response.body", "body": line, "more_body": True})
                # A first list may be large, and the next line come hours later.
                del line


def _asked(watch: Watch) -> asyncio.Future[bool]:
    """Begin to find out whether a stream may go on."""
    return asyncio.get_running_loop().run_in_executor(_executor, still_allowed, watch)
