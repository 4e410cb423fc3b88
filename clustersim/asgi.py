"""One ASGI application: the Kubernetes API as a plain callable, websockets, and Django for the rest."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clustersim.settings")
django.setup(set_prefix=False)

# These import models, so they come after Django's start.
from channels.routing import URLRouter  # noqa: E402
from django.urls import Resolver404, resolve  # noqa: E402

from clustersim import bodies, hosts  # noqa: E402
from clustersim.answering import Answering  # noqa: E402
from clustersim.apiserver.asgi import REFUSED  # noqa: E402
from clustersim.apiserver.asgi import application as apiserver  # noqa: E402
from clustersim.apiserver.asgi import websocket as commands  # noqa: E402
from clustersim.apiserver.roots import rooted  # noqa: E402
from clustersim.live.routing import websocket_urlpatterns  # noqa: E402
from clustersim.sessionapi.lines import NONE  # noqa: E402

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[Any], Awaitable[None]]

_websockets = URLRouter(websocket_urlpatterns)


def _host(scope: Scope) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "localhost")


def body_bytes_max(path: str) -> int:
    """Return how many bytes the body of a request to this path may have: the route says it, else BODY_BYTES_MAX."""
    if path.startswith(bodies.CLUSTERS):
        return bodies.CLUSTER_BODY_BYTES_MAX
    return _told_by_route(path)[0]


def line_of(path: str) -> str:
    """Return in which line requests to this path wait: the route says it."""
    return _told_by_route(path)[1]


@lru_cache(maxsize=256)
def _told_by_route(path: str) -> tuple[int, str]:
    try:
        view = resolve(path).func
    except Resolver404:
        view = None
    return int(getattr(view, "body_bytes_max", bodies.BODY_BYTES_MAX)), str(getattr(view, "line", NONE))


_pages = Answering(line_of)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Route by protocol and path.

    `/clusters/…` bypasses Django's handler: a watch inside it would hold one operating-system thread each. So does the
    Kubernetes API at the root, where the token says whose session is meant (`apiserver/roots`).
    """
    if scope["type"] == "websocket":
        if not hosts.is_allowed(_host(scope)):
            await send({"type": "websocket.close", "code": REFUSED})
        elif scope["path"].startswith(bodies.CLUSTERS):
            await commands(scope, receive, send)
        else:
            await _websockets(scope, receive, send)
    elif scope["type"] == "http":
        await _http(scope, receive, send)
    else:
        raise ValueError(f"only HTTP and websockets are served, not {scope['type']}")


async def _http(scope: Scope, receive: Receive, send: Send) -> None:
    scope = await rooted(scope)
    path = scope["path"]
    most = body_bytes_max(path)
    if bodies.is_declared_too_large(scope["headers"], most):
        await bodies.refuse(send, bodies.too_large(path, most))
        return
    is_cluster = path.startswith(bodies.CLUSTERS) and hosts.is_allowed(_host(scope))
    try:
        await (apiserver if is_cluster else _pages)(scope, bodies.bounded(receive, most), send)
    except bodies.BodyTooLarge:
        # Both read a body whole before they begin to answer.
        await bodies.refuse(send, bodies.too_large(path, most))
