"""Clients of the ASGI application in this process: HTTP as httpx, websockets as frames. No server, no sleeping."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
from channels.testing import WebsocketCommunicator

from tests.tools.patience import PATIENCE_SECONDS

HOST = "testserver.localhost"


def http(**options: Any) -> httpx.AsyncClient:
    """Return a client of the whole application; it keeps cookies as a browser does."""
    from clustersim.asgi import application

    transport = httpx.ASGITransport(app=application, client=("127.0.0.1", 1234))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", **options)


async def opened(client: httpx.AsyncClient, template: str = "empty", **fields: Any) -> dict[str, Any]:
    """Open a session and return the answer."""
    answer = await client.post("/api/sessions", json={"title": "A class", "template": template, **fields})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def joined(client: httpx.AsyncClient, session: dict[str, Any], name: str) -> dict[str, Any]:
    """Take a student's seat in a browser of one's own and return the answer."""
    client.cookies.clear()
    answer = await client.post(f"/api/sessions/{session['code']}/join", json={"name": name})
    client.cookies.clear()
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def bearer(token: str) -> dict[str, str]:
    """Return the header of a token."""
    return {"Authorization": f"Bearer {token}"}


class Socket:
    """A page's websocket: frames in and out, pings answered unless `pongs` is off."""

    def __init__(self, code: str, headers: dict[str, str], *, pongs: bool = True) -> None:
        from clustersim.asgi import application

        raw = [(b"host", b"127.0.0.1:8000")]
        raw += [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self._communicator = WebsocketCommunicator(application, f"/ws/sessions/{code}", headers=raw)
        self._pongs = pongs

    async def __aenter__(self) -> Socket:
        connected, _ = await self._communicator.connect(timeout=PATIENCE_SECONDS)
        assert connected
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._communicator.disconnect(timeout=PATIENCE_SECONDS)

    async def send(self, **frame: Any) -> None:
        """Send one frame."""
        await self._communicator.send_to(text_data=json.dumps(frame))

    async def send_text(self, text: str) -> None:
        """Send something that may be no frame."""
        await self._communicator.send_to(text_data=text)

    async def next(self) -> dict[str, Any]:
        """Return the next frame; a close comes as `{"type": "close", "code"}`."""
        while True:
            output = await self._communicator.receive_output(timeout=PATIENCE_SECONDS)
            if output["type"] == "websocket.close":
                return {"type": "close", "code": output.get("code")}
            frame: dict[str, Any] = json.loads(output["text"])
            if frame["type"] == "ping" and self._pongs:
                await self.send(type="pong", id=frame["id"])
                continue
            return frame

    async def has_output(self) -> bool:
        """Return whether a frame comes before the application rests."""
        return not await self._communicator.receive_nothing(timeout=0.5, interval=0.02)

    async def until(self, *types: str) -> dict[str, Any]:
        """Return the next frame of one of these types."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                frame = await self.next()
                if frame["type"] in types:
                    return frame
