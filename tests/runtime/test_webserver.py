"""The server under the application: what it does to a connection by itself."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

from daphne.ws_protocol import WebSocketProtocol

from clustersim.runtime.management.commands import web
from clustersim.runtime.webserver import Inbox

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
