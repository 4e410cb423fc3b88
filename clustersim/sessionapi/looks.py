"""Routes of being together: whether people see at what others look, and pointing everybody at something."""

from __future__ import annotations

from django.http import HttpResponse

from clustersim.classroom import limits, together
from clustersim.classroom.auth import STUDENT, TEACHER
from clustersim.sessionapi.http import Call, answer, flag_field, refuse, text_field
from controllers.kinds.table import find_resource, page_of
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.said import said


def show(call: Call) -> HttpResponse:
    """Answer `GET …/looks`: whether pages tell at what people look."""
    return answer({"on": together.looks_on(call.principal.session_id)})


def switch(call: Call) -> HttpResponse:
    """Answer `PUT …/looks {"on"}`."""
    call.require(TEACHER)
    on = flag_field(call.body(("on",)), "on", default=None)
    together.switch_looks(call.session.id, on)
    return answer({"on": on})


def point(call: Call) -> HttpResponse:
    """Answer `POST …/point {"resource", "namespace"?, "name"}`: every open page offers to show that object."""
    principal = call.require_acting(TEACHER, STUDENT)
    body = call.body(("resource", "namespace", "name"))
    resource, name = text_field(body, "resource", 120), text_field(body, "name", 253)
    namespace = text_field(body, "namespace", 63) if body.get("namespace") else ""
    if find_resource(resource) is None:
        raise refuse(Cause("resource", said("look.resource", "give a resource that pages show, such as pods")))
    if not page_of(resource):
        raise refuse(
            Cause(
                "resource",
                said("look.namesOnly", "pages show no more than the names of these; point at something else"),
            )
        )
    if call.store.get(resource, namespace, name) is None:
        raise ApiError(
            404,
            "NotFound",
            said("look.unknown", "there is no {name!r} among the {resource} to point at", name=name, resource=resource),
            name=name,
        )
    limits.spend(limits.POINTS, principal.participant_id)
    return answer(together.point(principal, resource, namespace, name).as_dict(), 201)
