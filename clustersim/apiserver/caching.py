"""Answers that a client may keep: they carry a tag, and whoever names it is told that nothing has changed.

Source: k8s.io/kube-openapi/pkg/handler, handler3; k8s.io/apiserver/pkg/endpoints/discovery/aggregated/etag.go, v1.34.
"""

from __future__ import annotations

import hashlib
from typing import Final

from clustersim.apiserver.messages import Request, Response

VARIES: Final = ("vary", "Accept")
"""One address answers in several media types."""


NOT_MODIFIED: Final = 304
"""The status of an answer that says nothing of its content, not even its media type."""


def tag_of(body: bytes) -> str:
    """Return the tag of a content, without quotes."""
    return hashlib.sha512(body).hexdigest().upper()


def tagged(request: Request, response: Response, tag: str) -> Response:
    """Return an answer with its tag; one without a body where the client has it already."""
    response.headers.append(("etag", f'"{tag}"'))
    known = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    if "*" in known or f'"{tag}"' in known:
        response.status, response.body = NOT_MODIFIED, b""
    return response
