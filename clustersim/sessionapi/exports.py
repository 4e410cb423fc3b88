"""The route that hands a session's objects out as a file."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse

from clustersim.classroom import exporting, importing, limits, opening
from clustersim.sessionapi import recording
from clustersim.sessionapi.http import Call, refuse
from clustersim.sessionapi.past import revision_of
from controllers.log.store import Gone
from scheduler_core.api.errors import Cause, one_of

FORMATS: Final = ("yaml", "json", "html")


def export(call: Call) -> HttpResponse:
    """Answer `GET …/export?format=yaml|json|html`: the objects now or at a kept revision; html: all that is kept."""
    principal, query = call.principal, call.request.GET
    form = query.get("format", "yaml")
    if form not in FORMATS:
        raise refuse(Cause("format", one_of(FORMATS)))
    if form == "html":
        return _html(call)
    newest = call.store.revision
    revision = revision_of(query["revision"], newest) if "revision" in query else newest
    limits.spend(limits.EXPORTS, principal.participant_id)
    with importing.turn():
        try:
            found = exporting.objects(call.store, principal, revision)
        except Gone as error:
            raise opening.past_gone(revision, call.store.compacted) from error
        body = exporting.as_json(found) if form == "json" else exporting.as_yaml(found)
    return _file(call, body, form, f"application/{form}")


def _html(call: Call) -> HttpResponse:
    limits.spend(limits.EXPORTS, call.principal.participant_id)
    with importing.turn():
        return _file(call, recording.document_of(call), "html", "text/html; charset=utf-8")


def _file(call: Call, body: bytes, form: str, content_type: str) -> HttpResponse:
    response = HttpResponse(body, content_type=content_type)
    response["Cache-Control"] = "no-store"
    response["Content-Disposition"] = f'attachment; filename="clustersim-{call.session.display_code}.{form}"'
    return response
