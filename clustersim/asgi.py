"""One ASGI application: the Kubernetes API as a plain callable, websockets, and Django for the rest."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clustersim.settings")
django_application = get_asgi_application()

# These import models, so they come after Django's start.
from channels.routing import URLRouter  # noqa: E402

from clustersim import hosts  # noqa: E402
from clustersim.apiserver.asgi import application as apiserver  # noqa: E402
from clustersim.live.routing import websocket_urlpatterns  # noqa: E402

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[Any], Awaitable[None]]

_websockets = URLRouter(websocket_urlpatterns)


def _host(scope: Scope) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "localhost")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Route by protocol and path.

    `/clusters/…` bypasses Django's handler: a watch inside it would hold one operating-system thread each.
    """
    if scope["type"] == "websocket":
        # kubectl exec tries a websocket first; refused, it asks by HTTP and prints that answer's reason.
        if hosts.is_allowed(_host(scope)) and not scope["path"].startswith("/clusters/"):
            await _websockets(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 4400})
    elif scope["type"] == "http" and scope["path"].startswith("/clusters/"):
        if hosts.is_allowed(_host(scope)):
            await apiserver(scope, receive, send)
        else:
            await django_application(scope, receive, send)
    else:
        await django_application(scope, receive, send)
