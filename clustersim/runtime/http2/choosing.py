"""What a TLS connection speaks: HTTP/2 with who offers it, as kubectl and browsers do, HTTP/1.1 with the rest."""

from __future__ import annotations

import time
from typing import Any, Final

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IHandshakeListener, IProtocolNegotiationFactory
from twisted.internet.protocol import Factory, Protocol
from twisted.protocols.policies import TimeoutMixin
from twisted.web.http import HTTPFactory
from zope.interface import implementer

from clustersim.runtime.http2.connection import Connection

H2: Final = b"h2"
"""HTTP/2's name where a protocol is chosen (ALPN)."""

HTTP1: Final = b"http/1.1"
"""The same of HTTP/1.1, which websockets and SPDY need."""


FAREWELL_SECONDS: Final = 1.0
"""How long a server that ends waits for its HTTP/2 clients to hang up."""


@implementer(IHandshakeListener)
class _Undecided(Protocol, TimeoutMixin):
    """A connection of which nothing is known before its handshake is over."""

    def __init__(self, factory: Choosing, address: Any) -> None:
        self.factory: Choosing = factory
        self._address = address

    def connectionMade(self) -> None:  # noqa: N802
        """Wait for the handshake, as long as HTTP/1.1 for a first request."""
        self.setTimeout(self.factory.timeOut)  # type: ignore[no-untyped-call]

    def handshakeCompleted(self) -> None:  # noqa: N802
        """Go on with the protocol that was agreed on; a client that offers none speaks HTTP/1.1."""
        self.setTimeout(None)  # type: ignore[no-untyped-call]
        transport: Any = self.transport
        chosen = self.factory.chosen(transport.negotiatedProtocol, self._address)
        transport.wrappedProtocol = chosen
        chosen.makeConnection(transport)

    def timeoutConnection(self) -> None:  # noqa: N802
        """Cut it."""
        transport: Any = self.transport
        transport.abortConnection()

    def connectionLost(self, _reason: Any = None) -> None:  # noqa: N802
        """Wait no longer."""
        self.setTimeout(None)  # type: ignore[no-untyped-call]


@implementer(IProtocolNegotiationFactory)
class Choosing(Factory):
    """Makes TLS connections; `first` makes those of HTTP/1.1, `clock` is the reactor."""

    noisy = False

    def __init__(self, first: HTTPFactory, clock: Any) -> None:
        self._first = first
        self.server: Any = first.server  # type: ignore[attr-defined]
        self.timeOut = first.timeOut
        self._clock = clock
        self._connections: set[Connection] = set()
        self._over: Deferred[None] | None = None
        """Fires when the server ends and every HTTP/2 client has heard of it."""

    def acceptableProtocols(self) -> list[bytes]:  # noqa: N802
        """Return what may be spoken, best first."""
        return [H2, HTTP1]

    def buildProtocol(self, addr: Any) -> Protocol:  # noqa: N802
        """Return what a connection begins with."""
        return _Undecided(self, addr)

    def chosen(self, protocol: bytes | None, address: Any) -> Any:
        """Return what a connection goes on with."""
        if protocol != H2:
            return self._first.buildProtocol(address)
        made = Connection(self, time.monotonic, self._lost)
        self._connections.add(made)
        return made

    def farewell(self) -> Deferred[None]:
        """Tell every HTTP/2 client that the server ends; fire when they have gone, or when it takes too long."""
        over: Deferred[None] = Deferred()
        over.addTimeout(FAREWELL_SECONDS, self._clock, lambda *_: None)
        self._over = over
        for connection in list(self._connections):
            connection.farewell()
        self._look()
        return over

    def _lost(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._look()

    def _look(self) -> None:
        if self._over is not None and not self._over.called and not self._connections:
            self._over.callback(None)

    def log(self, request: Any) -> None:
        """Write what HTTP/1.1 writes about a request."""
        self._first.log(request)
