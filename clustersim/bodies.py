"""How much of a request's body is taken: refused at the limit, while it comes in, before anything of it is kept.

The limit is the route's. It is looked at twice with the same words: by the server that reads the connection
(`clustersim.runtime.webserver`), and for any other ASGI server, and tests, by whoever calls `bounded`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

import msgspec

from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

BODY_BYTES_MAX: Final = 64 * 1024
"""Bytes of a body, except where a route takes more; more is refused with 413."""

CLUSTER_BODY_BYTES_MAX: Final = 3 * 1024 * 1024
"""Bytes of a request to the Kubernetes API, as upstream's limit; the largest object that is stored has half of that."""

CLUSTERS: Final = "/clusters/"
"""What the paths of the Kubernetes API begin with."""


class BodyTooLarge(Exception):
    """More came than the route takes."""


def too_large(path: str, most: int) -> ApiError:
    """Return the 413 of a path: upstream's words on the Kubernetes API."""
    if path.startswith(CLUSTERS):
        message = f"Request entity too large: limit is {most}"
    else:
        message = said("body.large", "the body is larger than {most:,} bytes; send less", most=most)
    return ApiError(413, "RequestEntityTooLarge", message)


def is_declared_too_large(headers: Iterable[tuple[bytes, bytes]], most: int) -> bool:
    """Return whether the Content-Length says that more will come."""
    return any(name.lower() == b"content-length" and value.isdigit() and int(value) > most for name, value in headers)


def bounded(receive: Receive, most: int) -> Receive:
    """Return a `receive` that raises BodyTooLarge instead of handing out more than `most` bytes."""
    taken = 0

    async def receive_bounded() -> dict[str, Any]:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise BodyTooLarge
        return message

    return receive_bounded


async def whole(receive: Receive) -> bytes | None:
    """Return the body of a request once all of it is there; None: the client has gone."""
    chunks: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)


def encoded(error: ApiError) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return headers and body of a refusal that is answered before any application is asked."""
    body = msgspec.json.encode(error.status())
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"cache-control", b"no-store"),
    ]
    return headers, body


async def refuse(send: Send, error: ApiError) -> None:
    """Answer with a refusal."""
    headers, body = encoded(error)
    await send({"type": "http.response.start", "status": error.code, "headers": headers})
    await send({"type": "http.response.body", "body": body})
