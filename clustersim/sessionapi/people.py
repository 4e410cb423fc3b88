"""Routes about the people of a session."""

from __future__ import annotations

from django.http import HttpResponse

from clustersim.classroom import lectern, people, seats, undoing
from clustersim.classroom.auth import STUDENT, TEACHER
from clustersim.sessionapi import addresses
from clustersim.sessionapi.http import Call, answer, flag_field, number_field, refuse, text_field
from clustersim.sessionapi.opening import me
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.said import said


def everybody(call: Call) -> HttpResponse:
    """Answer `GET …/people`."""
    return answer(lectern.people_told_to(call.principal))


def add(call: Call) -> HttpResponse:
    """Answer `POST …/people`: a viewer's link or a component's token."""
    call.require(TEACHER)
    body = call.body(("role", "name"))
    role = body.get("role")
    if role not in people.ROLES_GIVEN:
        raise refuse(
            Cause(
                "role",
                said(
                    "people.rolesGiven",
                    "give one of {known}; students join by themselves",
                    known=", ".join(people.ROLES_GIVEN),
                ),
            )
        )
    principal = people.seat(call.session, people.clean_name(body.get("name")), role)
    return answer(
        {
            **me(principal),
            "token": people.new_token(principal),
            "url": addresses.page_url(call.request, call.session, people.new_link(principal)),
        },
        201,
    )


def change(call: Call, person: str) -> HttpResponse:
    """Answer `PATCH …/people/<id> {"name"?, "muted"?}`: one's own name, or anybody's for the teacher, who mutes too."""
    principal = call.principal
    row = people.find(principal.session_id, person)
    body = call.body(("name", "muted"))
    if principal.role != TEACHER:
        if row.pk != principal.participant_id or "muted" in body:
            raise ApiError(
                403,
                "Forbidden",
                said("people.teacherRenames", "only the teacher renames others and mutes; you can rename yourself"),
            )
        lectern.check_may_act(principal)
    muted = None if body.get("muted") is None else flag_field(body, "muted")
    if muted and row.role != STUDENT:
        raise refuse(
            Cause("muted", said("people.studentsMuted", "students alone are muted; take others' seats away instead"))
        )
    if muted is None or "name" in body:
        people.rename(row, people.clean_name(body.get("name")))
    if muted is not None:
        lectern.mute(row, muted)
    found = next(entry for entry in people.of_session(principal.session_id) if entry.id == row.pk)
    return answer(found.as_dict())


def undo(call: Call, person: str) -> HttpResponse:
    """Answer `POST …/people/<id>/undo {"minutes"}`: takes back what somebody did lately, by ordinary writes forward."""
    principal = call.require(TEACHER)
    row = people.find(principal.session_id, person)
    minutes = number_field(call.body(("minutes",)), "minutes", 0.1, undoing.MINUTES_MAX)
    return answer(undoing.undo(call.store, principal, row, undoing.MINUTES if minutes is None else minutes))


def remove(call: Call, person: str) -> HttpResponse:
    """Answer `DELETE …/people/<id>`."""
    principal = call.require(TEACHER)
    row = people.find(principal.session_id, person)
    if row.pk == people.teacher_of(call.session).participant_id:
        raise ApiError(
            409,
            "Conflict",
            said("people.teachersSeat", "the teacher's own seat stays; rotate the link to shut others out"),
        )
    seats.remove(principal.session_id, row.pk)
    return HttpResponse(status=204)


def merge(call: Call, person: str) -> HttpResponse:
    """Answer `POST …/people/<id>/merge {"other"}`: somebody who took a second seat sits on the first one again."""
    principal = call.require(TEACHER)
    row = people.find(principal.session_id, person)
    other = people.find(principal.session_id, text_field(call.body(("other",)), "other", 20))
    if other.pk == row.pk or {row.role, other.role} != {STUDENT}:
        raise refuse(Cause("other", said("people.mergeStudents", "give the id of another student's seat")))
    seats.merge(row, other)
    found = next(entry for entry in people.of_session(principal.session_id) if entry.id == row.pk)
    return answer(found.as_dict())
