"""Security headers on every answer of the pages and the session API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

NO_GUESSING: Final = "X-Content-Type-Options"
PARTS: Final = frozenset({"text/css", "text/javascript"})
"""What a page loads and no browser shows as a page: the rules for pages say nothing there, in 700 bytes a file."""

HEADERS: Final = {
    # Plotly writes its rules into style elements; scripts come from this origin's files alone.
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self' ws: wss:; font-src 'self'; worker-src 'self'; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    NO_GUESSING: "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


@sync_and_async_middleware
def SecurityHeadersMiddleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., object]:  # noqa: N802
    """Add HEADERS where the view has not set its own."""

    def dress(response: HttpResponseBase) -> HttpResponseBase:
        part = response.headers.get("Content-Type", "").partition(";")[0] in PARTS
        for name, value in HEADERS.items():
            if not part or name == NO_GUESSING:
                response.headers.setdefault(name, value)
        return response

    if iscoroutinefunction(get_response):

        async def middleware_async(request: HttpRequest) -> HttpResponseBase:
            return dress(await get_response(request))

        return middleware_async

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return dress(get_response(request))

    return middleware
