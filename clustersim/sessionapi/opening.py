"""Routes that open sessions and let people in: create, info, join, enter, rotate, leave, QR, kubeconfig."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

import segno
import yaml
from django.conf import settings
from django.http import HttpResponse

from clustersim.classroom import auth, clusters, doors, lectern, lessons, limits, opening, people
from clustersim.classroom.auth import STUDENT, TEACHER, Principal
from clustersim.classroom.copies import handing
from clustersim.classroom.importing import default_namespace
from clustersim.classroom.manifests import MANIFEST_BYTES_MAX
from clustersim.classroom.polls import sealing
from clustersim.runtime import certificates
from clustersim.sessionapi import addresses, clock, teaching
from clustersim.sessionapi.http import Call, answer, flag_field, number_field, refuse, sign_in, text_field
from clustersim.store.sessions import SessionRow
from controllers.lesson.course import Course
from controllers.lesson.reading import Lesson
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, unauthorized
from scheduler_core.api.said import said

LESSON_FIELDS: Final = ("lesson", "minimum", "alone", "ticket", "again")
"""Fields of a body that opens a lesson."""

OPENING_BYTES_MAX: Final = MANIFEST_BYTES_MAX
"""Bytes of a request that opens a session, the file that it is filled from included; more is refused with 413."""


def create(call: Call) -> HttpResponse:
    """Answer `POST /api/sessions`."""
    call.check_foreign_page()
    body = call.body(("title", "template", "seed", "name", "manifest", "passPhrase", *LESSON_FIELDS))
    phrase = body.get("passPhrase")
    doors.check_opening(call.address, call.here, phrase if isinstance(phrase, str) else "")
    if body.get("lesson") is not None:
        return create_of_lesson(call, body)
    title = people.clean_name(body.get("title"), field="title", longest=opening.TITLE_LENGTH_MAX)
    template = text_field(body, "template", 40)
    seed = number_field(body, "seed", 0, opening.SEED_MAX, whole=True)
    limits.spend(limits.OPENINGS, call.address, opening.cost(template))
    name = people.clean_name(body.get("name", "Teacher"))
    manifest = body.get("manifest")
    if manifest is not None and not isinstance(manifest, str):
        raise refuse(Cause("manifest", said("give.file", "give the text of the file")))
    opened = opening.open_session(title, template, None if seed is None else int(seed), name, manifest)
    return opened_answer(call, opened)


def create_of_lesson(call: Call, body: Document) -> HttpResponse:
    """Answer `POST /api/sessions {"lesson", "minimum"?, "alone"?, "ticket"?, "again"?, "title"?, "seed"?, "name"?}`."""
    lesson = _lesson(body, "lesson")
    again = _lesson(body, "again") if body.get("again") is not None else None
    flags = {name: flag_field(body, name) for name in ("minimum", "alone", "ticket")}
    package = lesson.package
    if again is not None and again.package.ticket is None:
        raise refuse(
            Cause("again", said("lesson.noTicket", "the lesson {id!r} has no exit ticket", id=again.package.id))
        )
    if flags["ticket"] and package.ticket is None:
        raise refuse(Cause("ticket", said("lesson.noTicket", "the lesson {id!r} has no exit ticket", id=package.id)))
    seed = number_field(body, "seed", 0, opening.SEED_MAX, whole=True)
    if seed is None:
        ticket = package.ticket if flags["ticket"] else None
        seed = package.seed if ticket is None or ticket.seed is None else ticket.seed
    given = body.get("title") or package.title.en
    title = people.clean_name(given, field="title", longest=opening.TITLE_LENGTH_MAX)
    name = people.clean_name(body.get("name", "Learner" if flags["alone"] else "Teacher"))
    limits.spend(limits.OPENINGS, call.address, opening.cost(package.template))
    course = Course(lesson, minimum=flags["minimum"], ticket=flags["ticket"], again=again)
    asked = teaching.beginning(course, package=package.id, again="" if again is None else again.package.id, **flags)
    replicas = 1 if again is None else again.start.replicas
    return opened_answer(call, opening.open_lesson(title, package, int(seed), name, asked, replicas=replicas))


def _lesson(body: Document, field: str) -> Lesson:
    found = lessons.find(str(body.get(field))[:64])
    if found is None:
        raise refuse(
            Cause(
                field,
                said(
                    "lesson.unknown",
                    "no such lesson; there are {known}",
                    known=", ".join(lessons.catalogue()) or "none",
                ),
            )
        )
    return found


def create_of_cluster(call: Call) -> HttpResponse:
    """Answer `POST /api/clusters?title=&pod=`: a session of a real cluster, held at a pod that waits there."""
    call.check_foreign_page()
    asked = call.request.GET
    doors.check_opening(call.address, call.here, unquote(call.headers.get("x-pass-phrase", "")))
    title = people.clean_name(asked.get("title") or "kubectl", field="title", longest=opening.TITLE_LENGTH_MAX)
    limits.spend(limits.OPENINGS, call.address, opening.IMPORT_COST)
    found = clusters.open_cluster(title, None, "Teacher", call.request.body, asked.get("pod", ""))
    return opened_answer(call, found.opened, {"pod": found.pod})


def opened_answer(call: Call, opened: opening.Opened, more: Mapping[str, Any] | None = None) -> HttpResponse:
    """Return the 201 of a session that was made, with the cookie that signs its teacher in."""
    session = opened.session
    document: dict[str, Any] = {
        "code": session.display_code,
        "url": addresses.page_url(call.request, session, opened.secret),
        "joinUrl": addresses.join_url(call.request, session),
        "apiServer": addresses.api_server(call.request, session),
        "token": opened.token,
        "role": TEACHER,
    }
    if opened.imported is not None:
        document["import"] = opened.imported
    document |= more or {}
    return sign_in(answer(document, 201), Call(call.request, session.code), opened.token)


def fork(call: Call) -> HttpResponse:
    """Answer `POST …/fork`: a session of one's own that goes on from a moment of this one."""
    principal = call.require_acting(TEACHER, STUDENT)
    newest = call.store.revision
    revision = number_field(call.body(("revision",)), "revision", 1, newest, whole=True)
    sealing.refuse_copy(principal, call.store)
    limits.spend(limits.FORKS, principal.participant_id)
    opened = opening.fork_session(principal, call.store, int(revision or newest))
    if principal.role == STUDENT:
        handing.note(principal.session_id, principal.participant_id, opened.session.id, int(revision or newest))
    return opened_answer(call, opened)


