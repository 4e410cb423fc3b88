"""Routes about the people of a session."""

from __future__ import annotations

from django.http import HttpResponse

from clustersim.classroom import people
from clustersim.classroom.auth import TEACHER
from clustersim.sessionapi import addresses
from clustersim.sessionapi.http import Call, answer, refuse
from clustersim.sessionapi.opening import me
from scheduler_core.api.errors import ApiError, Cause


def everybody(call: Call) -> HttpResponse:
    """Answer `GET …/people`."""
    found = people.of_session(call.principal.session_id)
    return answer([person.as_dict() for person in found])


def add(call: Call) -> HttpResponse:
    """Answer `POST …/people`: a viewer's link or a component's token."""
    call.require(TEACHER)
    body = call.body(("role", "name"))
    role = body.get("role")
    if role not in people.ROLES_GIVEN:
        raise refuse(Cause("role", f"give one of {', '.join(people.ROLES_GIVEN)}; students join by themselves"))
    principal = people.seat(call.session, people.clean_name(body.get("name")), role)
    return answer(
        {
            **me(principal),
            "token": people.new_token(principal),
            "url": addresses.page_url(call.request, call.session, people.new_link(principal)),
        },
        201,
    )


def rename(call: Call, person: str) -> HttpResponse:
    """Answer `PATCH …/people/<id>`: one's own name, or anybody's for the teacher."""
    principal = call.principal
    row = people.find(principal.session_id, person)
    if row.pk != principal.participant_id and principal.role != TEACHER:
        raise ApiError(403, "Forbidden", "only the teacher renames others; you can rename yourself")
    people.rename(row, people.clean_name(call.body(("name",)).get("name")))
    found = next(entry for entry in people.of_session(principal.session_id) if entry.id == row.pk)
    return answer(found.as_dict())


def remove(call: Call, person: str) -> HttpResponse:
    """Answer `DELETE …/people/<id>`."""
    principal = call.require(TEACHER)
    row = people.find(principal.session_id, person)
    if row.pk == people.teacher_of(call.session).participant_id:
        raise ApiError(409, "Conflict", "the teacher's own seat stays; rotate the link to shut others out")
    people.leave(principal.session_id, row.pk)
    return HttpResponse(status=204)
