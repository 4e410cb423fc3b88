"""Daphne, with a body refused at its limit while it comes in, and websockets that end as an API server's do.

Daphne hands a request to the application once its body is there, and keeps all of it until then; so the limit has to be
where the connection is read. It opens a websocket or says 403: with ASGI's extension `websocket.http.response` an
application answers in the place of opening one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

# Daphne first: its import installs the asyncio reactor, which must come before any other Twisted import.
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import Server as _Daphne
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from OpenSSL import SSL, crypto
from twisted.internet import reactor
from twisted.internet.endpoints import SSL4ServerEndpoint
from twisted.internet.ssl import CertificateOptions
from twisted.protocols.tls import TLSMemoryBIOProtocol

from clustersim.classroom.clientcertificates import bearer_of_the_name
from clustersim.runtime.boundedrequest import BoundedRequest
from clustersim.runtime.http2.choosing import Choosing


class _Factory(HTTPFactory):  # type: ignore[misc]
    """Makes connections whose requests are bounded."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = BoundedRequest
        return protocol

    def log(self, _: WebRequest) -> None:
        """Write no access log: nobody would read it, and a line takes a twentieth of an answer's time."""


ANSWERED_INSTEAD: Final = "websocket.http.response"
"""ASGI's extension with which a websocket that is not opened gets an answer by HTTP, with its status and body."""

NORMAL: Final = 1000
"""The close code of who has said everything (RFC 6455, 7.4.1)."""

GOODBYE_SECONDS: Final = 20.0
"""How long a client may take to answer a goodbye before its connection is reset: a busy one reads the last frames late,
and one whose answer meets a reset takes it that nothing came (kubernetes-client/python)."""


class WebSocket(WebSocketProtocol):  # type: ignore[misc]
    """A websocket that may be answered in the place of being opened, and that hangs up when it has said everything."""

    def handle_reply(self, message: dict[str, Any]) -> None:
        """Do what the application says."""
        kind = message.get("type")
        if kind == ANSWERED_INSTEAD + ".start":
            self._answer = message
        elif kind == ANSWERED_INSTEAD + ".body":
            self._answer_instead(self._answer["status"], self._answer["headers"], message["body"])
        else:
            super().handle_reply(message)

    def serverClose(self, code: int | None = None) -> None:  # noqa: N802
        """Say goodbye; where everything is said, hang up without waiting for the same from the client.

        As golang.org/x/net/websocket does below an API server. A client that looks at its socket, not at what its TLS
        library has read already, would otherwise notice the last frames only when the wait for its goodbye is cut.
        """
        super().serverClose(code)
        if code in (None, NORMAL):
            # While one writes, as the HTTP channel before this did, a connection stays.
            self.unregisterProducer()
            self.transport.loseConnection()

    def _answer_instead(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode(), b"connection: close"]
        lines += [name + b": " + value for name, value in headers]
        del self.handshake_deferred
        self.server.protocol_disconnected(self)
        self.sendData(b"\r\n".join([*lines, b"", body]))
        self.dropConnection(abort=False)


class _WebSocketFactory(WebSocketFactory):  # type: ignore[misc]
    protocol = WebSocket


class _AsksForCertificates(CertificateOptions):
    """A server's TLS that takes a client's certificate, whoever issued it: who asks for a session knows its issuer."""

    _asking: SSL.Context | None = None

    def getContext(self) -> SSL.Context:  # noqa: N802
        """Return how connections are made."""
        if self._asking is None:
            self._asking = self._asked(super().getContext())
        return self._asking

    def _asked(self, context: SSL.Context) -> SSL.Context:
        context.set_verify(SSL.VERIFY_PEER, lambda *_: True)
        # Without a name for its sessions a server that asks for certificates takes none up again.
        context.set_session_id(b"clustersim")
        # A browser asks its user for a certificate only where it has one of this name.
        context.add_client_ca(crypto.X509.from_cryptography(bearer_of_the_name()))
        return context