def me(principal: Principal) -> dict[str, Any]:
    """Return a person as `me` of docs/protocol.md."""
    return {
        "id": str(principal.participant_id),
        "name": principal.name,
        "role": principal.role,
        "namespace": principal.namespace,
        "slug": principal.slug,
        "color": principal.color,
    }


def info(call: Call) -> HttpResponse:
    """Answer `GET /api/sessions/<code>`: what the page shows around the cluster."""
    principal, session = call.principal, call.session
    joined = handing.joined_at(session)
    now = clock.current(call)
    return answer(
        {
            "code": session.display_code,
            "title": session.title,
            "template": session.template,
            "seed": session.seed,
            "role": principal.role,
            "release": settings.RELEASE,
            "joinUrl": addresses.join_url(call.request, joined),
            "joinCode": joined.display_code,
            "door": {"open": doors.is_open(session.id)},
            "network": addresses.network(call.request, joined),
            "apiServer": addresses.api_server(call.request, session),
            "parent": _parent(session),
            "revision": now["revision"],
            "simTime": now["simTime"],
            "hibernated": now["hibernated"],
            "me": me(principal),
            "people": lectern.people_told_to(principal),
        }
    )


def _parent(session: SessionRow) -> dict[str, Any] | None:
    """Return the session that this is a copy of: the way back."""
    parent = handing.parent_of(session)
    return None if parent is None else {"code": parent.display_code, "title": parent.title}


def _seat(call: Call, principal: Principal, token: str, status: int) -> HttpResponse:
    document = {**me(principal), "token": token, "code": call.session.display_code}
    return sign_in(answer(document, status), call, token)


def join(call: Call) -> HttpResponse:
    """Answer `POST …/join`: a seat of one's own, or the one that this browser has already."""
    call.check_foreign_page()
    session = call.session
    name = people.clean_name(call.body(("name",)).get("name"))
    seated = call.principal_or_none
    if seated is not None:
        token, _ = auth.token_in(session.code, call.headers)
        return _seat(call, seated, token, 200)
    doors.check_door(session.id)
    limits.spend(limits.SEATS, call.address)
    limits.spend(limits.JOINS, session.id)
    student, token = opening.seat_student(session, name)
    return _seat(call, student, token, 201)


