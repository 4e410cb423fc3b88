"""What is refused to somebody who opened an address in a browser: a page in their language, not the API's document."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from clustersim.pages import views


def _page(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Return a refusal as a page where a browser asked for one to look at, else the answer as it is."""
    looked_at = request.method == "GET" and "text/html" in request.headers.get("Accept", "")
    if response.status_code < 400 or not looked_at or response.headers.get("Content-Type") != "application/json":
        return response
    status = msgspec.json.decode(response.content)  # type: ignore[attr-defined]
    shown = views.refused(request, status)
    for name in ("Retry-After", "Cache-Control"):
        if name in response.headers:
            shown.headers[name] = response.headers[name]
    return shown


@sync_and_async_middleware
def RefusalPageMiddleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., object]:  # noqa: N802
    """Show what any middleware or view inside refuses as a page, to whoever opened it in a browser."""
    if iscoroutinefunction(get_response):

        async def middleware_async(request: HttpRequest) -> HttpResponseBase:
            return _page(request, await get_response(request))

        return middleware_async

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return _page(request, get_response(request))

    return middleware
