"""Routes of the past: what a session held at a kept revision."""

from __future__ import annotations

from django.http import HttpResponse

from clustersim.apiserver import listing, writing
from clustersim.apiserver.messages import Request
from clustersim.apiserver.routes import Target, parse
from clustersim.apiserver.virtual import PastView
from clustersim.classroom import opening, roles
from clustersim.sessionapi.http import Call, refuse
from controllers.kinds.table import COMPUTED
from controllers.log.store import Gone
from controllers.registry.table import Kinds
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.said import said

REVISION_DIGITS_MAX = 18


def revision_of(text: str, newest: int, field: str = "revision") -> int:
    """Return a revision that somebody wrote in a field.

    Raises:
        ApiError: 422, no number, or one that the log has not come to.
    """
    if text.isascii() and text.isdecimal() and len(text) <= REVISION_DIGITS_MAX and 1 <= int(text) <= newest:
        return int(text)
    raise refuse(
        Cause(
            field, said("give.revision", "give a whole number from 1 to {newest}, the newest revision", newest=newest)
        )
    )


def show(call: Call, revision: str, resource: str) -> HttpResponse:
    """Answer `GET …/at/<rv>/<resource-path>`: a list, or an object, as the Kubernetes API would have answered then."""
    principal = call.principal
    number = revision_of(revision, call.store.revision)
    view = PastView(call.store, number, call.seal)
    try:
        target = _target(resource, view.kinds)
    except Gone as error:
        raise opening.past_gone(number, call.store.compacted) from error
    roles.check(principal, "get" if target.name else "list", target.kind.resource, target.namespace, target.name, "")
    request = Request("GET", call.code, f"/{resource}", _query(call), call.headers)
    try:
        read = writing.read if target.name else listing.list_objects
        shown = read(view, request, target)
    except Gone as error:
        raise opening.past_gone(number, call.store.compacted) from error
    response = HttpResponse(shown.body, content_type=shown.content_type, status=shown.status)
    response["Cache-Control"] = "no-store"
    return response


def _target(resource: str, kinds: Kinds) -> Target:
    """Return what a path names; of the core group's resources the path may be given without `api/v1`."""
    parts = [part for part in resource.split("/") if part]
    path = "/".join(parts if parts[:1] in (["api"], ["apis"]) else ["api", "v1", *parts])
    try:
        target = parse(f"/{path}", kinds)
    except ApiError as error:
        message = said(
            "past.unknown",
            "no resource has the path {resource!r}: write it as for the Kubernetes API, such as api/v1/pods",
            resource=resource[:200],
        )
        raise ApiError(404, "NotFound", message) from error
    if target.kind in COMPUTED or target.subresource:
        raise ApiError(
            404,
            "NotFound",
            said(
                "past.computed",
                "{resource!r} is computed when it is read and has no past; ask for objects",
                resource=resource[:200],
            ),
        )
    return target


def _query(call: Call) -> dict[str, str]:
    """Return the first value of each parameter of the query."""
    return {name: str(values[0]) for name, values in call.request.GET.lists() if values}
