"""What upstream's filters take for faults of the server's own, before anything of a request is looked at.

Source: k8s.io/apiserver/pkg/endpoints (handlers/responsewriters/errors.go, request/requestinfo.go), v1.34.
"""

from __future__ import annotations

from html import escape

from clustersim.apiserver.messages import Request, url_of
from clustersim.apiserver.routes import WATCH, PlainError


class FaultError(PlainError):
    """What upstream's filters take for a fault of the server's: answered by a line of text with the request's URL."""

    def __init__(self, request: Request, why: str) -> None:
        """Say why."""
        place, told = (escape(text, quote=False) for text in (url_of(request), why))
        super().__init__(500, "InternalError", f'Internal Server Error: "{place}": {told}')


def check_readable(request: Request) -> None:
    """Refuse the old paths that say how something is to be done, and nothing of what (RequestInfoFactory).

    Raises:
        FaultError: as upstream, before it asks who wants to know.
    """
    parts = [part for part in request.path.split("/") if part]
    at = {"api": 2, "apis": 3}.get(parts[0] if parts else "", len(parts))
    if parts[at:] in ([WATCH], ["proxy"]):
        why = f"failed to create RequestInfo: unable to determine kind and namespace from url, {url_of(request)}"
        raise FaultError(request, why)
