"""Routes of the teacher's desk: what the class is shown, whether it may act, whether walls tell names."""

from __future__ import annotations

from django.http import HttpResponse

from clustersim.classroom import lectern, limits
from clustersim.classroom.auth import TEACHER
from clustersim.sessionapi.http import Call, answer, flag_field


def show(call: Call) -> HttpResponse:
    """Answer `GET …/presenting`: what is shown now."""
    return answer(_told(lectern.state_of(call.principal.session_id)))


def present(call: Call) -> HttpResponse:
    """Answer `PUT …/presenting {"view"}`."""
    principal = call.require(TEACHER)
    view = lectern.checked_view(call.body(("view",)).get("view"), call.store.revision)
    limits.spend(limits.VIEWS, principal.participant_id)
    return answer(_told(lectern.present(principal.session_id, principal.participant_id, view)))


def stop(call: Call) -> HttpResponse:
    """Answer `DELETE …/presenting`."""
    return answer(_told(lectern.stop_presenting(call.require(TEACHER).session_id)))


def frozen(call: Call) -> HttpResponse:
    """Answer `GET …/frozen`."""
    return answer({"frozen": lectern.state_of(call.principal.session_id).frozen})


def freeze(call: Call) -> HttpResponse:
    """Answer `PUT …/frozen {"frozen"}`."""
    session_id = call.require(TEACHER).session_id
    return answer(
        {"frozen": lectern.freeze(session_id, flag_field(call.body(("frozen",)), "frozen", default=None)).frozen}
    )


def wall(call: Call) -> HttpResponse:
    """Answer `GET …/wall`: whether viewers' screens tell names."""
    return answer({"names": lectern.shows_names(call.principal.session_id)})


def set_wall(call: Call) -> HttpResponse:
    """Answer `PUT …/wall {"names"}`."""
    session_id = call.require(TEACHER).session_id
    return answer(
        {"names": lectern.show_names(session_id, flag_field(call.body(("names",)), "names", default=None)).names}
    )


def _told(state: lectern.ClassState) -> dict[str, object]:
    return {name: value for name, value in state.presenting().items() if name != "type"}
