"""What a request asks for, read from its method and path alone, so that roles are asked before anything is looked for.

Source: k8s.io/apiserver/pkg/endpoints/request/requestinfo.go and handlers/responsewriters/errors.go, v1.34. People of a
session are judged by what they ask for once it is found (`handling`): their roles know no paths.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from clustersim.apiserver.messages import Request
from clustersim.apiserver.routes import WATCH
from clustersim.classroom import roles
from clustersim.classroom.auth import ACCOUNT, Principal
from controllers.admission.namespacelifecycle import NAMESPACES
from scheduler_core.api.errors import ApiError
from scheduler_core.api.selector_text import parse_field_selector

_VERBS: Final = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_FIRST: Final = ("proxy", WATCH)
"""Verbs that old paths begin with."""

_OF_NAMESPACES: Final = ("status", "finalize")
_RUN: Final = ("exec", "attach", "portforward", "proxy")
"""Who runs something needs the verb `create` in either way of asking, as upstream does from v1.35 on."""


class Asked(NamedTuple):
    """What is asked for; without a resource it is a path."""

    verb: str
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def asked_of(request: Request) -> Asked:
    """Return what a request asks for."""
    parts = request.path.strip("/").split("/")
    grouped = parts[0] == "apis"
    path = Asked(request.method.lower())
    if len(parts) < (4 if grouped else 3) or parts[0] not in ("api", "apis"):
        return path
    group, rest = (parts[1], parts[3:]) if grouped else ("", parts[2:])
    verb = _VERBS.get(request.method, "")
    if rest[0] in _FIRST:
        if len(rest) < 2:
            return path
        verb, rest = rest[0], rest[1:]
    namespace = ""
    if rest[0] == NAMESPACES and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _OF_NAMESPACES:
            rest = rest[2:]
    name, subresource = [*rest, "", ""][1:3]
    if verb in _FIRST:
        subresource = ""
    if not name and verb == "get":
        name = _named(request)
        verb = WATCH if request.flag(WATCH) else "list"
    elif not name and verb == "delete":
        verb = "deletecollection"
    if subresource in _RUN:
        verb = "create"
    return Asked(verb, f"{rest[0]}.{group}" if group else rest[0], namespace, name, subresource)


def _named(request: Request) -> str:
    """Return the one object that a list or watch is limited to."""
    try:
        chosen = parse_field_selector(request.query.get("fieldSelector", ""))
    except ApiError:
        return ""
    return next((one.value for one in chosen if one.field == "metadata.name" and one.equal), "")


def check(request: Request, principal: Principal) -> None:
    """Refuse an account, or who has not shown who they are, what no binding gives them.

    Raises:
        ApiError: 403.
    """
    if principal.role != ACCOUNT:
        return
    asked = asked_of(request)
    if asked.resource:
        roles.check(principal, asked.verb, asked.resource, asked.namespace, asked.name, asked.subresource)
    else:
        roles.check_path(principal, asked.verb, request.path)
