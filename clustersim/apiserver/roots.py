"""The Kubernetes API at the server's root, by whose token it is asked.

`kubectl proxy` sends what it gets to the root of the server in its kubeconfig, without the path that is there
(kubectl's `--append-server-path`, off by default). A person's token says which session is meant.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from typing import Any, Final

from django.db import close_old_connections

from clustersim import bodies
from clustersim.classroom.auth import session_of_token, token_in

_PATHS: Final = re.compile(r"/(api/?|api/v1(/.*)?|apis(/.*)?|openapi/.*|version/?)")
"""What only the Kubernetes API serves; the session API is below `/api/sessions` and its like."""


async def rooted(scope: dict[str, Any]) -> dict[str, Any]:
    """Return the scope of a request to the API of the session that its token is of; others as they came."""
    if not _PATHS.fullmatch(scope["path"]):
        return scope
    token = _token(scope["headers"])
    code = await asyncio.get_running_loop().run_in_executor(None, _code, token) if token else ""
    return {**scope, "path": f"{bodies.CLUSTERS}{code}{scope['path']}"} if code else scope


def _token(headers: Iterable[tuple[bytes, bytes]]) -> str:
    given = [value.decode("latin-1") for name, value in headers if name.lower() == b"authorization"]
    return token_in("", {"authorization": given[0]})[0] if given else ""


def _code(token: str) -> str:
    close_old_connections()
    return session_of_token(token)
