"""Routes of copies: handing them out, taking one, the room view, going into one."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from clustersim.classroom import limits
from clustersim.classroom.auth import STUDENT, TEACHER, VIEWER
from clustersim.classroom.copies import handing, tiles
from clustersim.classroom.models import Copy
from clustersim.classroom.polls import sealing
from clustersim.sessionapi import accidents, addresses
from clustersim.sessionapi.http import Call, answer, flag_field, number_field, refuse, sign_in, text_field
from clustersim.store import sessions
from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said


def hand_out(call: Call) -> HttpResponse:
    """Answer `POST …/copies {"people", "revision"?, "seeds"}`: copies for seats, or a student's own."""
    principal = call.require_acting(TEACHER, STUDENT)
    sealing.refuse_copy(principal, call.store)
    body = call.body(("people", "revision", "seeds", "until"))
    newest = call.store.revision
    revision = int(number_field(body, "revision", 1, newest, whole=True) or newest)
    seeds = body.get("seeds", "same")
    if seeds not in ("same", "each"):
        raise refuse(Cause("seeds", said("copies.seeds", "give same or each")))
    wanted: Any = [str(principal.participant_id)] if principal.role == STUDENT else body.get("people", "all")
    if wanted != "all" and not (isinstance(wanted, list) and all(isinstance(one, str) for one in wanted)):
        raise refuse(Cause("people", said("copies.people", "give all, or a list of people's ids")))
    seats = handing.students(principal.session_id, None if wanted == "all" else dict.fromkeys(wanted))
    if len(seats) > handing.COPIES_MAX:
        raise refuse(
            Cause(
                "people", said("copies.most", "give at most {copies_max} people at once", copies_max=handing.COPIES_MAX)
            )
        )
    limits.spend(limits.FORKS if principal.role == STUDENT else limits.HANDOUTS, principal.participant_id)
    until = handing.checked_goal(text_field(body, "until", 400) if body.get("until") else "")
    made = handing.hand_out(call.store, call.session, seats, revision, seeds, until, taken=principal.role == STUDENT)
    return answer([_made(copy) for copy in made], 201)


def room(call: Call) -> HttpResponse:
    """Answer `GET …/copies`: every seat's newest copy as a tile for the teacher, one's own copies for a student."""
    principal = call.require(TEACHER, STUDENT)
    if principal.role == STUDENT:
        return answer([_made(copy) for copy in handing.own(principal.session_id, principal.participant_id)])
    return answer(tiles.tiles(handing.newest(principal.session_id), sessions.real_ms()))


def put_on_wall(call: Call, copy: str) -> HttpResponse:
    """Answer `POST …/copies/<code>/wall {"ask"?}`: what somebody came to, without saying who, for the whole class."""
    principal = call.require(TEACHER)
    asks = flag_field(call.body(("ask",)), "ask")
    found = handing.find(principal.session_id, copy)
    limits.spend(limits.HANDOUTS, principal.participant_id)
    hung, poll = accidents.ask_on_wall(call, principal, found) if asks else (handing.put_on_wall(principal, found), "")
    return answer({**_made(hung), **({"poll": poll} if asks else {})}, 201)


def take_from_wall(call: Call, copy: str) -> HttpResponse:
    """Answer `DELETE …/copies/<code>/wall`: the class goes on with its own session."""
    principal = call.require(TEACHER)
    handing.take_from_wall(principal.session_id, handing.find(principal.session_id, copy))
    return HttpResponse(status=204)


def go_in(call: Call, copy: str) -> HttpResponse:
    """Answer `POST …/copies/<code>/enter`: a seat in a copy; its student teaches it, the class's teacher looks."""
    principal = call.require(TEACHER, STUDENT, VIEWER)
    found = handing.find(principal.session_id, copy)
    if not found.wall:
        sealing.refuse_copy(principal, call.store)
    session, seat, token = handing.go_in(principal, found)
    there = Call(call.request, session.code)
    told = {
        "code": session.display_code,
        "url": f"{addresses.base(call.request)}/s/{session.display_code}",
        "token": token,
        "role": seat.role,
    }
    return sign_in(answer(told), there, token)


def _made(copy: Copy) -> dict[str, Any]:
    code = "" if copy.fork is None else f"{copy.fork.code[:3]}-{copy.fork.code[3:]}"
    told = {"code": code, "person": str(copy.participant_id), "revision": copy.revision, "earlier": copy.earlier}
    return {**told, "madeUnixMs": copy.made_ms, **({"problem": copy.problem} if copy.problem else {})}
