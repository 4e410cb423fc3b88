"""The server under the application: what it does to a connection by itself."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

from daphne.ws_protocol import WebSocketProtocol
from twisted.internet.testing import StringTransport
from twisted.web.http import HTTPChannel

from clustersim.runtime.boundedrequest import BoundedRequest
from clustersim.runtime.management.commands import web
from clustersim.runtime.webserver import GOODBYE_SECONDS, Inbox, Server

MONTH = 31 * 24 * 3600


class _Probe(WebSocketProtocol):  # type: ignore[misc]
    """An open websocket that has been there for a month, and counts the pings that Daphne sends over it."""

    def __init__(self, ping_interval: int) -> None:
        self.server = SimpleNamespace(websocket_timeout=-1, ping_interval=ping_interval)
        self.state = self.STATE_OPEN
        self.last_ping = time.time() - MONTH
        self.pings = 0

    def duration(self) -> float:
        return MONTH

    def _sendAutoPing(self) -> None:  # noqa: N802
        self.pings += 1


def test_daphne_pings_no_websocket_by_itself() -> None:
    """It would cut off those whose answer comes after its next ping: pages of a class on a busy machine."""
    quiet, eager = _Probe(web.PING_INTERVAL_SECONDS), _Probe(0)
    for probe in (quiet, eager):
        probe.check_timeouts()
    assert quiet.pings == 0
    assert eager.pings == 1, "0 does not mean never"


async def test_an_application_is_told_everything_in_order() -> None:
    inbox = Inbox()
    inbox.put_nowait({"type": "first"})
    assert await inbox.get() == {"type": "first"}
    reader = asyncio.create_task(inbox.get())
    await asyncio.sleep(0)
    inbox.put_nowait({"type": "second"})
    inbox.put_nowait({"type": "third"})
    assert await reader == {"type": "second"}
    assert await inbox.get() == {"type": "third"}


async def test_who_stops_waiting_takes_no_message_along() -> None:
    inbox = Inbox()
    reader = asyncio.create_task(inbox.get())
    await asyncio.sleep(0)
    reader.cancel()
    inbox.put_nowait({"type": "first"})
    await asyncio.wait([reader])
    assert reader.cancelled()
    assert await inbox.get() == {"type": "first"}


def test_a_stream_lets_go_of_its_request_once_it_has_begun() -> None:
    """It may stand for an hour, and there are thousands."""
    channel, transport = HTTPChannel(), StringTransport()
    server = SimpleNamespace(
        root_path="",
        server_name="",
        request_buffer_size=8192,
        proxy_forwarded_address_header=None,
        body_bytes_max=lambda path: 0,
        protocol_connected=lambda protocol: None,
        protocol_disconnected=lambda protocol: None,
        create_application=lambda protocol, scope: Inbox(),
        log_action=lambda *_: None,
    )
    channel.factory = SimpleNamespace(server=server, log=lambda request: None)
    channel.requestFactory = BoundedRequest
    channel.makeConnection(transport)
    channel.dataReceived(b"GET /clusters/a?watch=1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n")
    request = channel.requests[0]
    request.handle_reply({"type": "http.response.start", "status": 200, "headers": [(b"x-a", b"b")]})
    assert request.requestHeaders.getRawHeaders(b"authorization") == [b"Bearer t"]
    for line in (b"one\n", b"two\n"):
        request.handle_reply({"type": "http.response.body", "body": line, "more_body": True})
        held = (request.requestHeaders, request.responseHeaders)
        assert [list(headers.getAllRawHeaders()) for headers in held] == [[], []]
        assert (request.clean_headers, request.args, request.content) == (None, None, None)
    request.handle_reply({"type": "http.response.body", "body": b""})
    head, _, body = transport.value().partition(b"\r\n\r\n")
    assert head.splitlines() == [b"HTTP/1.1 200 OK", b"X-A: b", b"Transfer-Encoding: chunked"]
    assert body == b"4\r\none\n\r\n4\r\ntwo\n\r\n0\r\n\r\n"
    assert channel.requests == [], "the connection takes another request"


def test_a_busy_client_has_time_to_answer_a_goodbye() -> None:
    """Reset after Daphne's second, one that reads late would lose what it has not answered yet."""
    server = Server(lambda *_: None, endpoints=["tcp:0"], body_bytes_max=lambda _: 0)
    server.ws_factory = None
    # What Daphne sets as it begins leaves it alone.
    server.ws_factory.setProtocolOptions(autoPingTimeout=server.ping_timeout, allowNullOrigin=True)
    assert server.ws_factory.closeHandshakeTimeout == GOODBYE_SECONDS
