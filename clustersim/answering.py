"""Django's part of the application: a request is answered whole in one of a few threads, which keep their connections.

Django's own ASGI handler gives each request a thread and a database connection of its own, and goes from the event loop
to a thread and back for every piece of middleware: several times what the answer of a small route costs. All views here
block, so nothing is lost. What a whole class does at once (a route says so, `route(line=CROWD)`) waits in a line of its
own, so that a teacher's control meets one or two of these at work, not sixty; a teacher does not stand in it. So does
what is worked out for seconds (`route(line=SEARCH)`), for whomever: a class at its homework leaves the others threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any, Final

from django.core import signals
from django.core.handlers.asgi import ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse
from django.urls import set_script_prefix

from clustersim import bodies
from clustersim.classroom import auth
from clustersim.sessionapi.lines import CROWD, NONE, SEARCH

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[Any], Awaitable[None]]

THREADS: Final = 32
"""Requests answered at once in one process: some wait seconds for a session's owner, and hold nobody up meanwhile."""

CROWD_THREADS: Final = 2
"""Requests of a crowd answered at once: one waits for its turn to write while the other is worked out."""

SEARCH_THREADS: Final = 2
"""Requests that are worked out for seconds answered at once: more of them would only share the processor."""


SWITCH_SECONDS: Final = 0.001
"""Seconds after which a thread that works something out lets another one in.

A request asks its database several times, and waits so long each time while a search is at work. Python's own is five
times as long.
"""


class Answering(BaseHandler):
    """An ASGI application around Django's urls and middleware.

    `line_of` says of a path in which line it waits.
    """

    def __init__(self, line_of: Callable[[str], str]) -> None:
        super().__init__()
        self.load_middleware()
        self._line_of = line_of
        sys.setswitchinterval(SWITCH_SECONDS)
        self._lines = {
            NONE: ThreadPoolExecutor(THREADS, thread_name_prefix="answer"),
            CROWD: ThreadPoolExecutor(CROWD_THREADS, thread_name_prefix=CROWD),
            SEARCH: ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix=SEARCH),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        body = await bodies.whole(receive)
        if body is None:
            return
        line = self._line_of(scope["path"])
        threads = self._lines[NONE if line == CROWD and _teaches(scope) else line]
        response = await asyncio.get_running_loop().run_in_executor(threads, self._answer, scope, body)
        # A client that has gone needs no answer.
        with contextlib.suppress(OSError):
            await _send(response, send)

    def _answer(self, scope: Scope, body: bytes) -> HttpResponse:
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        try:
            request = ASGIRequest(scope, BytesIO(body))
        except UnicodeDecodeError:
            signals.request_finished.send(sender=self.__class__)
            return HttpResponse(status=400)
        response = self.get_response(request)
        assert isinstance(response, HttpResponse), "no view streams: its body is here when its thread is given back"
        response._handler_class = self.__class__  # type: ignore[attr-defined]
        response.close()
        return response


def _teaches(scope: Scope) -> bool:
    """Return whether a teacher asks, as far as this process knows without looking: the answer only orders lines."""
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    _, _, rest = scope["path"].partition("/sessions/")
    return auth.is_known_teacher(rest.partition("/")[0], headers)


async def _send(response: HttpResponse, send: Send) -> None:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    headers += [(b"Set-Cookie", one.output(header="").strip().encode("ascii")) for one in response.cookies.values()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