@dataclass(frozen=True, slots=True)
class Secured:
    """Where TLS is served, and with which key and certificate."""

    host: str
    port: int
    backlog: int
    key: Path
    certificate: Path

    def endpoint(self) -> SSL4ServerEndpoint:
        """Return Twisted's endpoint."""
        key = crypto.load_privatekey(crypto.FILETYPE_PEM, self.key.read_bytes())
        certificate = crypto.load_certificate(crypto.FILETYPE_PEM, self.certificate.read_bytes())
        options = _AsksForCertificates(privateKey=key, certificate=certificate)
        return SSL4ServerEndpoint(reactor, self.port, options, self.backlog, self.host)  # type: ignore[no-untyped-call]


def _certificate_of(protocol: Any) -> str:
    """Return the certificate that the client of a request or websocket showed, PEM; empty: none."""
    transport = getattr(getattr(protocol, "channel", None), "transport", None) or protocol.transport
    if not isinstance(transport, TLSMemoryBIOProtocol):
        return ""
    shown = transport.getPeerCertificate()  # type: ignore[no-untyped-call]
    return "" if shown is None else crypto.dump_certificate(crypto.FILETYPE_PEM, shown).decode()


class Inbox:
    """What a connection tells its application, in order: an asyncio.Queue for one reader, a tenth of it in memory.

    Every open connection has one, and thousands of watches hear nothing more until their client goes away.
    """

    __slots__ = ("_messages", "_waiting")

    def __init__(self) -> None:
        self._messages: list[dict[str, Any]] = []
        self._waiting: asyncio.Future[None] | None = None

    def put_nowait(self, message: dict[str, Any]) -> None:
        """Add a message; who waits for one gets it."""
        self._messages.append(message)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def get(self) -> dict[str, Any]:
        """Return the oldest message, when there is one."""
        while not self._messages:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        return self._messages.pop(0)


class Server(_Daphne):  # type: ignore[misc]
    """Daphne's server; `body_bytes_max` says how many bytes a request to a path may have."""

    def __init__(
        self, *arguments: Any, body_bytes_max: Callable[[str], int], secured: Secured | None = None, **options: Any
    ) -> None:
        super().__init__(*arguments, ready_callable=self._listen_secured, **options)
        self.body_bytes_max = body_bytes_max
        self._secured = secured

    def _listen_secured(self) -> None:
        """Serve TLS, too: Daphne's own way of it asks clients for no certificate."""
        if self._secured is None:
            return
        factory = Choosing(self.http_factory, reactor)
        running: Any = reactor
        running.addSystemEventTrigger("before", "shutdown", factory.farewell)
        listener = self._secured.endpoint().listen(factory)  # type: ignore[no-untyped-call]
        listener.addCallback(self.listen_success)
        listener.addErrback(self.listen_error)
        self.listeners.append(listener)

    @property
    def http_factory(self) -> _Factory:
        """Return what makes HTTP connections."""
        return self._http_factory

    @http_factory.setter
    def http_factory(self, _: HTTPFactory) -> None:
        # Daphne makes its own in `run` and knows no other way to be given one.
        self._http_factory = _Factory(self)

    @property
    def ws_factory(self) -> _WebSocketFactory:
        """Return what makes websockets."""
        return self._ws_factory

    @ws_factory.setter
    def ws_factory(self, _: WebSocketFactory) -> None:
        self._ws_factory = _WebSocketFactory(self, server=self.server_name)
        self._ws_factory.setProtocolOptions(closeHandshakeTimeout=GOODBYE_SECONDS)

    def application_of(self, request: WebRequest) -> asyncio.Future[None] | None:
        """Return what answers a request; None: it has not begun, or is over."""
        known: dict[str, Any] = self.connections.get(request, {})
        return known.get("application_instance")

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Inbox | None:
        """Start an application for a connection, as Daphne does, and say what it may use; return what it is told by."""
        assert "application_instance" not in self.connections[protocol]
        inbox = Inbox()
        scope.setdefault("asgi", {"version": "3.0"})
        extensions: dict[str, Any] = {ANSWERED_INSTEAD: {}} if scope["type"] == "websocket" else {}
        shown = _certificate_of(protocol)
        if shown:
            extensions["tls"] = {"client_cert_chain": (shown,)}
        if extensions:
            scope["extensions"] = extensions
        answering = self.application(scope=scope, receive=inbox.get, send=partial(self.handle_reply, protocol))
        self.connections[protocol]["application_instance"] = asyncio.ensure_future(answering)
        return inbox
