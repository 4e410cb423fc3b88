"""`manage.py web`: the web process, Daphne on PORT and TLS_PORT."""

from __future__ import annotations

import sys
from typing import Any, Final

from django.core.management.base import BaseCommand

from scheduler_core.kernels.collecting import collect_rarely
from scheduler_core.kernels.readiness import make_ready

SWITCH_SECONDS: Final = 0.001
"""How long one thread may hold the interpreter while others want it: an answer passes through several threads."""

BACKLOG: Final = 1024
"""Connections that may wait to be accepted: a class that joins at once would meet Twisted's 50 and retry after 1 s."""

PING_INTERVAL_SECONDS: Final = 1_000_000_000
"""How often Daphne pings a websocket by itself: never, the protocol does (docs/protocol.md) and measures the answer.

0 would be at each of Daphne's looks, every 2 s; and each ping whose answer comes after the next one has gone out cuts
the connection 30 s later, however alive it is."""


def endpoint(host: str, port: int) -> str:
    """Return Twisted's description of where plain HTTP is served."""
    interface = host.replace(":", r"\:")
    return f"tcp:port={port}:interface={interface}:backlog={BACKLOG}"


class Command(BaseCommand):
    """Serve HTTP, websockets and, with TLS, kubectl."""

    help = "Run the web process (the supervisor of `manage.py up` does this)."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        # Daphne first: its import installs the asyncio reactor, which must come before any other Twisted import.
        from clustersim.runtime.webserver import Secured, Server  # isort: skip
        from django.conf import settings

        from clustersim.asgi import application, body_bytes_max

        collect_rarely()
        make_ready()
        # A file that is being read holds the interpreter: everybody else gets it back sooner than after Python's 5 ms.
        sys.setswitchinterval(SWITCH_SECONDS)
        folder = settings.DATA / "tls"
        secured = None
        if settings.TLS_PORT:
            secured = Secured(settings.HOST, settings.TLS_PORT, BACKLOG, folder / "server.key", folder / "server.pem")
        Server(
            application=application,
            body_bytes_max=body_bytes_max,
            endpoints=[endpoint(settings.HOST, settings.PORT)],
            secured=secured,
            server_name="clustersim",
            # Watches and websockets end by their own rules; a plain answer is never minutes away.
            http_timeout=None,
            application_close_timeout=5,
            websocket_timeout=-1,
            ping_interval=PING_INTERVAL_SECONDS,
            verbosity=0,
        ).run()