def door(call: Call) -> HttpResponse:
    """Answer `GET …/door`: whether newcomers may take a seat."""
    return answer({"open": doors.is_open(call.principal.session_id)})


def set_door(call: Call) -> HttpResponse:
    """Answer `PUT …/door`: open or close it for newcomers."""
    call.require(TEACHER)
    opened = flag_field(call.body(("open",)), "open", default=None)
    doors.set_open(call.session.id, opened)
    return answer({"open": opened})


def enter(call: Call) -> HttpResponse:
    """Answer `POST …/enter`: a link's secret for a token."""
    call.check_foreign_page()
    limits.spend(limits.ENTRIES, call.address)
    secret = text_field(call.body(("secret",)), "secret", 200)
    principal = people.enter(call.session, secret)
    if principal is None:
        raise ApiError(
            401, "Unauthorized", said("session.linkOld", "this link is no longer good: ask the teacher for a new one")
        )
    return _seat(call, principal, people.new_token(principal), 200)


def rotate(call: Call) -> HttpResponse:
    """Answer `POST …/rotate`: a new teacher's link, the old one stops working."""
    call.require(TEACHER)
    secret = people.new_link(people.teacher_of(call.session))
    return answer({"url": addresses.page_url(call.request, call.session, secret)})


def leave(call: Call) -> HttpResponse:
    """Answer `POST …/leave`."""
    principal = call.principal
    people.leave(principal.session_id, principal.participant_id)
    response = HttpResponse(status=204)
    response.delete_cookie(auth.cookie_name(call.session.code), samesite="Lax")
    return response


def check(call: Call) -> HttpResponse:
    """Answer `GET …/check`: whether phones can get here, and who has arrived."""
    principal = call.require(TEACHER)
    seats = [person for person in people.of_session(principal.session_id) if person.role == STUDENT]
    arrived = [{"id": str(one.id), "seat": one.color, "name": one.name, "online": one.online} for one in seats]
    return answer({**addresses.check(call.request, handing.joined_at(call.session)), "people": arrived})


def qr(call: Call) -> HttpResponse:
    """Answer `GET …/qr.svg`: the join address, dark on white in every theme so that any camera reads it."""
    # A picture needs no credentials, and must not tell which codes there are to who tries them.
    limits.check(limits.CODES, call.address)
    buffer = io.BytesIO()
    code = segno.make(addresses.join_url(call.request, call.session), error="m", micro=False)
    code.save(
        buffer, kind="svg", border=4, dark="#000000", light="#ffffff", xmldecl=False, svgclass=None, omitsize=True
    )
    response = HttpResponse(buffer.getvalue(), content_type="image/svg+xml")
    response["Cache-Control"] = "no-cache"
    return response


def kubeconfig(call: Call) -> HttpResponse:
    """Answer `GET …/kubeconfig`."""
    principal, session = call.principal, call.session
    token, _ = auth.token_in(session.code, call.headers)
    if not token:
        raise unauthorized(said("session.token", "send the session's token; join the session to get one"))
    cluster: dict[str, Any] = {"server": addresses.api_server(call.request, session, credentials=token)}
    user: dict[str, Any] = {}
    if settings.TLS_PORT:
        authority = certificates.authority_path(settings.DATA)
        if not authority.exists():
            raise ApiError(
                503,
                "ServiceUnavailable",
                said("session.noAuthority", "the certificate authority is not made yet: start with `manage.py up`"),
            )
        cluster["certificate-authority-data"] = base64.b64encode(authority.read_bytes()).decode()
        cluster["tls-server-name"] = certificates.SERVER_NAME
        user["token"] = token
    name = f"clustersim-{session.display_code}"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": principal.slug, "user": user}],
        "contexts": [
            {
                "name": name,
                "context": {"cluster": name, "user": principal.slug, "namespace": default_namespace(principal)},
            }
        ],
        "current-context": name,
    }
    response = HttpResponse(yaml.safe_dump(document, sort_keys=False), content_type="application/yaml")
    response["Cache-Control"] = "no-store"
    if "download" in call.request.GET:
        response["Content-Disposition"] = f'attachment; filename="{name}.yaml"'
    return response
