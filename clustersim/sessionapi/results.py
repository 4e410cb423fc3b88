"""The route of the result sheet: who answered what, and whether it was right."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse

from clustersim.classroom.auth import STUDENT, TEACHER
from clustersim.classroom.polls import results
from clustersim.sessionapi.http import Call, answer, refuse
from controllers.kinds.clustersim.poll import RESOURCE as POLLS
from scheduler_core.api.errors import Cause, one_of

FORMATS: Final = ("json", "csv")
LANGUAGES: Final = ("en", "zh")


def show(call: Call) -> HttpResponse:
    """Answer `GET …/results?format=csv|json`: everybody's to the teacher, to a student their own."""
    principal = call.require(TEACHER, STUDENT)
    query = call.request.GET
    form, language = query.get("format", FORMATS[0]), query.get("lang", LANGUAGES[0])
    if form not in FORMATS:
        raise refuse(Cause("format", one_of(FORMATS)))
    if language not in LANGUAGES:
        raise refuse(Cause("lang", one_of(LANGUAGES)))
    questions = {one.name: one.object["spec"] for one in call.store.list(POLLS)[0]}
    person = None if principal.role == TEACHER else principal.participant_id
    found = results.rows(principal.session_id, questions, language, person)
    if form == "json":
        return answer(found)
    response = HttpResponse(results.as_csv(found), content_type="text/csv; charset=utf-8")
    response["Cache-Control"] = "no-store"
    response["Content-Disposition"] = f'attachment; filename="clustersim-{call.session.display_code}-results.csv"'
    return response
