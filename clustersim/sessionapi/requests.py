"""Routes of the API requests that this process remembers: which way each went."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse

from clustersim.classroom.auth import TEACHER
from clustersim.classroom.callers import CALLERS
from clustersim.classroom.requests import KEPT_PER_SESSION, REQUESTS, process
from clustersim.sessionapi.http import Call, answer
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

REQUESTS_DEFAULT: Final = 50


def show(call: Call) -> HttpResponse:
    """Answer `GET …/requests?limit=`: newest first. Others than teachers see their own."""
    principal = call.principal
    limit = call.count("limit", REQUESTS_DEFAULT, KEPT_PER_SESSION)
    found = REQUESTS.newest(principal.session_id, KEPT_PER_SESSION)
    if principal.role != TEACHER:
        found = [one for one in found if one["user"] == principal.slug]
    return answer(found[:limit])


def reads(call: Call) -> HttpResponse:
    """Answer `GET …/reads`: what was read last, newest first. Others than teachers see their own."""
    principal = call.principal
    found = CALLERS.reads(principal.session_id)
    return answer([one for one in found if principal.role == TEACHER or one["user"] == principal.slug])


def one(call: Call, number: str) -> HttpResponse:
    """Answer `GET …/requests/<id>`."""
    principal = call.principal
    found = REQUESTS.find(principal.session_id, number)
    if found is None or (principal.role != TEACHER and found["user"] != principal.slug):
        why = said(
            "request.forgotten",
            "the request {number!r} is not, or no longer, remembered by the process {process}",
            number=number[:80],
            process=process(),
        )
        raise ApiError(404, "NotFound", why, name=number[:80])
    return answer(found)
