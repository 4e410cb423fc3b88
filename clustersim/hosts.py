"""Which Host headers are answered: any literal address, and the names this machine goes by.

A literal address cannot be rebound by a foreign site's DNS, so it is safe to answer whichever interface was reached;
a name must be known. The same rule decides which hosts may be echoed into a kubeconfig or a join link.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.decorators import sync_and_async_middleware

from scheduler_core.api.errors import bad_request
from scheduler_core.api.said import said


def host_name(host: str) -> str:
    """Return the host of a `Host` header, lower-case, without port and brackets."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host if host.count(":") > 1 else host.partition(":")[0]


def is_allowed(host: str) -> bool:
    """Return whether a `Host` header (with or without port) may be answered and echoed."""
    name = host_name(host).rstrip(".")
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name != "*" and name in settings.ALLOWED_HOSTS
    return True


def refusal(host: str) -> dict[str, object]:
    """Return the Status document for a host that is not ours."""
    return bad_request(
        said(
            "host.unknown",
            "The host name {host_name!r} is not one of this server's: open it by its address, "
            "or add the name to CLUSTERSIM_HOSTS and start again",
            host_name=host_name(host),
        )
    ).status()


@sync_and_async_middleware
def HostMiddleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., object]:  # noqa: N802
    """Refuse names that are not this machine's, before anything reads the request."""

    def check(request: HttpRequest) -> HttpResponse | None:
        host = request.META.get("HTTP_HOST", "localhost")
        return None if is_allowed(host) else JsonResponse(refusal(host), status=400)

    if iscoroutinefunction(get_response):

        async def middleware_async(request: HttpRequest) -> HttpResponseBase:
            return check(request) or await get_response(request)

        return middleware_async

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return check(request) or get_response(request)

    return middleware
